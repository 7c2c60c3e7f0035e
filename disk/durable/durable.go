// Package durable writes files that survive a crash of the machine. All other packages write through
// it whatever they could not make again: no other calls os.Rename, os.CreateTemp or (*os.File).Sync,
// and a test of this package looks for such calls. The document index is apart: pebble sees to its
// own files.
//
// A file system may keep any part of what was not synced: a new file may be there without its
// content, content may be there in part, and a rename may be undone. So each function of this package
// syncs the content of a file before the file gets its name, and the folder after that:
//
//	WriteFile, Create     replace a file: temporary name, write, fsync, rename, fsync of the folder
//	CreateNew             as Create, a file that must not exist
//	CreateShared          as Create, a file that several processes may replace at once
//	WriteNew              create a file that must not exist: write, fsync, fsync of the folder
//	Overwrite             change a file at any offset: write, fsync
//	Append                add to the end of a file: write, fsync, fsync of the folder if it is new
//	PublishFolder         name a folder that is written: fsync of all in it, rename, fsync of the parent
//	ReplaceFolder         exchange two folders, so that a whole one has the name at every moment
//	MkdirAll, Remove      as in package os, and durable
//	Output                write a file that the user named, which may be a device or a pipe
//
// Temporary names end in ".tmp". After a crash such files may be left; none of them holds anything
// that is needed.
//
// The functions take an [FS], which is [OS] in the program. Tests use the one of package durabletest,
// which forgets what was not synced and stops between any two calls.
package durable

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// An FS is what this package needs of a file system. Its methods do what the functions of package os
// of the same names do.
type FS interface {
	OpenFile(name string, flag int, perm fs.FileMode) (File, error)
	Mkdir(name string, perm fs.FileMode) error
	Rename(from, to string) error
	Remove(name string) error
	RemoveAll(name string) error
	Stat(name string) (fs.FileInfo, error)
	ReadDir(name string) ([]fs.DirEntry, error)

	// Exchange swaps the names of two files or folders in one step. Its error wraps
	// [errors.ErrUnsupported] where the system cannot do so.
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
		return nil, err // not a File that holds a nil *os.File
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

// Scratch returns an empty file in dir that has no name, to be written and read by this process
// alone. It takes no space after it is closed, or after a crash.
func Scratch(dir string) (*os.File, error) {
	f, err := os.CreateTemp(dir, "scratch-*.tmp")
	if err != nil {
		return nil, err
	}
	_ = os.Remove(f.Name()) // fails on systems where an open file cannot be removed
	return f, nil
}

// syncParent makes the name of a file or folder durable, or its absence.
func syncParent(fsys FS, name string) error {
	return fsys.SyncFolder(filepath.Dir(name))
}
