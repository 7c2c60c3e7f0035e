package repository

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"anatomy/disk/durable"
	"anatomy/vocab"
)

// Totals are the totals of a repository.
type Totals struct {
	Files, Blocks                int
	Pages, Duplicates, Redirects int
	RawBytes                     int64 // of blocks, decompressed
	StoredBytes                  int64 // of blocks, with their headers
	BodyBytes                    int64 // of pages
}

// A TailError is the error for a last file that ends with bytes which are not a complete block.
// Either a writer is appending, or it was killed, and the next [Open] truncates the bytes; or the
// last block is damaged.
type TailError struct {
	File         string
	Offset, Size int64
}

func (e *TailError) Error() string {
	return fmt.Sprintf("%s: %d bytes from offset %d on are not a complete block", e.File, e.Size-e.Offset, e.Offset)
}

// Check reads every byte of the repository in dir and calls report for each problem (*DamageError,
// *TailError). A file that a compaction replaces meanwhile is not a problem: its records are in
// other files. An error of Check means that it could not read.
func Check(dir string, report func(problem error)) (Totals, error) {
	var t Totals
	damaged := func(problem error) {
		if !errors.Is(problem, fs.ErrNotExist) {
			report(problem)
		}
	}
	r, err := OpenReader(dir)
	if err != nil {
		return t, err
	}
	numbers, err := r.fileNumbers()
	if err != nil {
		return t, errors.Join(fmt.Errorf("repository: %w", err), r.Close())
	}
	t.Files = len(numbers)
	tables, err := r.Tables()
	if err != nil {
		return t, errors.Join(fmt.Errorf("repository: %w", err), r.Close())
	}
	for _, n := range tables {
		table, err := r.openTable(n)
		if err != nil {
			damaged(err)
			continue
		}
		table.f.Close()
	}
	err = r.scan(&scanner{
		problem: damaged,
		tail:    func(path string, offset, size int64) { report(&TailError{path, offset, size}) },
		block:   t.block,
		record: func(_ vocab.Address, rec *Record) error {
			t.record(rec)
			return nil
		},
	})
	return t, errors.Join(err, r.Close())
}

// RepairHeaders rewrites the header of each file whose header is wrong, and calls report for each.
// The header is determined by the name of the file and confirmed by the checksums of the blocks.
func RepairHeaders(dir string, report func(problem error)) error {
	r := newReader(durable.OS, dir, Options{})
	numbers, err := r.fileNumbers()
	if err != nil {
		return fmt.Errorf("repository: %w", err)
	}
	for _, n := range numbers {
		f, err := r.openFile(n, os.O_RDWR)
		if err != nil {
			return fmt.Errorf("repository: %w", err)
		}
		if wrong := checkFileHeader(f, n); wrong != nil && wrong != io.ErrUnexpectedEOF {
			report(&DamageError{r.path(n), 0, wrong})
			_, err = f.WriteAt(makeFileHeader(n), 0)
			err = errors.Join(err, f.Sync())
		}
		if err = errors.Join(err, f.Close()); err != nil {
			return fmt.Errorf("repository: repair the header: %w", err)
		}
	}
	return nil
}

func (t *Totals) block(h header) {
	t.Blocks++
	t.RawBytes += int64(h.raw)
	t.StoredBytes += blockHeader + int64(h.stored)
}

func (t *Totals) record(r *Record) {
	switch r.Kind {
	case PageRecord:
		t.Pages++
		t.BodyBytes += int64(len(r.Page.Body))
	case DuplicateRecord:
		t.Duplicates++
	case RedirectRecord:
		t.Redirects++
	}
}
