package collection

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"anatomy/disk/datadir"
	"anatomy/disk/repository"
	"anatomy/vocab"
)

// versionIndex has the addresses of all versions of each page, in the part of the repository read
// so far. There is no such table on disk, because it is rarely needed: the first calls read the
// repository, each from where the previous call stopped, and later calls read new records.
type versionIndex struct {
	mu    sync.Mutex
	next  vocab.Address                   // where to continue reading
	first map[vocab.DocID]vocab.Address   // the first version of each page
	more  map[vocab.DocID][]vocab.Address // its other versions, oldest first
}

// read continues reading until the end of the repository or of ctx. It calls damaged with damage,
// and reads everything that can be read.
func (v *versionIndex) read(
	ctx context.Context, repo *repository.Reader, damaged func(error),
) error {
	if v.first == nil {
		v.first, v.more = map[vocab.DocID]vocab.Address{}, map[vocab.DocID][]vocab.Address{}
	}
	err := repo.Scan(v.next, func(place vocab.Address, r *repository.Record) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		if place >= v.next {
			v.next = place + 1
			v.add(place, r)
		}
		return nil
	})
	var damage *repository.DamageError
	if errors.As(err, &damage) {
		damaged(err)
		return nil
	}
	return err
}

func (v *versionIndex) add(place vocab.Address, r *repository.Record) {
	doc := r.Page.Doc
	if r.Kind != repository.PageRecord {
		return
	}
	if _, ok := v.first[doc]; !ok {
		v.first[doc] = place
		return
	}
	v.more[doc] = append(v.more[doc], place)
}

// Versions returns the stored versions of a page, newest first, and the share of the repository
// that was read. ctx bounds the time for reading; the next call continues.
func (s *Site) Versions(ctx context.Context, doc vocab.DocID) (*Versions, error) {
	if err := s.findable(doc); err != nil {
		return nil, err
	}
	stored := s.pagesOf(doc)
	versions := &stored.versions
	versions.mu.Lock()
	defer versions.mu.Unlock()
	all := &Versions{Read: 1}
	switch err := versions.read(ctx, stored.repo, func(err error) { s.noted(err) }); {
	case err != nil && ctx.Err() != nil:
		if all.Read, err = shareBefore(stored.repo.Dir(), versions.next); err != nil {
			return nil, err
		}
	case err != nil:
		return nil, err
	}
	_, inner := doc.Shard()
	places := versions.more[inner]
	if first, ok := versions.first[inner]; ok {
		places = append([]vocab.Address{first}, places...)
	}
	seen := map[string]bool{}
	for _, place := range places {
		page, err := s.pageAt(doc, place)
		if errors.Is(err, ErrNotFound) { // compaction dropped or moved it
			continue
		}
		if err != nil {
			return nil, err
		}
		v := Version{Fetched: page.Fetched, Place: place.String(), Bytes: len(page.Body)}
		if key := v.Fetched.String() + vocab.ContentOf(page.Body).String(); !seen[key] { // skip copies made by compaction
			seen[key] = true
			all.Pages = append(all.Pages, v)
		}
	}
	slices.SortStableFunc(all.Pages, func(a, b Version) int { return cmp.Compare(b.Fetched.Unix(), a.Fetched.Unix()) })
	return all, nil
}

// Version returns the version of a page at an address returned by Versions.
func (s *Site) Version(_ context.Context, doc vocab.DocID, place string) (*vocab.Page, error) {
	var file uint32
	var offset int64
	var slot int
	if n, err := fmt.Sscanf(place, "%d:%d:%d", &file, &offset, &slot); n != 3 || err != nil || offset < 0 || offset > vocab.MaxAddressOffset || slot < 0 || slot > vocab.MaxAddressSlot {
		return nil, fmt.Errorf("place %q: %w", place, ErrNotFound)
	}
	at := vocab.MakeAddress(file, offset, slot)
	if at.String() != place {
		return nil, fmt.Errorf("place %q: %w", place, ErrNotFound)
	}
	if err := s.findable(doc); err != nil {
		return nil, err
	}
	page, err := s.pageAt(doc, at)
	if err != nil {
		return nil, err
	}
	return s.readable(page)
}

// findable fails for a document that is not in the index, so that no version of a blocked page is
// shown.
func (s *Site) findable(doc vocab.DocID) error {
	if s.Has(doc) {
		return nil
	}
	return fmt.Errorf("document %d: %w", doc, ErrNotFound)
}

// pageAt returns the page at an address, if it is a version of doc.
func (s *Site) pageAt(doc vocab.DocID, place vocab.Address) (*vocab.Page, error) {
	r, err := s.pagesOf(doc).repo.Read(place)
	_, inner := doc.Shard()
	if errors.Is(err, repository.ErrNoRecord) || errors.Is(err, fs.ErrNotExist) || err == nil && (r.Kind != repository.PageRecord || r.Page.Doc != inner) {
		return nil, fmt.Errorf("document %d at %s: %w", doc, place, ErrNotFound)
	}
	if err != nil {
		return nil, s.noted(err)
	}
	return &r.Page, nil
}

// shareBefore returns the share of the bytes of the repository in dir before an address.
func shareBefore(dir string, place vocab.Address) (float64, error) {
	files, err := datadir.Glob(dir, "*.repo")
	if err != nil {
		return 0, err
	}
	before, whole := place.Offset(), int64(1)
	for _, name := range files {
		info, err := os.Stat(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return 0, err
		}
		whole += info.Size()
		if filepath.Base(name) < fmt.Sprintf("%06d.repo", place.File()) {
			before += info.Size()
		}
	}
	return min(float64(before)/float64(whole), 0.99), nil
}
