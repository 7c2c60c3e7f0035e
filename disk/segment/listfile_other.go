//go:build !unix

package segment

import "os"

// mapFile reads a file where the system is not known to map it.
func mapFile(path string) (data []byte, unmap func() error, err error) {
	data, err = os.ReadFile(path)
	return data, func() error { return nil }, err
}
