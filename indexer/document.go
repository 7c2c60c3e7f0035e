package indexer

import (
	"iter"

	"anatomy/vocab"
)

// A Document is a parsed page. It owns its memory and does not change until Resolve, so it can wait
// for the page to be stored and then be added to a [Batch].
type Document struct {
	Info     vocab.DocInfo // all but Address
	Links    []vocab.Link  // in the order of the page
	Targets  []OutlineLink // the targets of Links, most of them once; nil after Resolve
	NoIndex  bool          // robots directive: not in results
	NoFollow bool          // robots directive: follow no links; each of Links has the flag too
	Redirect string        // canonical URL of a meta refresh without delay, or ""

	Canonical string   // URL on this site that the page states as its own, or "" if that is URL or none
	Related   []string // canonical URLs of the page's other forms, neighbours and feeds
	Icon      string   // canonical URL of the icon of its site; "" if it names none

	Sample vocab.TextSample // the same as that of the page's Outline

	to    []uint32 // index in Targets of each of Links
	key   string   // of the URL, by which documents are sorted
	terms termList
	hits  []occurrence // in the order of [vocab.Hit.Before]
}

// Hits yields every hit with its term: body, title, meta, URL and parts, each in its order. The
// term is valid as long as the document.
func (d *Document) Hits() iter.Seq2[[]byte, vocab.Hit] {
	return func(yield func([]byte, vocab.Hit) bool) {
		for _, o := range d.hits {
			if !yield(d.terms.term(o.term), o.hit) {
				return
			}
		}
	}
}

// TargetOf returns the index in Targets of the target of Links[i].
func (d *Document) TargetOf(i int) int { return int(d.to[i]) }

// TargetTexts returns for each of Targets the text of the first of Links to it that has one.
func (d *Document) TargetTexts() []string {
	texts := make([]string, len(d.Targets))
	for i := range d.Links {
		if text := &texts[d.TargetOf(i)]; *text == "" {
			*text = d.Links[i].Text
		}
	}
	return texts
}

// Resolve returns the docID of each of Links. docs are the docIDs of Targets, with 0 for a target
// that has none. Resolve drops the links to such targets, and sets Targets to nil.
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

// Bytes returns the approximate memory of the document.
func (d *Document) Bytes() int {
	n := len(d.Info.URL) + len(d.Info.Title) + len(d.Info.Description) + len(d.Info.Text) + len(d.terms.text) + 12*len(d.terms.ends) + 8*len(d.hits) + 512
	for i := range d.Links {
		n += len(d.Links[i].Target) + len(d.Links[i].Text) + 40
	}
	for _, to := range d.Related {
		n += len(to) + 16
	}
	return n
}
