package segment

import (
	"bytes"
	"encoding/binary"
	"errors"
	"sync"

	"github.com/cockroachdb/pebble/v2"
)

const (
	// leafSize closes a leaf of the dictionary, of some 200 words. With a key for each word in place of leaves a
	// dictionary was a fifth larger.
	leafSize = 8 << 10

	// leafGroup is how many words follow one that stands whole, and leafStart the bytes that say where it does: a word
	// is looked for among those, and then behind one of them.
	leafGroup = 16
	leafStart = 2 + 2
)

// A dictionaryWriter gathers the entries of one list's words in leaves.
type dictionaryWriter struct {
	kind byte
	set  func(kind byte, key, value []byte) error // key without its kind

	n       int
	starts  []byte
	words   []byte
	entries []byte
	last    []byte
	leaf    []byte
}

// add takes the next word, in ascending order.
func (w *dictionaryWriter) add(word, entry []byte) error {
	shared := 0
	if w.n%leafGroup == 0 {
		w.starts = binary.LittleEndian.AppendUint16(w.starts, uint16(len(w.words)))
		w.starts = binary.LittleEndian.AppendUint16(w.starts, uint16(len(w.entries)))
	} else {
		for shared < len(word) && shared < len(w.last) && word[shared] == w.last[shared] {
			shared++
		}
	}
	for _, v := range [...]int{shared, len(word) - shared, len(entry)} {
		w.words = binary.AppendUvarint(w.words, uint64(v))
	}
	w.words = append(w.words, word[shared:]...)
	w.entries = append(w.entries, entry...)
	w.last = append(w.last[:0], word...)
	if w.n++; len(w.words)+len(w.entries) >= leafSize {
		return w.end()
	}
	return nil
}

// end writes the leaf in hand.
func (w *dictionaryWriter) end() error {
	if w.n == 0 {
		return nil
	}
	w.leaf = binary.AppendUvarint(w.leaf[:0], uint64(w.n))
	w.leaf = binary.AppendUvarint(w.leaf, uint64(len(w.words)))
	w.leaf = append(append(append(w.leaf, w.starts...), w.words...), w.entries...)
	w.n, w.starts, w.words, w.entries = 0, w.starts[:0], w.words[:0], w.entries[:0]
	return w.set(w.kind, w.last, w.leaf)
}

var errLeaf = errors.New("a leaf of the dictionary is damaged")

// A leaf is what one key of the dictionary holds. It is read from word to word.
type leaf struct {
	starts, words, entries []byte

	left    int // words that were not read
	at      int // in words, of the next one
	entryAt int // in entries, of its entry
}

func parseLeaf(value []byte) (leaf, error) {
	d := decoder{src: value}
	n, words := d.uvarint(), d.uvarint()
	if d.err != nil || n == 0 || n > words || words > uint64(len(d.src)) {
		return leaf{}, errLeaf
	}
	l := leaf{starts: d.bytes(int(n+leafGroup-1) / leafGroup * leafStart), words: d.bytes(int(words)), left: int(n)}
	l.entries = d.src
	if d.err != nil {
		return leaf{}, errLeaf
	}
	return l, nil
}

// A leafWord is what a leaf says of a word.
type leafWord struct {
	shared int    // bytes of the word before that it begins with
	rest   []byte // the others
	entry  []byte
}

// next reads a word.
func (l *leaf) next() (w leafWord, err error) {
	if l.at+3 > len(l.words) {
		return w, errLeaf
	}
	head := l.words[l.at : l.at+3]
	shared, n, size := int(head[0]), int(head[1]), int(head[2])
	if l.at += 3; head[0]|head[1]|head[2] >= 0x80 {
		d := decoder{src: l.words[l.at-3:]}
		long := [3]uint64{d.uvarint(), d.uvarint(), d.uvarint()}
		if d.err != nil || max(long[0], long[1], long[2]) > 1<<16 {
			return w, errLeaf
		}
		shared, n, size = int(long[0]), int(long[1]), int(long[2])
		l.at = len(l.words) - len(d.src)
	}
	if n > len(l.words)-l.at || size > len(l.entries)-l.entryAt {
		return w, errLeaf
	}
	w = leafWord{shared, l.words[l.at : l.at+n], l.entries[l.entryAt : l.entryAt+size : l.entryAt+size]}
	l.at, l.entryAt = l.at+n, l.entryAt+size
	l.left--
	return w, nil
}

// to goes to the start of a group.
func (l *leaf) to(group, words int) error {
	start := l.starts[group*leafStart:][:leafStart]
	l.at, l.entryAt = int(binary.LittleEndian.Uint16(start)), int(binary.LittleEndian.Uint16(start[2:]))
	if l.left = words - group*leafGroup; l.entryAt > len(l.entries) {
		return errLeaf
	}
	return nil
}

// find gives the entry of a word, nil where there is none.
func (l *leaf) find(word []byte) ([]byte, error) {
	words, lo, hi := l.left, 0, len(l.starts)/leafStart // group lo begins at the word or before it, or is the first
	for hi-lo > 1 {
		mid := (lo + hi) / 2
		if err := l.to(mid, words); err != nil {
			return nil, err
		}
		first, err := l.next()
		switch {
		case err != nil || first.shared > 0:
			return nil, errLeaf
		case bytes.Compare(first.rest, word) <= 0:
			lo = mid
		default:
			hi = mid
		}
	}
	if err := l.to(lo, words); err != nil {
		return nil, err
	}
	return l.findBehind(word, min(l.left, leafGroup))
}

