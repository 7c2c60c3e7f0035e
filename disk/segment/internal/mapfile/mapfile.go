// Package mapfile writes files with a checksum for each 64 KB page, and maps them into memory for
// reading. Package segment describes the format.
package mapfile

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"sync/atomic"

	"anatomy/disk/durable"
)

const (
	magic = "anatlst3"

	// HeaderSize is the offset of the content.
	HeaderSize = len(magic)

	tailSize = 8 + 4 + 8

	// PageSize is the size in bytes of a page. Its checksum is verified when a byte of the page is first
	// read, which takes 4 µs.
	PageSize = 64 << 10

	// Slack is the number of bytes after any value that are readable, so that packed integers can be
	// loaded eight bytes at a time. The tail of the file is at least as long.
	Slack = 8
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// A Writer writes a file. It stores the first error.
type Writer struct {
	path string
	file durable.File
	out  *bufio.Writer
	at   uint64 // bytes written
	sums []byte
	sum  uint32 // of the current page
	err  error
}

// Create creates a file, which must not exist. The caller closes the writer.
func Create(path string) (*Writer, error) {
	f, err := durable.OS.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	w := &Writer{path: path, file: f, out: bufio.NewWriterSize(f, 128<<10)}
	w.Write([]byte(magic))
	return w, nil
}

// Write appends p to the content.
func (w *Writer) Write(p []byte) {
	for len(p) > 0 && w.err == nil {
		n := min(len(p), PageSize-int(w.at%PageSize))
		w.sum = crc32.Update(w.sum, castagnoli, p[:n])
		_, w.err = w.out.Write(p[:n])
		if w.at += uint64(n); w.at%PageSize == 0 {
			w.endPage()
		}
		p = p[n:]
	}
}

// Offset returns the number of bytes written so far.
func (w *Writer) Offset() uint64 { return w.at }

// Err returns the first error.
func (w *Writer) Err() error { return w.err }

func (w *Writer) endPage() {
	w.sums = binary.LittleEndian.AppendUint32(w.sums, w.sum)
	w.sum = 0
}

// Close writes the checksums, and closes the file without syncing it. It is called once.
func (w *Writer) Close() error {
	if w.at%PageSize != 0 {
		w.endPage()
	}
	tail := binary.LittleEndian.AppendUint64(w.sums, w.at)
	tail = binary.LittleEndian.AppendUint32(tail, crc32.Checksum(tail, castagnoli))
	if w.err == nil {
		_, w.err = w.out.Write(append(tail, magic...))
	}
	if w.err == nil {
		w.err = w.out.Flush()
	}
	return errors.Join(w.err, w.file.Close())
}

var errTail = errors.New("the tail is damaged")

// A File is a file open for reading, mapped on Unix and otherwise read into memory. It is safe for
// concurrent use. Close, Size and DropBehind of a nil File do nothing.
type File struct {
	data    []byte
	end     uint64 // offset of the end of the content
	sums    []byte
	checked []atomic.Uint32 // a bit for each page, set once its checksum was verified
	unmap   func() error
	behind  atomic.Uint64 // bytes passed to DropBehind since pages were dropped
}

// Open opens a file.
func Open(path string) (_ *File, err error) {
	f := &File{}
	if f.data, f.unmap, err = mapFile(path); err != nil {
		return nil, err
	}
	if err := f.open(); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), f.unmap())
	}
	return f, nil
}

// InMemory returns a file whose content is a copy of data, without checksums. It is for tests.
func InMemory(data []byte) *File {
	f := &File{data: append(bytes.Clone(data), make([]byte, Slack)...), end: uint64(len(data))}
	f.checked = make([]atomic.Uint32, (len(data)/PageSize+32)/32)
	for i := range f.checked {
		f.checked[i].Store(^uint32(0))
	}
	return f
}

func (f *File) open() error {
	n := len(f.data)
	if n < len(magic)+tailSize || string(f.data[:len(magic)]) != magic || string(f.data[n-8:]) != magic {
		return errTail
	}
	f.end = binary.LittleEndian.Uint64(f.data[n-tailSize:])
	if f.end < uint64(len(magic)) || f.end > uint64(n-tailSize) {
		return errTail
	}
	pages := (f.end + PageSize - 1) / PageSize
	if uint64(n-tailSize)-f.end != 4*pages || crc32.Checksum(f.data[f.end:n-12], castagnoli) != binary.LittleEndian.Uint32(f.data[n-12:]) {
		return errTail
	}
	f.sums = f.data[f.end : n-tailSize]
	f.checked = make([]atomic.Uint32, (pages+31)/32)
	return nil
}

// Close closes the file, which invalidates the results of Read.
func (f *File) Close() error {
	if f == nil || f.unmap == nil {
		return nil
	}
	err := f.unmap()
	f.unmap, f.data = nil, nil
	return err
}

// End returns the offset of the end of the content.
func (f *File) End() uint64 { return f.end }

// Size returns the size of the file in bytes.
func (f *File) Size() int64 {
	if f == nil {
		return 0
	}
	return int64(len(f.data))
}

// An Extent is a range of bytes of a file.
type Extent struct{ Offset, Len uint64 }

var (
	ErrExtent = errors.New("it is outside of its file")
	ErrPage   = errors.New("the checksum is wrong")
)

// Read returns the bytes of an extent, after verifying the checksums of their pages. Slack bytes
// after the end are readable. The bytes are valid until the file is closed.
func (f *File) Read(e Extent) ([]byte, error) {
	if e.Len > f.end || e.Offset > f.end-e.Len || e.Offset < uint64(len(magic)) {
		return nil, ErrExtent
	}
	if e.Len > 0 {
		for page, last := e.Offset/PageSize, (e.Offset+e.Len-1)/PageSize; page <= last; page++ {
			if f.checked[page/32].Load()>>(page%32)&1 == 0 {
				if err := f.check(page); err != nil {
					return nil, err
				}
			}
		}
	}
	return f.data[e.Offset : e.Offset+e.Len : e.Offset+e.Len+Slack], nil
}

// keptBehind is the number of bytes that DropBehind leaves in memory.
const keptBehind = 8 << 20

// DropBehind declares that n bytes were read that will not be read again soon. From time to time it
// drops all pages from the memory of the process: without it, the memory of a merge of 314,000
// pages included its inputs, 600 MB.
func (f *File) DropBehind(n uint64) {
	if f != nil && f.behind.Add(n) >= keptBehind {
		f.behind.Store(0)
		dropBehind(f.data)
	}
}

func (f *File) check(page uint64) error {
	from := page * PageSize
	if crc32.Checksum(f.data[from:min(from+PageSize, f.end)], castagnoli) != binary.LittleEndian.Uint32(f.sums[4*page:]) {
		return fmt.Errorf("page %d: %w", page, ErrPage)
	}
	f.checked[page/32].Or(1 << (page % 32))
	return nil
}

// CheckAll verifies the checksums of all pages.
func (f *File) CheckAll() error {
	for page := range uint64(len(f.sums) / 4) {
		if err := f.check(page); err != nil {
			return err
		}
	}
	return nil
}
