package indexer

import (
	"github.com/cespare/xxhash/v2"

	"anatomy/analysis"
)

// accents are the words of a page with accents, kept until it is known whether the page is in
// Vietnamese.
type accents struct {
	text  []byte // the words in a row
	words []accentedWord
	term  []byte
}

// An accentedWord is a word that ends at text[:end], the source of a hit of the page.
type accentedWord struct{ end, hit int }

func (a *accents) reset() { *a = accents{a.text[:0], a.words[:0], a.term} }

func (a *accents) add(word []byte, hit int) {
	a.text = append(a.text, word...)
	a.words = append(a.words, accentedWord{len(a.text), hit})
}

// areVietnamese reports whether a third of the words have letters that only Vietnamese has. Of
// Vietnamese text two thirds do.
func (a *accents) areVietnamese() bool {
	if !analysis.IsVietnamese(a.text) {
		return false
	}
	n, from := 0, 0
	for _, w := range a.words {
		if analysis.IsVietnamese(a.text[from:w.end]) {
			n++
		}
		from = w.end
	}
	return 3*n >= len(a.words)
}

// appendHits appends the hits of the accented terms of a page in Vietnamese, at the positions of their
// words.
func (a *accents) appendHits(hits []occurrence, terms *termTable) []occurrence {
	if !a.areVietnamese() {
		return hits
	}
	from := 0
	for _, w := range a.words {
		a.term = analysis.AppendAccented(a.term[:0], a.text[from:w.end])
		if len(a.term) > 0 {
			hits = append(hits, occurrence{terms.number(a.term, xxhash.Sum64(a.term)), hits[w.hit].hit})
		}
		from = w.end
	}
	return hits
}
