package repository

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"anatomy/vocab"
)

// maxProblems bounds the damaged blocks in the error of a scan.
const maxProblems = 100

// Scan calls fn for the records from an address on, in the order of writing; 0 is the first. The
// record and its body are valid during the call. An error of fn ends the scan and is returned.
// Damaged blocks are skipped, and the error returned at the end joins their errors, each a
// *DamageError, up to a hundred. Bytes after the last complete block of the last file are ignored.
func (r *Reader) Scan(from vocab.Address, fn func(vocab.Address, *Record) error) error {
	var problems []error
	s := scanner{from: from, record: fn, problem: func(err error) {
		if len(problems) < maxProblems {
			problems = append(problems, err)
		}
	}}
	if err := r.scan(&s); err != nil {
		return err
	}
	if len(problems) > 0 {
		return fmt.Errorf("repository: scan: %w", errors.Join(problems...))
	}
	return nil
}

// A scanner has the callbacks and buffers of a scan.
type scanner struct {
	from    vocab.Address
	block   func(h header) // may be nil
	record  func(vocab.Address, *Record) error
	problem func(error)
	tail    func(path string, offset, size int64) // may be nil; called for bytes after the last complete block of the last file

	*unpacker
	rec    Record
	stored []byte
	raw    []byte
}

func (r *Reader) scan(s *scanner) error {
	s.unpacker = &r.unpacker
	numbers, err := r.fileNumbers()
	if err != nil {
		return fmt.Errorf("repository: %w", err)
	}
	for i, n := range numbers {
		if n < s.from.File() {
			continue
		}
		f, size, err := r.open(n)
		last := i == len(numbers)-1
		if last && errors.Is(err, io.ErrUnexpectedEOF) { // a writer has created it, but not yet written the header
			s.end(r.path(n), 0, size)
			return nil
		}
		if err != nil {
			s.problem(err)
			continue
		}
		err = s.file(f, r.path(n), n, size, last)
		r.release(f)
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *scanner) file(f io.ReaderAt, path string, number uint32, size int64, last bool) error {
	offset := int64(fileHeader)
	if number == s.from.File() {
		offset = max(offset, s.from.Offset())
	}
	for offset < size {
		h, stored, err := readBlock(f, number, offset, size, s.stored)
		if err != nil {
			next := nextBlock(f, number, offset+1, size)
			if next == size && last {
				s.end(path, offset, size)
				return nil
			}
			s.problem(&DamageError{path, offset, fmt.Errorf("%d bytes passed over: %w", next-offset, err)})
			offset = next
			continue
		}
		s.stored = stored
		if err := s.records(h, stored, path, number, offset); err != nil {
			return err
		}
		offset += blockHeader + int64(h.stored)
	}
	return nil
}

func (s *scanner) end(path string, offset, size int64) {
	if s.tail != nil {
		s.tail(path, offset, size)
	}
}

func (s *scanner) records(h header, stored []byte, path string, number uint32, offset int64) error {
	b, err := s.unpack(h, stored, s.raw)
	if err != nil {
		s.problem(&DamageError{path, offset, err})
		return nil
	}
	s.raw = b.raw
	if s.block != nil {
		s.block(h)
	}
	for slot := range b.records() {
		address := vocab.MakeAddress(number, offset, slot)
		if address < s.from {
			continue
		}
		if err := s.rec.decode(b.record(slot)); err != nil {
			s.problem(&DamageError{path, offset, fmt.Errorf("record %d: %w", slot, err)})
			continue
		}
		if err := s.record(address, &s.rec); err != nil {
			return err
		}
	}
	return nil
}

// nextBlock returns the offset of the first complete block at or after offset, or size if there is
// none.
func nextBlock(f io.ReaderAt, number uint32, offset, size int64) int64 {
	buf := make([]byte, 256<<10)
	var stored []byte
	for offset <= size-blockHeader {
		window := buf[:min(int64(len(buf)), size-offset)]
		if _, err := f.ReadAt(window, offset); err != nil {
			return size
		}
		i := bytes.Index(window, []byte(blockMagic))
		if i < 0 {
			offset += int64(len(window)) - int64(len(blockMagic)) + 1
			continue
		}
		offset += int64(i)
		_, b, err := readBlock(f, number, offset, size, stored)
		if err == nil {
			return offset
		}
		if b != nil {
			stored = b
		}
		offset++
	}
	return size
}
