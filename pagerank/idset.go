package pagerank

import (
	"math/bits"
)

// An idSet is a set of numbers with rank look-up: the rank of a number is how many of the set are smaller. It
// takes 8 KiB for each page of 65,536 numbers with one in the set; a map would take 40 bytes a number.
type idSet struct {
	pages [1 << 16]*idPage
	size  int // set by count
}

type idPage struct {
	words  [1 << 10]uint64
	before [1 << 10]uint32 // numbers of the set below the word, set by count
}

func (s *idSet) add(id uint32) {
	p := s.pages[id>>16]
	if p == nil {
		p = new(idPage)
		s.pages[id>>16] = p
	}
	p.words[id>>6&1023] |= 1 << (id & 63)
}

// merge adds the numbers of another set, which must not be used afterwards.
func (s *idSet) merge(other *idSet) {
	for high, q := range other.pages {
		switch p := s.pages[high]; {
		case q == nil:
		case p == nil:
			s.pages[high] = q
		default:
			for i := range p.words {
				p.words[i] |= q.words[i]
			}
		}
	}
}

// count computes the size of the set, returns it, and prepares rank. No number may be added
// afterwards.
func (s *idSet) count() int {
	n := uint32(0)
	for _, p := range s.pages {
		if p == nil {
			continue
		}
		for i, w := range p.words {
			p.before[i] = n
			n += uint32(bits.OnesCount64(w))
		}
	}
	s.size = int(n)
	return s.size
}

// names returns the set, or nil if its numbers are 0 to size-1, which are their own ranks.
func (s *idSet) names() *idSet {
	if s.size == 0 {
		return nil
	}
	if last := uint32(s.size - 1); s.has(last) && s.rank(last) == last {
		return nil
	}
	return s
}

func (s *idSet) has(id uint32) bool {
	p := s.pages[id>>16]
	return p != nil && p.words[id>>6&1023]>>(id&63)&1 == 1
}

func (s *idSet) rank(id uint32) uint32 {
	p := s.pages[id>>16]
	i := id >> 6 & 1023
	return p.before[i] + uint32(bits.OnesCount64(p.words[i]&(1<<(id&63)-1)))
}

// An idCursor returns the numbers of a set in ascending order.
type idCursor struct {
	set  *idSet
	from uint64 // smaller numbers were returned
}

func (c *idCursor) next() (id uint32, ok bool) {
	for c.from < 1<<32 {
		p := c.set.pages[c.from>>16]
		if p == nil {
			c.from = (c.from>>16 + 1) << 16
			continue
		}
		if w := p.words[c.from>>6&1023] >> (c.from & 63); w != 0 {
			c.from += uint64(bits.TrailingZeros64(w)) + 1
			return uint32(c.from - 1), true
		}
		c.from = (c.from>>6 + 1) << 6
	}
	return 0, false
}

// all returns the numbers in ascending order.
func (s *idSet) all() []uint32 {
	ids := make([]uint32, 0, s.size)
	c := idCursor{set: s}
	for id, ok := c.next(); ok; id, ok = c.next() {
		ids = append(ids, id)
	}
	return ids
}
