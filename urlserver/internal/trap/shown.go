package trap

import (
	"math/bits"

	"github.com/cespare/xxhash/v2"

	"anatomy/vocab"
)

// shown records which lines were shown where, for the last pages: a hash of (group, line) in each
// slot of a direct-mapped table. A group is, for instance, a folder of a host. One line in 65,000
// is a false positive, which does not make a page a repeated one. Lines that recur stay in the
// table.
type shown []uint16

// shownBits makes a table of 8 MB: the lines of about 300,000 pages.
const shownBits = 22

// minFigures is the number of new lines with numbers that make a page new. A clock, a counter or a
// ticket number changes without new content.
const minFigures = 3

// add adds a line to a group, and reports whether it was already there.
func (s *shown) add(group, line uint64) bool {
	slot, tag := s.slot(group, line)
	was := (*s)[slot] == tag
	(*s)[slot] = tag
	return was
}

// has reports whether a line is in a group.
func (s *shown) has(group, line uint64) bool {
	slot, tag := s.slot(group, line)
	return (*s)[slot] == tag
}

func (s *shown) slot(group, line uint64) (slot uint64, tag uint16) {
	if *s == nil {
		*s = make(shown, 1<<shownBits)
	}
	h := (group ^ bits.RotateLeft64(line, 32)) * 0x9e3779b97f4a7c15
	return h >> (64 - shownBits), uint16(h>>16) | 1
}

// repeats reports whether a text has only lines that are in a group or in the one around it, and
// adds it to the group.
func (s *shown) repeats(group, around uint64, text *vocab.TextSample) bool {
	words, figures := 0, 0
	knows := func(line uint64) bool {
		return s.add(group, line) || group != around && s.has(around, line)
	}
	for i, lines := range [][]uint32{text.Lines, text.Linked, text.Figures} {
		for _, line := range lines {
			switch {
			case knows(uint64(line) | uint64(i)<<32):
			case i < 2:
				words++
			default:
				figures++
			}
		}
	}
	if len(text.Lines)+len(text.Linked)+len(text.Figures) == 0 && !knows(noText) {
		words++
	}
	return words == 0 && figures < minFigures
}

// Special lines, which no text has.
const (
	noText    = 1 << 40 // a page without text
	visited   = 2 << 40 // the group has a page
	requested = 3 << 40 // a page of the group was requested
)

// isVisited reports whether a group has a page, and marks it as having one.
func (s *shown) isVisited(group uint64) bool { return s.add(group, visited) }

// groupOf returns the group of a host's pages with a name.
func groupOf(host, name string) uint64 {
	return xxhash.Sum64String(host)*0x9e3779b97f4a7c15 ^ xxhash.Sum64String(name)
}
