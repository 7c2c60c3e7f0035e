package shard

import (
	"slices"

	"anatomy/searcher/internal/facets"
	"anatomy/searcher/internal/retrieval"
	"anatomy/searcher/query"
	"anatomy/searcher/scoring"
	"anatomy/vocab"
)

// A FirstRequest asks for the best pages of the first phase.
type FirstRequest struct {
	Root    *query.Node
	Terms   retrieval.Terms // the open words, with the points per unit of impact
	K       int             // pages
	CountTo int             // number of matches that are counted exactly
}

// A FirstAnswer has the best pages of one shard or of all, in order, and the number of matches.
type FirstAnswer struct {
	Pages []scoring.Candidate
	Total int
	Exact bool
}

// Collect answers a FirstRequest. Pages of equal score are in the order of their URLs.
func (q *Query) Collect(r FirstRequest) (FirstAnswer, error) {
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
	return yes, w.Err()
}

// Count returns the number of documents that match a query, at most enough.
func (q *Query) Count(root *query.Node, enough int) (n int) {
	for _, part := range q.snap.Parts {
		if n += q.walk(part).Count(root, enough-n); n == enough {
			break
		}
	}
	return n
}

// Tally counts the pages that match a query by kinds. If time runs out the tally is partial, and not
// the query.
func (q *Query) Tally(root *query.Node, kinds []facets.Kind) (*facets.Tally, error) {
	t, clock := facets.NewTally(), q.clock.Copy()
	for _, part := range q.snap.Parts {
		w := q.arena.retrieval.Walk(&part.Part, retrieval.Terms{}, nil, clock)
		if err := t.Count(w, root, kinds, clock); err != nil {
			if err := q.Unreadable(part, err, nil); err != nil {
				return nil, err
			}
		}
	}
	return t, nil
}
