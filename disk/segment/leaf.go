package segment

import (
	"bytes"
	"encoding/binary"
	"errors"

	"anatomy/disk/segment/internal/decode"
)

const (
	// leafSize is the size in bytes at which a leaf of the dictionary is closed, after about 200
	// terms. A dictionary with a key per term instead of leaves was a fifth larger.
	leafSize = 8 << 10

	// leafGroup is the number of terms in a group, the first of which is not prefix-compressed, and
	// leafStart the bytes that locate a group. A lookup searches the groups, then one group.
	leafGroup = 16
	leafStart = 2 + 2
)

// A dictionaryWriter writes the entries of one kind of list in leaves.
type dictionaryWriter struct {
	kind byte
	set  func(kind byte, key, value []byte) error // key without its kind

	n       int
	starts  []byte
	terms   []byte
	entries []byte
	last    []byte
	leaf    []byte
}

// add adds the next term, in ascending order.
func (w *dictionaryWriter) add(term, entry []byte) error {
	shared := 0
	if w.n%leafGroup == 0 {
		w.starts = binary.LittleEndian.AppendUint16(w.starts, uint16(len(w.terms)))
		w.starts = binary.LittleEndian.AppendUint16(w.starts, uint16(len(w.entries)))
	} else {
		for shared < len(term) && shared < len(w.last) && term[shared] == w.last[shared] {
			shared++
		}
	}
	for _, v := range [...]int{shared, len(term) - shared, len(entry)} {
		w.terms = binary.AppendUvarint(w.terms, uint64(v))
	}
	w.terms = append(w.terms, term[shared:]...)
	w.entries = append(w.entries, entry...)
	w.last = append(w.last[:0], term...)
	if w.n++; len(w.terms)+len(w.entries) >= leafSize {
		return w.flush()
	}
	return nil
}

// flush writes the current leaf.
func (w *dictionaryWriter) flush() error {
	if w.n == 0 {
		return nil
	}
	w.leaf = binary.AppendUvarint(w.leaf[:0], uint64(w.n))
	w.leaf = binary.AppendUvarint(w.leaf, uint64(len(w.terms)))
	w.leaf = append(append(append(w.leaf, w.starts...), w.terms...), w.entries...)
	w.n, w.starts, w.terms, w.entries = 0, w.starts[:0], w.terms[:0], w.entries[:0]
	return w.set(w.kind, w.last, w.leaf)
}

var errLeaf = errors.New("a leaf of the dictionary is damaged")

// A leaf is the value of one key of the dictionary. It is read term by term.
type leaf struct {
	starts, terms, entries []byte

	left    int // terms not read yet
	at      int // offset of the next term
	entryAt int // offset of its entry
}

func parseLeaf(value []byte) (leaf, error) {
	d := decode.Reader{Src: value}
	n, size := d.Uvarint(), d.Uvarint()
	if d.Err != nil || n == 0 || n > size || size > uint64(len(d.Src)) {
		return leaf{}, errLeaf
	}
	starts := d.Bytes(int(n+leafGroup-1) / leafGroup * leafStart)
	terms := d.Bytes(int(size))
	if d.Err != nil {
		return leaf{}, errLeaf
	}
	return leaf{starts: starts, terms: terms, entries: d.Src, left: int(n)}, nil
}

// A leafTerm is a prefix-compressed term of a leaf with its entry.
type leafTerm struct {
	shared int    // length of the prefix shared with the previous term
	rest   []byte // the bytes after that prefix
	entry  []byte
}

// next reads a term.
func (l *leaf) next() (t leafTerm, err error) {
	if l.at+3 > len(l.terms) {
		return t, errLeaf
	}
	head := l.terms[l.at : l.at+3]
	shared, n, size := int(head[0]), int(head[1]), int(head[2])
	if l.at += 3; head[0]|head[1]|head[2] >= 0x80 {
		d := decode.Reader{Src: l.terms[l.at-3:]}
		long := [3]uint64{d.Uvarint(), d.Uvarint(), d.Uvarint()}
		if d.Err != nil || max(long[0], long[1], long[2]) > 1<<16 {
			return t, errLeaf
		}
		shared, n, size = int(long[0]), int(long[1]), int(long[2])
		l.at = len(l.terms) - len(d.Src)
	}
	if n > len(l.terms)-l.at || size > len(l.entries)-l.entryAt {
		return t, errLeaf
	}
	t = leafTerm{shared, l.terms[l.at : l.at+n], l.entries[l.entryAt : l.entryAt+size : l.entryAt+size]}
	l.at, l.entryAt = l.at+n, l.entryAt+size
	l.left--
	return t, nil
}

// seek moves before the first term of a group of a leaf of n terms.
func (l *leaf) seek(group, n int) error {
	start := l.starts[group*leafStart:][:leafStart]
	l.at, l.entryAt = int(binary.LittleEndian.Uint16(start)), int(binary.LittleEndian.Uint16(start[2:]))
	if l.left = n - group*leafGroup; l.entryAt > len(l.entries) {
		return errLeaf
	}
	return nil
}

// find returns the entry of a term, or nil if the leaf does not have it.
func (l *leaf) find(term []byte) ([]byte, error) {
	n, lo, hi := l.left, 0, len(l.starts)/leafStart // group lo is the first, or begins at or before term
	for hi-lo > 1 {
		mid := (lo + hi) / 2
		if err := l.seek(mid, n); err != nil {
			return nil, err
		}
		first, err := l.next()
		switch {
		case err != nil || first.shared > 0:
			return nil, errLeaf
		case bytes.Compare(first.rest, term) <= 0:
			lo = mid
		default:
			hi = mid
		}
	}
	if err := l.seek(lo, n); err != nil {
		return nil, err
	}
	return l.findNext(term, min(l.left, leafGroup))
}

// findNext searches the next n terms, which ascend. It compares each byte of term once: a term that
// shares more with its predecessor than the predecessor shares with term is also below term, and
// one that shares less is above it.
func (l *leaf) findNext(term []byte, n int) ([]byte, error) {
	matched := 0 // bytes that term shares with the predecessor
	for range n {
		t, err := l.next()
		if err != nil {
			return nil, err
		}
		if t.shared > matched {
			continue
		}
		if t.shared < matched {
			return nil, nil
		}
		rest := t.rest
		for len(rest) > 0 && matched < len(term) && rest[0] == term[matched] {
			rest = rest[1:]
			matched++
		}
		switch {
		case len(rest) == 0 && matched == len(term):
			return t.entry, nil
		case len(rest) > 0 && (matched == len(term) || rest[0] > term[matched]):
			return nil, nil
		}
	}
	return nil, nil
}
