// Package seen has the cache in front of the seen test: a bounded map from URL fingerprints, so
// that the test does not read the disk for frequent URLs (BNW03). It evicts by CLOCK; lab/urlcache
// compares that with the paper's other policies.
package seen

import "anatomy/vocab"

// A Cache maps a bounded number of fingerprints to values. It is not safe for concurrent use.
//
// index has the position of each fingerprint in slots. The slots form a ring; hand is the one
// examined first when room is needed.
type Cache[V any] struct {
	size  int
	index map[vocab.Fingerprint]int32
	slots []slot[V] // grows to size
	hand  int32
}

type slot[V any] struct {
	fp    vocab.Fingerprint
	value V
	used  bool // since the hand passed
}

// New returns a cache of size fingerprints, at least 1.
func New[V any](size int) *Cache[V] {
	return &Cache[V]{size: max(size, 1), index: map[vocab.Fingerprint]int32{}}
}

// Get returns the value of a fingerprint.
func (c *Cache[V]) Get(fp vocab.Fingerprint) (v V, ok bool) {
	i, ok := c.index[fp]
	if !ok {
		return v, false
	}
	c.slots[i].used = true
	return c.slots[i].value, true
}

// Put sets the value of a fingerprint. A new fingerprint evicts the next one that was not used
// since the hand passed it. It counts as unused itself: most URLs never recur, and the hand has
// just passed.
func (c *Cache[V]) Put(fp vocab.Fingerprint, v V) {
	if i, ok := c.index[fp]; ok {
		c.slots[i].value = v
		return
	}
	if len(c.slots) < c.size {
		c.index[fp] = int32(len(c.slots))
		c.slots = append(c.slots, slot[V]{fp: fp, value: v})
		return
	}
	for c.slots[c.hand].used {
		c.slots[c.hand].used = false
		c.turn()
	}
	delete(c.index, c.slots[c.hand].fp)
	c.slots[c.hand] = slot[V]{fp: fp, value: v}
	c.index[fp] = c.hand
	c.turn()
}

func (c *Cache[V]) turn() {
	if c.hand++; int(c.hand) == len(c.slots) {
		c.hand = 0
	}
}
