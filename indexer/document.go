package indexer

import (
	"iter"
	"slices"

	"anatomy/vocab"
)

// A Document is a page taken apart. It owns its memory and never changes, so it can wait for
// the page to be stored and then be added to a [Batch].
type Document struct {
	Info     vocab.DocInfo // all but Place
	Links    []vocab.Link  // in the order of the page
	Targets  []OutlineLink // what they lead to, most of them once, until Resolve
	NoIndex  bool          // the page asks not to be shown in results
	NoFollow bool          // the page asks that its links not be followed; each of Links has the flag too
	Redirect string        // canonical URL of a meta refresh without delay; "" where there is none

	Canonical string   // another URL of this site that the page says is its own; "" where it says none, or this
	Related   []string // canonical URLs that the page states beside its text: of its canonical form, the next page, feeds

	to    []uint32 // of each of Links, its number in Targets
	key   string   // of the URL, the order of documents
	words wordList
	hits  []occurrence
}

// An occurrence is a word, by its number among those of the document, where it stands. Occurrences are in the
// order of [vocab.Hit.Before].
type occurrence struct {
	word uint32
	hit  vocab.Hit
}

// A wordList is the different words of a document in the order of their first coming, one after the other.
type wordList struct {
	text   []byte
	ends   []uint32 // of each in text
	hashes []uint64
}

func (l *wordList) clone() wordList {
	return wordList{slices.Clone(l.text), slices.Clone(l.ends), slices.Clone(l.hashes)}
}

func (l *wordList) word(number uint32) []byte {
	start := uint32(0)
	if number > 0 {
		start = l.ends[number-1]
	}
	return l.text[start:l.ends[number]:l.ends[number]]
}

// Hits gives every word with its hit, body first, then title, meta, URL and parts, each in its order.
// The word lasts as long as the document.
func (d *Document) Hits() iter.Seq2[[]byte, vocab.Hit] {
	return func(yield func([]byte, vocab.Hit) bool) {
		for _, o := range d.hits {
			if !yield(d.words.word(o.word), o.hit) {
				return
			}
		}
	}
}

// Resolve gives the docIDs of Links, of which it drops those that have none, from those of Targets, 0 for none. It lets go
// of Targets.
func (d *Document) Resolve(docs []vocab.DocID) []vocab.DocID {
	kept, targets := d.Links[:0], make([]vocab.DocID, 0, len(d.Links))
	for i, l := range d.Links {
		if to := d.to[i]; int(to) < len(docs) && docs[to] != 0 {
			kept, targets = append(kept, l), append(targets, docs[to])
		}
	}
	d.Links, d.Targets, d.to = kept, nil, nil
	return targets
}

// Bytes is about how much memory the document takes.
func (d *Document) Bytes() int {
	n := len(d.Info.URL) + len(d.Info.Title) + len(d.Info.Description) + len(d.Info.Text) + len(d.words.text) + 12*len(d.words.ends) + 8*len(d.hits) + 512
	for i := range d.Links {
		n += len(d.Links[i].Target) + len(d.Links[i].Text) + 40
	}
	for _, to := range d.Related {
		n += len(to) + 16
	}
	return n
}
