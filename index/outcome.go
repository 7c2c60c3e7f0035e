package index

import (
	"errors"
	"iter"

	"anatomy/disk/docindex"
	"anatomy/disk/linkdb"
	"anatomy/vocab"
)

// IsNotFound reports whether an outcome means that there is no page. Pages that may not or could
// not be fetched are still found by the texts of links to them (BP98 §2.2).
func IsNotFound(o vocab.Outcome) bool {
	return o == vocab.NotFound || o == vocab.NoName || o == vocab.Blocked
}

// AddOutcome adds a document that is not a page: an alias, not found, or known by its links alone.
func (b *Builder) AddOutcome(r *docindex.Record) {
	switch {
	case r.Fetch.Alias != 0:
		b.AddAlias(r.Doc, r.Fetch.Alias)
	case IsNotFound(r.Fetch.Outcome):
		b.AddNotFound(r.Doc)
	default:
		b.AddLinkedOnly(r.Doc)
	}
}

// IsStale reports whether the index does not know the outcome of a document that is not a page: set
// does not have it, or pages, the documents that segments show, still have the document. Pages
// themselves come from the repository.
func IsStale(r *docindex.Record, set *linkdb.Set, pages DocSet) bool {
	if r.Fetch == nil || r.Kind != vocab.PageTarget || r.IsPage() {
		return false
	}
	of, dropped := set.AliasOf(r.Doc)
	switch {
	case r.Fetch.Alias != 0:
		return of != r.Fetch.Alias
	case IsNotFound(r.Fetch.Outcome):
		return !dropped
	}
	return of != 0 || dropped || pages.Has(r.Doc) || set.NoIndex(r.Doc)
}

// Names returns Options.Names for a walk over the records of documents.
func Names(
	each func(from vocab.DocID, visit func(docindex.Record) error) error,
) func(from vocab.DocID) iter.Seq2[linkdb.Name, error] {
	return func(from vocab.DocID) iter.Seq2[linkdb.Name, error] {
		return func(yield func(linkdb.Name, error) bool) {
			stopped := errors.New("stopped")
			err := each(from, func(r docindex.Record) error {
				if !yield(linkdb.Name{Doc: r.Doc, URL: r.URL}, nil) {
					return stopped
				}
				return nil
			})
			if err != nil && err != stopped {
				yield(linkdb.Name{}, err)
			}
		}
	}
}
