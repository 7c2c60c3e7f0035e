package shard

import (
	"slices"

	"anatomy/disk/segment"
	"anatomy/searcher/internal/facets"
	"anatomy/searcher/internal/retrieval"
	"anatomy/searcher/internal/snapshot"
	"anatomy/searcher/query"
	"anatomy/searcher/scoring"
	"anatomy/vocab"
)

// Collect answers a FirstRequest. Pages of equal score are in the order of their URLs.
func (q *Query) Collect(r FirstRequest) (FirstAnswer, error) {
	if q.remote != nil && !mayMatch(q.snap, r.Root) {
		return FirstAnswer{Exact: true}, nil
	}
	if q.here() {
		if a, err := q.collect(r); !q.asks(err) {
			return a, err
		}
	}
	return q.collectRemotely(r), nil
}

func (q *Query) collect(r FirstRequest) (FirstAnswer, error) {
	a := FirstAnswer{Exact: true}
	threshold := uint32(0)
	for i, part := range q.snap.Parts {
		c := q.arena.retrieval.Collector(r.K, threshold, a.Total, r.CountTo)
		w := q.arena.retrieval.Walk(&part.Part, r.Terms, q.lists[i], q.clock)
		if err := w.Collect(r.Root, c); err != nil {
			if err := q.Unreadable(part, err, nil); err != nil {
				return FirstAnswer{}, err
			}
		}
		var allCounted bool
		a.Total, allCounted = c.Count()
		a.Exact = a.Exact && allCounted
		matches := c.Matches()
		a.Pages = append(q.arena.shown.Candidates.Alloc(len(a.Pages) + len(matches))[:0], a.Pages...)
		for _, m := range matches {
			ord := m.Ordinal()
			a.Pages = append(a.Pages, scoring.Candidate{First: m.Score(), Doc: part.DocIDOf(ord), Part: i, Ord: ord})
		}
		if i > 0 {
			slices.SortFunc(a.Pages, q.snap.ByFirst)
		}
		if len(a.Pages) >= r.K {
			a.Pages = a.Pages[:r.K]
			threshold = a.Pages[r.K-1].First
		}
	}
	return a, nil
}

// Matches reports whether a document matches a query.
func (q *Query) Matches(root *query.Node, part int, ord vocab.Ordinal) (bool, error) {
	w := q.walk(q.snap.Parts[part])
	yes := w.Matches(root, ord)
	if q.asks(w.Err()) {
		return q.send(&Call{Match: &matchCall{nodeFor(root, q.snap.Base), place{uint32(part), uint32(ord)}}}).Yes, nil
	}
	return yes, w.Err()
}

// Count returns the number of documents that match a query, at most enough.
func (q *Query) Count(root *query.Node, enough int) (n int) {
	if q.remote != nil && !mayMatch(q.snap, root) {
		return 0
	}
	for _, part := range q.snap.Parts {
		w := q.walk(part)
		n += w.Count(root, enough-n)
		if q.asks(w.Err()) {
			return min(q.send(&Call{Count: &countCall{nodeFor(root, q.snap.Base), enough}}).N, enough)
		}
		if n == enough {
			break
		}
	}
	return n
}

// Tally counts the pages that match a query by kinds. If time runs out the tally is partial, and not
// the query.
func (q *Query) Tally(root *query.Node, kinds []facets.Kind, labels []*query.Node) (*facets.Tally, error) {
	if q.remote != nil && !mayMatch(q.snap, root) {
		return facets.NewTally(), nil
	}
	t, err := q.tally(root, kinds, labels)
	if q.asks(err) {
		return q.send(&Call{Tally: &tallyCall{nodeFor(root, q.snap.Base), kinds, labels}}).Tally.Tally(), nil
	}
	return t, err
}

func (q *Query) tally(root *query.Node, kinds []facets.Kind, labels []*query.Node) (*facets.Tally, error) {
	t, clock := facets.NewTally(), q.clock.Copy()
	for _, part := range q.snap.Parts {
		w := q.arena.retrieval.Walk(&part.Part, retrieval.Terms{}, nil, clock)
		if err := t.Count(w, root, kinds, labels, clock); err != nil {
			if err := q.Unreadable(part, err, nil); err != nil {
				return nil, err
			}
		}
	}
	return t, nil
}

func (q *Query) collectRemotely(r FirstRequest) (a FirstAnswer) {
	reply := q.send(&Call{Collect: &collectCall{nodeFor(r.Root, q.snap.Base), r.K, r.CountTo}})
	if !q.check(len(reply.First) == len(reply.Places) && len(reply.Places) <= r.K && has(q.snap, reply.Places)) {
		return a
	}
	a.Total, a.Exact = reply.N, reply.Yes
	for i, at := range reply.Places {
		a.Pages = append(a.Pages, candidateAt(q.snap, at, reply.First[i]))
	}
	return a
}

// mayMatch reports whether a document of the shard may match a query, by the dictionary: the shard has
// the words that each match needs.
func mayMatch(snap *snapshot.Snapshot, n *query.Node) bool {
	has := func(term string) bool { return hasTerm(snap, term) }
	switch n.Op {
	case query.Words:
		if len(n.Forms) > 0 {
			return has(n.Words[0]) || slices.ContainsFunc(n.Forms, has)
		}
		return !slices.ContainsFunc(n.Words, func(word string) bool { return !has(word) })
	case query.And, query.Near:
		return !slices.ContainsFunc(n.Kids, func(kid *query.Node) bool { return !mayMatch(snap, kid) })
	case query.Or, query.Most:
		return slices.ContainsFunc(n.Kids, func(kid *query.Node) bool { return !kid.Function && mayMatch(snap, kid) })
	}
	return true
}

// hasTerm reports whether the shard has a term, or its dictionary cannot be read.
func hasTerm(snap *snapshot.Snapshot, term string) bool {
	return slices.ContainsFunc(snap.Parts, func(part *snapshot.Part) bool {
		n, err := part.Segment.DF(segment.Full, []byte(term))
		return n > 0 || err != nil
	})
}
