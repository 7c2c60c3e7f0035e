package shard

import (
	"slices"

	"anatomy/disk/segment"
	"anatomy/searcher/query"
	"anatomy/searcher/scoring"
	"anatomy/vocab"
)

// Choices returns the choices of the nodes of a query with the terms t.
func Choices(t *scoring.Terms, nodes []*query.Node) (all []Choice) {
	for _, n := range nodes {
		c := Choice{Text: n.String()}
		for _, leaf := range n.PositiveWords() {
			base := t.Base[t.Index(leaf.Words[0])]
			c.Base, c.IDF = append(c.Base, base), max(c.IDF, t.IDF[base])
		}
		all = append(all, c)
	}
	return all
}

// Held sets, for each page of the shard, the bitmap of the choices that it contains. A query has at
// most 64 words.
func (q *Query) Held(
	t *scoring.Terms, choices []Choice, pages []scoring.Candidate, held []uint64,
) error {
	if !q.here() {
		q.heldRemotely(choices, pages, held)
		return nil
	}
	part := -1
	for _, at := range q.arena.inDiskOrder(pages, q.snap.Base) {
		c := &pages[at]
		if c.Part != part {
			part = c.Part
			for _, list := range q.lists[part] {
				if list != nil {
					list.Rewind()
				}
			}
		}
		for k := range choices {
			has, err := choices[k].heldBy(c.Ord, t, q.lists[part])
			if err != nil {
				return err
			}
			if has {
				held[at] |= 1 << k
			}
		}
	}
	return nil
}

// heldBy reports whether a page contains one of the terms of a choice.
func (c *Choice) heldBy(
	ord vocab.Ordinal, t *scoring.Terms, lists []*segment.PostingIterator,
) (bool, error) {
	for i, list := range lists {
		if list == nil || !slices.Contains(c.Base, t.Base[i]) {
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

func (q *Query) heldRemotely(choices []Choice, pages []scoring.Candidate, held []uint64) {
	q.eachCall(pages, func(at []int, places []place) bool {
		reply := q.send(&Call{Held: &heldCall{choices, places}})
		if !q.check(len(reply.Held) == len(places)) {
			return false
		}
		for i, bits := range reply.Held {
			held[at[i]] |= bits
		}
		return true
	})
}
