//go:build !linux

package pdftext

import "runtime/debug"

// limitProcess bounds the depth of calls, and makes the collector work hard before memory grows; the
// time is the parent's to bound.
func limitProcess() {
	debug.SetMemoryLimit(memoryLimit / 2)
	debug.SetMaxStack(64 << 20)
}
