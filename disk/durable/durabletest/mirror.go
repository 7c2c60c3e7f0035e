package durabletest

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"anatomy/disk/durable"
)

// A Mirror does on a [Disk] what this process does to the files below a folder, through package
// durable and through pebble, so that a whole command can be stopped by a crash of the machine: the
// Disk knows what was synced. Other changes of the operating system's files, which are of files that
// need not survive, are seen late, and as not synced.
//
// It is safe for use by many goroutines. Calls that change something are made one after the other.
type Mirror struct {
	root string
	each func(disk *Disk)

	mu   sync.Mutex // held during a call
	disk *Disk
}

// UseMirror mirrors what happens below root, the absolute path of an empty folder, until the test
// ends or stop is called. No other test may run meanwhile. each is called before each call that
// changes something; it must change nothing below root.
func UseMirror(t testing.TB, root string, each func(disk *Disk)) (stop func()) {
	m := &Mirror{root: root, each: each, disk: NewDisk()}
	m.must(m.mkdirAll(root))
	for dir := root; dir != "/"; dir = filepath.Dir(dir) {
		m.must(m.disk.SyncFolder(filepath.Dir(dir)))
	}
	osFS, pebbleFS := durable.OS, vfs.Default
	durable.OS, vfs.Default = mirrorFS{osFS, m}, mirrorVFS{pebbleFS, m}
	stop = sync.OnceFunc(func() { durable.OS, vfs.Default = osFS, pebbleFS })
	t.Cleanup(stop)
	return stop
}

// CopyTo writes the files below the folder root of the disk to the folder dir.
func (d *Disk) CopyTo(dir, root string) error {
	n, err := d.find("open", root)
	if err != nil {
		return err
	}
	return n.copyTo(dir)
}

func (n *node) copyTo(path string) error {
	if n.names == nil {
		return os.WriteFile(path, n.data, 0o600)
	}
	if err := os.MkdirAll(path, 0o700); err != nil {
		return err
	}
	for name, child := range n.names {
		if err := child.copyTo(filepath.Join(path, name)); err != nil {
			return err
		}
	}
	return nil
}

// must panics where the mirror cannot do what the operating system did.
func (m *Mirror) must(err error) {
	if err != nil {
		panic("durabletest: the mirror differs from the disk: " + err.Error())
	}
}

