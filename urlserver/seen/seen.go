// Package seen is the cache in front of the seen test: it remembers some of the URLs that were met,
// so that the test need not go to the disk for them (BNW03). Four policies say which; MIN, the
// fifth of the paper, knows the future and is in lab/urlcache.
package seen

import (
	"fmt"
	"math/rand/v2"

	"anatomy/vocab"
)

// A Policy says which URL makes room for a new one.
type Policy uint8

// The policies. The default is the first: see doc/decisions.md for the measurement.
const (
	Clock  Policy = iota // the next one round the clock that was not met since the hand last passed
	LRU                  // the one met longest ago
	Random               // any
	Static               // none: what came first stays, in the paper the most frequent of all
)

// Policies are all of them, in the order of the paper.
var Policies = []Policy{LRU, Clock, Random, Static}

var names = map[Policy]string{Clock: "clock", LRU: "lru", Random: "random", Static: "static"}

func (p Policy) String() string { return names[p] }

// ParsePolicy is the inverse of String.
func ParsePolicy(name string) (Policy, error) {
	for p, n := range names {
		if n == name {
			return p, nil
		}
	}
	return 0, fmt.Errorf("seen: there is no policy %q; there are lru, clock, random and static", name)
}

// A Cache keeps a value for each of a bounded number of URLs. It is not safe for concurrent use.
type Cache[V any] interface {
	Get(vocab.Fingerprint) (V, bool)
	Put(vocab.Fingerprint, V) // what is there gets the new value; what is not may have to stay out
	Counts() Counts
}

// Counts are the lookups of a cache.
type Counts struct{ Hits, Misses uint64 }

// New makes a cache of at least one URL.
func New[V any](p Policy, size int) Cache[V] {
	t := table[V]{size: max(size, 1), index: map[vocab.Fingerprint]int32{}}
	switch p {
	case LRU:
		return newLRU(t)
	case Random:
		return &randomCache[V]{table: t, random: rand.New(rand.NewPCG(1, 2))}
	case Static:
		return &staticCache[V]{t}
	}
	return &clockCache[V]{table: t}
}

// A table is what the policies have in common: slots that are found by fingerprint.
type table[V any] struct {
	size   int
	slots  []slot[V] // they grow to size, and then are used again
	index  map[vocab.Fingerprint]int32
	counts Counts
}

type slot[V any] struct {
	fp    vocab.Fingerprint
	value V
	met   bool // clock: since the hand passed
}

// find gives the slot of a URL, or -1, and counts.
func (t *table[V]) find(fp vocab.Fingerprint) int32 {
	if i, ok := t.index[fp]; ok {
		t.counts.Hits++
		return i
	}
	t.counts.Misses++
	return -1
}

// update gives a URL that is there its new value.
func (t *table[V]) update(fp vocab.Fingerprint, v V) bool {
	i, ok := t.index[fp]
	if ok {
		t.slots[i].value = v
	}
	return ok
}

// grow fills a new slot, if there is room for one.
func (t *table[V]) grow(fp vocab.Fingerprint, v V) bool {
	if len(t.slots) == t.size {
		return false
	}
	t.index[fp] = int32(len(t.slots))
	t.slots = append(t.slots, slot[V]{fp: fp, value: v})
	return true
}

// replace puts a URL in the place of another.
func (t *table[V]) replace(i int32, fp vocab.Fingerprint, v V) {
	delete(t.index, t.slots[i].fp)
	t.slots[i] = slot[V]{fp: fp, value: v}
	t.index[fp] = i
}

func (t *table[V]) get(fp vocab.Fingerprint) (v V, ok bool) {
	i := t.find(fp)
	if i < 0 {
		return v, false
	}
	return t.slots[i].value, true
}

// Counts are the lookups so far.
func (t *table[V]) Counts() Counts { return t.counts }

// A clockCache gives each URL that was met since the hand passed one more round.
type clockCache[V any] struct {
	table[V]
	hand int32
}

// Get looks a URL up.
func (c *clockCache[V]) Get(fp vocab.Fingerprint) (v V, ok bool) {
	i := c.find(fp)
	if i < 0 {
		return v, false
	}
	c.slots[i].met = true
	return c.slots[i].value, true
}

// Put remembers a URL. It begins as not met: most URLs never come again, and the hand that has just
// passed takes a whole round to come back.
func (c *clockCache[V]) Put(fp vocab.Fingerprint, v V) {
	if c.update(fp, v) || c.grow(fp, v) {
		return
	}
	for c.slots[c.hand].met {
		c.slots[c.hand].met = false
		c.turn()
	}
	c.replace(c.hand, fp, v)
	c.turn()
}

func (c *clockCache[V]) turn() {
	if c.hand++; int(c.hand) == len(c.slots) {
		c.hand = 0
	}
}

// A randomCache forgets any URL. Its dice are the same in each run.
type randomCache[V any] struct {
	table[V]
	random *rand.Rand
}

// Get looks a URL up.
func (c *randomCache[V]) Get(fp vocab.Fingerprint) (V, bool) { return c.get(fp) }

// Put remembers a URL.
func (c *randomCache[V]) Put(fp vocab.Fingerprint, v V) {
	if !c.update(fp, v) && !c.grow(fp, v) {
		c.replace(c.random.Int32N(int32(len(c.slots))), fp, v)
	}
}

// A staticCache keeps what it is given until it is full.
type staticCache[V any] struct{ table[V] }

// Get looks a URL up.
func (c *staticCache[V]) Get(fp vocab.Fingerprint) (V, bool) { return c.get(fp) }

// Put remembers a URL if there is room.
func (c *staticCache[V]) Put(fp vocab.Fingerprint, v V) {
	if !c.update(fp, v) {
		c.grow(fp, v)
	}
}
