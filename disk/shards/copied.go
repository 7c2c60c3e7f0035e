package shards

import (
	"errors"
	"slices"

	"anatomy/disk/datadir"
)

// Copied is [Folders] for readers that do without some shards. The copy of a divided collection on
// a node may lack shards, but not all: missing has their numbers. Of other folders none may be
// missing. The error is that of Folders.
func Copied(dir string) (dirs []string, missing []int, err error) {
	dirs, missing, err = find(dir)
	if len(missing) > 0 && (len(missing) == len(dirs) || !IsDivided(dir)) {
		dirs, err = Folders(dir)
	}
	return dirs, missing, err
}

// CheckCopied is [Check] for readers that do without some shards, see [Copied].
func CheckCopied(dir string) error {
	dirs, missing, err := Copied(dir)
	for i, dir := range dirs {
		if !slices.Contains(missing, i) {
			err = errors.Join(err, datadir.CheckVersion(dir))
		}
	}
	return err
}

// IsPrivate reports whether a collection, or one of its shards, is marked by [datadir.MarkPrivate].
func IsPrivate(dir string) bool {
	m, err := Read(dir)
	if err != nil || m == nil {
		return datadir.IsPrivate(dir)
	}
	for i := range m.Folders {
		if datadir.IsPrivate(Folder(dir, i)) {
			return true
		}
	}
	return datadir.IsPrivate(dir)
}
