package retrieval

import (
	"cmp"
	"slices"

	"anatomy/disk/segment"
	"anatomy/searcher/query"
)

// selective is the number of documents in a segment for each that passes a filter from which on the filter is
// walked, and not the terms of a disjunction.
const selective = 16

// plan splits a query into the parts of a plan. Parts of no other kind become filters.
func (w *Walk) plan(root *query.Node) *plan {
	p := w.arena.plans.New()
	if anyOf, filters := w.splitDisjunction(root); anyOf != nil {
		p.disjunction(w, anyOf, filters)
	} else {
		p.conjunction(w, root)
	}
	return p
}

// splitDisjunction splits a query into a disjunction of terms and filters. Most documents pass
// these filters, so they are tested last. It returns nil for a query of another form, or for one of which
// few documents pass the filters.
func (w *Walk) splitDisjunction(root *query.Node) (anyOf *query.Node, filters []*query.Node) {
	kids := []*query.Node{root}
	if root.Op == query.And {
		kids = root.Kids
	}
	for _, kid := range kids {
		isGroup := kid.Op == query.Or || kid.Op == query.Most || len(kids) == 1
		switch {
		case kid.Op == query.Only && w.isSelective(kid.Filter):
			return nil, nil
		case kid.Op == query.Not || kid.Op == query.Only:
			filters = append(filters, kid)
		case anyOf == nil && isGroup && isDisjunction(kid):
			anyOf = kid
		default:
			return nil, nil
		}
	}
	return anyOf, filters
}

// isSelective reports whether it is known that few documents of the segment pass a filter.
func (w *Walk) isSelective(f query.Filter) bool {
	seg := w.part.Segment
	return f.Service && len(seg.Services()) < seg.Docs()/selective
}

// isDisjunction reports whether a query is a single term, or a disjunction of terms.
func isDisjunction(n *query.Node) bool {
	if n.Op == query.Or || n.Op == query.Most {
		return !slices.ContainsFunc(n.Kids, func(kid *query.Node) bool {
			return kid.Op == n.Op || !isDisjunction(kid)
		})
	}
	return n.Op == query.Words && n.In == query.Anywhere && len(n.Words) == 1
}

func (p *plan) disjunction(w *Walk, anyOf *query.Node, filters []*query.Node) {
	for _, n := range filters {
		p.filters = append(p.filters, w.Iterator(n))
	}
	p.anyOf = w.arena.scoring.Alloc(len(w.impacts))[:0]
	for _, n := range anyOf.PositiveWords() {
		if n.Function {
			continue
		}
		p.orTerm(w, n.Words[0])
		for _, term := range n.Forms {
			p.orTerm(w, term)
		}
		for _, a := range n.Accented { // pages with it have the word
			p.orTerm(w, a.Term)
		}
	}
	p.empty = len(p.anyOf) == 0
}

// orTerm adds a term to a disjunction, if the segment has it.
func (p *plan) orTerm(w *Walk, term string) {
	if it := w.impactsOf(term); it != nil && !slices.Contains(p.anyOf, it) {
		p.anyOf = append(p.anyOf, it)
	}
}

func (p *plan) conjunction(w *Walk, root *query.Node) {
	p.allOf = w.arena.scoring.Alloc(len(w.impacts))[:0]
	p.optional = w.arena.scoring.Alloc(len(w.impacts))[:0]
	p.require(w, root)
	for _, it := range w.impacts {
		if it != nil && it.step > 0 && !slices.Contains(p.allOf, it) {
			p.optional = append(p.optional, it)
		}
	}
	slices.SortStableFunc(p.allOf, func(a, b *impactIterator) int {
		return cmp.Compare(a.Cost(), b.Cost())
	})
}

// require adds the conditions that a node sets for every match.
func (p *plan) require(w *Walk, n *query.Node) {
	switch {
	case n.Op == query.And:
		for _, kid := range n.Kids {
			if !p.empty {
				p.require(w, kid)
			}
		}
		return
	case n.Op != query.Words && n.Op != query.Near || listOf(n.In) != segment.Full || len(n.Forms) > 0:
		it := w.Iterator(n)
		p.filters = append(p.filters, it)
		p.empty = p.empty || it.Cost() == 0
		return
	}
	terms := n.Words
	if n.Op == query.Near {
		terms = termsOf(n)
	}
	for _, term := range terms {
		it := w.impactsOf(term)
		if it == nil {
			p.empty = true
			return
		}
		if !slices.Contains(p.allOf, it) {
			p.allOf = append(p.allOf, it)
		}
	}
	if n.Op == query.Words && len(n.Words) == 1 && n.In == query.Anywhere {
		return
	}
	iterators := map[string]*termIterator{}
	for _, term := range terms {
		it := w.impactsOf(term)
		iterators[term] = w.arena.terms.New()
		*iterators[term] = termIterator{status: &w.status, postings: it.postings, df: it.Cost()}
	}
	p.phrases = append(p.phrases, newPhrase(n, iterators, &w.arena.scratch))
}

// impactsOf returns the iterator of a query term, or nil if the segment does not have it, or if a call
// of another machine lacks it among its terms.
func (w *Walk) impactsOf(term string) *impactIterator {
	if i := slices.Index(w.terms.Words, term); i >= 0 {
		return w.impacts[i]
	}
	return nil
}
