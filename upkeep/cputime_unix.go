//go:build unix

package upkeep

import (
	"syscall"
	"time"
)

// processTime returns the CPU time of this process, user and system.
func processTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
