package urlserver

import (
	"anatomy/disk/docindex"
	"anatomy/vocab"
)

// An overlay is a view of the document index as of when a batch is committed: the writes of the
// batch, and otherwise the index itself.
type overlay struct {
	db         *docindex.DB
	b          *docindex.Batch
	records    map[vocab.DocID]*docindex.Record
	contents   map[vocab.ContentID]vocab.DocID // canonical documents; 0 for deleted
	duplicates map[vocab.DocID][]vocab.DocID   // by canonical document
}

func newOverlay(db *docindex.DB, b *docindex.Batch) *overlay {
	return &overlay{
		db: db, b: b, records: map[vocab.DocID]*docindex.Record{},
		contents: map[vocab.ContentID]vocab.DocID{}, duplicates: map[vocab.DocID][]vocab.DocID{},
	}
}

func (o *overlay) record(doc vocab.DocID) (docindex.Record, bool, error) {
	if r := o.records[doc]; r != nil {
		return *r, true, nil
	}
	return o.db.Get(doc)
}

// byContent returns the canonical document of a body.
func (o *overlay) byContent(id vocab.ContentID) (vocab.DocID, bool, error) {
	if doc, ok := o.contents[id]; ok {
		return doc, doc != 0, nil
	}
	return o.db.ByContent(id)
}

// putContent makes doc the canonical document of a body, unless there is one.
func (o *overlay) putContent(id vocab.ContentID, doc vocab.DocID) error {
	_, ok, err := o.byContent(id)
	if err == nil && !ok {
		o.b.PutContent(id, doc)
		o.contents[id] = doc
	}
	return err
}

// deleteContent deletes the entry of a body if doc is its canonical document.
func (o *overlay) deleteContent(id vocab.ContentID, doc vocab.DocID) error {
	canonical, ok, err := o.byContent(id)
	if err == nil && ok && canonical == doc {
		o.b.DeleteContent(id)
		o.contents[id] = 0
	}
	return err
}

// duplicatesOf returns the duplicates of a document, first those of the batch, then those on disk.
func (o *overlay) duplicatesOf(doc vocab.DocID) ([]vocab.DocID, error) {
	docs := o.duplicates[doc]
	err := o.db.EachDuplicateOf(doc, func(d vocab.DocID) (bool, error) {
		docs = append(docs, d)
		return true, nil
	})
	return docs, err
}

// isStale reports whether a duplicate no longer has the body of its canonical document.
func (o *overlay) isStale(r *docindex.Record) (bool, error) {
	of, ok, err := o.record(r.Fetch.Alias)
	return !ok || !of.IsPage() || of.Fetch.Content != r.Fetch.Content, err
}
