package shard

import (
	"slices"

	"anatomy/disk/segment"
	"anatomy/searcher/internal/arena"
	"anatomy/searcher/internal/presentation"
	"anatomy/searcher/internal/retrieval"
	"anatomy/searcher/scoring"
	"anatomy/vocab"
)

// An Arena is the memory of one query in a shard, which the next query reuses. Responses must not
// refer to it.
type Arena struct {
	retrieval retrieval.Arena
	shown     presentation.Arena
	counts    arena.Of[int]
	lists     arena.Of[*segment.PostingIterator]
	parts     arena.Of[[]*segment.PostingIterator]

	// One user at a time:
	scorer scoring.Scorer
	reader pageReader
	hits   [][]vocab.Hit // hits of one page, by term
	order  []int         // see inDiskOrder
	keys   []uint64
}

// Reset frees the memory of a query.
func (a *Arena) Reset() {
	a.retrieval.Reset()
	a.shown.Reset()
	a.counts.Reset()
	a.lists.Reset()
	a.parts.Reset()
	a.reader = pageReader{}
}

// hitsOf returns memory for the hits of n terms.
func (a *Arena) hitsOf(n int) [][]vocab.Hit {
	for len(a.hits) < n {
		a.hits = append(a.hits, nil)
	}
	return a.hits[:n]
}

// inDiskOrder returns the indices of the candidates in the shard of a base, in their order on disk.
// The next call overwrites the result.
func (a *Arena) inDiskOrder(candidates []scoring.Candidate, base vocab.DocID) []int {
	order, keys, parts := a.order[:0], a.keys, 1
	for part := 0; part < parts; part++ {
		keys = keys[:0]
		for i := range candidates {
			c := &candidates[i]
			if !isOf(c.Doc, base) {
				continue
			}
			if parts = max(parts, c.Part+1); c.Part == part {
				keys = append(keys, uint64(c.Ord)<<32|uint64(i))
			}
		}
		slices.Sort(keys)
		for _, key := range keys {
			order = append(order, int(uint32(key)))
		}
	}
	a.order, a.keys = order, keys
	return order
}

// isOf reports whether a document is in the shard of a base.
func isOf(doc, base vocab.DocID) bool {
	of, _ := doc.Shard()
	shard, _ := base.Shard()
	return of == shard
}