// do makes a call that changes the files of some names, and then mirrors it if it succeeds.
func (m *Mirror) do(call, mirror func() error, names ...string) error {
	for _, name := range names {
		if !m.has(name) {
			return call()
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.update(m.root)
	m.each(m.disk)
	if err := call(); err != nil {
		return err
	}
	m.must(mirror())
	return nil
}

func (m *Mirror) has(name string) bool {
	return name == m.root || strings.HasPrefix(name, m.root+string(filepath.Separator))
}

// update makes the names of a folder those that the operating system has. What others remove
// meanwhile, such as a control socket with its folder, is not there.
func (m *Mirror) update(folder string) {
	n, err := m.disk.find("open", folder)
	m.must(err)
	entries, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) {
		m.must(m.disk.RemoveAll(folder))
		return
	}
	m.must(err)
	there := map[string]bool{}
	for _, e := range entries {
		name := filepath.Join(folder, e.Name())
		there[e.Name()] = e.IsDir() || e.Type().IsRegular()
		switch {
		case e.IsDir():
			m.must(m.mkdirAll(name))
			m.update(name)
		case e.Type().IsRegular() && n.names[e.Name()] == nil:
			content, err := os.ReadFile(name)
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			m.must(err)
			m.must(m.write(name, content))
		}
	}
	for name := range n.names {
		if !there[name] {
			m.must(m.disk.RemoveAll(filepath.Join(folder, name)))
		}
	}
}

func (m *Mirror) write(name string, content []byte) error {
	f, err := m.disk.OpenFile(name, os.O_CREATE, 0)
	if err == nil {
		_, err = f.Write(content)
	}
	return err
}

func (m *Mirror) mkdirAll(name string) error {
	if _, err := m.disk.Stat(name); err == nil {
		return nil
	}
	if err := m.mkdirAll(filepath.Dir(name)); err != nil {
		return err
	}
	return m.disk.Mkdir(name, 0)
}

// A mirrorFS is the file system of package durable with a mirror.
type mirrorFS struct {
	durable.FS
	m *Mirror
}

func (s mirrorFS) OpenFile(name string, flag int, perm fs.FileMode) (file durable.File, err error) {
	if !s.m.has(name) {
		return s.FS.OpenFile(name, flag, perm)
	}
	f := mirrorFile{m: s.m, name: name}
	err = s.m.do(
		func() (err error) { f.File, err = s.FS.OpenFile(name, flag, perm); return err },
		func() (err error) { f.mirror, err = s.m.disk.OpenFile(name, flag, perm); return err }, name)
	if err != nil {
		return nil, err
	}
	return f, nil
}

func (s mirrorFS) Mkdir(name string, perm fs.FileMode) error {
	return s.m.do(func() error { return s.FS.Mkdir(name, perm) },
		func() error { return s.m.disk.Mkdir(name, perm) }, name)
}

func (s mirrorFS) Rename(from, to string) error {
	return s.m.do(func() error { return s.FS.Rename(from, to) },
		func() error { return s.m.disk.Rename(from, to) }, from, to)
}

func (s mirrorFS) Exchange(a, b string) error {
	return s.m.do(func() error { return s.FS.Exchange(a, b) },
		func() error { return s.m.disk.Exchange(a, b) }, a, b)
}

func (s mirrorFS) Remove(name string) error {
	return s.m.do(func() error { return s.FS.Remove(name) },
		func() error { return s.m.disk.Remove(name) }, name)
}

func (s mirrorFS) RemoveAll(name string) error {
	return s.m.do(func() error { return s.FS.RemoveAll(name) },
		func() error { return s.m.disk.RemoveAll(name) }, name)
}

func (s mirrorFS) SyncFolder(name string) error {
	return s.m.do(func() error { return s.FS.SyncFolder(name) },
		func() error { return s.m.disk.SyncFolder(name) }, name)
}

// A mirrorFile is a file of a mirrorFS.
type mirrorFile struct {
	durable.File
	m      *Mirror
	name   string
	mirror durable.File
}

func (f mirrorFile) Write(b []byte) (n int, err error) {
	err = f.m.do(func() (err error) { n, err = f.File.Write(b); return err },
		func() error { _, err := f.mirror.Write(b); return err }, f.name)
	return n, err
}

func (f mirrorFile) WriteAt(b []byte, at int64) (n int, err error) {
	err = f.m.do(func() (err error) { n, err = f.File.WriteAt(b, at); return err },
		func() error { _, err := f.mirror.WriteAt(b, at); return err }, f.name)
	return n, err
}

func (f mirrorFile) Truncate(size int64) error {
	return f.m.do(func() error { return f.File.Truncate(size) },
		func() error { return f.mirror.Truncate(size) }, f.name)
}

func (f mirrorFile) Sync() error { return f.m.do(f.File.Sync, f.mirror.Sync, f.name) }

// A mirrorVFS is the file system of pebble with a mirror.
type mirrorVFS struct {
	vfs.FS
	m *Mirror
}

func (s mirrorVFS) Unwrap() vfs.FS { return s.FS }

// open opens a file for writing, after mirror has changed its name.
func (s mirrorVFS) open(
	name string, call func() (vfs.File, error), mirror func() error,
) (vfs.File, error) {
	if !s.m.has(name) {
		return call()
	}
	f := mirrorVFile{m: s.m, name: name}
	err := s.m.do(
		func() (err error) { f.File, err = call(); return err },
		func() (err error) {
			if err = mirror(); err == nil {
				f.mirror, err = s.m.disk.OpenFile(name, os.O_RDWR|os.O_CREATE, 0)
			}
			return err
		}, name)
	if err != nil {
		return nil, err
	}
	return f, nil
}

// Create makes a new file, which replaces any file of that name.
func (s mirrorVFS) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	return s.open(name, func() (vfs.File, error) { return s.FS.Create(name, c) },
		func() error { return s.m.disk.RemoveAll(name) })
}

