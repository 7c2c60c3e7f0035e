//go:build unix

package mapfile

import (
	"fmt"
	"os"
	"syscall"
)

// mapFile maps a file, which must not be empty.
func mapFile(path string) (data []byte, unmap func() error, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	if info.Size() == 0 || info.Size() != int64(int(info.Size())) {
		return nil, nil, fmt.Errorf("%s: cannot map a file of %d bytes", path, info.Size())
	}
	if data, err = syscall.Mmap(int(f.Fd()), 0, int(info.Size()), syscall.PROT_READ, syscall.MAP_SHARED); err != nil {
		return nil, nil, fmt.Errorf("map %s: %w", path, err)
	}
	return data, func() error { return syscall.Munmap(data) }, nil
}
