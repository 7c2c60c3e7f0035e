package scoring

import (
	"slices"

	"anatomy/analysis"
	"anatomy/disk/segment"
	"anatomy/vocab"
)

// A Page has all inputs of the score of one page.
type Page struct {
	Hits    [][]vocab.Hit        // by term, sorted by [vocab.Hit.Before]; empty if the page lacks it
	inexact [vocab.Fields]uint64 // by field: bitmap of own terms of which it only has forms

	Title    segment.Title    // its length and checksums
	Words    int64            // of the body
	Average  int64            // average number of words in the bodies of all pages
	Language segment.Language // 0 if unknown
	Genre    vocab.Genre
	Service  bool // it defines a web service
	Depth    int  // depth of the URL
	Crawled  bool

	Rank       Bonus // for PageRank
	Home       Bonus // for the home page of a host that the query spells
	Related    Bonus // for a page of related:
	Preference Bonus // for the preferences of the person who searches
	NamedSite  Bonus // for a site that the query names
}

// A Bonus is points that do not depend on hits.
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

// MergeForms adds the hits of forms to those of their base term, and clears them.
func (p *Page) MergeForms(t *Terms) {
	p.inexact = [vocab.Fields]uint64{}
	for i := t.Own; i < t.Forms; i++ {
		// Forms of single characters are words that contain them, and count as exact.
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

// fieldsOf returns the fields that have hits.
func fieldsOf(hits []vocab.Hit) (has [vocab.Fields]bool) {
	for _, hit := range hits {
		has[hit.Field()] = true
	}
	return has
}

// mergeHits merges two sorted lists of hits.
func mergeHits(hits, more []vocab.Hit) []vocab.Hit {
	i, k := len(hits), len(more)
	hits = append(hits, more...)
	for i > 0 && k > 0 { // backward, because there is room at the end
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

// Clone returns a copy of p with its own hits.
func (p *Page) Clone() Page {
	clone := *p
	clone.Hits = make([][]vocab.Hit, len(p.Hits))
	for i, hits := range p.Hits {
		clone.Hits[i] = slices.Clone(hits)
	}
	return clone
}
