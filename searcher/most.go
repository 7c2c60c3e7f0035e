package searcher

import (
	"fmt"
	"slices"

	"anatomy/disk/segment"
	"anatomy/searcher/query"
	"anatomy/vocab"
)

// Where fewer pages than enough match a query of several words, those follow that hold most of them: by their idf
// at least half.
const enough = DefaultLimit

// addMost adds to an answer, once its own results are there, the pages that hold most of the words of the query
// that was answered, in the order of their scores. There are no more of them than candidates.
func (a *answer) addMost(candidates int) error {
	resp := a.resp
	most, words := a.root.Most()
	if most == nil || a.req.Strict || a.req.Similar != 0 || resp.Total >= enough || resp.Partial || a.clock.over {
		return nil
	}
	req := *a.req
	req.Offset = 0
	b := answer{snap: a.snap, w: a.w, req: &req, clock: a.clock, resp: &Response{Exact: true}, joint: a.joint, likings: a.likings}
	if err := b.prepare(most); err != nil {
		return err
	}
	found, err := b.walk(b.allowed(most), candidates)
	if err != nil {
		return err
	}
	if found, err = b.order(found, candidates); err != nil {
		return err
	}
	kept, missing, err := b.mostOf(words, found)
	if err != nil || len(kept) == 0 {
		return err
	}
	kept = b.group(a.root, kept)
	resp.Most = len(kept)
	resp.Partial = resp.Partial || b.resp.Partial
	before := resp.Total - resp.Folded
	from := min(max(a.req.Offset-before, 0), len(kept))
	to := min(max(a.req.Offset+a.req.Limit-before, 0), len(kept))
	if err := b.show(most, kept[from:to]); err != nil {
		return err
	}
	for i := range b.resp.Results {
		r := &b.resp.Results[i]
		if r.Missing = missing[r.Doc]; r.Explanation != nil {
			r.Explanation.Matches = false
		}
	}
	resp.Results = append(resp.Results, b.resp.Results...)
	resp.Words = b.terms.words
	resp.Next = to < len(kept)
	switch {
	case resp.Total == 0 && len(resp.Results) > 0:
		resp.Why = a.whyNothing() + " These hold most of the words."
	case resp.Why == "":
		resp.Why = fmt.Sprintf("Only %s all of the words; then follow some that hold most of them.", pages(resp.Total))
	}
	return nil
}

// mostOf gives the pages that hold words of half of all idf at least, and what each of them misses.
func (a *answer) mostOf(words []*query.Node, found []candidate) (kept []candidate, missing map[vocab.DocID][]string, err error) {
	missing = map[vocab.DocID][]string{}
	var all Score
	for _, n := range words {
		all += a.idfOf(n)
	}
	held := map[vocab.DocID]Score{}
	part := -1
	for _, c := range inOrder(found) {
		if c.part != part {
			part = c.part
			rewind(a.lists[part])
		}
		for _, n := range words {
			there, err := a.holds(n, c.ord, a.lists[part])
			if err != nil {
				return nil, nil, err
			}
			if there {
				held[c.doc] += a.idfOf(n)
			} else {
				missing[c.doc] = append(missing[c.doc], n.String())
			}
		}
	}
	for _, c := range found {
		if 2*held[c.doc] >= all {
			kept = append(kept, c)
		}
	}
	return kept, missing, nil
}

// idfOf is that of the rarest word of a node.
func (a *answer) idfOf(n *query.Node) (highest Score) {
	for _, leaf := range n.Wanted() {
		highest = max(highest, a.terms.idf[a.terms.base[slices.Index(a.terms.words, leaf.Words[0])]])
	}
	return highest
}

// holds says whether a page holds one of the words of a node.
func (a *answer) holds(n *query.Node, ord vocab.Ordinal, lists []*segment.Postings) (bool, error) {
	for _, leaf := range n.Wanted() {
		base := a.terms.base[slices.Index(a.terms.words, leaf.Words[0])]
		for i, list := range lists {
			if list == nil || a.terms.base[i] != base {
				continue
			}
			if list.Advance(ord) && list.Ord() == ord {
				return true, nil
			}
			if err := list.Err(); err != nil {
				return false, err
			}
		}
	}
	return false, nil
}

func pages(n int) string {
	if n == 1 {
		return "one page holds"
	}
	return fmt.Sprintf("%d pages hold", n)
}
