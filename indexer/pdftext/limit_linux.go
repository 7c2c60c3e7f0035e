package pdftext

import (
	"runtime/debug"
	"syscall"
)

// limitProcess makes the system end this process where it takes more than a document may: memory,
// the time of a processor, and the depth of calls, which Go alone would let grow to a gigabyte. What
// counts is memory that can be written: the runtime and the C library reserve far more addresses.
func limitProcess() {
	debug.SetMemoryLimit(memoryLimit / 2)
	debug.SetMaxStack(64 << 20)
	const seconds = uint64(defaultTimeout / 1e9)
	_ = syscall.Setrlimit(syscall.RLIMIT_DATA, &syscall.Rlimit{Cur: memoryLimit, Max: memoryLimit})
	_ = syscall.Setrlimit(syscall.RLIMIT_CPU, &syscall.Rlimit{Cur: seconds, Max: seconds + 1})
	_ = syscall.Setrlimit(syscall.RLIMIT_CORE, &syscall.Rlimit{})
}