func (s mirrorVFS) OpenReadWrite(
	name string, c vfs.DiskWriteCategory, o ...vfs.OpenOption,
) (vfs.File, error) {
	return s.open(name, func() (vfs.File, error) { return s.FS.OpenReadWrite(name, c, o...) },
		func() error { return nil })
}

func (s mirrorVFS) ReuseForWrite(from, to string, c vfs.DiskWriteCategory) (vfs.File, error) {
	return s.open(to, func() (vfs.File, error) { return s.FS.ReuseForWrite(from, to, c) },
		func() error { return s.m.disk.Rename(from, to) })
}

func (s mirrorVFS) OpenDir(name string) (vfs.File, error) {
	f, err := s.FS.OpenDir(name)
	if err != nil || !s.m.has(name) {
		return f, err
	}
	return mirrorFolder{f, s.m, name}, nil
}

// Link is mirrored as a copy.
func (s mirrorVFS) Link(from, to string) error {
	return s.m.do(func() error { return s.FS.Link(from, to) }, func() error { return nil }, to)
}

func (s mirrorVFS) Rename(from, to string) error {
	return s.m.do(func() error { return s.FS.Rename(from, to) },
		func() error { return s.m.disk.Rename(from, to) }, from, to)
}

func (s mirrorVFS) Remove(name string) error {
	return s.m.do(func() error { return s.FS.Remove(name) },
		func() error { return s.m.disk.Remove(name) }, name)
}

func (s mirrorVFS) RemoveAll(name string) error {
	return s.m.do(func() error { return s.FS.RemoveAll(name) },
		func() error { return s.m.disk.RemoveAll(name) }, name)
}

func (s mirrorVFS) MkdirAll(name string, perm os.FileMode) error {
	return s.m.do(func() error { return s.FS.MkdirAll(name, perm) },
		func() error { return s.m.mkdirAll(name) }, name)
}

// A mirrorVFile is a file of a mirrorVFS.
type mirrorVFile struct {
	vfs.File
	m      *Mirror
	name   string
	mirror durable.File
}

// Write mirrors a copy of b, which pebble's files may change.
func (f mirrorVFile) Write(b []byte) (n int, err error) {
	content := bytes.Clone(b)
	err = f.m.do(func() (err error) { n, err = f.File.Write(b); return err },
		func() error { _, err := f.mirror.Write(content); return err }, f.name)
	return n, err
}

func (f mirrorVFile) WriteAt(b []byte, at int64) (n int, err error) {
	content := bytes.Clone(b)
	err = f.m.do(func() (err error) { n, err = f.File.WriteAt(b, at); return err },
		func() error { _, err := f.mirror.WriteAt(content, at); return err }, f.name)
	return n, err
}

func (f mirrorVFile) Sync() error     { return f.m.do(f.File.Sync, f.mirror.Sync, f.name) }
func (f mirrorVFile) SyncData() error { return f.m.do(f.File.SyncData, f.mirror.Sync, f.name) }

// SyncTo does not make a file durable unless it says so.
func (f mirrorVFile) SyncTo(n int64) (full bool, err error) {
	err = f.m.do(func() (err error) { full, err = f.File.SyncTo(n); return err },
		func() error {
			if full {
				return f.mirror.Sync()
			}
			return nil
		}, f.name)
	return full, err
}

// A mirrorFolder is a folder that pebble opened to sync it.
type mirrorFolder struct {
	vfs.File
	m    *Mirror
	name string
}

func (f mirrorFolder) Sync() error {
	return f.m.do(f.File.Sync, func() error { return f.m.disk.SyncFolder(f.name) }, f.name)
}
