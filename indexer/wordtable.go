package indexer

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/cespare/xxhash/v2"
)

// A wordTable numbers words in the order of their first coming. It is a hash table with open
// addressing whose memory holds no pointers, so that the garbage collector passes over it.
type wordTable struct {
	slots []uint64 // upper half of the word's hash, number + 1; 0 is free. A power of two, at most 3/4 full
	words []byte   // all words, one after the other
	ends  []int    // of each word in words
}

func (t *wordTable) len() int { return len(t.ends) }

func (t *wordTable) word(number uint32) []byte {
	start := 0
	if number > 0 {
		start = t.ends[number-1]
	}
	return t.words[start:t.ends[number]]
}

func (t *wordTable) bytes() int { return 8*cap(t.slots) + cap(t.words) + 8*cap(t.ends) }

// number gives the number of a word, a new one if it is new.
func (t *wordTable) number(word []byte) uint32 {
	if 4*(len(t.ends)+1) > 3*len(t.slots) {
		t.grow()
	}
	hash := xxhash.Sum64(word)
	mask := uint64(len(t.slots) - 1)
	for i := hash & mask; ; i = (i + 1) & mask {
		slot := t.slots[i]
		if slot == 0 {
			t.slots[i] = hash>>32<<32 | uint64(len(t.ends)+1)
			t.words = append(t.words, word...)
			t.ends = append(t.ends, len(t.words))
			return uint32(len(t.ends) - 1)
		}
		if slot>>32 == hash>>32 {
			if n := uint32(slot) - 1; string(t.word(n)) == string(word) {
				return n
			}
		}
	}
}

func (t *wordTable) grow() {
	t.slots = make([]uint64, max(1<<12, 2*len(t.slots)))
	mask := uint64(len(t.slots) - 1)
	for n := range t.ends {
		hash := xxhash.Sum64(t.word(uint32(n)))
		i := hash & mask
		for t.slots[i] != 0 {
			i = (i + 1) & mask
		}
		t.slots[i] = hash>>32<<32 | uint64(n+1)
	}
}

// reset forgets all words and keeps the memory.
func (t *wordTable) reset() {
	clear(t.slots)
	t.words, t.ends = t.words[:0], t.ends[:0]
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
