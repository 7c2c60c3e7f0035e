package repository

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"sync"

	"anatomy/disk/durable"
	"anatomy/vocab"
)

// ErrNoRecord is the error for an address without a record.
var ErrNoRecord = errors.New("no such record")

// A DamageError is the error for a damaged place in a file.
type DamageError struct {
	File   string
	Offset int64
	Err    error
}

func (e *DamageError) Error() string {
	return fmt.Sprintf("%s at offset %d: %v", e.File, e.Offset, e.Err)
}

func (e *DamageError) Unwrap() error { return e.Err }

// A Reader reads a repository to which another process may append. Its methods are safe for
// concurrent use.
type Reader struct {
	fs       durable.FS
	dir      string
	unpacker unpacker

	cache *cache

	mu    sync.Mutex              // guards the fields below
	files map[uint32]durable.File // files written by this process; others are opened for each read
	at    map[uint32]string       // folders of the files found on other disks
}

// OpenReader opens the repository in dir for reading. It may be empty, and may grow meanwhile.
func OpenReader(dir string) (*Reader, error) {
	if _, err := os.Stat(dir); err != nil {
		return nil, fmt.Errorf("repository: %w", err)
	}
	return NewReader(dir), nil
}

// NewReader is [OpenReader] for a folder that may not exist yet.
func NewReader(dir string) *Reader { return newReader(durable.OS, dir, Options{}) }

func newReader(fsys durable.FS, dir string, o Options) *Reader {
	cache := newCache(o.cacheBytes())
	return &Reader{
		fs: fsys, dir: dir, cache: cache,
		files: make(map[uint32]durable.File), at: make(map[uint32]string),
	}
}

// Read returns a copy of the record at an address, following moves. The error wraps [ErrNoRecord]
// if there is none, and is a *DamageError if the block is damaged.
func (r *Reader) Read(address vocab.Address) (Record, error) {
	var rec Record
	b, err := r.block(address)
	if errors.Is(err, fs.ErrNotExist) {
		if address, err = r.Resolve(address); err == nil {
			b, err = r.block(address)
		}
	}
	if err == nil && address.Slot() >= b.records() {
		err = fmt.Errorf("%w: the block has %d", ErrNoRecord, b.records())
	}
	if err == nil {
		err = rec.decode(b.record(address.Slot()))
	}
	if err != nil {
		return Record{}, fmt.Errorf("repository: read %v: %w", address, err)
	}
	rec.Page.Body = bytes.Clone(rec.Page.Body) // so that the page does not keep its entire block in memory
	return rec, nil
}

// block returns the block at an address, decoded at least up to the slot if the block has it.
func (r *Reader) block(address vocab.Address) (*block, error) {
	key := blockKey{address.File(), address.Offset()}
	if b, ok := r.cache.Get(key); ok && (address.Slot() >= b.records() || b.has(address.Slot())) {
		return b, nil
	}
	b, err := r.load(address)
	if err != nil {
		return nil, err
	}
	r.cache.Put(key, b)
	return b, nil
}

func (r *Reader) load(address vocab.Address) (*block, error) {
	f, size, err := r.open(address.File())
	if err != nil {
		return nil, err
	}
	defer r.release(f)
	buf := r.unpacker.buffer()
	defer r.unpacker.buffers.Put(buf)
	h, stored, err := readBlock(f, address.File(), address.Offset(), size, *buf)
	if errors.Is(err, errNoBlock) {
		return nil, fmt.Errorf("%w: %w", ErrNoRecord, err)
	}
	if err == nil && cap(stored) <= DefaultBlockBytes {
		*buf = stored[:0]
	}
	var b *block
	if err == nil {
		b, err = r.unpacker.unpackTo(h, stored, min(address.Slot(), h.records-1))
	}
	if err != nil {
		return nil, &DamageError{r.path(address.File()), address.Offset(), err}
	}
	return b, nil
}

// open returns a file and its current size. The caller calls release after reading. The error wraps
// io.ErrUnexpectedEOF if the header is not written yet.
func (r *Reader) open(number uint32) (durable.File, int64, error) {
	r.mu.Lock()
	f := r.files[number]
	r.mu.Unlock()
	if f == nil {
		opened, err := r.openFile(number, os.O_RDONLY)
		if err != nil {
			return nil, 0, err
		}
		if err := checkFileHeader(opened, number); err != nil {
			if info, failed := opened.Stat(); failed == nil && unbegun(opened, info.Size()) {
				err = io.ErrUnexpectedEOF
			}
			return nil, 0, errors.Join(&DamageError{r.path(number), 0, err}, opened.Close())
		}
		f = readOnly{opened}
	}
	info, err := f.Stat()
	if err != nil {
		r.release(f)
		return nil, 0, err
	}
	return f, info.Size(), nil
}

// readOnly is a file that release closes.
type readOnly struct{ durable.File }

// release closes a file that open has opened. A writer's file stays open.
func (r *Reader) release(f durable.File) {
	if f, ok := f.(readOnly); ok {
		f.Close()
	}
}

// forget empties the cache, because other records may get the same addresses.
func (r *Reader) forget() { r.cache.RemoveFunc(func(blockKey) bool { return true }) }

// Close closes the files. The reader must not be used afterwards.
func (r *Reader) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	var errs []error
	for _, f := range r.files {
		errs = append(errs, f.Close())
	}
	clear(r.files)
	return errors.Join(errs...)
}

// Dir returns the folder of the repository.
func (r *Reader) Dir() string { return r.dir }

func fileName(number uint32) string { return fmt.Sprintf("%06d.repo", number) }

const (
	fileMagic   = "anatrepo"
	fileVersion = 1
	fileHeader  = 16
)

func makeFileHeader(number uint32) []byte {
	b := binary.LittleEndian.AppendUint32([]byte(fileMagic), fileVersion)
	return binary.LittleEndian.AppendUint32(b, number)
}

func checkFileHeader(f io.ReaderAt, number uint32) error {
	var b [fileHeader]byte
	if _, err := f.ReadAt(b[:], 0); err != nil {
		return noEOF(err)
	}
	le := binary.LittleEndian
	switch {
	case string(b[:8]) != fileMagic:
		return errors.New("not a repository file")
	case le.Uint32(b[8:]) != fileVersion:
		return fmt.Errorf("repository file of version %d, this program reads %d", le.Uint32(b[8:]), fileVersion)
	case le.Uint32(b[12:]) != number:
		return fmt.Errorf("this is file %d of a repository under the name of file %d", le.Uint32(b[12:]), number)
	}
	return nil
}

// fileNumbers returns the numbers of all files, ascending. There are gaps where compaction deleted
// files.
func (r *Reader) fileNumbers() ([]uint32, error) {
	folders, err := r.folders()
	if err != nil {
		return nil, err
	}
	return r.numbersOf("%d.repo", fileName, folders)
}

// numbersOf returns the numbers of the files in some folders, ascending.
func (r *Reader) numbersOf(pattern string, name func(uint32) string, folders []string) ([]uint32, error) {
	var numbers []uint32
	for _, folder := range folders {
		entries, err := r.fs.ReadDir(folder)
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			var n uint32
			if _, err := fmt.Sscanf(e.Name(), pattern, &n); err == nil && n > 0 && e.Name() == name(n) {
				numbers = append(numbers, n)
			}
		}
	}
	slices.Sort(numbers) // names with more than six digits are not in order
	return slices.Compact(numbers), nil
}
