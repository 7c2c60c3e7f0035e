package durable

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Output writes a file that the user named, with the content that write writes:
//
//   - a regular file, or one that does not exist, gets the whole new content or stays as it was;
//     it keeps its permissions
//   - a symbolic link stays, and the file that it leads to is written
//   - a device, a pipe or a socket is written to as it is
//   - a folder is refused
func Output(path string, write func(io.Writer) error) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if _, err := os.Lstat(path); err == nil { // a symbolic link to a file that is not there
			return writeThrough(path, write)
		}
		return replaceOutput(path, nil, write)
	case err != nil:
		return err
	case info.IsDir():
		return fmt.Errorf("%s is a folder, not a file to write to", path)
	case !info.Mode().IsRegular():
		return writeThrough(path, write)
	}
	target, err := filepath.EvalSymlinks(path)
	if err != nil { // of a file that was deleted, as /dev/stdout may be
		return writeThrough(path, write)
	}
	return replaceOutput(target, info, write)
}

// replaceOutput replaces the content of a file. Old is nil where there is none.
func replaceOutput(path string, old fs.FileInfo, write func(io.Writer) error) error {
	w, err := createShared(OS, path, 0o666)
	if err != nil {
		return err
	}
	defer w.Abort()
	if old != nil {
		if err := os.Chmod(w.temp, old.Mode().Perm()); err != nil {
			return err
		}
	}
	if err := write(w); err != nil {
		return err
	}
	return w.Commit()
}

func writeThrough(path string, write func(io.Writer) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o666)
	if err != nil {
		return err
	}
	return errors.Join(write(f), f.Close())
}
