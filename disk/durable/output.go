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
//   - a regular file, or one that does not exist, is replaced atomically and keeps its permissions
//   - a symbolic link is kept, and its target is written
//   - a device, a pipe or a socket is written to directly
//   - a folder is an error
func Output(path string, write func(io.Writer) error) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if _, err := os.Lstat(path); err == nil { // a dangling symbolic link
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
	if err != nil { // the file was deleted, as /dev/stdout may be
		return writeThrough(path, write)
	}
	return replaceOutput(target, info, write)
}

// replaceOutput replaces the content of a file. old is nil if there is none.
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
