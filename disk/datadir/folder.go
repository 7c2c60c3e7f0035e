package datadir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/cockroachdb/pebble/v2/vfs"

	"anatomy/disk/durable"
)

// HasRepository reports whether the data folder dir has files of a repository, on any disk.
func HasRepository(dir string) bool {
	folders := []string{Repository(dir)}
	disks, err := ReadDisks(durable.OS, dir)
	for _, d := range disks {
		folders = append(folders, d.Repository())
	}
	return err == nil && slices.ContainsFunc(folders, func(folder string) bool {
		entries, err := os.ReadDir(folder)
		return err == nil && len(entries) > 0
	})
}

// RepositorySize returns the total size of the files of the repository, on all disks.
func RepositorySize(dir string) (bytes int64, err error) {
	disks, err := ReadDisks(durable.OS, dir)
	if err != nil {
		return 0, err
	}
	bytes, err = FolderSize(Repository(dir))
	for _, d := range disks {
		more, failed := FolderSize(d.Repository())
		bytes, err = bytes+more, errors.Join(err, failed)
	}
	return bytes, err
}

// FolderSize returns the total size in bytes of the files below path. Files that are deleted
// meanwhile are not an error.
func FolderSize(path string) (bytes int64, err error) {
	err = filepath.WalkDir(path, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			var info fs.FileInfo
			if info, err = d.Info(); err == nil {
				bytes += info.Size()
			}
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil // and the others count
		}
		return err
	})
	return bytes, err
}

// Glob returns the paths below the folder dir that match a pattern of [fs.Glob], in ascending order.
// For [filepath.Glob], dir would be a part of the pattern: it finds nothing below a folder "data[1]".
func Glob(dir, pattern string) ([]string, error) {
	paths, err := fs.Glob(os.DirFS(dir), pattern)
	for i := range paths {
		paths[i] = filepath.Join(dir, filepath.FromSlash(paths[i]))
	}
	return paths, err
}

// FreeSpace returns the number of bytes that this process may still write to the file system of
// dir.
func FreeSpace(dir string) (int64, error) {
	u, err := vfs.Default.GetDiskUsage(dir)
	if err != nil {
		return 0, fmt.Errorf("free space of %s: %w", dir, err)
	}
	return int64(u.AvailBytes), nil
}
