package repository

import "container/list"

// A cache keeps the decoded blocks that were read last, since a reader of one page often wants
// its neighbours. It is not safe for concurrent use.
type cache struct {
	limit, used int
	blocks      map[blockKey]*list.Element
	recent      list.List // of *cached, the latest first
}

type blockKey struct {
	file   uint32
	offset int64
}

type cached struct {
	key   blockKey
	block *block
}

// get returns the block if it is here and decoded as far as slot, or past the end of its table.
func (c *cache) get(key blockKey, slot int) *block {
	e := c.blocks[key]
	if e == nil {
		return nil
	}
	b := e.Value.(*cached).block
	if slot < b.records() && !b.holds(slot) {
		return nil
	}
	c.recent.MoveToFront(e)
	return b
}

func (c *cache) put(key blockKey, b *block) {
	if len(b.raw) > c.limit {
		return
	}
	if e := c.blocks[key]; e != nil {
		c.drop(e)
	}
	if c.blocks == nil {
		c.blocks = make(map[blockKey]*list.Element)
	}
	c.blocks[key] = c.recent.PushFront(&cached{key, b})
	c.used += len(b.raw)
	for c.used > c.limit {
		c.drop(c.recent.Back())
	}
}

func (c *cache) drop(e *list.Element) {
	x := c.recent.Remove(e).(*cached)
	delete(c.blocks, x.key)
	c.used -= len(x.block.raw)
}
