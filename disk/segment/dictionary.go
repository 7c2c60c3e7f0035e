package segment

import (
	"bytes"
	"sync"

	"github.com/cockroachdb/pebble/v2"

	"anatomy/disk/segment/internal/postings"
)

// lookUp returns the dictionary entry of a term, or nil. The caller must not modify it.
func (s *Segment) lookUp(list List, term []byte) ([]byte, error) {
	if entry, cached := s.terms.get(list, term); cached {
		return entry, nil
	}
	entry, err := s.find(list, term)
	if err == nil {
		s.terms.put(list, term, entry)
	}
	return entry, err
}

// find is lookUp without the cache. The entry is a copy.
func (s *Segment) find(list List, term []byte) ([]byte, error) {
	it, err := s.iter()
	if err != nil {
		return nil, s.wrap(err)
	}
	defer s.release(it)
	key := append(append(make([]byte, 0, 1+len(term)), list.key()), term...)
	if !it.SeekGE(key) || it.Key()[0] != key[0] {
		return nil, s.wrap(it.Error())
	}
	value, err := it.ValueAndErr()
	if err != nil {
		return nil, s.damaged(list, term, err)
	}
	l, err := parseLeaf(value)
	if err != nil {
		return nil, s.damaged(list, term, err)
	}
	entry, err := l.find(term)
	if err != nil {
		return nil, s.damaged(list, term, err)
	}
	return bytes.Clone(entry), nil
}

// EachTerm calls fn with each term that begins with prefix, in ascending order, and its document
// frequency, until fn returns false. The term is valid during the call.
func (s *Segment) EachTerm(prefix []byte, fn func(term []byte, df int) bool) error {
	it, err := s.iter()
	if err != nil {
		return s.wrap(err)
	}
	defer s.release(it)
	w := s.walkTerms(it, Full, prefix)
	for w.next() {
		if bytes.Compare(w.term, prefix) < 0 {
			continue
		}
		if !bytes.HasPrefix(w.term, prefix) {
			break
		}
		e, err := postings.ParseEntry(w.entry)
		if err != nil {
			return s.damaged(Full, w.term, err)
		}
		if !fn(w.term, e.DF) {
			break
		}
	}
	return w.err
}

// A termCache caches the entries of terms: a lookup in the dictionary takes 3 µs, and most terms of
// queries recur.
type termCache struct {
	mu      sync.RWMutex
	entries [lists]map[string][]byte // nil for a term without an entry
	size    int
}

// maxTermCache is the size in bytes at which a termCache is emptied.
const maxTermCache = 4 << 20

func (c *termCache) get(list List, term []byte) (entry []byte, cached bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	entry, cached = c.entries[list][string(term)]
	return entry, cached
}

func (c *termCache) put(list List, term, entry []byte) {
	const overhead = 64 // of a map element, approximately
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.size += overhead + len(term) + len(entry); c.size > maxTermCache {
		c.entries, c.size = [lists]map[string][]byte{}, 0
	}
	if c.entries[list] == nil {
		c.entries[list] = map[string][]byte{}
	}
	c.entries[list][string(term)] = entry
}

// A termWalker iterates over the terms of one kind of list in ascending order.
type termWalker struct {
	seg   *Segment
	list  List
	it    *pebble.Iterator
	leaf  leaf
	first bool // no term of the leaf was read yet
	err   error

	term, entry []byte // valid until the next move
}

// walkTerms returns a walker before the first term of the leaf that has term, or would have it. The
// caller owns the iterator.
func (s *Segment) walkTerms(it *pebble.Iterator, list List, term []byte) *termWalker {
	w := &termWalker{seg: s, list: list, it: it}
	w.open(it.SeekGE(append([]byte{list.key()}, term...)))
	return w
}

// open starts the leaf at the iterator, if it is at one.
func (w *termWalker) open(valid bool) bool {
	if !valid || w.it.Key()[0] != w.list.key() {
		return w.fail(w.it.Error())
	}
	value, err := w.it.ValueAndErr()
	if err == nil {
		w.leaf, err = parseLeaf(value)
	}
	w.first = true
	return w.fail(err) || w.leaf.left > 0
}

// fail ends the iteration if err is not nil. It returns false.
func (w *termWalker) fail(err error) bool {
	if err != nil {
		w.leaf.left = 0
		w.err = w.seg.damaged(w.list, w.term, err)
	}
	return false
}

// next moves to the next term. It returns false at the end and after an error.
func (w *termWalker) next() bool {
	if w.leaf.left == 0 && (w.err != nil || !w.it.Valid() || !w.open(w.it.Next())) {
		return false
	}
	t, err := w.leaf.next()
	switch {
	case err != nil:
		return w.fail(err)
	case t.shared == 0 && bytes.Compare(w.term, t.rest) < 0:
	case !w.first && len(t.rest) > 0 && (t.shared == len(w.term) || t.shared < len(w.term) && w.term[t.shared] < t.rest[0]):
	default:
		return w.fail(errLeaf)
	}
	w.first = false
	w.term, w.entry = append(w.term[:t.shared], t.rest...), t.entry
	if w.leaf.left == 0 && !bytes.Equal(w.term, w.it.Key()[1:]) {
		return w.fail(errLeaf)
	}
	return true
}
