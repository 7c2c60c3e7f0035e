package segment

import (
	"bytes"
	"encoding/binary"
	"errors"

	"github.com/cockroachdb/pebble/v2"
)

// leafSize closes a leaf of the dictionary. A word is looked for from the start of its leaf, some 100 words and
// half a microsecond away; with a key for each word in place of leaves, a dictionary was a fifth larger.
const leafSize = 8 << 10

// A dictionaryWriter gathers the entries of one list's words in leaves.
type dictionaryWriter struct {
	kind byte
	set  func(kind byte, key, value []byte) error // key without its kind

	n       uint64
	words   []byte
	sizes   []byte
	entries []byte
	last    []byte
	leaf    []byte
}

// add takes the next word, in ascending order.
func (w *dictionaryWriter) add(word, entry []byte) error {
	shared := 0
	for w.n > 0 && shared < len(word) && shared < len(w.last) && word[shared] == w.last[shared] {
		shared++
	}
	w.words = binary.AppendUvarint(w.words, uint64(shared))
	w.words = binary.AppendUvarint(w.words, uint64(len(word)-shared))
	w.words = append(w.words, word[shared:]...)
	w.sizes = binary.AppendUvarint(w.sizes, uint64(len(entry)))
	w.entries = append(w.entries, entry...)
	w.last = append(w.last[:0], word...)
	if w.n++; len(w.words)+len(w.sizes)+len(w.entries) >= leafSize {
		return w.end()
	}
	return nil
}

// end writes the leaf in hand.
func (w *dictionaryWriter) end() error {
	if w.n == 0 {
		return nil
	}
	w.leaf = binary.AppendUvarint(w.leaf[:0], w.n)
	w.leaf = binary.AppendUvarint(w.leaf, uint64(len(w.words)))
	w.leaf = binary.AppendUvarint(w.leaf, uint64(len(w.sizes)))
	w.leaf = append(append(append(w.leaf, w.words...), w.sizes...), w.entries...)
	w.n, w.words, w.sizes, w.entries = 0, w.words[:0], w.sizes[:0], w.entries[:0]
	return w.set(w.kind, w.last, w.leaf)
}

var errLeaf = errors.New("a leaf of the dictionary is damaged")

// A leaf is what one key of the dictionary holds, or what is left of it.
type leaf struct {
	n              int
	words, entries []byte
	sizes          decoder
}

func parseLeaf(value []byte) (leaf, error) {
	d := decoder{src: value}
	n, words, sizes := d.uvarint(), d.uvarint(), d.uvarint()
	if d.err != nil || words > uint64(len(d.src)) || sizes > uint64(len(d.src))-words || n > sizes || n == 0 {
		return leaf{}, errLeaf
	}
	l := leaf{n: int(n), words: d.bytes(int(words)), sizes: decoder{src: d.bytes(int(sizes))}}
	l.entries = d.src
	return l, nil
}

// number reads a number off the words.
func (l *leaf) number() int {
	if len(l.words) > 0 && l.words[0] < 0x80 {
		n := int(l.words[0])
		l.words = l.words[1:]
		return n
	}
	v, size := binary.Uvarint(l.words)
	if size <= 0 || v > MaxWord {
		l.words = nil
		return MaxWord + 1
	}
	l.words = l.words[size:]
	return int(v)
}

// word reads the next word off: how many bytes it shares with the one before, and the others.
func (l *leaf) word() (shared int, rest []byte, err error) {
	shared = l.number()
	n := l.number()
	if n > len(l.words) || shared > MaxWord {
		return 0, nil, errLeaf
	}
	rest = l.words[:n]
	l.words = l.words[n:]
	return shared, rest, nil
}

// entry reads the next entry off.
func (l *leaf) entry() ([]byte, error) {
	n := l.sizes.uvarint()
	if l.sizes.err != nil || n > uint64(len(l.entries)) {
		return nil, errLeaf
	}
	e := l.entries[:n:n]
	l.entries = l.entries[n:]
	return e, nil
}

// find gives the entry of a word, nil where there is none. It compares no more bytes than the word has: a word that
// shares more with the one before it than that does with the wanted one is below it, too, and one that shares less is
// above it.
func (l *leaf) find(word []byte) ([]byte, error) {
	matched := 0 // bytes of the wanted word that the one before begins with
	for passed := range l.n {
		shared, rest, err := l.word()
		if err != nil {
			return nil, err
		}
		if shared > matched {
			continue
		}
		if shared < matched {
			return nil, nil
		}
		for len(rest) > 0 && matched < len(word) && rest[0] == word[matched] {
			rest = rest[1:]
			matched++
		}
		if len(rest) == 0 && matched == len(word) {
			return l.skip(passed)
		}
		if len(rest) > 0 && (matched == len(word) || rest[0] > word[matched]) {
			return nil, nil
		}
	}
	return nil, nil
}

// skip gives the entry behind the next n.
func (l *leaf) skip(n int) ([]byte, error) {
	for range n {
		if _, err := l.entry(); err != nil {
			return nil, err
		}
	}
	return l.entry()
}

// lookUp gives the entry of a word in memory of its own, nil where the list has none.
func (s *Segment) lookUp(list List, word []byte) ([]byte, error) {
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
	return d.fail(err) || d.leaf.n > 0
}

// fail is false.
func (d *dictionary) fail(err error) bool {
	if err != nil {
		d.leaf.n = 0
		d.err = d.seg.damaged(d.list, d.word, err)
	}
	return false
}

// next goes to the next word. It is false at the end, and after an error.
func (d *dictionary) next() bool {
	if d.leaf.n == 0 && (d.err != nil || !d.it.Valid() || !d.open(d.it.Next())) {
		return false
	}
	shared, rest, err := d.leaf.word()
	switch {
	case err != nil:
		return d.fail(err)
	case d.first && shared == 0 && bytes.Compare(d.word, rest) < 0:
	case !d.first && len(rest) > 0 && (shared == len(d.word) || shared < len(d.word) && d.word[shared] < rest[0]):
	default:
		return d.fail(errLeaf)
	}
	d.first = false
	d.word = append(d.word[:shared], rest...)
	if d.entry, err = d.leaf.entry(); err != nil {
		return d.fail(err)
	}
	if d.leaf.n--; d.leaf.n == 0 && !bytes.Equal(d.word, d.it.Key()[1:]) {
		return d.fail(errLeaf)
	}
	return true
}
