package urlserver

import "anatomy/vocab"

// A seenCache remembers the URLs that were met last, so that the seen test need not go to the disk
// for them (BNW03: 50,000 entries catch nearly 80 % of the links of the whole web, many fewer are
// much worse, many more hardly better; LRU is close to the best there is).
type seenCache struct {
	entries []seenEntry // entries[0] is the ring's head: its next is the newest, its prev the oldest
	index   map[vocab.Fingerprint]int32
}

type seenEntry struct {
	fp         vocab.Fingerprint
	doc        vocab.DocID
	held       bool
	prev, next int32
}

func newSeenCache(size int) *seenCache {
	return &seenCache{entries: make([]seenEntry, 1, size+1), index: make(map[vocab.Fingerprint]int32, size)}
}

// get looks a URL up and makes it the newest.
func (c *seenCache) get(fp vocab.Fingerprint) (doc vocab.DocID, held, ok bool) {
	i, ok := c.index[fp]
	if !ok {
		return 0, false, false
	}
	c.unlink(i)
	c.pushFront(i)
	return c.entries[i].doc, c.entries[i].held, true
}

// put remembers a URL as the newest, and forgets the oldest if there is no room.
func (c *seenCache) put(fp vocab.Fingerprint, doc vocab.DocID, held bool) {
	i, ok := c.index[fp]
	switch {
	case ok:
		c.unlink(i)
	case len(c.entries) < cap(c.entries):
		i = int32(len(c.entries))
		c.entries = append(c.entries, seenEntry{})
	default:
		i = c.entries[0].prev
		delete(c.index, c.entries[i].fp)
		c.unlink(i)
	}
	c.entries[i].fp, c.entries[i].doc, c.entries[i].held = fp, doc, held
	c.index[fp] = i
	c.pushFront(i)
}

func (c *seenCache) unlink(i int32) {
	e := &c.entries[i]
	c.entries[e.prev].next, c.entries[e.next].prev = e.next, e.prev
}

func (c *seenCache) pushFront(i int32) {
	head, e := &c.entries[0], &c.entries[i]
	e.prev, e.next = 0, head.next
	c.entries[head.next].prev = i
	head.next = i
}
