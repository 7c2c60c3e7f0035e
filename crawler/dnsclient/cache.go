package dnsclient

import (
	"hash/maphash"
	"net/netip"
	"sync"
)

const (
	shardCount = 64 // a power of two
	noServer   = -1
)

// A cache holds answers by name in shards, so that cores rarely contend for a lock. Each shard
// orders its names by their last use and evicts the oldest (CY09's second list; there a hit moves a
// node one position, here to the front, at the same cost).
type cache struct {
	seed   maphash.Seed
	shards [shardCount]shard
}

// A shard is a part of the cache. mu guards all of it.
type shard struct {
	mu    sync.Mutex
	names map[string]*entry
	calls map[string]*call // names being resolved
	lru   entry            // ring: next is the last used, prev the first to evict
	limit int

	hits, staleHits, misses, joined, evicted uint64

	_ [64]byte // shards of different cores share no cache line
}

// An entry is one answer. host, addrs and err do not change; a new answer is a new entry.
type entry struct {
	host       string
	addrs      []netip.Addr
	server     int8  // that answered, in network.servers; noServer if none did
	err        error // instead of addresses
	expires    int64 // on the client's clock: from then on it is refreshed
	stale      int64 // from then on it is no longer used
	prev, next *entry
}

func newCache(names int) *cache {
	c := &cache{seed: maphash.MakeSeed()}
	for i := range c.shards {
		s := &c.shards[i]
		s.names, s.calls = map[string]*entry{}, map[string]*call{}
		s.lru.prev, s.lru.next = &s.lru, &s.lru
		s.limit = max(1, (names+shardCount-1)/shardCount)
	}
	return c
}

func (c *cache) shard(host string) *shard {
	return &c.shards[maphash.String(c.seed, host)&(shardCount-1)]
}

// touch makes an entry the last used.
func (s *shard) touch(e *entry) {
	if s.lru.next != e {
		e.unlink()
		s.link(e)
	}
}

func (s *shard) link(e *entry) {
	e.prev, e.next = &s.lru, s.lru.next
	e.prev.next, e.next.prev = e, e
}

func (e *entry) unlink() { e.prev.next, e.next.prev = e.next, e.prev }

// put stores an answer in place of an older one, and evicts the oldest of a full shard.
func (s *shard) put(e *entry) {
	if old := s.names[e.host]; old != nil {
		old.unlink()
	} else if len(s.names) >= s.limit {
		oldest := s.lru.prev
		oldest.unlink()
		delete(s.names, oldest.host)
		s.evicted++
	}
	s.names[e.host] = e
	s.link(e)
}

func (c *cache) addStats(st *Stats) {
	for i := range c.shards {
		s := &c.shards[i]
		s.mu.Lock()
		st.Hits += s.hits
		st.Stale += s.staleHits
		st.Misses += s.misses
		st.Joined += s.joined
		st.Evicted += s.evicted
		st.Names += len(s.names)
		s.mu.Unlock()
	}
}
