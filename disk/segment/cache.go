package segment

import (
	"container/list"
	"sync"

	"github.com/cockroachdb/pebble/v2"
)

// CacheOptions size a Cache.
type CacheOptions struct {
	Blocks int64 // bytes of sstable blocks; default 64 MB. It should hold the lists that queries use
	Docs   int64 // bytes of decompressed doc blocks; default 16 MB
	Files  int   // open files; default 256
}

// A Cache is shared by all segments of a process. It is safe for use by many goroutines.
type Cache struct {
	blocks *pebble.Cache
	files  *pebble.FileCache
	docs   docCache
	decode docDecoder

	scratch sync.Pool // of *[]byte, for Glancers
}

// NewCache makes a cache; Close it after the segments that use it.
func NewCache(o CacheOptions) (*Cache, error) {
	if o.Blocks == 0 {
		o.Blocks = 64 << 20
	}
	if o.Docs == 0 {
		o.Docs = 16 << 20
	}
	if o.Files == 0 {
		o.Files = 256
	}
	decode, err := newDocDecoder()
	if err != nil {
		return nil, err
	}
	return &Cache{
		blocks: pebble.NewCache(o.Blocks),
		files:  pebble.NewFileCache(2, o.Files),
		docs:   docCache{limit: o.Docs},
		decode: decode,

		scratch: sync.Pool{New: func() any { return new([]byte) }},
	}, nil
}

// Close frees the cache.
func (c *Cache) Close() {
	c.files.Unref()
	c.blocks.Unref()
	c.decode.zstd.Close()
	c.decode.texts.Close()
}

// A docCache keeps the blocks used last: doc blocks, or blocks of texts.
type docCache struct {
	limit int64

	mu       sync.Mutex
	segments uint64 // given numbers so far
	size     int64
	entries  map[docCacheKey]*list.Element
	order    list.List // of docCacheEntry, last used first
}

type docCacheKey struct {
	segment uint64
	number  uint32 // first ordinal of a doc block, or number of a block of texts
}

type docCacheEntry struct {
	key docCacheKey
	raw string
}

// number gives a segment its name in the cache.
func (c *docCache) number() uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.segments++
	return c.segments
}

func (c *docCache) get(key docCacheKey) (string, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.entries[key]
	if !ok {
		return "", false
	}
	c.order.MoveToFront(e)
	return e.Value.(docCacheEntry).raw, true
}

func (c *docCache) put(key docCacheKey, raw string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if int64(len(raw)) > c.limit/4 {
		return
	}
	if e, ok := c.entries[key]; ok { // another goroutine's
		c.remove(e)
	}
	if c.entries == nil {
		c.entries = make(map[docCacheKey]*list.Element)
	}
	c.entries[key] = c.order.PushFront(docCacheEntry{key, raw})
	for c.size += int64(len(raw)); c.size > c.limit; {
		c.remove(c.order.Back())
	}
}

func (c *docCache) remove(e *list.Element) {
	entry := c.order.Remove(e).(docCacheEntry)
	delete(c.entries, entry.key)
	c.size -= int64(len(entry.raw))
}

// drop forgets a segment that is closed.
func (c *docCache) drop(segment uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for key, e := range c.entries {
		if key.segment == segment {
			c.remove(e)
		}
	}
}
