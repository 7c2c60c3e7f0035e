package segment

import (
	"fmt"
	"io"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// format is the newest format of the pebble in go.mod.
const format = pebble.FormatNewest

// options returns the options for writing and reading. profile is the compression of tables, which
// readers detect.
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

// silent discards pebble's log, because pebble also returns its errors. By default Fatalf, which
// pebble calls for example when the disk is full, ends the process; here it panics with a fatal,
// which returnFatal converts to an error.
type silent struct{}

type fatal struct{ error }

func (silent) Infof(string, ...any)  {}
func (silent) Errorf(string, ...any) {}
func (silent) Fatalf(format string, args ...any) {
	panic(fatal{fmt.Errorf(format, args...)})
}

// readOnlyFS opens a database without locking it. A segment is immutable, so any number of
// processes may read it.
type readOnlyFS struct{ vfs.FS }

func (fs readOnlyFS) Unwrap() vfs.FS                 { return fs.FS }
func (fs readOnlyFS) Lock(string) (io.Closer, error) { return io.NopCloser(nil), nil }

// buildFS is the file system of a segment under construction. It needs no lock. It does not sync,
// because Finish syncs each file once where pebble would call fsync a dozen times. It stores the
// first error of a write.
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
		fs.keep(err)
		return nil, err
	}
	return buildFile{f, fs}, nil
}

func (fs buildFS) keep(err error) {
	if *fs.failed == nil {
		*fs.failed = err
	}
}

// A buildFile reports a failed write as successful, because pebble ends the process after some of
// them. The writer checks the error stored by buildFS.
type buildFile struct {
	vfs.File
	fs buildFS
}

func (f buildFile) Write(p []byte) (int, error) {
	if _, err := f.File.Write(p); err != nil {
		f.fs.keep(err)
	}
	return len(p), nil
}

func (buildFile) Sync() error                       { return nil }
func (buildFile) SyncData() error                   { return nil }
func (buildFile) SyncTo(int64) (bool, error)        { return false, nil }
func (buildFile) Preallocate(offset, n int64) error { return nil }

// returnFatal recovers from a fatal error of pebble, which it stores in err.
func returnFatal(err *error) {
	if r := recover(); r != nil {
		f, ok := r.(fatal)
		if !ok {
			panic(r)
		}
		*err = f.error
	}
}
