package searcher

import (
	"context"
	"fmt"
	"slices"

	"anatomy/vocab"
	"anatomy/weburl"
)

// Document is what the index keeps of a document, its text too. The error is ErrNotIndexed where it
// cannot be found.
func (s *Searcher) Document(ctx context.Context, doc vocab.DocID) (info vocab.DocInfo, err error) {
	err = s.again(func(snap *snapshot) error {
		for _, p := range slices.Backward(snap.parts) {
			if ord, ok := p.seg.Ordinal(doc); ok && !p.dead.has(ord) {
				info, err = p.seg.Info(ord)
				return err
			}
		}
		return fmt.Errorf("searcher: document %d: %w", doc, ErrNotIndexed)
	})
	return info, err
}

// Has says whether a document can be found.
func (s *Searcher) Has(doc vocab.DocID) (yes bool) {
	snap := s.acquire()
	defer s.release(snap)
	return slices.ContainsFunc(snap.parts, func(p *part) bool {
		ord, ok := p.seg.Ordinal(doc)
		return ok && !p.dead.has(ord)
	})
}

// Find is the document of a URL. The error is ErrNotIndexed where it cannot be found.
func (s *Searcher) Find(ctx context.Context, url string) (doc vocab.DocID, err error) {
	u, err := weburl.Parse(url)
	if err != nil {
		return 0, fmt.Errorf("searcher: find %q: %w", url, err)
	}
	err = s.again(func(snap *snapshot) error {
		part, ord, err := snap.find(&u)
		if err == nil {
			doc = snap.parts[part].seg.Doc(ord)
		}
		return err
	})
	return doc, err
}
