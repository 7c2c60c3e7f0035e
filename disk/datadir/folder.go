package datadir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// HasRepository reports whether the data folder dir has a repository with files in it.
func HasRepository(dir string) bool {
	entries, err := os.ReadDir(Repository(dir))
	return err == nil && len(entries) > 0
}

// FolderSize returns the sum of the sizes of the files below path in bytes. Files that are deleted
// during the walk end it without an error.
func FolderSize(path string) (bytes int64, err error) {
	err = filepath.WalkDir(path, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			bytes += info.Size()
		}
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return bytes, err
}

// FreeSpace returns how many bytes this process may still write to the file system of dir.
func FreeSpace(dir string) (int64, error) {
	u, err := vfs.Default.GetDiskUsage(dir)
	if err != nil {
		return 0, fmt.Errorf("free space of %s: %w", dir, err)
	}
	return int64(u.AvailBytes), nil
}
