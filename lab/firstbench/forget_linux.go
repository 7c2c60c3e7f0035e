package main

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// dropCache drops a file from the system's memory, but for parts that are in use.
func dropCache(f *os.File) error {
	return errors.Join(f.Sync(), unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED))
}
