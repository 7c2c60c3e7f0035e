package seen

import "anatomy/vocab"

// An lruCache keeps its slots in a list by their last use.
type lruCache[V any] struct {
	table[V]
	list           []neighbours // by slot
	newest, oldest int32        // of the list; -1 while it is empty
}

type neighbours struct{ newer, older int32 }

func newLRU[V any](t table[V]) *lruCache[V] { return &lruCache[V]{table: t, newest: -1, oldest: -1} }

// Get looks a URL up and makes it the newest.
func (c *lruCache[V]) Get(fp vocab.Fingerprint) (v V, ok bool) {
	i := c.find(fp)
	if i < 0 {
		return v, false
	}
	c.renew(i)
	return c.slots[i].value, true
}

// Put remembers a URL as the newest, and forgets the oldest if there is no room.
func (c *lruCache[V]) Put(fp vocab.Fingerprint, v V) {
	switch {
	case c.update(fp, v):
		c.renew(c.index[fp])
	case c.grow(fp, v):
		c.list = append(c.list, neighbours{-1, -1})
		c.pushNewest(int32(len(c.list) - 1))
	default:
		i := c.oldest
		c.replace(i, fp, v)
		c.renew(i)
	}
}

func (c *lruCache[V]) renew(i int32) {
	if i == c.newest {
		return
	}
	at := c.list[i]
	c.list[at.newer].older = at.older
	if at.older >= 0 {
		c.list[at.older].newer = at.newer
	} else {
		c.oldest = at.newer
	}
	c.pushNewest(i)
}

func (c *lruCache[V]) pushNewest(i int32) {
	c.list[i] = neighbours{newer: -1, older: c.newest}
	if c.newest >= 0 {
		c.list[c.newest].newer = i
	} else {
		c.oldest = i
	}
	c.newest = i
}
