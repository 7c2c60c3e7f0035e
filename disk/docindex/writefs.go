package docindex

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// A writeFS is the file system of a document index that is open for writing.
//
// After the first failed write it no longer changes the disk, and reports success to pebble: pebble
// would end the process after a failed write, or retry it forever on a full disk. So the disk is as
// after a crash at that moment, from which pebble recovers, and every commit, and Close, returns
// the error in failure.
//
// It does not preallocate files. Pebble allocates a log at its full size and keeps a few old logs
// for reuse: 18 MB of disk for the first 1 MB of records. Preallocation would save a change of the
// file's length per sync, of which a crawl does a few per second.
//
// Errors outside the folder of the document index are returned, because they belong to a
// checkpoint. Pebble ends the process if it cannot sync a folder there, so this error is stored for
// Checkpoint.
type writeFS struct {
	vfs.FS
	dir        string
	failure    *failure
	checkpoint *failure // to sync a folder of the checkpoint
}

// A failure stores the first error of a write.
type failure struct {
	mu  sync.Mutex // guards err
	err error
}

func (f *failure) get() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.err
}

// take returns the error and clears it.
func (f *failure) take() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	err := f.err
	f.err = nil
	return err
}

// do calls write unless a write has failed, and stores its error.
func (f *failure) do(write func() error) {
	if f.get() != nil {
		return
	}
	if err := write(); err != nil {
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.err == nil {
			f.err = err
		}
	}
}

func (w writeFS) Unwrap() vfs.FS { return w.FS }

// owns reports whether a file is in the folder of the document index.
func (w writeFS) owns(name string) bool {
	below, err := filepath.Rel(w.dir, name)
	return err == nil && filepath.IsLocal(below)
}

// open returns the file of a call that may change the disk, or a lostFile if the call failed.
func (w writeFS) open(name string, call func() (vfs.File, error)) (vfs.File, error) {
	if !w.owns(name) {
		return call()
	}
	var f vfs.File
	w.failure.do(func() (err error) { f, err = call(); return err })
	if f == nil {
		f = lostFile{name: name, failure: w.failure}
	}
	return writeFile{f, w.failure}, nil
}

// change calls a function that changes the disk.
func (w writeFS) change(name string, call func() error) error {
	if !w.owns(name) {
		return call()
	}
	w.failure.do(call)
	return nil
}

func (w writeFS) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	return w.open(name, func() (vfs.File, error) { return w.FS.Create(name, c) })
}

func (w writeFS) OpenReadWrite(
	name string, c vfs.DiskWriteCategory, o ...vfs.OpenOption,
) (vfs.File, error) {
	return w.open(name, func() (vfs.File, error) { return w.FS.OpenReadWrite(name, c, o...) })
}

func (w writeFS) ReuseForWrite(from, to string, c vfs.DiskWriteCategory) (vfs.File, error) {
	return w.open(to, func() (vfs.File, error) { return w.FS.ReuseForWrite(from, to, c) })
}

func (w writeFS) OpenDir(name string) (vfs.File, error) {
	f, err := w.FS.OpenDir(name)
	switch {
	case err != nil:
		return f, err
	case !w.owns(name):
		return checkpointFolder{f, w.checkpoint}, nil
	}
	return writeFile{f, w.failure}, nil
}

func (w writeFS) Rename(from, to string) error {
	return w.change(to, func() error { return w.FS.Rename(from, to) })
}

// Remove deletes a file. A missing file is not a failure.
func (w writeFS) Remove(name string) (err error) {
	failed := w.change(name, func() error {
		if err = w.FS.Remove(name); errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return failed
}

func (w writeFS) RemoveAll(name string) error {
	return w.change(name, func() error { return w.FS.RemoveAll(name) })
}

func (w writeFS) MkdirAll(dir string, perm os.FileMode) error {
	return w.change(dir, func() error { return w.FS.MkdirAll(dir, perm) })
}

// A writeFile is a file of a writeFS.
type writeFile struct {
	vfs.File
	failure *failure
}

func (f writeFile) Write(p []byte) (int, error) {
	f.failure.do(func() error { _, err := f.File.Write(p); return err })
	return len(p), nil
}

func (f writeFile) WriteAt(p []byte, at int64) (int, error) {
	f.failure.do(func() error { _, err := f.File.WriteAt(p, at); return err })
	return len(p), nil
}

func (f writeFile) Sync() error {
	f.failure.do(f.File.Sync)
	return nil
}

func (f writeFile) SyncData() error {
	f.failure.do(f.File.SyncData)
	return nil
}

func (f writeFile) SyncTo(n int64) (full bool, _ error) {
	f.failure.do(func() (err error) { full, err = f.File.SyncTo(n); return err })
	return full, nil
}

func (writeFile) Preallocate(_, _ int64) error { return nil }

// Close closes the file, even after a failure.
func (f writeFile) Close() error {
	err := f.File.Close()
	f.failure.do(func() error { return err })
	return nil
}

// A checkpointFolder is an open folder outside that of the document index.
type checkpointFolder struct {
	vfs.File
	failure *failure
}

// Sync stores the error.
func (f checkpointFolder) Sync() error {
	f.failure.do(f.File.Sync)
	return nil
}

// A lostFile replaces a file that could not be created.
type lostFile struct {
	vfs.File // nil: it cannot be read
	name     string
	failure  *failure
}

func (lostFile) Write(p []byte) (int, error)            { return len(p), nil }
func (lostFile) WriteAt(p []byte, _ int64) (int, error) { return len(p), nil }
func (lostFile) Sync() error                            { return nil }
func (lostFile) SyncData() error                        { return nil }
func (lostFile) SyncTo(int64) (bool, error)             { return false, nil }
func (lostFile) Close() error                           { return nil }
func (lostFile) Prefetch(int64, int64) error            { return nil }
func (lostFile) Fd() uintptr                            { return vfs.InvalidFd }
func (f lostFile) Read([]byte) (int, error)             { return 0, f.failure.get() }
func (f lostFile) ReadAt([]byte, int64) (int, error)    { return 0, f.failure.get() }
func (f lostFile) Stat() (vfs.FileInfo, error)          { return lostInfo{name: f.name}, nil }

// lostInfo describes a lostFile.
type lostInfo struct{ name string }

func (i lostInfo) Name() string         { return i.name }
func (lostInfo) Size() int64            { return 0 }
func (lostInfo) Mode() fs.FileMode      { return 0o644 }
func (lostInfo) ModTime() time.Time     { return time.Time{} }
func (lostInfo) IsDir() bool            { return false }
func (lostInfo) Sys() any               { return nil }
func (lostInfo) DeviceID() vfs.DeviceID { return vfs.DeviceID{} }
