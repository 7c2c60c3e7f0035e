//go:build !linux

package pdftext

import (
	"runtime/debug"
	"time"
)

// limitProcess bounds the stack, and sets a soft limit of memory/2 for the garbage collector. The
// parent bounds the time.
func limitProcess(memory uint64, _ time.Duration) {
	debug.SetMemoryLimit(int64(memory / 2))
	debug.SetMaxStack(64 << 20)
}
