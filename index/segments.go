package index

import (
	"anatomy/disk/datadir"
	"anatomy/disk/segment"
	"anatomy/vocab"
)

// mergeCache bounds the block cache of a merge in bytes. A merge reads each block once.
const mergeCache = 4 << 20

// openSegments are segments that are open for a merge, oldest first.
type openSegments struct {
	names []string
	all   []*segment.Segment
	cache *segment.Cache
}

func openAll(dir string, names []string) (*openSegments, error) {
	cache, err := segment.NewCache(segment.CacheOptions{Blocks: mergeCache, Docs: mergeCache})
	if err != nil {
		return nil, err
	}
	o := &openSegments{names: names, cache: cache}
	for _, name := range names {
		s, err := segment.OpenWhole(datadir.Segment(dir, name), o.cache)
		if err != nil {
			o.close()
			return nil, err
		}
		o.all = append(o.all, s)
	}
	return o, nil
}

// close closes the segments. It may be called more than once.
func (o *openSegments) close() {
	for _, s := range o.all {
		s.Close()
	}
	if o.cache != nil {
		o.cache.Close()
	}
	o.all, o.cache = nil, nil
}

// A DocSet is a set of documents, one bit each. The zero value is empty.
type DocSet []uint64

func (d *DocSet) set(doc vocab.DocID, in bool) {
	for uint64(len(*d)) <= uint64(doc)/64 {
		*d = append(*d, 0)
	}
	if bit := uint64(1) << (doc % 64); in {
		(*d)[doc/64] |= bit
	} else {
		(*d)[doc/64] &^= bit
	}
}

// Has reports whether doc is in the set.
func (d DocSet) Has(doc vocab.DocID) bool {
	return uint64(doc)/64 < uint64(len(d)) && d[doc/64]&(1<<(doc%64)) != 0
}

// Pages returns the documents that are pages in the segments of m, a manifest of dir.
func Pages(dir string, m datadir.Manifest) (DocSet, error) {
	segments, err := openAll(dir, m.Segments)
	if err != nil {
		return nil, err
	}
	defer segments.close()
	var all DocSet
	for _, s := range segments.all { // oldest first, so that newer segments override
		for _, doc := range s.Tombstones() {
			all.set(doc, false)
		}
		for ord := range vocab.Ordinal(s.Docs()) {
			all.set(s.DocID(ord), s.Crawled(ord))
		}
	}
	return all, nil
}
