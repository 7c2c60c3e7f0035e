// Package durabletest has a file system in memory for tests of crash safety. It forgets what was not
// synced, fails, and stops, between any two calls.
package durabletest

import (
	"errors"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"anatomy/disk/durable"
)

// ErrStopped is the error of all calls after a disk has stopped.
var ErrStopped = errors.New("the disk has stopped")

// A Disk is a [durable.FS] in memory, with an empty root folder. It is safe for use by many
// goroutines.
//
// Every file has the content that programs see and the content that is durable; Sync makes the
// second equal to the first. Every folder has the names that programs see, the names that are
// durable, and the changes between them; SyncFolder makes them durable. Data whose Sync failed is not
// made durable by a later Sync, as on Linux.
//
// Calls that change something are counted from 1, those of open files too: OpenFile, Write, WriteAt,
// Truncate, Sync, Close, Mkdir, Rename, Exchange, Remove, RemoveAll and SyncFolder.
type Disk struct {
	// NoExchange makes Exchange unsupported. It is set before the first call.
	NoExchange bool

	mu     sync.Mutex
	root   *node
	calls  int
	stopAt int // the call from which on all fail; 0 for none
	failAt int // the call that fails alone; 0 for none
	fail   error
}

// A node is a file or a folder; names is nil in a file.
type node struct {
	names   map[string]*node
	durable map[string]*node
	changes []change // from durable to names, in order

	data  []byte
	saved []byte // durable
	dirty []span // bytes of data that were written since the last Sync
}

// A change sets some names of a folder in one step; nil removes a name.
type change map[string]*node

type span struct{ from, to int }

// NewDisk returns an empty disk.
func NewDisk() *Disk { return &Disk{root: newFolder()} }

func newFolder() *node {
	return &node{names: map[string]*node{}, durable: map[string]*node{}}
}

// StopAt makes call n, counted from now, and all after it fail with [ErrStopped] and change nothing.
func (d *Disk) StopAt(n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stopAt = d.calls + n
}

// FailAt makes call n, counted from now, fail with err. A Write writes half of its bytes before.
func (d *Disk) FailAt(n int, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.failAt, d.fail = d.calls+n, err
}

// Calls returns the number of calls so far.
func (d *Disk) Calls() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.calls
}

// Crash returns the disk as it is after a crash now. Without random numbers all is forgotten that was
// not synced; with them some of it may be kept: the first changes of each folder, and any of the
// writes to a file.
func (d *Disk) Crash(random *rand.Rand) *Disk {
	d.mu.Lock()
	defer d.mu.Unlock()
	c := crash{random, map[*node]*node{}}
	return &Disk{NoExchange: d.NoExchange, root: c.node(d.root)}
}

type crash struct {
	random *rand.Rand
	done   map[*node]*node
}

func (c crash) node(n *node) *node {
	if after := c.done[n]; after != nil {
		return after
	}
	after := &node{}
	c.done[n] = after
	if n.names == nil {
		after.data = c.content(n)
		after.saved = slices.Clone(after.data)
		return after
	}
	names := maps.Clone(n.durable)
	if c.random != nil {
		for _, change := range n.changes[:c.random.IntN(len(n.changes)+1)] {
			change.apply(names)
		}
	}
	after.names = map[string]*node{}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		after.names[name] = c.node(names[name])
	}
	after.durable = maps.Clone(after.names)
	return after
}

func (c crash) content(n *node) []byte {
	content := slices.Clone(n.saved)
	if c.random == nil {
		return content
	}
	if c.random.IntN(2) == 0 {
		content = resize(content, len(n.data))
	}
	for _, s := range n.dirty {
		if c.random.IntN(2) == 0 {
			copy(content[min(s.from, len(content)):], n.data[min(s.from, len(n.data)):min(s.to, len(n.data))])
		}
	}
	return content
}

func (c change) apply(names map[string]*node) {
	for name, n := range c {
		if n == nil {
			delete(names, name)
		} else {
			names[name] = n
		}
	}
}

func resize(b []byte, n int) []byte {
	if n <= len(b) {
		return b[:n]
	}
	return append(b, make([]byte, n-len(b))...)
}

// ReadFile returns the content of a file as programs see it.
func (d *Disk) ReadFile(name string) ([]byte, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	n, err := d.find("open", name)
	if err == nil && n.names != nil {
		err = pathError("read", name, errors.New("is a folder"))
	}
	if err != nil {
		return nil, err
	}
	return slices.Clone(n.data), nil
}

