package indexer

import (
	"iter"

	"anatomy/vocab"
)

// A Document is a page taken apart. It owns its memory and never changes, so it can wait for
// the page to be stored and then be added to a [Batch].
type Document struct {
	Info     vocab.DocInfo // all but Place
	Links    []vocab.Link  // in the order of the page
	NoIndex  bool          // the page asks not to be shown in results
	NoFollow bool          // the page asks that its links not be followed; each of Links has the flag too
	Redirect string        // canonical URL of a meta refresh without delay; "" where there is none

	Canonical string   // another URL of this site that the page says is its own; "" where it says none, or this
	Related   []string // canonical URLs that the page states beside its text: of its canonical form, the next page, feeds

	key   string // of the URL, the order of documents
	words []byte // the folded words of hits, one after the other
	hits  []occurrence
}

// An occurrence is a word where it stands: the word ends at words[end] and begins where the
// one before it ended. Occurrences are in the order of [vocab.Hit.Before].
type occurrence struct {
	end uint32
	hit vocab.Hit
}

// Hits gives every word with its hit, body first, then title, meta and URL, each in its order.
// The word lasts as long as the document.
func (d *Document) Hits() iter.Seq2[[]byte, vocab.Hit] {
	return func(yield func([]byte, vocab.Hit) bool) {
		start := uint32(0)
		for _, o := range d.hits {
			if !yield(d.words[start:o.end:o.end], o.hit) {
				return
			}
			start = o.end
		}
	}
}

// Bytes is about how much memory the document takes.
func (d *Document) Bytes() int {
	n := len(d.Info.URL) + len(d.Info.Title) + len(d.Info.Description) + len(d.Info.Text) + len(d.words) + 8*len(d.hits) + 512
	for i := range d.Links {
		n += len(d.Links[i].Target) + len(d.Links[i].Text) + 40
	}
	for _, to := range d.Related {
		n += len(to) + 16
	}
	return n
}
