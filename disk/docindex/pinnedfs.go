package docindex

import (
	"io"
	"path/filepath"
	"strings"
	"sync"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// A pinnedFS reads a database that another process may write to. It takes no lock, although pebble
// locks even for reading. It opens every table at the start and keeps it open, so that tables
// deleted by a compaction in the other process can still be read.
type pinnedFS struct {
	vfs.FS
	mu     sync.Mutex // guards tables
	tables map[string]*pinnedTable
}

// pin opens the tables in a folder. A table that cannot be opened is opened again when it is read.
func (p *pinnedFS) pin(dir string) {
	names, err := p.List(dir)
	if err != nil {
		return
	}
	for _, name := range names {
		if strings.HasSuffix(name, ".sst") {
			p.Open(filepath.Join(dir, name))
		}
	}
}

func (p *pinnedFS) Unwrap() vfs.FS { return p.FS }

func (*pinnedFS) Lock(string) (io.Closer, error) { return noLock{}, nil }

// Open opens a file. Tables stay open until close.
func (p *pinnedFS) Open(name string, o ...vfs.OpenOption) (vfs.File, error) {
	if !strings.HasSuffix(name, ".sst") {
		return p.FS.Open(name, o...)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if t := p.tables[name]; t != nil {
		return t, nil
	}
	f, err := p.FS.Open(name, o...)
	if err != nil {
		return nil, err
	}
	t := &pinnedTable{f}
	p.tables[name] = t
	return t, nil
}

// Stat describes a file, even a deleted table.
func (p *pinnedFS) Stat(name string) (vfs.FileInfo, error) {
	p.mu.Lock()
	t := p.tables[name]
	p.mu.Unlock()
	if t != nil {
		return t.Stat()
	}
	return p.FS.Stat(name)
}

func (p *pinnedFS) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, t := range p.tables {
		t.File.Close()
	}
	clear(p.tables)
}

// A pinnedTable is a table shared by readers, which only call ReadAt.
type pinnedTable struct{ vfs.File }

// Close does nothing: pinnedFS closes the file.
func (*pinnedTable) Close() error { return nil }

type noLock struct{}

func (noLock) Close() error { return nil }