// findBehind looks for a word among the next n. It compares no more bytes than the word has: a word that shares more
// with the one before it than that does with the wanted one is below it, too, and one that shares less is above it.
func (l *leaf) findBehind(word []byte, n int) ([]byte, error) {
	matched := 0 // bytes of the wanted word that the one before begins with
	for range n {
		w, err := l.next()
		if err != nil {
			return nil, err
		}
		if w.shared > matched {
			continue
		}
		if w.shared < matched {
			return nil, nil
		}
		rest := w.rest
		for len(rest) > 0 && matched < len(word) && rest[0] == word[matched] {
			rest = rest[1:]
			matched++
		}
		switch {
		case len(rest) == 0 && matched == len(word):
			return w.entry, nil
		case len(rest) > 0 && (matched == len(word) || rest[0] > word[matched]):
			return nil, nil
		}
	}
	return nil, nil
}

// lookUp gives the entry of a word, nil where the list has none. It is not to be changed.
func (s *Segment) lookUp(list List, word []byte) ([]byte, error) {
	if entry, known := s.entries.get(list, word); known {
		return entry, nil
	}
	entry, err := s.seek(list, word)
	if err == nil {
		s.entries.put(list, word, entry)
	}
	return entry, err
}

// seek gives the entry of a word in memory of its own, nil where the list has none.
func (s *Segment) seek(list List, word []byte) ([]byte, error) {
	it, err := s.iter()
	if err != nil {
		return nil, s.wrap(err)
	}
	defer s.rest(it)
	key := append(append(make([]byte, 0, 1+len(word)), list.kind()), word...)
	if !it.SeekGE(key) || it.Key()[0] != key[0] {
		return nil, s.wrap(it.Error())
	}
	value, err := it.ValueAndErr()
	if err != nil {
		return nil, s.damaged(list, word, err)
	}
	l, err := parseLeaf(value)
	if err != nil {
		return nil, s.damaged(list, word, err)
	}
	entry, err := l.find(word)
	if err != nil {
		return nil, s.damaged(list, word, err)
	}
	return bytes.Clone(entry), nil
}

// An entryCache keeps the entries of words that were looked up: those that are asked for are asked for again, and one
// costs 3 µs in the dictionary.
type entryCache struct {
	mu   sync.RWMutex
	of   [lists]map[string][]byte // nil for a word without an entry
	size int
}

// entriesSize bounds the bytes of an entryCache; then it begins anew.
const entriesSize = 4 << 20

func (c *entryCache) get(list List, word []byte) (entry []byte, known bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	entry, known = c.of[list][string(word)]
	return entry, known
}

func (c *entryCache) put(list List, word, entry []byte) {
	const each = 64 // of the map, about
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.size += each + len(word) + len(entry); c.size > entriesSize {
		c.of, c.size = [lists]map[string][]byte{}, 0
	}
	if c.of[list] == nil {
		c.of[list] = map[string][]byte{}
	}
	c.of[list][string(word)] = entry
}

// A dictionary is the entries of one list, in the order of words.
type dictionary struct {
	seg   *Segment
	list  List
	it    *pebble.Iterator
	leaf  leaf
	first bool // no word of the leaf was read yet
	err   error

	word, entry []byte // until the next move
}

// from stands before the first word of the leaf that a word is in, or would be. The iterator is the caller's.
func (s *Segment) from(it *pebble.Iterator, list List, word []byte) *dictionary {
	d := &dictionary{seg: s, list: list, it: it}
	d.open(it.SeekGE(append([]byte{list.kind()}, word...)))
	return d
}

// open begins the leaf that the iterator stands at, if there is one.
func (d *dictionary) open(there bool) bool {
	if !there || d.it.Key()[0] != d.list.kind() {
		return d.fail(d.it.Error())
	}
	value, err := d.it.ValueAndErr()
	if err == nil {
		d.leaf, err = parseLeaf(value)
	}
	d.first = true
	return d.fail(err) || d.leaf.left > 0
}

// fail is false.
func (d *dictionary) fail(err error) bool {
	if err != nil {
		d.leaf.left = 0
		d.err = d.seg.damaged(d.list, d.word, err)
	}
	return false
}

// next goes to the next word. It is false at the end, and after an error.
func (d *dictionary) next() bool {
	if d.leaf.left == 0 && (d.err != nil || !d.it.Valid() || !d.open(d.it.Next())) {
		return false
	}
	w, err := d.leaf.next()
	switch {
	case err != nil:
		return d.fail(err)
	case w.shared == 0 && bytes.Compare(d.word, w.rest) < 0:
	case !d.first && len(w.rest) > 0 && (w.shared == len(d.word) || w.shared < len(d.word) && d.word[w.shared] < w.rest[0]):
	default:
		return d.fail(errLeaf)
	}
	d.first = false
	d.word, d.entry = append(d.word[:w.shared], w.rest...), w.entry
	if d.leaf.left == 0 && !bytes.Equal(d.word, d.it.Key()[1:]) {
		return d.fail(errLeaf)
	}
	return true
}
