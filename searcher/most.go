package searcher

import (
	"cmp"
	"fmt"
	"slices"

	"anatomy/disk/segment"
	"anatomy/searcher/query"
	"anatomy/vocab"
)

// Where fewer pages than enough match a query of several words, others are shown with them that hold most of the
// words: by their idf at least half. These count Weights.Missing of their score, in proportion to what they hold;
// where that is more than a page with all words has, they stand before it.
const enough = DefaultLimit

// addMost adds to an answer, once its own results are there, the pages that hold most of the words of the query
// that was answered. There are no more of them than candidates.
func (a *answer) addMost(candidates int) error {
	if a.byDate || a.req.Strict || a.req.Similar != 0 || a.resp.Total >= enough || a.resp.Partial || a.clock.over {
		return nil
	}
	most, words := a.root.Most()
	if most == nil {
		return nil
	}
	req := *a.req
	req.Offset = 0
	b := &answer{snap: a.snap, w: a.w, req: &req, name: a.name, clock: a.clock, resp: &Response{Exact: true}, joint: a.joint, likings: a.likings, terms: a.terms, lists: a.lists, room: a.room}
	if err := b.prepare(most); err != nil {
		return err
	}
	found, err := b.walk(b.allowed(most), candidates+len(a.matched))
	if err != nil {
		return err
	}
	found = slices.DeleteFunc(found, func(c candidate) bool {
		return slices.ContainsFunc(a.matched, func(m candidate) bool { return m.doc == c.doc })
	})
	found = found[:min(candidates, len(found))]
	if found, err = b.order(found, candidates); err != nil {
		return err
	}
	kept, err := b.mostOf(words, found)
	if err != nil || len(kept) == 0 {
		return err
	}
	return a.showBoth(b, most, b.group(a.root, kept), candidates)
}

// showBoth shows the results of a and, among them, those of b, which hold most of the words. Where not all of a's
// were scored, b's come after them.
func (a *answer) showBoth(b *answer, most *query.Node, others []candidate, candidates int) error {
	resp := a.resp
	own, before := a.found, resp.Total-resp.Folded
	resp.Most = len(others)
	resp.Partial = resp.Partial || b.resp.Partial
	both := b.merge(own, others)
	if resp.Total > candidates {
		both = slices.Concat(own[:min(before, len(own))], others)
	}
	from := min(a.req.Offset, len(both))
	to := min(a.req.Offset+a.req.Limit, len(both))
	if err := a.showAmong(b, most, both[from:to]); err != nil {
		return err
	}
	resp.Words = b.terms.words
	resp.Next = to < len(both)
	switch {
	case resp.Total == 0 && len(resp.Results) > 0:
		resp.Why = a.whyNothing() + " These hold most of the words."
	case resp.Why == "":
		resp.Why = fmt.Sprintf("Only %s all of the words; the others hold most of them.", pages(resp.Total))
	}
	return nil
}

// merge puts pages that miss words before those that have all where they are worth more. Both keep their order.
func (b *answer) merge(own, others []candidate) (both []candidate) {
	for len(own) > 0 && len(others) > 0 {
		if !own[0].pinned && b.worth[others[0].doc] > own[0].score {
			both, others = append(both, others[0]), others[1:]
		} else {
			both, own = append(both, own[0]), own[1:]
		}
	}
	return slices.Concat(both, own, others)
}

// showAmong makes results of pages, of which those with missing words are b's. What a shows already is not made again.
func (a *answer) showAmong(b *answer, most *query.Node, pages []candidate) error {
	there := map[vocab.DocID]Result{}
	for _, r := range a.resp.Results {
		there[r.Doc] = r
	}
	var own, others []candidate
	for _, c := range pages {
		if _, shown := there[c.doc]; b.missing[c.doc] != nil {
			others = append(others, c)
		} else if !shown {
			own = append(own, c)
		}
	}
	a.resp.Results = nil
	if err := cmp.Or(a.show(a.root, own), b.show(most, others)); err != nil {
		return err
	}
	for _, r := range slices.Concat(a.resp.Results, b.resp.Results) {
		if r.Missing = b.missing[r.Doc]; r.Missing != nil && r.Explanation != nil {
			r.Explanation.Matches = false
		}
		there[r.Doc] = r
	}
	a.resp.Results = nil
	for _, c := range pages {
		if r, ok := there[c.doc]; ok { // what cannot be read is left out
			a.resp.Results = append(a.resp.Results, r)
		}
	}
	return nil
}

// A choice is a word of the query that a page may do without, or several of which one is enough.
type choice struct {
	text string // in the query language
	idf  Score  // of the rarest of its words
	base []int  // of terms: what its words and their forms count as
}

func (a *answer) choices(words []*query.Node) (all []choice) {
	for _, n := range words {
		c := choice{text: n.String()}
		for _, leaf := range n.Wanted() {
			base := a.terms.base[a.terms.index(leaf.Words[0])]
			c.base, c.idf = append(c.base, base), max(c.idf, a.terms.idf[base])
		}
		all = append(all, c)
	}
	return all
}

// mostOf gives the pages that miss words and hold some of half of all idf at least, and notes what they miss and
// what they are worth.
func (a *answer) mostOf(words []*query.Node, found []candidate) (kept []candidate, err error) {
	choices, all := a.choices(words), Score(0)
	for i := range choices {
		all += choices[i].idf
	}
	a.missing, a.worth = map[vocab.DocID][]string{}, map[vocab.DocID]Score{}
	part := -1
	for _, c := range a.room.inOrder(found) {
		if c.part != part {
			part = c.part
			rewind(a.lists[part])
		}
		held, missing := Score(0), make([]string, 0, len(choices))
		for i := range choices {
			there, err := a.holds(&choices[i], c.ord, a.lists[part])
			if err != nil {
				return nil, err
			}
			if there {
				held += choices[i].idf
			} else {
				missing = append(missing, choices[i].text)
			}
		}
		if 2*held >= all {
			a.worth[c.doc], a.missing[c.doc] = a.w.MissingWords(c.score, held, all), missing
		}
	}
	for _, c := range found {
		if _, enough := a.worth[c.doc]; enough {
			kept = append(kept, c)
		}
	}
	return kept, nil
}

// holds says whether a page holds one of the words of a choice.
func (a *answer) holds(c *choice, ord vocab.Ordinal, lists []*segment.Postings) (bool, error) {
	for i, list := range lists {
		if list == nil || !slices.Contains(c.base, a.terms.base[i]) {
			continue
		}
		if list.Advance(ord) && list.Ord() == ord {
			return true, nil
		}
		if err := list.Err(); err != nil {
			return false, err
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
