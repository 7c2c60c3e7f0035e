package durabletest

import (
	"fmt"
	"io/fs"
	"os"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"anatomy/disk/durable"
)

// Faults count the writes of this process to the disk, those of pebble too, and make one of them
// fail. They are safe for use by many goroutines.
type Faults struct {
	mu     sync.Mutex // guards what follows
	calls  int
	failAt int // 0 for none
	err    error
	full   bool // what takes space fails from then on
	failed bool
}

// UseFaults puts Faults between the program and the disk until the test ends. No other test may run
// meanwhile.
func UseFaults(t testing.TB) *Faults {
	f := &Faults{}
	osFS, pebbleFS := durable.OS, vfs.Default
	durable.OS, vfs.Default = faultFS{osFS, f}, errorfs.Wrap(pebbleFS, f)
	t.Cleanup(func() { durable.OS, vfs.Default = osFS, pebbleFS })
	return f
}

// FailAt makes write n, counted from now, fail with err. If full is set, all that take space fail after
// it, too, as on a full disk.
func (f *Faults) FailAt(n int, err error, full bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls, f.failAt, f.err, f.full, f.failed = 0, n, err, full, false
}

// Stop makes no more writes fail, and reports whether one did.
func (f *Faults) Stop() (failed bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.failAt = 0
	return f.failed
}

// write counts a write, and returns the error that it has to fail with.
func (f *Faults) write(op, name string, takesSpace bool) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.calls++; f.failAt == 0 || f.calls != f.failAt && !(f.full && takesSpace && f.calls > f.failAt) {
		return nil
	}
	f.failed = true
	return &fs.PathError{Op: op, Path: name, Err: f.err}
}

// MaybeError implements errorfs.Injector.
func (f *Faults) MaybeError(op errorfs.Op) error {
	switch op.Kind {
	case errorfs.OpRemove, errorfs.OpRemoveAll, errorfs.OpRename, errorfs.OpLink:
		return f.write("change", op.Path, false)
	case errorfs.OpCreate, errorfs.OpReuseForWrite, errorfs.OpMkdirAll, errorfs.OpFileWrite,
		errorfs.OpFileWriteAt, errorfs.OpFileSync, errorfs.OpFileSyncData, errorfs.OpFileSyncTo:
		return f.write("write", op.Path, true)
	}
	return nil
}

// String implements errorfs.Injector.
func (f *Faults) String() string { return fmt.Sprint("write ", f.failAt) }

// A faultFS is a file system with faults.
type faultFS struct {
	durable.FS
	faults *Faults
}

func (d faultFS) OpenFile(name string, flag int, perm fs.FileMode) (durable.File, error) {
	if flag&(os.O_WRONLY|os.O_RDWR) != 0 {
		if err := d.faults.write("open", name, true); err != nil {
			return nil, err
		}
	}
	file, err := d.FS.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return faultFile{file, name, d.faults}, nil
}

func (d faultFS) Mkdir(name string, perm fs.FileMode) error {
	if err := d.faults.write("mkdir", name, true); err != nil {
		return err
	}
	return d.FS.Mkdir(name, perm)
}

func (d faultFS) Rename(from, to string) error {
	if err := d.faults.write("rename", to, false); err != nil {
		return err
	}
	return d.FS.Rename(from, to)
}

func (d faultFS) Exchange(a, b string) error {
	if err := d.faults.write("exchange", b, false); err != nil {
		return err
	}
	return d.FS.Exchange(a, b)
}

func (d faultFS) Remove(name string) error {
	if err := d.faults.write("remove", name, false); err != nil {
		return err
	}
	return d.FS.Remove(name)
}

func (d faultFS) SyncFolder(name string) error {
	if err := d.faults.write("sync", name, false); err != nil {
		return err
	}
	return d.FS.SyncFolder(name)
}

type faultFile struct {
	durable.File
	name   string
	faults *Faults
}

func (f faultFile) Write(b []byte) (int, error) {
	if err := f.faults.write("write", f.name, true); err != nil {
		n, _ := f.File.Write(b[:len(b)/2])
		return n, err
	}
	return f.File.Write(b)
}

func (f faultFile) WriteAt(b []byte, at int64) (int, error) {
	if err := f.faults.write("write", f.name, true); err != nil {
		n, _ := f.File.WriteAt(b[:len(b)/2], at)
		return n, err
	}
	return f.File.WriteAt(b, at)
}

func (f faultFile) Truncate(size int64) error {
	if err := f.faults.write("truncate", f.name, false); err != nil {
		return err
	}
	return f.File.Truncate(size)
}

func (f faultFile) Sync() error {
	if err := f.faults.write("sync", f.name, true); err != nil {
		return err
	}
	return f.File.Sync()
}
