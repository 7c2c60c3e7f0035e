//go:build !linux

package pdftext

import (
	"runtime/debug"
	"time"
)

// limitProcess bounds the stack and makes the collector work hard before memory grows. The parent
// bounds the time.
func limitProcess(memory uint64, _ time.Duration) {
	debug.SetMemoryLimit(int64(memory / 2))
	debug.SetMaxStack(64 << 20)
}
