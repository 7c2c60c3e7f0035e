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
	target, old, err := outputTarget(path)
	switch {
	case err != nil:
		return err
	case target == "":
		return writeThrough(path, write)
	}
	return replaceOutput(target, old, write)
}

// CheckOutput returns an error if Output cannot begin to write a file. It changes no file, and does
// not try one that is written to directly.
func CheckOutput(path string) error {
	target, _, err := outputTarget(path)
	if err != nil || target == "" {
		return err
	}
	w, err := createShared(OS, target, 0o666)
	if err == nil {
		w.Abort()
	}
	return err
}

// outputTarget returns the file that Output replaces for a path, and what it is, nil if it does not
// exist; or "" if the path is written to directly.
func outputTarget(path string) (target string, old fs.FileInfo, err error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if _, err := os.Lstat(path); err == nil { // a dangling symbolic link
			return "", nil, nil
		}
		return path, nil, nil
	case err != nil:
		return "", nil, err
	case info.IsDir():
		return "", nil, fmt.Errorf("%s is a folder, not a file to write to", path)
	case !info.Mode().IsRegular():
		return "", nil, nil
	}
	target, err = filepath.EvalSymlinks(path)
	if err != nil { // the file was deleted, as /dev/stdout may be
		return "", nil, nil
	}
	return target, info, nil
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
