package linkdb

import (
	"hash/maphash"
	"math/bits"
	"slices"
	"strings"

	"anatomy/vocab"
)

// urlSeed is the seed of all indexes, so that a URL is hashed once for all runs.
var urlSeed = maphash.MakeSeed()

// A urlIndex finds the documents of a run by their URLs, which may be http or https. It is a hash table
// with buckets of one to two documents on average, and takes 8 to 10 bytes a name.
type urlIndex struct {
	shift  int      // of a hash, to the number of its bucket
	starts []uint32 // by bucket, its first index in docs; and the end
	tags   []uint16 // by index in docs, the low bits of the hash
	docs   []uint32
}

// urlIndex returns the index of the run. The first call reads all names.
func (r *Run) urlIndex() (*urlIndex, error) {
	r.urls.mu.Lock()
	defer r.urls.mu.Unlock()
	if r.urls.index != nil {
		return r.urls.index, nil
	}
	x, err := r.newURLIndex()
	r.urls.index = x
	return x, err
}

func (r *Run) newURLIndex() (*urlIndex, error) {
	n := int(r.dir[names].records)
	hashes, docs := make([]uint64, 0, n), make([]uint32, 0, n)
	for name, err := range r.Names() {
		if err != nil {
			return nil, err
		}
		if name.Doc >= notFound {
			return nil, r.corrupt(r.dir[names].offset, "document number too large")
		}
		hashes, docs = append(hashes, hashURL(name.URL)), append(docs, uint32(name.Doc))
	}
	log := bits.Len(uint(len(docs) / 2))
	x := &urlIndex{
		shift: 64 - log, starts: make([]uint32, 1<<log+1),
		tags: make([]uint16, len(docs)), docs: make([]uint32, len(docs)),
	}
	for _, h := range hashes {
		x.starts[h>>x.shift+1]++
	}
	for i := range x.starts[1:] {
		x.starts[i+1] += x.starts[i]
	}
	next := slices.Clone(x.starts)
	for i, h := range hashes {
		at := &next[h>>x.shift]
		x.tags[*at], x.docs[*at] = uint16(h), docs[i]
		*at++
	}
	return x, nil
}

// hashURL returns the hash of a URL, which is the same for http and https.
func hashURL(url string) uint64 { return maphash.String(urlSeed, schemeless(url)) }

func schemeless(url string) string { return url[strings.Index(url, "://")+1:] }

// candidates appends the documents of a hash, ascending, and a few others: one in 2^16 for each document
// of its bucket.
func (x *urlIndex) candidates(all []vocab.DocID, hash uint64) []vocab.DocID {
	bucket := hash >> x.shift
	for at := x.starts[bucket]; at < x.starts[bucket+1]; at++ {
		if x.tags[at] == uint16(hash) {
			all = append(all, vocab.DocID(x.docs[at]))
		}
	}
	return all
}

// ReuseURLIndexes shares the URL indexes of earlier, of the runs that both sets have.
func (s *Set) ReuseURLIndexes(earlier *Set) {
	for _, r := range s.runs {
		i := slices.IndexFunc(earlier.runs, func(old *Run) bool { return old.path == r.path })
		if i < 0 {
			continue
		}
		old := &earlier.runs[i].urls
		old.mu.Lock()
		r.urls.index = old.index
		old.mu.Unlock()
	}
}

// Docs returns the documents of a URL, http or https, ascending. The first call for a run reads all its
// names, some 100 ms a million; later ones, also of sets that share the indexes, read a block or two.
func (f *Finder) Docs(url string) (docs []vocab.DocID, err error) {
	hash := hashURL(url)
	var all []vocab.DocID
	for _, r := range f.set.runs {
		x, err := r.urlIndex()
		if err != nil {
			return nil, err
		}
		all = x.candidates(all, hash)
	}
	slices.Sort(all)
	for _, doc := range slices.Compact(all) {
		known, _, err := f.URL(doc)
		if err != nil {
			return nil, err
		}
		if schemeless(known) == schemeless(url) {
			docs = append(docs, doc)
		}
	}
	return docs, nil
}
