package pdftext

import (
	"runtime/debug"
	"syscall"
	"time"
)

// limitProcess makes the kernel end this process if it exceeds memory bytes or the processor time
// limit, and bounds the stack, which could grow to a gigabyte. Only writable memory counts: the runtime
// and the C library reserve far more addresses.
func limitProcess(memory uint64, limit time.Duration) {
	debug.SetMemoryLimit(int64(memory / 2))
	debug.SetMaxStack(64 << 20)
	seconds := uint64(limit / time.Second)
	_ = syscall.Setrlimit(syscall.RLIMIT_DATA, &syscall.Rlimit{Cur: memory, Max: memory})
	_ = syscall.Setrlimit(syscall.RLIMIT_CPU, &syscall.Rlimit{Cur: seconds, Max: seconds + 1})
	_ = syscall.Setrlimit(syscall.RLIMIT_CORE, &syscall.Rlimit{})
}
