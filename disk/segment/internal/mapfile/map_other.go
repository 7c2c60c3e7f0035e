//go:build !unix

package mapfile

import "os"

// mapFile reads a file into memory.
func mapFile(path string) (data []byte, unmap func() error, err error) {
	data, err = os.ReadFile(path)
	return data, func() error { return nil }, err
}
