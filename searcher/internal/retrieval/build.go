package retrieval

import (
	"cmp"
	"slices"

	"anatomy/disk/segment"
	"anatomy/searcher/query"
	"anatomy/vocab"
)

// Iterator returns an iterator over the matches of a node, with posting iterators of its own. It
// may match dead documents.
func (w *Walk) Iterator(n *query.Node) Iterator {
	switch n.Op {
	case query.Words, query.Near:
		return w.words(n)
	case query.Site:
		return w.Site(n.Site)
	case query.Only:
		if n.Filter.Label.Value != "" {
			return w.label(n)
		}
		if n.Filter.Service {
			return &docsIterator{ordinals: w.part.Segment.Services()}
		}
		return newFilter(w.part.Segment, n.Filter, w.clock)
	case query.Pages:
		return newDocs(w.part, n.Docs)
	case query.And:
		return w.and(n.Kids)
	case query.Or, query.Most:
		it := &orIterator{clock: w.clock, kids: w.arena.iterators.Alloc(len(n.Kids))[:0]}
		for _, kid := range n.Kids {
			if !kid.Function {
				it.kids = append(it.kids, w.Iterator(kid))
			}
		}
		return it
	}
	docs := vocab.Ordinal(w.part.Segment.Docs())
	return &notIterator{kid: w.Iterator(n.Kids[0]), docs: docs, clock: w.clock}
}

// label returns the iterator of the pages that state a label or are of the sites that have it.
func (w *Walk) label(n *query.Node) Iterator {
	stated := w.open(segment.Full, n.Filter.Label.Term())
	if len(n.Kids) == 0 {
		return stated
	}
	it := &orIterator{clock: w.clock, kids: w.arena.iterators.Alloc(1 + len(n.Kids))[:0]}
	it.kids = append(it.kids, stated)
	for _, kid := range n.Kids {
		it.kids = append(it.kids, w.Iterator(kid))
	}
	return it
}

func (w *Walk) and(nodes []*query.Node) Iterator {
	it := &andIterator{clock: w.clock, kids: w.arena.iterators.Alloc(len(nodes))[:0]}
	for _, n := range nodes {
		kid := w.Iterator(n)
		if kid.Cost() == 0 {
			return kid
		}
		it.kids = append(it.kids, kid)
	}
	slices.SortStableFunc(it.kids, func(a, b Iterator) int { return cmp.Compare(a.Cost(), b.Cost()) })
	return it
}

// words returns the iterator of a term with its forms, a phrase, or phrases near each other.
func (w *Walk) words(n *query.Node) Iterator {
	switch {
	case len(n.Forms) > 0:
		it := &orIterator{clock: w.clock, kids: w.arena.iterators.Alloc(1 + len(n.Forms))[:0]}
		it.kids = append(it.kids, w.term(n.Words[0], n.In))
		for _, form := range n.Forms {
			it.kids = append(it.kids, w.term(form, n.In))
		}
		return it
	case n.Op == query.Words && len(n.Words) == 1:
		return w.term(n.Words[0], n.In)
	}
	opened := map[string]*termIterator{} // one iterator per distinct term
	for _, term := range termsOf(n) {
		if opened[term] == nil {
			it := w.open(listOf(n.In), term)
			if it.df == 0 {
				return it
			}
			opened[term] = it
		}
	}
	return newPhrase(n, opened, &w.arena.scratch)
}

// term returns the iterator of a term in a field.
func (w *Walk) term(term string, in query.Field) Iterator {
	it := w.open(listOf(in), term)
	if it.df == 0 || in == query.Anywhere {
		return it
	}
	n := &query.Node{Words: []string{term}, In: in}
	return newPhrase(n, map[string]*termIterator{term: it}, &w.arena.scratch)
}

// open returns an iterator over a posting list. It is exhausted if the segment does not have the
// term. The lists of scoring terms are already open; for function words that do not score, only the
// short lists may be.
func (w *Walk) open(list segment.List, term string) *termIterator {
	it := w.arena.terms.New()
	i := slices.Index(w.terms.Words, term)
	if list == segment.Full && i >= 0 && i < len(w.impacts) && w.impacts[i] != nil && w.terms.Steps[i] > 0 {
		p := w.arena.postings()
		w.impacts[i].postings.CopyTo(p)
		*it = termIterator{status: &w.status, postings: p, df: p.DF()}
		return it
	}
	p, err := w.arena.Open(w.part.Segment, list, term)
	w.fail(err)
	if err != nil || p == nil {
		*it = termIterator{status: &w.status, at: End, started: true}
	} else {
		*it = termIterator{status: &w.status, postings: p, df: p.DF()}
	}
	return it
}

// listOf returns the list with the hits of a field: the short list has titles, URLs and anchor
// texts, the full list has all hits (BP98 §4.2.7).
func listOf(in query.Field) segment.List {
	if in == query.InTitle || in == query.InURL || in == query.InAnchor {
		return segment.Short
	}
	return segment.Full
}
