package searcher

import (
	"cmp"
	"context"
	"slices"

	"anatomy/searcher/query"
	"anatomy/vocab"
)

// A Trial is a query with the pages that its first phase chose, and all of them that their exact scores
// are made of: other weights can be tried on it without the index. It is for one goroutine.
type Trial struct {
	terms *terms
	pages []trialPage
	order []vocab.DocID // that of the last weights
}

type trialPage struct {
	page
	doc   vocab.DocID
	share float64 // of all rank
	score Score
}

// Trial runs the first phase of a query. The order of pages under the Searcher's own weights is the order
// of its results, as far as its candidates go.
func (s *Searcher) Trial(ctx context.Context, text string) (t *Trial, err error) {
	q := query.Parse(text)
	root := q.Root
	err = s.again(func(snap *snapshot) error {
		t = &Trial{}
		a := answer{snap: snap, w: &s.o.Weights, req: &Request{Query: text}, name: q.Name, clock: &clock{ctx: ctx}, resp: &Response{}, countTo: s.o.CountTo, links: s.o.Links, room: &workspace{}}
		if a.unanswerable(root) != "" {
			return nil
		}
		root := a.wide(root)
		if err := a.prepare(root); err != nil {
			return err
		}
		a.findHomes()
		found, err := a.walk(root, s.o.Candidates)
		if err != nil {
			return err
		}
		found, n := a.addHomes(root, found, a.promising(found))
		found = found[:n]
		t.terms = a.terms
		return cmp.Or(t.read(&a, found), ctx.Err())
	})
	return t, err
}

// read keeps what is known of pages.
func (t *Trial) read(a *answer, found []candidate) error {
	slices.SortFunc(found, func(a, b candidate) int { return cmp.Or(cmp.Compare(a.part, b.part), cmp.Compare(a.ord, b.ord)) })
	var r *pageReader
	for _, c := range found {
		if r == nil || r.part != a.snap.parts[c.part] {
			r = a.reader(c.part)
		}
		p, err := r.read(c.ord)
		if err != nil {
			return err
		}
		kept := trialPage{page: *p, doc: c.doc, share: a.snap.rankOf(c.doc) * float64(a.snap.ranked())}
		kept.hits = make([][]vocab.Hit, len(p.hits))
		for i, hits := range p.hits {
			kept.hits[i] = slices.Clone(hits)
		}
		t.pages = append(t.pages, kept)
	}
	return nil
}

// Order gives the pages in their order under some weights. What it gives is overwritten by the next call.
func (t *Trial) Order(w *Weights) []vocab.DocID {
	if t.terms == nil {
		return nil
	}
	scorer := newScorer(w, t.terms)
	for i := range t.pages {
		p := &t.pages[i]
		p.rank = w.PageRank(p.share, 1)
		var sum tally
		scorer.score(&p.page, &sum)
		p.score = sum.sum
	}
	slices.SortFunc(t.pages, func(a, b trialPage) int { return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.doc, b.doc)) })
	t.order = t.order[:0]
	for i := range t.pages {
		t.order = append(t.order, t.pages[i].doc)
	}
	return t.order
}