// EachStop calls write on a disk that setup prepared, and stops the disk at its first call, and at
// its second on a new disk, and so on until write succeeds. After each stop it calls check for
// several states that the disk may have after a crash. done reports that write had succeeded.
func EachStop(t testing.TB, setup, write func(*Disk) error, check func(after *Disk, done bool)) {
	t.Helper()
	const states = 20
	for n := 1; ; n++ {
		d := NewDisk()
		if err := setup(d); err != nil {
			t.Fatal(err)
		}
		d.StopAt(n)
		err := write(d)
		if err != nil && !errors.Is(err, ErrStopped) {
			t.Fatalf("stopped at call %d: %v", n, err)
		}
		check(d.Crash(nil), err == nil)
		for seed := range uint64(states) {
			check(d.Crash(rand.New(rand.NewPCG(seed, uint64(n)))), err == nil)
		}
		if err == nil {
			if n == 1 {
				t.Fatal("nothing was written")
			}
			return
		}
	}
}

// begin counts a call, and returns the error that it has to fail with.
func (d *Disk) begin(op, name string) error {
	d.calls++
	switch {
	case d.stopAt > 0 && d.calls >= d.stopAt:
		return pathError(op, name, ErrStopped)
	case d.calls == d.failAt:
		return pathError(op, name, d.fail)
	}
	return nil
}

func pathError(op, name string, err error) error {
	return &fs.PathError{Op: op, Path: name, Err: err}
}

// find returns the file or folder of a name.
func (d *Disk) find(op, name string) (*node, error) {
	n := d.root
	for part := range strings.SplitSeq(strings.Trim(filepath.ToSlash(filepath.Clean(name)), "/"), "/") {
		if part == "" || part == "." {
			continue
		}
		if n = n.names[part]; n == nil {
			return nil, pathError(op, name, fs.ErrNotExist)
		}
	}
	return n, nil
}

// parent returns the folder that a name is in, and the last part of the name.
func (d *Disk) parent(op, name string) (*node, string, error) {
	n, err := d.find(op, filepath.Dir(name))
	if err == nil && n.names == nil {
		err = pathError(op, name, errors.New("not in a folder"))
	}
	return n, filepath.Base(name), err
}

func (n *node) change(c change) {
	c.apply(n.names)
	n.changes = append(n.changes, c)
}

// OpenFile opens or creates a file as [os.OpenFile] does.
func (d *Disk) OpenFile(name string, flag int, _ fs.FileMode) (durable.File, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.begin("open", name); err != nil {
		return nil, err
	}
	folder, base, err := d.parent("open", name)
	if err != nil {
		return nil, err
	}
	n := folder.names[base]
	switch {
	case n == nil && flag&os.O_CREATE == 0:
		return nil, pathError("open", name, fs.ErrNotExist)
	case n == nil:
		n = &node{}
		folder.change(change{base: n})
	case flag&os.O_EXCL != 0:
		return nil, pathError("open", name, fs.ErrExist)
	case n.names != nil:
		return nil, pathError("open", name, errors.New("is a folder"))
	case flag&os.O_TRUNC != 0:
		n.truncate(0)
	}
	f := &file{disk: d, node: n, name: name}
	if flag&os.O_APPEND != 0 {
		f.at = len(n.data)
	}
	return f, nil
}

// Mkdir makes a folder.
func (d *Disk) Mkdir(name string, _ fs.FileMode) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.begin("mkdir", name); err != nil {
		return err
	}
	folder, base, err := d.parent("mkdir", name)
	if err != nil {
		return err
	}
	if folder.names[base] != nil {
		return pathError("mkdir", name, fs.ErrExist)
	}
	folder.change(change{base: newFolder()})
	return nil
}

// Rename renames a file or folder, within a folder in one step.
func (d *Disk) Rename(from, to string) error { return d.rename(from, to, false) }

// Exchange swaps two names of one folder in one step.
func (d *Disk) Exchange(a, b string) error { return d.rename(a, b, true) }

func (d *Disk) rename(from, to string, exchange bool) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.begin("rename", from); err != nil {
		return err
	}
	source, base, err := d.parent("rename", from)
	if err != nil {
		return err
	}
	target, name, err := d.parent("rename", to)
	if err != nil {
		return err
	}
	n, old := source.names[base], target.names[name]
	switch {
	case exchange && d.NoExchange:
		return pathError("exchange", from, errors.ErrUnsupported)
	case n == nil || exchange && old == nil:
		return pathError("rename", from, fs.ErrNotExist)
	case exchange:
		source.change(change{base: old, name: n})
	case old != nil && (n.names == nil) != (old.names == nil), old != nil && len(old.names) > 0:
		return pathError("rename", to, fs.ErrExist)
	case source == target:
		source.change(change{base: nil, name: n})
	default:
		target.change(change{name: n})
		source.change(change{base: nil})
	}
	return nil
}

