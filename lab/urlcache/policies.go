package main

import (
	"container/list"
	"math/rand/v2"

	"anatomy/urlserver/seen"
	"anatomy/vocab"
)

// A cache is a set of a bounded number of URLs. meet reports whether a URL is in it, and adds it as
// the policy says.
type cache interface {
	meet(vocab.Fingerprint) (hit bool)
}

// A policy is one of the paper's eviction policies.
type policy struct {
	name  string
	new   func(size int) cache
	offer bool // the cache is loaded with the most frequent URLs before the stream
}

var policies = []policy{
	{name: "lru", new: newLRU},
	{name: "clock", new: newClock},
	{name: "random", new: newRandom},
	{name: "static", new: newStatic, offer: true},
}

// A clock is the cache of the product.
type clock struct{ *seen.Cache[struct{}] }

func newClock(size int) cache { return clock{seen.New[struct{}](size)} }

func (c clock) meet(fp vocab.Fingerprint) bool {
	_, hit := c.Get(fp)
	if !hit {
		c.Put(fp, struct{}{})
	}
	return hit
}

// An lru evicts the least recently used URL.
type lru struct {
	size  int
	index map[vocab.Fingerprint]*list.Element
	order list.List // of vocab.Fingerprint, the latest first
}

func newLRU(size int) cache {
	return &lru{size: size, index: map[vocab.Fingerprint]*list.Element{}}
}

func (c *lru) meet(fp vocab.Fingerprint) bool {
	if e, ok := c.index[fp]; ok {
		c.order.MoveToFront(e)
		return true
	}
	if c.order.Len() == c.size {
		delete(c.index, c.order.Remove(c.order.Back()).(vocab.Fingerprint))
	}
	c.index[fp] = c.order.PushFront(fp)
	return false
}

// A random cache evicts a random URL.
type random struct {
	size   int
	index  map[vocab.Fingerprint]bool
	slots  []vocab.Fingerprint
	random *rand.Rand
}

func newRandom(size int) cache {
	return &random{size: size, index: map[vocab.Fingerprint]bool{}, random: rand.New(rand.NewPCG(1, 2))}
}

func (c *random) meet(fp vocab.Fingerprint) bool {
	switch {
	case c.index[fp]:
		return true
	case len(c.slots) < c.size:
		c.slots = append(c.slots, fp)
	default:
		i := c.random.Int32N(int32(len(c.slots)))
		delete(c.index, c.slots[i])
		c.slots[i] = fp
	}
	c.index[fp] = true
	return false
}

// A static cache keeps the first URLs that it receives.
type static struct {
	size  int
	index map[vocab.Fingerprint]bool
}

func newStatic(size int) cache { return &static{size, map[vocab.Fingerprint]bool{}} }

func (c *static) meet(fp vocab.Fingerprint) bool {
	hit := c.index[fp]
	if !hit && len(c.index) < c.size {
		c.index[fp] = true
	}
	return hit
}
