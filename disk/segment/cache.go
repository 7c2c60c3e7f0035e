package segment

import (
	"container/list"
	"sync"

	"github.com/cockroachdb/pebble/v2"
)

// CacheOptions size a Cache.
type CacheOptions struct {
	Blocks int64 // bytes of sstable blocks; default 64 MB. It should hold the lists that queries use
	Docs   int64 // bytes of decompressed doc blocks and texts; default 16 MB
	Files  int   // open files; default 256
}

// A Cache is shared by all segments of a process. It is safe for use by many goroutines.
type Cache struct {
	blocks *pebble.Cache
	files  *pebble.FileCache
	docs   docCache // doc blocks, and texts that were read
	texts  docCache // blocks of texts, a quarter of all: the results of one query lie together in some of them
	decode docDecoder
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
		docs:   docCache{limit: o.Docs - o.Docs/4},
		texts:  docCache{limit: o.Docs / 4},
		decode: decode,
	}, nil
}

// Close frees the cache.
func (c *Cache) Close() {
	c.files.Unref()
	c.blocks.Unref()
	c.decode.zstd.Close()
	c.decode.texts.Close()
}

// A docCache keeps the blocks and texts used last.
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
	kind    blockKind
	number  uint32 // first ordinal of a doc block, number of one of texts, ordinal of a text
}

// The kinds of what is in the cache.
type blockKind uint8

const (
	docBlocks blockKind = iota
	textBlock
	oneText // or its beginning
)

// maxKeptText is the longest text that is kept by itself. A block of texts has twenty times the size of one: of those
// that are shown again and again many more find room by themselves.
const maxKeptText = 128 << 10

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
	if e, ok := c.entries[key]; ok { // another goroutine's, or the beginning of it
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
