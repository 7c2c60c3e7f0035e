package retrieval

import (
	"anatomy/searcher/query"
	"anatomy/vocab"
)

// Collect collects the best documents of a segment and counts the matches of the query. It fails
// with the first error of an iterator; the documents and the count up to then are valid.
func (w *Walk) Collect(root *query.Node, c *Collector) error {
	before := c.count
	for _, it := range w.impacts {
		if it != nil {
			it.postings.Rewind()
		}
	}
	switch p := w.plan(root); {
	case p.empty:
	case len(p.anyOf) > 0:
		runDisjunction(w, p, c)
		w.raiseCount(p, c, before)
	default:
		runConjunction(w, p, c)
	}
	return w.err
}

// raiseCount raises the count of a disjunction that skipped documents to the highest document
// frequency of its terms, which is a lower bound.
func (w *Walk) raiseCount(p *plan, c *Collector, before int) {
	if !c.skipped || len(p.filters) > 0 || w.part.Dead != nil || w.err != nil || w.clock.over {
		return
	}
	for _, it := range p.anyOf {
		c.count = max(c.count, before+it.Cost())
	}
	c.skipped = len(p.anyOf) > 1
}

// Count counts the live matches of a query, up to enough. It stops when time is up.
func (w *Walk) Count(root *query.Node, enough int) (n int) {
	if enough > 0 {
		w.Each(root, func(vocab.Ordinal) bool {
			n++
			return n < enough
		})
	}
	return n
}

// Each calls fn with each live match of a query in order, until it returns false or the time is over.
func (w *Walk) Each(root *query.Node, fn func(vocab.Ordinal) bool) {
	it := w.Iterator(root)
	if it.Cost() == 0 {
		return
	}
	for ord := it.Advance(0); ord != End && !w.clock.Tick(); ord = it.Advance(ord + 1) {
		if !w.part.Dead.Has(ord) && !fn(ord) {
			return
		}
	}
}

// Matches reports whether a document matches the query.
func (w *Walk) Matches(root *query.Node, ord vocab.Ordinal) bool {
	return w.Iterator(root).Advance(ord) == ord
}
