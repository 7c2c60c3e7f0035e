package segment

import (
	"sync"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"

	"anatomy/lru"
)

// CacheOptions are the sizes of a Cache.
type CacheOptions struct {
	Blocks int64 // bytes of sstable blocks, mainly the dictionary and short lists; default 64 MB
	Docs   int64 // bytes of decompressed doc blocks; default 16 MB
	Files  int   // open files; default 256
}

// A Cache is shared by all segments of a process. It is safe for concurrent use.
type Cache struct {
	blocks  *pebble.Cache
	files   *pebble.FileCache
	docs    *docCache
	decoder docDecoder

	segments atomic.Uint64 // number of segments so far

	scratch sync.Pool // of *[]byte, for DocReaders
}

// NewCache returns a cache. The caller closes it after the segments that use it.
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
	decoder, err := newDocDecoder()
	if err != nil {
		return nil, err
	}
	return &Cache{
		blocks:  pebble.NewCache(o.Blocks),
		files:   pebble.NewFileCache(2, o.Files),
		docs:    newDocCache(o.Docs),
		decoder: decoder,

		scratch: sync.Pool{New: func() any { return new([]byte) }},
	}, nil
}

// Close releases the cache.
func (c *Cache) Close() {
	c.files.Unref()
	c.blocks.Unref()
	c.decoder.zstd.Close()
	c.decoder.texts.Close()
}

// A docCache keeps decompressed blocks of documents or of texts.
type docCache = lru.Cache[docCacheKey, string]

type docCacheKey struct {
	segment uint64 // number of the segment in this process
	number  uint32 // first ordinal of a block of documents, or number of a block of texts
}

func newDocCache(bytes int64) *docCache {
	return lru.New(int(bytes), func(_ docCacheKey, raw string) int { return len(raw) })
}

// forget removes a closed segment from the cache.
func (c *Cache) forget(segment uint64) {
	c.docs.RemoveFunc(func(key docCacheKey) bool { return key.segment == segment })
}
