package segment

import (
	"fmt"
	"io"
	"os"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// format is the newest that pebble v2.1 writes; it does not change under us.
const format = pebble.FormatNewest

// options are those that hold for writing and reading. Profile says how tables are compressed; readers
// find out by themselves.
func options(fs vfs.FS, profile *sstable.CompressionProfile) *pebble.Options {
	o := &pebble.Options{
		FS:                          fs,
		FormatMajorVersion:          format,
		DisableWAL:                  true,
		DisableAutomaticCompactions: true,
		DisableTableStats:           true,
		MemTableSize:                64 << 10,
		Logger:                      silent{},
		EventListener:               &pebble.EventListener{DataCorruption: func(pebble.DataCorruptionInfo) {}},
	}
	for i := range o.Levels {
		o.Levels[i].BlockSize = 32 << 10
		o.Levels[i].IndexBlockSize = 256 << 10
		o.Levels[i].Compression = func() *sstable.CompressionProfile { return profile }
	}
	return o
}

// silent drops pebble's log: errors are returned too. Fatalf, which by default ends the process, is
// called for instance when the disk is full; here it becomes an error of Finish.
type silent struct{}

type fatal struct{ error }

func (silent) Infof(string, ...any)  {}
func (silent) Errorf(string, ...any) {}
func (silent) Fatalf(format string, args ...any) {
	panic(fatal{fmt.Errorf(format, args...)})
}

// readOnlyFS lets pebble open a database without its lock: a segment is never written, so any number
// of processes may read it.
type readOnlyFS struct{ vfs.FS }

func (fs readOnlyFS) Unwrap() vfs.FS                 { return fs.FS }
func (fs readOnlyFS) Lock(string) (io.Closer, error) { return io.NopCloser(nil), nil }

// buildFS is for a folder that nobody else knows yet: it needs no lock, and pebble's dozen calls of
// fsync are saved, since Finish syncs each file once. It remembers the first failure to write.
type buildFS struct {
	vfs.FS
	failed *error
}

func (fs buildFS) Unwrap() vfs.FS                 { return fs.FS }
func (fs buildFS) Lock(string) (io.Closer, error) { return io.NopCloser(nil), nil }

func (fs buildFS) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	return fs.wrap(fs.FS.Create(name, c))
}

func (fs buildFS) OpenReadWrite(name string, c vfs.DiskWriteCategory, o ...vfs.OpenOption) (vfs.File, error) {
	return fs.wrap(fs.FS.OpenReadWrite(name, c, o...))
}

func (fs buildFS) OpenDir(name string) (vfs.File, error) { return fs.wrap(fs.FS.OpenDir(name)) }

func (fs buildFS) wrap(f vfs.File, err error) (vfs.File, error) {
	if err != nil {
		fs.note(err)
		return nil, err
	}
	return buildFile{f, fs}, nil
}

func (fs buildFS) note(err error) {
	if *fs.failed == nil {
		*fs.failed = err
	}
}

// A buildFile takes writes that failed for done, because pebble ends the process over some of them;
// Finish looks at what was noted and gives up the folder.
type buildFile struct {
	vfs.File
	fs buildFS
}

func (f buildFile) Write(p []byte) (int, error) {
	if _, err := f.File.Write(p); err != nil {
		f.fs.note(err)
	}
	return len(p), nil
}

func (buildFile) Sync() error                       { return nil }
func (buildFile) SyncData() error                   { return nil }
func (buildFile) SyncTo(int64) (bool, error)        { return false, nil }
func (buildFile) Preallocate(offset, n int64) error { return nil }

// syncPath syncs a file or folder.
func syncPath(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}
