package scoring

import (
	"slices"

	"anatomy/analysis"
	"anatomy/disk/segment"
	"anatomy/vocab"
)

// A Page is everything that the score of one page is computed from.
type Page struct {
	Hits    [][]vocab.Hit        // by term, sorted by [vocab.Hit.Before]; empty if the page lacks it
	inexact [vocab.Fields]uint64 // bitmap of own terms of which a field has only forms

	Title    segment.Title    // its length and checksums
	Words    int64            // of the body
	Average  int64            // words of the bodies of all pages
	Language segment.Language // 0 if unknown
	Genre    vocab.Genre
	Service  bool // it defines a web service
	Depth    int  // of the URL
	Crawled  bool

	Rank       Bonus // for PageRank
	Home       Bonus // for the home page of a host that the query spells
	Related    Bonus // for a page of related:
	Preference Bonus // for the preferences of the person who searches
}

// A Bonus is points that a page gets whatever its hits are.
type Bonus struct {
	Score  Score
	Detail string // for an explanation
}

// Drop removes the hits of some types.
func (p *Page) Drop(types HitTypes) {
	if types == 0 {
		return
	}
	for i, hits := range p.Hits {
		p.Hits[i] = slices.DeleteFunc(hits, func(h vocab.Hit) bool { return types>>h.Type()&1 != 0 })
	}
}

// MergeForms adds the hits of forms to those of their base, and clears them.
func (p *Page) MergeForms(t *Terms) {
	p.inexact = [vocab.Fields]uint64{}
	for i := t.Own; i < t.Forms; i++ {
		// the forms of single characters are words that contain them, which are as good
		if base := t.Base[i]; len(p.Hits[i]) > 0 && !analysis.IsUnigram(t.Words[base]) {
			exact := fieldsOf(p.Hits[base])
			for f, has := range fieldsOf(p.Hits[i]) {
				if has && !exact[f] {
					p.inexact[f] |= 1 << base
				}
			}
		}
	}
	for i := t.Own; i < t.Forms; i++ {
		base := t.Base[i]
		p.Hits[base], p.Hits[i] = mergeHits(p.Hits[base], p.Hits[i]), p.Hits[i][:0]
	}
}

// fieldsOf returns the fields that hits are in.
func fieldsOf(hits []vocab.Hit) (has [vocab.Fields]bool) {
	for _, hit := range hits {
		has[hit.Field()] = true
	}
	return has
}

// mergeHits merges more hits into some; both are sorted.
func mergeHits(hits, more []vocab.Hit) []vocab.Hit {
	i, k := len(hits), len(more)
	hits = append(hits, more...)
	for i > 0 && k > 0 { // from the end, where there is room
		if more[k-1].Before(hits[i-1]) {
			hits[i+k-1] = hits[i-1]
			i--
		} else {
			hits[i+k-1] = more[k-1]
			k--
		}
	}
	copy(hits, more[:k])
	return hits
}

// Clone returns a copy of p with hits of its own.
func (p *Page) Clone() Page {
	clone := *p
	clone.Hits = make([][]vocab.Hit, len(p.Hits))
	for i, hits := range p.Hits {
		clone.Hits[i] = slices.Clone(hits)
	}
	return clone
}
