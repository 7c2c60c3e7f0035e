//go:build unix

package engine

import (
	"syscall"
	"time"
)

// processTime is the CPU time that this process has taken, in user and system mode.
func processTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
