package repository

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sort"

	"github.com/cespare/xxhash/v2"

	"anatomy/disk/durable"
	"anatomy/vocab"
)

// After the live records of a file were copied to later files, the file is replaced by a table of
// the new addresses, 000003.moved for 000003.repo: segments have the old addresses until they are
// rewritten. A reader that does not find a file looks its address up in the table, repeatedly if
// that file is missing, too. A table is
//
//	OFFSET  SIZE  MEANING (little endian)
//	0       8     magic "anatmove"
//	8       4     version, 1
//	12      4     number of the file that was deleted
//	16      16n   pairs of addresses, old and new, 8 bytes each, ascending by the old one
//	16+16n  8     xxhash64 of all before
//
// It takes 16 bytes per moved page; a page takes some thousands.

const (
	movedMagic   = "anatmove"
	movedVersion = 1
	movedHeader  = 16
	pairSize     = 16
	maxMoves     = 64 // moves that a reader follows for one address
)

// A Moved has the addresses of a record before and after it was copied.
type Moved struct{ From, To vocab.Address }

func movedName(number uint32) string { return fmt.Sprintf("%06d.moved", number) }

// Replace durably deletes a file after all its live records were copied. moved has their addresses,
// in any order; readers with an old address follow it. Replace fails for the last file, see
// [Repository.Roll].
func (r *Repository) Replace(number uint32, moved []Moved) error {
	r.kept.Lock()
	defer r.kept.Unlock()
	r.write.Lock()
	last := r.number
	r.write.Unlock()
	err := fmt.Errorf("it is the last")
	if number != last {
		err = writeMoved(r.fs, r.dir, number, moved)
	}
	if err == nil {
		err = r.removeFile(number)
	}
	if err != nil {
		return fmt.Errorf("repository: replace file %d: %w", number, err)
	}
	r.mu.Lock()
	delete(r.files, number) // not closed, because a goroutine may be reading it: the garbage collector closes it
	r.mu.Unlock()
	r.forget()
	return nil
}