// Remove removes a file or an empty folder.
func (d *Disk) Remove(name string) error { return d.remove(name, false) }

// RemoveAll removes a file or folder with all that is in it, if there is one.
func (d *Disk) RemoveAll(name string) error {
	if err := d.remove(name, true); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func (d *Disk) remove(name string, all bool) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.begin("remove", name); err != nil {
		return err
	}
	folder, base, err := d.parent("remove", name)
	if err != nil {
		return err
	}
	switch n := folder.names[base]; {
	case n == nil:
		return pathError("remove", name, fs.ErrNotExist)
	case len(n.names) > 0 && !all:
		return pathError("remove", name, errors.New("folder is not empty"))
	}
	folder.change(change{base: nil})
	return nil
}

// SyncFolder makes the names of a folder durable.
func (d *Disk) SyncFolder(name string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.begin("sync", name); err != nil {
		return err
	}
	n, err := d.find("sync", name)
	if err != nil {
		return err
	}
	n.durable, n.changes = maps.Clone(n.names), nil
	return nil
}

// Stat describes a file or folder.
func (d *Disk) Stat(name string) (fs.FileInfo, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	n, err := d.find("stat", name)
	if err != nil {
		return nil, err
	}
	return n.info(name), nil
}

// ReadDir lists a folder, sorted by name.
func (d *Disk) ReadDir(name string) ([]fs.DirEntry, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	n, err := d.find("open", name)
	if err != nil {
		return nil, err
	}
	var entries []fs.DirEntry
	for _, base := range slices.Sorted(maps.Keys(n.names)) {
		entries = append(entries, fs.FileInfoToDirEntry(n.names[base].info(base)))
	}
	return entries, nil
}

func (n *node) truncate(size int) {
	if size < len(n.data) {
		n.data = slices.Clone(n.data[:size])
		return
	}
	n.dirty = append(n.dirty, span{len(n.data), size})
	n.data = resize(n.data, size)
}

// sync makes the bytes durable that are dirty; others keep their durable value.
func (n *node) sync() {
	n.saved = resize(slices.Clone(n.saved), len(n.data))
	for _, s := range n.dirty {
		from, to := min(s.from, len(n.data)), min(s.to, len(n.data))
		copy(n.saved[from:to], n.data[from:to])
	}
	n.dirty = nil
}

// A file is an open file of a disk.
type file struct {
	disk *Disk
	node *node
	name string
	at   int // where Write goes on
}

func (f *file) Write(b []byte) (int, error) {
	n, err := f.WriteAt(b, int64(f.at))
	f.at += n
	return n, err
}

func (f *file) WriteAt(b []byte, at int64) (int, error) {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	err := f.disk.begin("write", f.name)
	if errors.Is(err, ErrStopped) {
		return 0, err
	}
	if err != nil {
		b = b[:len(b)/2]
	}
	n, to := f.node, int(at)+len(b)
	if to > len(n.data) {
		n.truncate(to)
	}
	copy(n.data[at:], b)
	n.dirty = append(n.dirty, span{int(at), to})
	return len(b), err
}

func (f *file) ReadAt(b []byte, at int64) (int, error) {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	if at >= int64(len(f.node.data)) {
		return 0, io.EOF
	}
	n := copy(b, f.node.data[at:])
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

func (f *file) Truncate(size int64) error {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	if err := f.disk.begin("truncate", f.name); err != nil {
		return err
	}
	f.node.truncate(int(size))
	return nil
}

func (f *file) Sync() error {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	err := f.disk.begin("sync", f.name)
	switch {
	case err == nil:
		f.node.sync()
	case !errors.Is(err, ErrStopped):
		f.node.dirty = nil
	}
	return err
}

func (f *file) Close() error {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	return f.disk.begin("close", f.name)
}

func (f *file) Stat() (fs.FileInfo, error) {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	return f.node.info(f.name), nil
}

func (n *node) info(name string) fs.FileInfo {
	return info{filepath.Base(name), int64(len(n.data)), n.names != nil}
}

type info struct {
	name   string
	size   int64
	folder bool
}

func (i info) Name() string       { return i.name }
func (i info) Size() int64        { return i.size }
func (i info) IsDir() bool        { return i.folder }
func (i info) ModTime() time.Time { return time.Time{} }
func (i info) Sys() any           { return nil }
func (i info) Mode() fs.FileMode {
	if i.folder {
		return fs.ModeDir | 0o755
	}
	return 0o644
}
