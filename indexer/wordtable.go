package indexer

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"
)

// A wordTable numbers words in the order of their first coming. It is a hash table with open
// addressing whose memory holds no pointers, so that the garbage collector passes over it.
type wordTable struct {
	wordList
	slots []uint64 // upper half of the word's hash, number + 1; 0 is free. A power of two, at most 3/4 full
}

func (t *wordTable) len() int { return len(t.ends) }

func (t *wordTable) bytes() int {
	return 8*cap(t.slots) + cap(t.text) + 4*cap(t.ends) + 8*cap(t.hashes)
}

// number gives the number of a word, a new one if it is new. Hash is its xxhash.
func (t *wordTable) number(word []byte, hash uint64) uint32 {
	if 4*(len(t.ends)+1) > 3*len(t.slots) {
		t.resize(max(leastSlots, 2*len(t.slots)))
	}
	mask := uint64(len(t.slots) - 1)
	for i := hash & mask; ; i = (i + 1) & mask {
		slot := t.slots[i]
		if slot == 0 {
			t.slots[i] = hash>>32<<32 | uint64(len(t.ends)+1)
			t.text = append(t.text, word...)
			t.ends = append(t.ends, uint32(len(t.text)))
			t.hashes = append(t.hashes, hash)
			return uint32(len(t.ends) - 1)
		}
		if slot>>32 == hash>>32 {
			if n := uint32(slot) - 1; string(t.word(n)) == string(word) {
				return n
			}
		}
	}
}

// find gives the number of a word that is there.
func (t *wordTable) find(word []byte, hash uint64) (number uint32, ok bool) {
	if len(t.slots) == 0 {
		return 0, false
	}
	mask := uint64(len(t.slots) - 1)
	for i := hash & mask; t.slots[i] != 0; i = (i + 1) & mask {
		if n := uint32(t.slots[i]) - 1; t.slots[i]>>32 == hash>>32 && string(t.word(n)) == string(word) {
			return n, true
		}
	}
	return 0, false
}

// leastSlots hold the words of most pages.
const leastSlots = 1 << 11

// resize makes n slots, in the memory that there is if it is enough.
func (t *wordTable) resize(n int) {
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

// reset forgets all words and keeps the memory, though fewer slots, so that after one with many words those with
// few are not slow to begin.
func (t *wordTable) reset() {
	t.text, t.ends, t.hashes = t.text[:0], t.ends[:0], t.hashes[:0]
	t.resize(max(leastSlots, len(t.slots)/2))
}

// sorted gives the numbers of the words that keep says, in the order of the words' bytes.
func (t *wordTable) sorted(keep func(number uint32) bool) []uint32 {
	type key struct {
		head   uint64 // first eight bytes, which nearly always tell
		number uint32
	}
	keys := make([]key, 0, t.len())
	for n := range uint32(t.len()) {
		if keep(n) {
			var head [8]byte
			copy(head[:], t.word(n))
			keys = append(keys, key{binary.BigEndian.Uint64(head[:]), n})
		}
	}
	slices.SortFunc(keys, func(a, b key) int {
		if a.head != b.head {
			return cmp.Compare(a.head, b.head)
		}
		return bytes.Compare(t.word(a.number), t.word(b.number))
	})
	numbers := make([]uint32, len(keys))
	for i, k := range keys {
		numbers[i] = k.number
	}
	return numbers
}
