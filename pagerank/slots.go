package pagerank

import (
	"math/bits"
)

// A slotAssigner maps sources to slots in the table of a piece: first its own nodes, by position,
// and then its remote nodes, ascending.
type slotAssigner struct {
	first     uint32     // number of the first own node among the sources
	positions []uint32   // of the own nodes
	set       []nodeWord // the remote nodes, a bit for each node of the graph
}

// A nodeWord is the part of a set of nodes that is for 64 of them.
type nodeWord struct {
	set    uint64
	before uint32 // number of nodes of the set in the words before
}

func (p *slotAssigner) begin() { clear(p.set) }

// add adds the remote nodes among sources to the set.
func (p *slotAssigner) add(sources []uint32) {
	first, own := p.first, uint32(len(p.positions))
	for _, s := range sources {
		if s-first >= own {
			p.set[s>>6].set |= 1 << (s & 63)
		}
	}
}

// list returns the remote nodes in ascending order. Nothing may be added after it.
func (p *slotAssigner) list() (list []uint32) {
	size := 0
	for i := range p.set {
		p.set[i].before = uint32(size)
		size += bits.OnesCount64(p.set[i].set)
	}
	list = make([]uint32, 0, size)
	for i := range p.set {
		for set := p.set[i].set; set != 0; set &= set - 1 {
			list = append(list, uint32(i<<6|bits.TrailingZeros64(set)))
		}
	}
	return list
}

// assign sets every step-th slot, from index at on, to those of the sources.
func (p *slotAssigner) assign(slots []uint32, at, step int, sources []uint32) {
	first, positions := p.first, p.positions
	own := uint32(len(positions))
	for _, s := range sources {
		if s-first < own {
			slots[at] = positions[s-first]
		} else {
			e := &p.set[s>>6]
			slots[at] = own + e.before + uint32(bits.OnesCount64(e.set&(1<<(s&63)-1)))
		}
		at += step
	}
}
