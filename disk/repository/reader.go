package repository

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"anatomy/vocab"
)

// ErrNoRecord says that a place holds no record.
var ErrNoRecord = errors.New("no such record")

// A DamageError says which bytes of which file are not what was written.
type DamageError struct {
	File   string
	Offset int64
	Err    error
}

func (e *DamageError) Error() string {
	return fmt.Sprintf("%s at offset %d: %v", e.File, e.Offset, e.Err)
}

func (e *DamageError) Unwrap() error { return e.Err }

// A Reader reads a repository, which another process may be appending to. Its methods may be
// called from any number of goroutines.
type Reader struct {
	dir      string
	unpacker unpacker

	mu    sync.Mutex
	files map[uint32]file // those that this process wrote; others are open while they are read, and can be deleted
	cache cache
}

// A file is what the repository asks of a file of the operating system.
type file interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
	Truncate(size int64) error
	Sync() error
	Stat() (fs.FileInfo, error)
}

// OpenReader opens the repository in dir for reading. It may be empty, and may grow.
func OpenReader(dir string) (*Reader, error) {
	if _, err := os.Stat(dir); err != nil {
		return nil, fmt.Errorf("repository: %w", err)
	}
	return newReader(dir, Options{}), nil
}

func newReader(dir string, o Options) *Reader {
	return &Reader{dir: dir, files: make(map[uint32]file), cache: cache{limit: o.cacheBytes()}}
}

// Read returns the record at a place, or where it was moved from there. It is the caller's to keep. The error wraps [ErrNoRecord]
// where no block begins there, or it has fewer records, and is a *DamageError where the block is damaged.
func (r *Reader) Read(place vocab.Place) (Record, error) {
	var rec Record
	b, err := r.block(place)
	if errors.Is(err, fs.ErrNotExist) {
		if place, err = r.Resolve(place); err == nil {
			b, err = r.block(place)
		}
	}
	if err == nil && place.Slot() >= b.records() {
		err = fmt.Errorf("%w: the block has %d", ErrNoRecord, b.records())
	}
	if err == nil {
		err = rec.decode(b.record(place.Slot()))
	}
	if err != nil {
		return Record{}, fmt.Errorf("repository: read %v: %w", place, err)
	}
	rec.Page.Body = bytes.Clone(rec.Page.Body) // a page must not hold its whole block in memory
	return rec, nil
}

// block returns the block of a place, decoded as far as its slot if it has it.
func (r *Reader) block(place vocab.Place) (*block, error) {
	key := blockKey{place.File(), place.Offset()}
	r.mu.Lock()
	b := r.cache.get(key, place.Slot())
	r.mu.Unlock()
	if b != nil {
		return b, nil
	}
	b, err := r.load(place)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	r.cache.put(key, b)
	r.mu.Unlock()
	return b, nil
}

func (r *Reader) load(place vocab.Place) (*block, error) {
	f, size, err := r.open(place.File())
	if err != nil {
		return nil, err
	}
	defer r.release(f)
	buf := r.unpacker.buffer()
	defer r.unpacker.buffers.Put(buf)
	h, stored, err := readBlock(f, place.File(), place.Offset(), size, *buf)
	if errors.Is(err, errNoBlock) {
		return nil, fmt.Errorf("%w: %w", ErrNoRecord, err)
	}
	if err == nil && cap(stored) <= DefaultBlockBytes {
		*buf = stored[:0]
	}
	var b *block
	if err == nil {
		b, err = r.unpacker.unpackTo(h, stored, min(place.Slot(), h.records-1))
	}
	if err != nil {
		return nil, &DamageError{r.path(place.File()), place.Offset(), err}
	}
	return b, nil
}

// open returns a file of the repository and its size now, until release.
func (r *Reader) open(number uint32) (file, int64, error) {
	r.mu.Lock()
	f := r.files[number]
	r.mu.Unlock()
	if f == nil {
		opened, err := os.Open(r.path(number))
		if err != nil {
			return nil, 0, err
		}
		if err := checkFileHeader(opened, number); err != nil {
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

// readOnly is a file that is open while it is read.
type readOnly struct{ *os.File }

// release closes a file that was opened to be read. That of a writer stays open.
func (r *Reader) release(f file) {
	if f, ok := f.(readOnly); ok {
		f.Close()
	}
}

// forget empties the cache: places that were read may come to hold something else.
func (r *Reader) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cache = cache{limit: r.cache.limit}
}

// Close closes the files. Nothing may be read after it.
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

// Dir is the folder of the repository.
func (r *Reader) Dir() string { return r.dir }

func (r *Reader) path(number uint32) string { return filepath.Join(r.dir, fileName(number)) }

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

// fileNumbers lists the files of a repository in order. Numbers may be missing, where all pages
// of a file were superseded and it was removed.
func fileNumbers(dir string) ([]uint32, error) { return numbersOf(dir, "%d.repo", fileName) }

func numbersOf(dir, pattern string, name func(uint32) string) ([]uint32, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var numbers []uint32
	for _, e := range entries {
		var n uint32
		if _, err := fmt.Sscanf(e.Name(), pattern, &n); err == nil && n > 0 && e.Name() == name(n) {
			numbers = append(numbers, n)
		}
	}
	slices.Sort(numbers) // names of more than six digits are not in order
	return numbers, nil
}
