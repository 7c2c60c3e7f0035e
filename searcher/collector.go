package searcher

import (
	"slices"

	"anatomy/vocab"
)

// A collector keeps the best k pages of a segment by the score of the first phase; of two that have
// the same, the one that comes first in the index. It counts the pages that match, all of them up to
// countTo and until there are k; from then on pages may be passed over that cannot be among the best.
type collector struct {
	k       int
	keys    []uint64 // score<<32 | ^ordinal, the least on top of a heap
	floor   uint32   // the least score that is admitted
	count   int
	countTo int
	cut     bool // pages were passed over
}

// least is the score that a page must have for it to be looked at.
func (c *collector) least() uint32 {
	if c.floor == 0 || c.count <= c.countTo {
		return 0
	}
	c.cut = true
	return c.floor
}

// keep takes a page whose score is at least floor. Pages come in ascending order.
func (c *collector) keep(first uint32, ord vocab.Ordinal) {
	key := uint64(first)<<32 | uint64(^ord)
	if len(c.keys) < c.k {
		c.keys = append(c.keys, key)
		c.up(len(c.keys) - 1)
	} else if key > c.keys[0] {
		c.keys[0] = key
		c.down()
	}
	if len(c.keys) == c.k { // a later page loses a tie
		c.floor = max(c.floor, uint32(c.keys[0]>>32)+1)
	}
}

func (c *collector) up(i int) {
	for i > 0 {
		parent := (i - 1) / 2
		if c.keys[parent] <= c.keys[i] {
			return
		}
		c.keys[i], c.keys[parent] = c.keys[parent], c.keys[i]
		i = parent
	}
}

func (c *collector) down() {
	keys, key, i := c.keys, c.keys[0], 0
	for {
		kid := 2*i + 1
		if kid+1 < len(keys) && keys[kid+1] < keys[kid] {
			kid++
		}
		if kid >= len(keys) || keys[kid] >= key {
			keys[i] = key
			return
		}
		keys[i] = keys[kid]
		i = kid
	}
}

// sorted gives the pages, best first, and ends the collection.
func (c *collector) sorted() []uint64 {
	slices.Sort(c.keys)
	slices.Reverse(c.keys)
	return c.keys
}
