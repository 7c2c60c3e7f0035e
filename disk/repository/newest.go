package repository

import (
	"context"
	"errors"
	"time"

	"anatomy/vocab"
)

// Newest calls fn with the newest record of each of the documents that has one. It reads the entire
// repository. The record of a duplicate becomes a page with the body of its canonical document.
func (r *Reader) Newest(
	ctx context.Context, docs []vocab.DocID,
) (map[vocab.DocID]*Record, error) {
	type version struct {
		at      vocab.Address
		fetched time.Time
	}
	newest := map[vocab.DocID]version{}
	for _, doc := range docs {
		newest[doc] = version{}
	}
	originals := map[vocab.DocID]version{}
	scan := func(among map[vocab.DocID]version, pages bool) error {
		err := r.Scan(0, func(at vocab.Address, record *Record) error {
			was, ok := among[record.Page.Doc]
			if ok && !record.Page.Fetched.Before(was.fetched) && (!pages || record.Kind == PageRecord) {
				among[record.Page.Doc] = version{at, record.Page.Fetched}
			}
			return ctx.Err()
		})
		if errors.As(err, new(*DamageError)) {
			err = nil // check reports it; all readable records were read
		}
		return err
	}
	if err := scan(newest, false); err != nil {
		return nil, err
	}
	kept := map[vocab.DocID]*Record{}
	for doc, v := range newest {
		if v.at == 0 {
			continue
		}
		record, err := r.Read(v.at)
		if err != nil {
			continue
		}
		if kept[doc] = &record; record.Kind == DuplicateRecord {
			originals[record.Of] = version{}
		}
	}
	if len(originals) == 0 {
		return kept, nil
	}
	if err := scan(originals, true); err != nil {
		return nil, err
	}
	for doc, record := range kept {
		if record.Kind != DuplicateRecord {
			continue
		}
		original, err := r.Read(originals[record.Of].at)
		if originals[record.Of].at == 0 || err != nil {
			delete(kept, doc)
			continue
		}
		page := original.Page
		page.Doc, page.URL, page.Fetched = doc, record.Page.URL, record.Page.Fetched
		*record = Record{Kind: PageRecord, Page: page}
	}
	return kept, nil
}
