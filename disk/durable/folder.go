package durable

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

const folderPerm = 0o700 // see filePerm

// MkdirAll durably creates a folder and its missing parents. It also syncs the name of an existing
// folder, because the process that created it may have been killed before it could. It skips a
// parent that this process may not open, which was not created by such a process.
func MkdirAll(fsys FS, dir string) error {
	switch info, err := fsys.Stat(dir); {
	case err == nil && info.IsDir():
		if err := syncParent(fsys, dir); !errors.Is(err, fs.ErrPermission) {
			return err
		}
		return nil
	case err == nil:
		return &fs.PathError{Op: "mkdir", Path: dir, Err: errors.New("a file has this name")}
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	if err := MkdirAll(fsys, filepath.Dir(dir)); err != nil {
		return err
	}
	if err := fsys.Mkdir(dir, folderPerm); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return syncParent(fsys, dir)
}

// PublishFolder syncs all files in the folder temp, and then durably renames it to dir. Both are in
// the same folder, and dir must not exist. After a crash dir is complete or does not exist.
func PublishFolder(fsys FS, temp, dir string) error {
	if err := mustNotExist(fsys, dir); err != nil {
		return err
	}
	if err := syncTree(fsys, temp); err != nil {
		return err
	}
	return Rename(fsys, temp, dir)
}

// syncTree syncs a folder with all its files and subfolders.
func syncTree(fsys FS, dir string) error {
	entries, err := fsys.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		sync := syncFile
		if e.IsDir() {
			sync = syncTree
		}
		if err := sync(fsys, filepath.Join(dir, e.Name())); err != nil {
			return err
		}
	}
	return fsys.SyncFolder(dir)
}

func syncFile(fsys FS, name string) error {
	f, err := fsys.OpenFile(name, os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// ReplaceFolder moves the folder fresh, whose content must be durable, to path, and the previous
// folder at path, if any, to aside. All three are in the same folder; aside must not exist.
//
// If the system can exchange names, a complete folder is at path at every moment. Otherwise there
// is a moment without one, in which a crash leaves both folders under their other names;
// [FinishReplaceFolder] with the same names then completes the exchange.
func ReplaceFolder(fsys FS, fresh, path, aside string) error {
	if err := syncParent(fsys, fresh); err != nil {
		return err
	}
	if _, err := fsys.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return Rename(fsys, fresh, path)
	} else if err != nil {
		return err
	}
	err := fsys.Exchange(path, fresh)
	switch {
	case err == nil:
		// Until this is durable, the old folder must not lose any name.
		if err := syncParent(fsys, path); err != nil {
			return err
		}
		return Rename(fsys, fresh, aside)
	case !errors.Is(err, errors.ErrUnsupported):
		return err
	}
	if err := Rename(fsys, path, aside); err != nil {
		return err
	}
	return Rename(fsys, fresh, path)
}

// FinishReplaceFolder completes a [ReplaceFolder] that a crash interrupted between its two renames.
// It does nothing if there was none.
func FinishReplaceFolder(fsys FS, fresh, path, aside string) error {
	for name, want := range map[string]bool{path: false, fresh: true, aside: true} {
		_, err := fsys.Stat(name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if (err == nil) != want {
			return nil
		}
	}
	return Rename(fsys, fresh, path)
}
