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

	"anatomy/vocab"
)

// A file whose live records were copied to later files is deleted, and a table stays under its number that says
// where they lie now, 000003.moved for 000003.repo: segments of the index name places until they are made
// anew. A reader that finds a file gone looks there, and again where that file is gone too. A table is
//
//	OFFSET  SIZE  MEANING (little endian)
//	0       8     magic "anatmove"
//	8       4     version, 1
//	12      4     number of the file that was deleted
//	16      16n   pairs of places, old and new, 8 bytes each, in ascending order of the old one
//	16+16n  8     xxhash64 of all before
//
// It costs 16 bytes for each page that was moved, where a page takes some thousands.

const (
	movedMagic   = "anatmove"
	movedVersion = 1
	movedHeader  = 16
	pairSize     = 16
	maxMoves     = 64 // from file to file that a reader follows
)

// A Moved record lies at To, and lay at From.
type Moved struct{ From, To vocab.Place }

func movedName(number uint32) string { return fmt.Sprintf("%06d.moved", number) }

// Replace deletes a file all of whose records that are still wanted are elsewhere by now, durably. Moved says
// where they are, in any order; readers with a place of the file go there. The last file cannot be replaced, see
// [Repository.Roll].
func (r *Repository) Replace(number uint32, moved []Moved) error {
	r.kept.Lock()
	defer r.kept.Unlock()
	r.write.Lock()
	last := r.number
	r.write.Unlock()
	err := fmt.Errorf("it is the last")
	if number != last {
		err = writeMoved(r.dir, number, moved)
	}
	if err == nil {
		err = os.Remove(r.path(number))
	}
	if err == nil {
		err = syncDir(r.dir)
	}
	if err != nil {
		return fmt.Errorf("repository: replace file %d: %w", number, err)
	}
	r.mu.Lock()
	delete(r.files, number) // not closed: another goroutine may be reading it; the runtime closes it when none is
	r.mu.Unlock()
	r.forget()
	return nil
}

// Keep has every file stay until release is called: Replace and DropTables wait.
func (r *Repository) Keep() (release func()) {
	r.kept.RLock()
	return r.kept.RUnlock
}

// Roll makes everything appended durable and goes on in a new file, so that the one before it can be replaced.
func (r *Repository) Roll() error {
	r.write.Lock()
	defer r.write.Unlock()
	if r.last == nil || r.end == fileHeader {
		return nil
	}
	if err := r.roll(); err != nil {
		return fmt.Errorf("repository: %w", err)
	}
	return nil
}

func writeMoved(dir string, number uint32, moved []Moved) error {
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
	path := filepath.Join(dir, movedName(number))
	f, err := os.Create(path + ".tmp")
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(path+".tmp", path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(path+".tmp"))
	}
	return syncDir(dir)
}

// Resolve gives the place at which a record lies that lay at place once: the place itself where its file is there.
// The error wraps [ErrNoRecord] where it was not kept.
func (r *Reader) Resolve(place vocab.Place) (vocab.Place, error) {
	for range maxMoves {
		if _, err := os.Stat(r.path(place.File())); !errors.Is(err, fs.ErrNotExist) {
			return place, err
		}
		to, err := r.moved(place)
		if err != nil {
			return 0, err
		}
		place = to
	}
	return 0, fmt.Errorf("repository: %v was moved more than %d times", place, maxMoves)
}

// moved looks a place up in the table of its file.
func (r *Reader) moved(place vocab.Place) (to vocab.Place, err error) {
	t, err := openTable(r.dir, place.File())
	if errors.Is(err, fs.ErrNotExist) {
		return 0, fmt.Errorf("%w: there is no %s", ErrNoRecord, fileName(place.File()))
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
		return vocab.Place(binary.LittleEndian.Uint64(pair[:])) >= place
	})
	if err == nil && at < t.pairs {
		_, err = t.f.ReadAt(pair[:], movedHeader+pairSize*int64(at))
	}
	if err != nil {
		return 0, err
	}
	if at == t.pairs || vocab.Place(binary.LittleEndian.Uint64(pair[:])) != place {
		return 0, fmt.Errorf("%w: it was in %s, and was not kept", ErrNoRecord, fileName(place.File()))
	}
	return vocab.Place(binary.LittleEndian.Uint64(pair[8:])), nil
}

// A table is an open table of moved records, proved whole.
type table struct {
	f     *os.File
	pairs int
}

func openTable(dir string, number uint32) (*table, error) {
	path := filepath.Join(dir, movedName(number))
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	pairs, err := checkTable(f, number)
	if err != nil {
		return nil, errors.Join(&DamageError{path, 0, err}, f.Close())
	}
	return &table{f, pairs}, nil
}

func checkTable(f *os.File, number uint32) (pairs int, err error) {
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

// Tables lists the numbers of the files that were replaced and whose tables are kept, ascending.
func (r *Reader) Tables() ([]uint32, error) { return numbersOf(r.dir, "%d.moved", movedName) }

// DropTables deletes tables that nobody needs any more, as no place of their files is named.
func (r *Repository) DropTables(numbers []uint32) error {
	r.kept.Lock()
	defer r.kept.Unlock()
	var errs []error
	for _, n := range numbers {
		errs = append(errs, os.Remove(filepath.Join(r.dir, movedName(n))))
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("repository: %w", err)
	}
	return nil
}

// A FileSize says what a file of the repository holds, as the headers of its blocks tell.
type FileSize struct {
	Number uint32
	Bytes  int64
	Blocks []BlockSize // in order
}

// A BlockSize is that of one block.
type BlockSize struct {
	Offset  int64
	Bytes   int64
	Records int
}

// Sizes reads the headers of all blocks, file by file; a file ends for it where one is damaged, and then Bytes counts
// the rest too.
func (r *Reader) Sizes() ([]FileSize, error) {
	numbers, err := fileNumbers(r.dir)
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
		s.Blocks = append(s.Blocks, BlockSize{Offset: at, Bytes: whole, Records: h.records})
		at += whole
	}
	return s, nil
}

// ScanFile is Scan of one file.
func (r *Reader) ScanFile(number uint32, fn func(vocab.Place, *Record) error) error {
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
