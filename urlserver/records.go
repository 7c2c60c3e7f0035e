package urlserver

import (
	"slices"

	"anatomy/disk/docindex"
	"anatomy/vocab"
	"anatomy/weburl"
)

// records reads the document index without the lock.
type records struct{ db *docindex.DB }

// Get returns the record of a document.
func (rs records) Get(doc vocab.DocID) (docindex.Record, bool, error) { return rs.db.Get(doc) }

// Lookup returns the record of a URL with either scheme.
func (rs records) Lookup(u weburl.URL) (docindex.Record, bool, error) {
	doc, _, ok, err := rs.db.Find(u.Fingerprint())
	if !ok || err != nil {
		return docindex.Record{}, false, err
	}
	return rs.db.Get(doc)
}

// Find returns the document of a URL, see docindex.DB.Find.
func (rs records) Find(fp vocab.Fingerprint) (doc vocab.DocID, noFollowed, ok bool, err error) {
	return rs.db.Find(fp)
}

// Host returns the record of a host, see docindex.DB.Host.
func (rs records) Host(name string) (docindex.HostRecord, error) { return rs.db.Host(name) }

// Site returns the usage of a site, see docindex.DB.Site.
func (rs records) Site(name string) (docindex.SiteUsage, error) { return rs.db.Site(name) }

// ByContent returns the canonical document of a body.
func (rs records) ByContent(id vocab.ContentID) (vocab.DocID, bool, error) {
	return rs.db.ByContent(id)
}

// Each calls fn for the records from docID from on, in order.
func (rs records) Each(from vocab.DocID, fn func(docindex.Record) error) error {
	return rs.db.Each(from, fn)
}

// EachDuplicate calls fn for all duplicates, ordered by their canonical documents, until it returns
// false.
func (rs records) EachDuplicate(fn func(of, doc vocab.DocID) (bool, error)) error {
	return rs.db.EachDuplicate(fn)
}

// Canonical follows redirects and duplicates from doc to their canonical document. For a cycle of
// redirects it returns the least docID.
func (rs records) Canonical(doc vocab.DocID) (vocab.DocID, error) {
	path := []vocab.DocID{doc}
	for len(path) <= 2*maxRedirects {
		r, ok, err := rs.db.Get(doc)
		if err != nil {
			return 0, err
		}
		if !ok || r.Fetch == nil || r.Fetch.Alias == 0 {
			return doc, nil
		}
		doc = r.Fetch.Alias
		if i := slices.Index(path, doc); i >= 0 {
			return slices.Min(path[i:]), nil
		}
		path = append(path, doc)
	}
	return doc, nil
}

// Checkpoint copies the document index as it is now, see docindex.DB.Checkpoint.
func (rs records) Checkpoint(dir string) error { return rs.db.Checkpoint(dir) }

// Changes returns a number that grows with the document index, see docindex.Changes.
func (rs records) Changes() uint64 { return docindex.Changes(rs.db) }

// Check compares the tables of the document index with one another, see docindex.DB.Check. No other
// method may run.
func (rs records) Check(report func(problem string)) error { return rs.db.Check(report) }
