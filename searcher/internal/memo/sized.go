package memo

import "sync"

// A Sized caches recently used values within a number of bytes. It is safe for concurrent use.
//
// Entries are in two generations. New and used entries are in the young generation. When it is
// full, it becomes the old generation, and the previous old one is dropped.
type Sized[K comparable, V any] struct {
	Limit int64 // bytes of both generations; 0 disables the cache

	mu         sync.Mutex // guards what follows
	young, old map[K]sized[V]
	youngBytes int64
	stats      Stats
}

type sized[V any] struct {
	value V
	size  int64
}

// Stats are the statistics of a Sized.
type Stats struct {
	Hits, Misses int64 // of requests that may be cached
	Bytes        int64
}

// Get returns a value.
func (c *Sized[K, V]) Get(key K) (value V, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.young[key]
	if !ok {
		if e, ok = c.old[key]; !ok {
			c.stats.Misses++
			return value, false
		}
		delete(c.old, key)
		c.stats.Bytes -= e.size
		c.add(key, e)
	}
	c.stats.Hits++
	return e.value, true
}

// Put caches a value of size bytes, unless the key is cached already or the value is too large.
func (c *Sized[K, V]) Put(key K, value V, size int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.young[key]; !ok && size <= c.Limit/4 {
		c.add(key, sized[V]{value, size})
	}
}

// add adds an entry to the young generation. The caller holds mu.
func (c *Sized[K, V]) add(key K, e sized[V]) {
	if c.young == nil || c.youngBytes+e.size > c.Limit/2 {
		c.old, c.young = c.young, map[K]sized[V]{}
		c.stats.Bytes, c.youngBytes = c.youngBytes, 0
	}
	c.young[key] = e
	c.youngBytes += e.size
	c.stats.Bytes += e.size
}

// Clear drops all entries.
func (c *Sized[K, V]) Clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.young, c.old, c.youngBytes, c.stats.Bytes = nil, nil, 0, 0
}

// Stats returns the counts so far.
func (c *Sized[K, V]) Stats() Stats {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.stats
}
