// Package lru has a cache of bounded weight that evicts the least recently used entries.
package lru

import (
	"container/list"
	"sync"
)

// A Cache maps keys to values. The weight of its entries together is at most its limit. It is safe
// for concurrent use.
type Cache[K comparable, V any] struct {
	limit int
	weigh func(K, V) int

	mu      sync.Mutex // guards the fields below
	weight  int        // sum of the weights of all entries
	entries map[K]*list.Element
	recent  list.List // of *entry, most recently used first
}

type entry[K comparable, V any] struct {
	key   K
	value V
}

// New returns an empty cache. weigh returns the weight of an entry, which must not change while the
// entry is in the cache; the unit is that of limit.
func New[K comparable, V any](limit int, weigh func(K, V) int) *Cache[K, V] {
	return &Cache[K, V]{limit: limit, weigh: weigh, entries: map[K]*list.Element{}}
}

// Get returns the value of a key, and makes it the most recently used.
func (c *Cache[K, V]) Get(key K) (value V, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.entries[key]
	if e == nil {
		return value, false
	}
	c.recent.MoveToFront(e)
	return e.Value.(*entry[K, V]).value, true
}

// Put sets the value of a key, and evicts other entries if needed. A value that is heavier than the
// limit is not kept.
func (c *Cache[K, V]) Put(key K, value V) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.remove(c.entries[key])
	weight := c.weigh(key, value)
	if weight > c.limit {
		return
	}
	c.entries[key] = c.recent.PushFront(&entry[K, V]{key, value})
	for c.weight += weight; c.weight > c.limit; {
		c.remove(c.recent.Back())
	}
}

// Remove removes the entry of a key, if there is one.
func (c *Cache[K, V]) Remove(key K) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.remove(c.entries[key])
}

// RemoveFunc removes the entries of all keys for which remove returns true.
func (c *Cache[K, V]) RemoveFunc(remove func(K) bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for key, e := range c.entries {
		if remove(key) {
			c.remove(e)
		}
	}
}

// Len returns the number of entries.
func (c *Cache[K, V]) Len() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.entries)
}

func (c *Cache[K, V]) remove(e *list.Element) {
	if e == nil {
		return
	}
	old := c.recent.Remove(e).(*entry[K, V])
	delete(c.entries, old.key)
	c.weight -= c.weigh(old.key, old.value)
}
