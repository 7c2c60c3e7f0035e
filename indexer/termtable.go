package indexer

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"iter"
	"slices"

	"anatomy/analysis"
	"anatomy/vocab"
)

// An occurrence is a hit of a term, by the term's number in the document's termList.
type occurrence struct {
	term uint32
	hit  vocab.Hit
}

// A termList is a list of distinct terms. A term's number is its index.
type termList struct {
	text   []byte   // the terms in a row
	ends   []uint32 // text[:ends[n]] ends with term n
	hashes []uint64
}

func (l *termList) clone() termList {
	return termList{slices.Clone(l.text), slices.Clone(l.ends), slices.Clone(l.hashes)}
}

func (l *termList) term(number uint32) []byte {
	start := uint32(0)
	if number > 0 {
		start = l.ends[number-1]
	}
	return l.text[start:l.ends[number]:l.ends[number]]
}

// first yields at most n terms, without accented ones.
func (l *termList) first(n int) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for number := range l.ends {
			term := l.term(uint32(number))
			if analysis.IsAccented(term) {
				continue
			}
			if n--; n < 0 || !yield(term) {
				return
			}
		}
	}
}

// A termTable numbers terms in the order of their first occurrence. It is a hash table with open
// addressing. Its memory contains no pointers, so the garbage collector does not scan it.
type termTable struct {
	termList
	slots []uint64 // upper half of the term's hash, number + 1; 0 if free. A power of two, at most 3/4 full
}

func (t *termTable) len() int { return len(t.ends) }

func (t *termTable) bytes() int {
	return 8*cap(t.slots) + cap(t.text) + 4*cap(t.ends) + 8*cap(t.hashes)
}

// number returns the number of a term and adds the term if it is new. hash is its xxhash.
func (t *termTable) number(term []byte, hash uint64) uint32 {
	if 4*(len(t.ends)+1) > 3*len(t.slots) {
		t.resize(max(leastSlots, 2*len(t.slots)))
	}
	mask := uint64(len(t.slots) - 1)
	for i := hash & mask; ; i = (i + 1) & mask {
		slot := t.slots[i]
		if slot == 0 {
			t.slots[i] = hash>>32<<32 | uint64(len(t.ends)+1)
			t.text = append(t.text, term...)
			t.ends = append(t.ends, uint32(len(t.text)))
			t.hashes = append(t.hashes, hash)
			return uint32(len(t.ends) - 1)
		}
		if slot>>32 == hash>>32 {
			if n := uint32(slot) - 1; string(t.term(n)) == string(term) {
				return n
			}
		}
	}
}

// find returns the number of a term. ok is false if the table does not contain it.
func (t *termTable) find(term []byte, hash uint64) (number uint32, ok bool) {
	if len(t.slots) == 0 {
		return 0, false
	}
	mask := uint64(len(t.slots) - 1)
	for i := hash & mask; t.slots[i] != 0; i = (i + 1) & mask {
		if n := uint32(t.slots[i]) - 1; t.slots[i]>>32 == hash>>32 && string(t.term(n)) == string(term) {
			return n, true
		}
	}
	return 0, false
}

// leastSlots is enough for the terms of most pages.
const leastSlots = 1 << 11

// resize sets the number of slots, in the same memory if that is large enough.
func (t *termTable) resize(n int) {
	if cap(t.slots) >= n {
		t.slots = t.slots[:n]
		clear(t.slots)
	} else {
		t.slots = make([]uint64, n)
	}
	mask := uint64(n - 1)
	for number, hash := range t.hashes {
		i := hash & mask
		for t.slots[i] != 0 {
			i = (i + 1) & mask
		}
		t.slots[i] = hash>>32<<32 | uint64(number+1)
	}
}

// reset drops all terms and keeps the memory. It halves the slots, so that after a page with many
// terms the next ones do not clear all of them.
func (t *termTable) reset() {
	t.text, t.ends, t.hashes = t.text[:0], t.ends[:0], t.hashes[:0]
	t.resize(max(leastSlots, len(t.slots)/2))
}

// sorted returns the numbers of the terms for which keep is true, in the order of the terms' bytes.
func (t *termTable) sorted(keep func(number uint32) bool) []uint32 {
	type key struct {
		head   uint64 // first eight bytes, which decide nearly always
		number uint32
	}
	keys := make([]key, 0, t.len())
	for n := range uint32(t.len()) {
		if keep(n) {
			var head [8]byte
			copy(head[:], t.term(n))
			keys = append(keys, key{binary.BigEndian.Uint64(head[:]), n})
		}
	}
	slices.SortFunc(keys, func(a, b key) int {
		if a.head != b.head {
			return cmp.Compare(a.head, b.head)
		}
		return bytes.Compare(t.term(a.number), t.term(b.number))
	})
	numbers := make([]uint32, len(keys))
	for i, k := range keys {
		numbers[i] = k.number
	}
	return numbers
}