// removeFile deletes a file. An interrupted removal of a disk may have left two copies.
func (r *Repository) removeFile(number uint32) error {
	for _, folder := range r.spread.folders {
		err := durable.Remove(r.fs, filepath.Join(folder, fileName(number)))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// Keep blocks Replace and DropTables until release is called.
func (r *Repository) Keep() (release func()) {
	r.kept.RLock()
	return r.kept.RUnlock
}

// Roll makes all records durable and starts a new file, so that the previous one can be replaced.
func (r *Repository) Roll() error {
	r.write.Lock()
	defer r.write.Unlock()
	if r.last == nil || r.end == fileHeader {
		return nil
	}
	if err := r.roll(r.number + 1); err != nil {
		return fmt.Errorf("repository: %w", err)
	}
	return nil
}

func writeMoved(fsys durable.FS, dir string, number uint32, moved []Moved) error {
	slices.SortFunc(moved, func(a, b Moved) int {
		if a.From < b.From {
			return -1
		}
		return 1
	})
	b := make([]byte, 0, movedHeader+pairSize*len(moved)+8)
	b = append(b, movedMagic...)
	b = binary.LittleEndian.AppendUint32(b, movedVersion)
	b = binary.LittleEndian.AppendUint32(b, number)
	for _, m := range moved {
		b = binary.LittleEndian.AppendUint64(b, uint64(m.From))
		b = binary.LittleEndian.AppendUint64(b, uint64(m.To))
	}
	b = binary.LittleEndian.AppendUint64(b, xxhash.Sum64(b))
	return durable.WriteFile(fsys, filepath.Join(dir, movedName(number)), b)
}

// Resolve returns the current address of the record that was at an address: the same one if its
// file exists. The error wraps [ErrNoRecord] if the record was not copied.
func (r *Reader) Resolve(address vocab.Address) (vocab.Address, error) {
	for range maxMoves {
		if _, err := r.find(address.File()); !errors.Is(err, fs.ErrNotExist) {
			return address, err
		}
		to, err := r.moved(address)
		if err != nil {
			return 0, err
		}
		address = to
	}
	return 0, fmt.Errorf("repository: %v was moved more than %d times", address, maxMoves)
}

// moved looks an address up in the table of its file.
func (r *Reader) moved(address vocab.Address) (to vocab.Address, err error) {
	t, err := r.openTable(address.File())
	if errors.Is(err, fs.ErrNotExist) {
		return 0, fmt.Errorf("%w: there is no %s", ErrNoRecord, fileName(address.File()))
	}
	if err != nil {
		return 0, err
	}
	defer t.f.Close()
	var pair [pairSize]byte
	at := sort.Search(t.pairs, func(i int) bool {
		if _, e := t.f.ReadAt(pair[:8], movedHeader+pairSize*int64(i)); e != nil {
			err = e
		}
		return vocab.Address(binary.LittleEndian.Uint64(pair[:])) >= address
	})
	if err == nil && at < t.pairs {
		_, err = t.f.ReadAt(pair[:], movedHeader+pairSize*int64(at))
	}
	if err != nil {
		return 0, err
	}
	if at == t.pairs || vocab.Address(binary.LittleEndian.Uint64(pair[:])) != address {
		return 0, fmt.Errorf("%w: it was in %s, and was not kept", ErrNoRecord, fileName(address.File()))
	}
	return vocab.Address(binary.LittleEndian.Uint64(pair[8:])), nil
}

// A table is an open table of moved records with a verified checksum.
type table struct {
	f     durable.File
	pairs int
}

func (r *Reader) openTable(number uint32) (*table, error) {
	path := filepath.Join(r.dir, movedName(number))
	f, err := r.fs.OpenFile(path, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	pairs, err := checkTable(f, number)
	if err != nil {
		err = fmt.Errorf("%w; \"anatomy check --repair\" rebuilds the index without this file", err)
		return nil, errors.Join(&DamageError{path, 0, err}, f.Close())
	}
	return &table{f, pairs}, nil
}

func checkTable(f durable.File, number uint32) (pairs int, err error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	size := info.Size() - 8
	if size < movedHeader || (size-movedHeader)%pairSize != 0 {
		return 0, io.ErrUnexpectedEOF
	}
	var head [movedHeader]byte
	if _, err := f.ReadAt(head[:], 0); err != nil {
		return 0, err
	}
	le := binary.LittleEndian
	switch {
	case string(head[:8]) != movedMagic:
		return 0, errors.New("not a table of moved records")
	case le.Uint32(head[8:]) != movedVersion:
		return 0, fmt.Errorf("table of version %d, this program reads %d", le.Uint32(head[8:]), movedVersion)
	case le.Uint32(head[12:]) != number:
		return 0, fmt.Errorf("the table of file %d under the name of file %d", le.Uint32(head[12:]), number)
	}
	sum := xxhash.New()
	if _, err := io.Copy(sum, io.NewSectionReader(f, 0, size)); err != nil {
		return 0, err
	}
	var want [8]byte
	if _, err := f.ReadAt(want[:], size); err != nil {
		return 0, err
	}
	if sum.Sum64() != le.Uint64(want[:]) {
		return 0, errors.New("checksum is wrong")
	}
	return int((size - movedHeader) / pairSize), nil
}

// Tables returns the numbers of the replaced files that still have a table, ascending.
func (r *Reader) Tables() ([]uint32, error) {
	return r.numbersOf("%d.moved", movedName, []string{r.dir})
}

// DropTables deletes tables. No segment may contain addresses of their files any more.
func (r *Repository) DropTables(numbers []uint32) error {
	r.kept.Lock()
	defer r.kept.Unlock()
	var errs []error
	for _, n := range numbers {
		errs = append(errs, r.fs.Remove(filepath.Join(r.dir, movedName(n))))
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("repository: %w", err)
	}
	return nil
}

// A FileSize is the size of a file of the repository and of its blocks.
type FileSize struct {
	Number uint32
	Bytes  int64
	Blocks []BlockSize // in order
}

// A BlockSize is the size of a block, from its header.
type BlockSize struct {
	Offset  int64
	Bytes   int64
	Raw     int64 // decompressed size
	Records int
}

// isSmall reports whether a block is less than half full.
func (b *BlockSize) isSmall() bool {
	return b.Raw < DefaultBlockBytes/2 && b.Records < maxRecords/2
}

// Small returns the size of the blocks of a file that are less than half full, compressed and
// decompressed.
func (s *FileSize) Small() (bytes, raw int64) {
	for i := range s.Blocks {
		if b := &s.Blocks[i]; b.isSmall() {
			bytes, raw = bytes+b.Bytes, raw+b.Raw
		}
	}
	return bytes, raw
}

// Sizes returns the sizes of all files. The blocks of a file end before the first damaged one;
// Bytes is the size of the complete file.
func (r *Reader) Sizes() ([]FileSize, error) {
	numbers, err := r.fileNumbers()
	if err != nil {
		return nil, fmt.Errorf("repository: %w", err)
	}
	var all []FileSize
	for _, n := range numbers {
		size, err := r.sizeOf(n)
		if err != nil {
			return nil, fmt.Errorf("repository: %w", err)
		}
		all = append(all, size)
	}
	return all, nil
}

func (r *Reader) sizeOf(number uint32) (FileSize, error) {
	s := FileSize{Number: number}
	f, size, err := r.open(number)
	if err != nil {
		return s, err
	}
	defer r.release(f)
	s.Bytes = size
	var head [blockHeader]byte
	for at := int64(fileHeader); at <= size-blockHeader; {
		if _, err := f.ReadAt(head[:], at); err != nil {
			return s, err
		}
		h, err := parseHeader(head[:], number, at)
		if err != nil {
			break
		}
		whole := blockHeader + int64(h.stored)
		s.Blocks = append(s.Blocks, BlockSize{
			Offset: at, Bytes: whole, Raw: int64(h.raw), Records: h.records,
		})
		at += whole
	}
	return s, nil
}

// ScanFile is [Reader.Scan] of one file.
func (r *Reader) ScanFile(number uint32, fn func(vocab.Address, *Record) error) error {
	f, size, err := r.open(number)
	if err != nil {
		return fmt.Errorf("repository: scan: %w", err)
	}
	defer r.release(f)
	var problems []error
	s := scanner{record: fn, unpacker: &r.unpacker, problem: func(err error) {
		if len(problems) < maxProblems {
			problems = append(problems, err)
		}
	}}
	if err := s.file(f, r.path(number), number, size, false); err != nil {
		return err
	}
	if len(problems) > 0 {
		return fmt.Errorf("repository: scan: %w", errors.Join(problems...))
	}
	return nil
}
