package searcher

import (
	"cmp"
	"slices"

	"anatomy/disk/segment"
	"anatomy/searcher/query"
)

// A plan says how the matches of a query are found in one segment. Either every match holds one of some
// words, or every match holds all of some words; and it is where all of some cursors are.
type plan struct {
	any     []*lane // every match holds one of these words; no other word scores
	filters []cursor
	all     []*lane         // without any: every match holds these words,
	checks  []*phraseCursor // has their hits in this order,
	extra   []*lane         // and some hold these, which score
	none    bool            // nothing matches
}

// plan takes a query apart. What it does not know better becomes a filter.
func (w *walk) plan(root *query.Node) *plan {
	p := w.room.plans.one()
	if any, besides := w.anyOf(root); any != nil {
		for _, n := range besides {
			p.filters = append(p.filters, w.cursor(n))
		}
		p.any = w.room.lanesOf.take(len(w.lanes))[:0]
		for _, word := range any.Wanted() {
			for _, form := range append(word.Words[:1:1], word.Forms...) {
				if l := w.lane(form); l != nil && !slices.Contains(p.any, l) {
					p.any = append(p.any, l)
				}
			}
		}
		p.none = len(p.any) == 0
		return p
	}
	p.all, p.extra = w.room.lanesOf.take(len(w.lanes))[:0], w.room.lanesOf.take(len(w.lanes))[:0]
	w.require(p, root)
	for i := range w.terms.words {
		if l := w.lanes[i]; l != nil && !slices.Contains(p.all, l) {
			p.extra = append(p.extra, l)
		}
	}
	slices.SortStableFunc(p.all, func(a, b *lane) int { return cmp.Compare(a.cost(), b.cost()) })
	return p
}

// anyOf takes a query apart into one that isAny and filters that most pages pass, so that nothing is gained by asking
// them first. Any is nil where a query is not made so.
func (w *walk) anyOf(root *query.Node) (any *query.Node, besides []*query.Node) {
	if w.isAny(root) {
		return root, nil
	}
	if root.Op != query.And {
		return nil, nil
	}
	for _, kid := range root.Kids {
		switch {
		case kid.Op == query.Not || kid.Op == query.Only:
			besides = append(besides, kid)
		case any == nil && kid.Op == query.Or && w.isAny(kid):
			any = kid
		default:
			return nil, nil
		}
	}
	return any, besides
}

// isAny says whether a query is one word, or asks for one of several.
func (w *walk) isAny(n *query.Node) bool {
	if n.Op == query.Or {
		return !slices.ContainsFunc(n.Kids, func(kid *query.Node) bool { return kid.Op == query.Or || !w.isAny(kid) })
	}
	return n.Op == query.Words && n.In == query.Anywhere && len(n.Words) == 1
}

// require adds to a plan what matches of a node must have.
func (w *walk) require(p *plan, n *query.Node) {
	switch {
	case n.Op == query.And:
		for _, kid := range n.Kids {
			if !p.none {
				w.require(p, kid)
			}
		}
		return
	case n.Op != query.Words && n.Op != query.Near || listOf(n.In) != segment.Full || len(n.Forms) > 0:
		c := w.cursor(n)
		p.filters = append(p.filters, c)
		p.none = p.none || c.cost() == 0
		return
	}
	words := n.Words
	if n.Op == query.Near {
		words = wordsOf(n)
	}
	for _, word := range words {
		l := w.lane(word)
		if l == nil {
			p.none = true
			return
		}
		if !slices.Contains(p.all, l) {
			p.all = append(p.all, l)
		}
	}
	if n.Op == query.Words && len(n.Words) == 1 && n.In == query.Anywhere {
		return
	}
	cursors := map[string]*termCursor{}
	for _, word := range words {
		l := w.lane(word)
		cursors[word] = w.room.words.one()
		*cursors[word] = termCursor{walk: w, postings: l.postings, df: l.cost()}
	}
	p.checks = append(p.checks, newPhrase(n, cursors, w.room))
}

// lane is that of a word of the query, nil where the segment does not hold it.
func (w *walk) lane(word string) *lane { return w.lanes[slices.Index(w.terms.words, word)] }
