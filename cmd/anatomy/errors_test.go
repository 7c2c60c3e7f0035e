package main

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
	"testing"

	"github.com/spf13/cobra"

	"anatomy/cmd/anatomy/internal/cli"
)

// TestHintOfDisk: the hints after errors of a full and of a read-only disk.
func TestHintOfDisk(t *testing.T) {
	for _, test := range []struct {
		path string
		err  syscall.Errno
		want string
	}{
		{"data/index/000001", syscall.ENOSPC, "free some disk space and run the same command again"},
		{os.Stdout.Name(), syscall.ENOSPC, "write standard output to another place, or free some space there"},
		{"data/LOCK", syscall.EROFS, "search, serve, check, trace and links work on a read-only disk; to write: mount it for writing"},
	} {
		err := fmt.Errorf("command: %w", &fs.PathError{Op: "write", Path: test.path, Err: test.err})
		if got := hint(&cli.GlobalFlags{}, &cobra.Command{}, err); got != test.want {
			t.Errorf("%v: %q, want %q", err, got, test.want)
		}
	}
}
