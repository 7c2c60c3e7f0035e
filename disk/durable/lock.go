package durable

import (
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// ErrLocked is the error of Lock for a file that another process or goroutine has locked.
var ErrLocked = errors.New("it is locked")

// Lock creates the file at path if needed and locks it until the result is closed or the process ends. The
// error wraps ErrLocked, or an *fs.PathError if the file cannot be written.
func Lock(path string) (io.Closer, error) {
	lock, err := vfs.Default.Lock(path)
	if err != nil && !errors.As(err, new(*fs.PathError)) {
		err = fmt.Errorf("%w: %w", ErrLocked, err)
	}
	return lock, err
}
