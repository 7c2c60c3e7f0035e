package indexer

import (
	"encoding/binary"

	"github.com/cespare/xxhash/v2"

	"anatomy/vocab"
)

// sketchBits is how many words a sketch tells apart well; a page of real text has some hundred.
const sketchBits = 13

// Sketch is a hash of the set of words that the page shows, body and title: the same for pages that
// differ in nothing but the order and number of words, numbers, and what is not shown. Words with digits
// count for nothing, so that the months of an empty calendar are one text.
func (d *Document) Sketch() uint64 {
	var set [1 << sketchBits / 64]uint64
	start := uint32(0)
	for _, o := range d.hits {
		word := d.words[start:o.end]
		start = o.end
		if t := o.hit.Type(); t == vocab.URLWord || t == vocab.Meta {
			continue
		}
		if h, ok := letters(word); ok {
			h >>= 64 - sketchBits
			set[h/64] |= 1 << (h % 64)
		}
	}
	var b [1 << sketchBits / 8]byte
	for i, w := range set {
		binary.LittleEndian.PutUint64(b[8*i:], w)
	}
	return xxhash.Sum64(b[:])
}

// letters is a hash of a word without digits.
func letters(word []byte) (h uint64, ok bool) {
	for _, c := range word {
		if c-'0' < 10 {
			return 0, false
		}
		h = (h ^ uint64(c)) * 0x9e3779b97f4a7c15
	}
	return h, true
}
