package searcher

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"anatomy/searcher/query"
	"anatomy/vocab"
	"anatomy/weburl"
)

// ErrNotIndexed says that a URL is not in the index.
var ErrNotIndexed = errors.New("searcher: not in the index")

// Explain scores the page at a URL for the query, preferences and rank vector of a request, whether it matches or not.
func (s *Searcher) Explain(ctx context.Context, req Request, url string) (*Explanation, error) {
	u, err := weburl.Parse(url)
	if err != nil {
		return nil, fmt.Errorf("searcher: explain %q: %w", url, err)
	}
	req.Ungrouped, req.Similar = false, 0
	req = req.bounded()
	q := query.Parse(req.Query)
	var e *Explanation
	err = s.again(func(snap *snapshot) error {
		snap, err := s.ranked(snap, req.Rank)
		if err != nil {
			return err
		}
		a := answer{snap: snap, w: &s.o.Weights, req: &req, name: q.Name, clock: &clock{ctx: ctx}, resp: &Response{}, countTo: s.o.CountTo, links: s.o.Links, room: &workspace{}}
		e, err = a.explainURL(q.Root, &u, s.o.Candidates)
		return err
	})
	return e, err
}

func (a *answer) explainURL(root *query.Node, u *weburl.URL, candidates int) (*Explanation, error) {
	i, ord, err := a.snap.find(u)
	if err != nil {
		return nil, err
	}
	root = a.wide(root)
	if err := cmp.Or(a.prepare(root), a.like()); err != nil {
		return nil, err
	}
	a.findHomes()
	info, err := a.snap.parts[i].seg.Info(ord)
	if err != nil {
		return nil, err
	}
	e, err := a.explain(i, ord, &info)
	if err != nil {
		return nil, err
	}
	w := newWalk(a.snap.parts[i], a.terms, nil, a.clock, a.room)
	e.Matches = root != nil && root.Positive() && w.cursor(root).advance(ord) == ord
	if w.err != nil || !e.Matches {
		return e, w.err
	}
	e.Folded, err = a.foldingOf(root, candidates, info.Doc)
	return e, err
}

// foldingOf says into which result a page is folded, nil if it stands for itself.
func (a *answer) foldingOf(root *query.Node, candidates int, doc vocab.DocID) (*Near, error) {
	found, n, err := a.find(root, a.k(candidates), candidates)
	if err != nil {
		return nil, err
	}
	if _, err := a.results(root, found, n, candidates); err != nil {
		return nil, err
	}
	f, ok := a.groups.folded[doc]
	if !ok {
		return nil, nil
	}
	info, err := a.snap.parts[f.into.part].seg.Record(f.into.ord)
	return &Near{f.into.doc, info.URL, f.distance}, err
}

// find looks a live document up by its URL.
func (snap *snapshot) find(u *weburl.URL) (part int, ord vocab.Ordinal, err error) {
	key := u.Key()
	for i, p := range slices.Backward(snap.parts) {
		from, to, err := p.seg.Range(key, key+"\x00")
		if err != nil {
			return 0, 0, err
		}
		for ord := from; ord < to; ord++ {
			if !p.dead.has(ord) {
				return i, ord, nil
			}
		}
	}
	return 0, 0, fmt.Errorf("%w: %s", ErrNotIndexed, u)
}

// explain scores a page once more and keeps account.
func (a *answer) explain(i int, ord vocab.Ordinal, info *vocab.DocInfo) (*Explanation, error) {
	p, err := a.reader(i).read(ord)
	if err != nil {
		return nil, err
	}
	e := &Explanation{URL: info.URL, Matches: true}
	for w, hits := range p.hits[:a.terms.bases] {
		if len(hits) == 0 {
			e.Missing = append(e.Missing, a.terms.words[w])
		}
	}
	p.rankDetail = a.rankDetail(info.Doc)
	t := tally{explain: true}
	newScorer(a.w, a.terms).score(p, &t)
	e.Score, e.Parts = t.sum, t.parts
	return e, nil
}

func (a *answer) rankDetail(doc vocab.DocID) string {
	if a.snap.vector == nil {
		return "no ranks are computed yet"
	}
	return fmt.Sprintf("%.3g times the average of %d pages, of at most %s points",
		a.snap.rankOf(doc)*float64(a.snap.ranked()), a.snap.ranked(), a.w.Rank)
}
