package repository

import "anatomy/lru"

// A cache keeps decoded blocks, because a reader of a page often reads neighbouring pages next.
type cache = lru.Cache[blockKey, *block]

type blockKey struct {
	file   uint32
	offset int64
}

func newCache(bytes int) *cache {
	return lru.New(bytes, func(_ blockKey, b *block) int { return len(b.raw) })
}
