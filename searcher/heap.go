package searcher

import (
	"cmp"
	"slices"
)

// A heap keeps the best k candidates of the first phase, the worst of them on top.
type heap struct {
	k     int
	items []candidate
}

// admits says whether a page with this score may be among the best.
func (h *heap) admits(first Score) bool { return len(h.items) < h.k || first >= h.items[0].first }

func (h *heap) add(c candidate) {
	if len(h.items) < h.k {
		h.items = append(h.items, c)
		h.up(len(h.items) - 1)
		return
	}
	if byFirst(c, h.items[0]) < 0 {
		h.items[0] = c
		h.down(0)
	}
}

// byFirst is the order of the first phase: by score, then by DocID.
func byFirst(a, b candidate) int {
	return cmp.Or(cmp.Compare(b.first, a.first), cmp.Compare(a.doc, b.doc))
}

func (h *heap) up(i int) {
	for i > 0 {
		parent := (i - 1) / 2
		if byFirst(h.items[i], h.items[parent]) < 0 {
			return
		}
		h.items[i], h.items[parent] = h.items[parent], h.items[i]
		i = parent
	}
}

func (h *heap) down(i int) {
	for {
		worst := i
		for kid := 2*i + 1; kid <= 2*i+2 && kid < len(h.items); kid++ {
			if byFirst(h.items[kid], h.items[worst]) > 0 {
				worst = kid
			}
		}
		if worst == i {
			return
		}
		h.items[i], h.items[worst] = h.items[worst], h.items[i]
		i = worst
	}
}

// sorted gives the candidates, best first, and ends the heap.
func (h *heap) sorted() []candidate {
	slices.SortFunc(h.items, byFirst)
	return h.items
}
