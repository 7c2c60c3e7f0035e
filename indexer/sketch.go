package indexer

import (
	"math/bits"

	"anatomy/vocab"
)

// A sketcher computes the text part of the [vocab.Sketch] of a page, term by term. It omits texts
// of links: most are menus, which different pages share, and which change independently of their
// pages. The zero value is ready.
type sketcher struct {
	last  uint64 // hash of the last term
	terms uint32
	most  [vocab.SketchTextBits]uint64 // largest hash of a pair in each part; 0 if it has none
}

// minSketched is the minimum number of terms of a text that is compared with others.
const minSketched = 16

// add adds a term by its hash.
func (s *sketcher) add(h uint64) {
	if s.terms > 0 {
		part, rest := bits.Mul64(s.last*hashFactor+h, vocab.SketchTextBits)
		s.most[part] = max(s.most[part], rest|1)
	}
	s.last = h
	s.terms++
}

// sketchBit is the bit of a hash that is kept. Choosing the largest hash leaves it random, and
// multiplying by the number of parts does not make it 0.
const sketchBit = 20

// text returns the text part of the sketch, or false if the text is too short.
func (s *sketcher) text() (text uint64, ok bool) {
	if s.terms < minSketched {
		return 0, false
	}
	for part := range s.most {
		text |= (s.filled(part) >> sketchBit & 1) << part
	}
	return text, true
}

// filled returns the hash of a part. A part without pairs has that of another one, chosen by a
// pseudo-random sequence that is the same for all pages and reaches all parts (Shrivastava 2017).
func (s *sketcher) filled(part int) uint64 {
	h := s.most[part]
	for chance := uint64(part); h == 0; {
		chance = chance*hashFactor + 1
		other, _ := bits.Mul64(chance, vocab.SketchTextBits)
		h = s.most[other]
	}
	return h
}

// titleHash returns a hash of the terms of a title. Those with more digits than letters do not count:
// versions of a page differ in them.
func titleHash(terms *termTable, title []occurrence) uint8 {
	sum := uint64(0)
	for _, o := range title {
		if h, ok := letterHash(terms.term(o.term)); ok {
			sum = sum*hashFactor + h
		}
	}
	return uint8(sum * hashFactor >> 56)
}

const hashFactor = 0x9e3779b97f4a7c15

// letterHash returns a hash of a term, or false if it has no more letters than digits.
func letterHash(term []byte) (h uint64, ok bool) {
	more := 0
	for _, c := range term {
		if c-'0' < 10 {
			more--
		} else {
			more++
		}
		h = (h ^ uint64(c)) * hashFactor
	}
	return h, more > 0
}
