// Package durable writes files that survive a crash of the machine. All other packages use it for
// data that they cannot recreate: no other package calls os.Rename, os.CreateTemp or
// (*os.File).Sync, which a test of this package verifies. The document index is an exception:
// pebble syncs its own files.
//
// After a crash a file system may have any part of the unsynced writes: a new file may exist
// without its content, content may be incomplete, and a rename may be undone. So each function of
// this package syncs the content of a file before the file gets its name, and then the folder:
//
//	WriteFile, Create     replace a file: temporary name, write, fsync, rename, fsync of the folder
//	CreateNew             like Create, for a file that must not exist
//	CreateShared          like Create, for a file that several processes may replace at once
//	WriteNew              create a file that must not exist: write, fsync, fsync of the folder
//	Overwrite             change a file at any offset: write, fsync
//	Append                add to the end of a file: write, fsync, fsync of the folder if it is new
//	PublishFolder         name a complete folder: fsync of all files in it, rename, fsync of the parent
//	ReplaceFolder         exchange two folders, so that a complete one has the name at every moment
//	MkdirAll, Remove      as in package os, but durable
//	Output                write a file that the user named, which may be a device or a pipe
//
// Temporary names end in ".tmp". A crash may leave such files; none of them is needed.
//
// The functions take an [FS], which is [OS] in the program. Tests use the FS of package
// durabletest, which loses unsynced data and can crash between any two calls.
package durable

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// An FS is the part of a file system that this package uses. Its methods do the same as the
// functions of package os with their names.
type FS interface {
	OpenFile(name string, flag int, perm fs.FileMode) (File, error)
	Mkdir(name string, perm fs.FileMode) error
	Rename(from, to string) error
	Remove(name string) error
	RemoveAll(name string) error
	Stat(name string) (fs.FileInfo, error)
	ReadDir(name string) ([]fs.DirEntry, error)

	// Exchange atomically swaps the names of two files or folders. Its error wraps
	// [errors.ErrUnsupported] if the system cannot.
	Exchange(a, b string) error

	// SyncFolder makes the names in a folder durable.
	SyncFolder(name string) error
}

// A File is an open file of an [FS].
type File interface {
	io.ReaderAt
	io.Writer
	io.WriterAt
	io.Closer
	Stat() (fs.FileInfo, error)
	Truncate(size int64) error
	Sync() error
}

// OS is the file system of the operating system.
var OS FS = osFS{}

type osFS struct{}

func (osFS) OpenFile(name string, flag int, perm fs.FileMode) (File, error) {
	f, err := os.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err // not a non-nil File with a nil *os.File
	}
	return f, nil
}

func (osFS) Mkdir(name string, perm fs.FileMode) error  { return os.Mkdir(name, perm) }
func (osFS) Rename(from, to string) error               { return os.Rename(from, to) }
func (osFS) Remove(name string) error                   { return os.Remove(name) }
func (osFS) RemoveAll(name string) error                { return os.RemoveAll(name) }
func (osFS) Stat(name string) (fs.FileInfo, error)      { return os.Stat(name) }
func (osFS) ReadDir(name string) ([]fs.DirEntry, error) { return os.ReadDir(name) }

func (osFS) Exchange(a, b string) error {
	if err := exchange(a, b); err != nil {
		return &os.LinkError{Op: "exchange", Old: a, New: b, Err: err}
	}
	return nil
}

func (osFS) SyncFolder(name string) error {
	d, err := os.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// Scratch returns an empty file in dir without a name, for this process only. Its space is freed
// when it is closed, or by a crash.
func Scratch(dir string) (*os.File, error) {
	f, err := os.CreateTemp(dir, "scratch-*.tmp")
	if err != nil {
		return nil, err
	}
	_ = os.Remove(f.Name()) // fails on systems where an open file cannot be removed
	return f, nil
}

// syncParent makes the existence or absence of a file or folder durable.
func syncParent(fsys FS, name string) error {
	return fsys.SyncFolder(filepath.Dir(name))
}
