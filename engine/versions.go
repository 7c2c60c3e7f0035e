package engine

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
	"anatomy/web"
)

// versionPlaces knows where the pages of each document are in the repository, older ones too, as far as
// it was read. Nothing on disk has that, as only people ask for it, and seldom: the first questions
// read the repository from its beginning, each going on where the one before had to stop, and later ones what
// was written since.
type versionPlaces struct {
	mu    sync.Mutex
	next  vocab.Place                   // where to go on
	first map[vocab.DocID]vocab.Place   // the first page of each document
	more  map[vocab.DocID][]vocab.Place // the others, in the order of writing
}

// read goes on until the end of the repository or of ctx.
func (v *versionPlaces) read(ctx context.Context, repo *repository.Reader) error {
	if v.first == nil {
		v.first, v.more = map[vocab.DocID]vocab.Place{}, map[vocab.DocID][]vocab.Place{}
	}
	err := repo.Scan(v.next, func(place vocab.Place, r *repository.Record) error {
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
	if errors.As(err, &damage) { // what can be read was
		return nil
	}
	return err
}

func (v *versionPlaces) add(place vocab.Place, r *repository.Record) {
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

// Versions lists the pages of a document that are in the repository, the newest first, and says how much
// of the repository was looked through: ctx bounds the time for that, and the next call goes on.
func (s *Site) Versions(ctx context.Context, doc vocab.DocID) (*web.Versions, error) {
	if err := s.findable(doc); err != nil {
		return nil, err
	}
	s.versions.mu.Lock()
	defer s.versions.mu.Unlock()
	all := &web.Versions{Read: 1}
	switch err := s.versions.read(ctx, s.repo); {
	case err != nil && ctx.Err() != nil:
		if all.Read, err = s.shareBefore(s.versions.next); err != nil {
			return nil, err
		}
	case err != nil:
		return nil, err
	}
	places := s.versions.more[doc]
	if first, ok := s.versions.first[doc]; ok {
		places = append([]vocab.Place{first}, places...)
	}
	seen := map[string]bool{}
	for _, place := range places {
		page, err := s.pageAt(doc, place)
		if errors.Is(err, web.ErrNotFound) { // compaction took it away, or to another place
			continue
		}
		if err != nil {
			return nil, err
		}
		v := web.Version{Fetched: page.Fetched, Place: place.String(), Bytes: len(page.Body)}
		if key := v.Fetched.String() + vocab.ContentOf(page.Body).String(); !seen[key] { // a copy of compaction is no version
			seen[key] = true
			all.Pages = append(all.Pages, v)
		}
	}
	slices.SortStableFunc(all.Pages, func(a, b web.Version) int { return cmp.Compare(b.Fetched.Unix(), a.Fetched.Unix()) })
	return all, nil
}

// Version is a page of a document at a place that Versions names.
func (s *Site) Version(_ context.Context, doc vocab.DocID, place string) (*vocab.Page, error) {
	var file uint32
	var offset int64
	var slot int
	if n, err := fmt.Sscanf(place, "%d:%d:%d", &file, &offset, &slot); n != 3 || err != nil || offset < 0 || offset > vocab.MaxPlaceOffset || slot < 0 || slot > vocab.MaxPlaceSlot {
		return nil, fmt.Errorf("place %q: %w", place, web.ErrNotFound)
	}
	at := vocab.PlaceAt(file, offset, slot)
	if at.String() != place {
		return nil, fmt.Errorf("place %q: %w", place, web.ErrNotFound)
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

// findable gives an error for a document that is not in the index: what was removed is not shown, in no version.
func (s *Site) findable(doc vocab.DocID) error {
	if s.Has(doc) {
		return nil
	}
	return fmt.Errorf("document %d: %w", doc, web.ErrNotFound)
}

// pageAt is the page at a place, if it is one of the document.
func (s *Site) pageAt(doc vocab.DocID, place vocab.Place) (*vocab.Page, error) {
	r, err := s.repo.Read(place)
	if errors.Is(err, repository.ErrNoRecord) || errors.Is(err, fs.ErrNotExist) || err == nil && (r.Kind != repository.PageRecord || r.Page.Doc != doc) {
		return nil, fmt.Errorf("document %d at %s: %w", doc, place, web.ErrNotFound)
	}
	if err != nil {
		return nil, err
	}
	return &r.Page, nil
}

// shareBefore is the share of the repository's bytes that lies before a place.
func (s *Site) shareBefore(place vocab.Place) (float64, error) {
	files, err := filepath.Glob(filepath.Join(datadir.Repository(s.dir), "*.repo"))
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
