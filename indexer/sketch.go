package indexer

import (
	"math/bits"

	"anatomy/vocab"
)

// A sketcher makes the [vocab.Sketch] of a page as its words come. The texts of links are left out: most
// of them are menus, which pages that differ have in common, and which change without their pages. The
// zero value is ready.
type sketcher struct {
	last  uint64 // hash of the word before
	words uint32
	most  [vocab.SketchTextBits]uint64 // largest hash of a pair in each part; 0 where there is none
}

// minSketched is how many words a text has at least that is compared with others.
const minSketched = 16

// add takes the next word, by its hash.
func (s *sketcher) add(h uint64) {
	if s.words > 0 {
		part, rest := bits.Mul64(s.last*hashFactor+h, vocab.SketchTextBits)
		s.most[part] = max(s.most[part], rest|1)
	}
	s.last = h
	s.words++
}

// sketchBit is the bit of a hash that is kept: one that the choice of the largest leaves to chance, and
// the multiplication by the number of parts does not make 0.
const sketchBit = 20

// text is the part of the sketch that tells of the text, false where that is too short.
func (s *sketcher) text() (text uint64, ok bool) {
	if s.words < minSketched {
		return 0, false
	}
	for part := range s.most {
		text |= (s.filled(part) >> sketchBit & 1) << part
	}
	return text, true
}

// filled is the hash that stands for a part: where it holds no pair, that of another part, chosen by
// chance and the same for all pages (Shrivastava 2017). The chances go through all parts.
func (s *sketcher) filled(part int) uint64 {
	h := s.most[part]
	for chance := uint64(part); h == 0; {
		chance = chance*hashFactor + 1
		other, _ := bits.Mul64(chance, vocab.SketchTextBits)
		h = s.most[other]
	}
	return h
}

// titleHash is a hash of the words of a title, those with digits left out: versions of a page differ in them.
func (p *parser) titleHash(from int) uint8 {
	sum := uint64(0)
	for _, o := range p.hits[from:] {
		if h, ok := letters(p.words.word(o.word)); ok {
			sum = sum*hashFactor + h
		}
	}
	return uint8(sum * hashFactor >> 56)
}
