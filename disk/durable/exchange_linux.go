package durable

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// exchange atomically swaps two names. Not every file system supports it.
func exchange(a, b string) error {
	err := unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE)
	if err == unix.EINVAL || err == unix.ENOSYS {
		return fmt.Errorf("%w: %w", errors.ErrUnsupported, err)
	}
	return err
}
