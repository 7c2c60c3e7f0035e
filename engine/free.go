package engine

import (
	"fmt"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// freeSpace asks how many bytes are free for us where dir is.
func freeSpace(dir string) (int64, error) {
	u, err := vfs.Default.GetDiskUsage(dir)
	if err != nil {
		return 0, fmt.Errorf("engine: free space of %s: %w", dir, err)
	}
	return int64(u.AvailBytes), nil
}
