package pagerank

import (
	"sort"
)

// A piece is a range of targets with the layout of their in-edges. Its table holds, in this order,
// the contributions of its own nodes by position, those of its remote nodes, and the sums of its
// bins. The position of a node is its index in the order of its piece.
type piece struct {
	from, to uint32      // the targets, to excluded
	order    []uint32    // target - from, by position
	runs     []targetRun // of order
	slots    []uint32    // indices into the table of what targets add up, by position, see abreast

	remote     []uint32  // position in its own piece of each remote node, in the order of nodes
	binLinks   []uint32  // number of links of each bin, by source piece and target
	binSources []uint32  // positions of the sources of bins
	cuts       []section // where the part of each source piece begins, and the end
}

// A section is where the part of a source piece begins in remote, binLinks and binSources.
type section struct{ remote, bins, binSources uint32 }

// A targetRun is a number of consecutive targets with equally many links, a bin counting as one.
// self is 1 if each of them links to itself, and 0 if none does.
type targetRun struct{ links, targets, self uint32 }

// window is the number of consecutive targets that are sorted by their number of links. A larger
// window makes runs longer, but separates neighbours, which share sources. Iterations are 5 %
// faster with 2^12 than with 2^10.
const window = 1 << 12

// abreast is the number of targets of a run that are summed at a time: the first slots of all of
// them are followed by their second slots, and so on. The last targets of a run, fewer than
// abreast, have their slots one target after the other.
const abreast = 4

// pieceWork returns the size of a piece in links plus nodes: small enough for a cache, large enough
// to share values, and small enough to keep all workers busy. It depends on the graph alone,
// because sums over pieces are rounded according to the cut.
func pieceWork(g *Graph) uint64 { return uint64(min(max(g.Links()/64, 1<<16), 1<<20)) }

// cut cuts the targets of a graph into pieces of about the given work.
func cut(g *Graph, work uint64) (pieces []piece) {
	done := func(to int) uint64 { return g.first[to] + uint64(to) }
	for from := 0; from < g.Nodes(); {
		size := 1 + sort.Search(g.Nodes()-from-1, func(i int) bool { return done(from+i+1)-done(from) >= work })
		pieces = append(pieces, piece{from: uint32(from), to: uint32(from + size)})
		from += size
	}
	return pieces
}

// maxRounds bounds the rounds of an iteration. A round costs 0.05 to 0.1 ns a link. On graphs like
// the web one round is nearly as good, with random links 32 are hardly better, see [blocks].
const maxRounds = 8

// A round is the pieces from from up to to, which are computed at the same time, from the results
// of the rounds before.
type round struct{ from, to int }

// rounds divides a number of pieces into rounds.
func rounds(pieces int) []round {
	all := make([]round, min(maxRounds, pieces))
	for i := range all {
		all[i] = round{pieces * i / len(all), pieces * (i + 1) / len(all)}
	}
	return all
}

// A bin is several links from one other piece to one target. Their sum is computed during scatter,
// so that one value is copied and added instead of one for each link: most links that leave their
// neighbourhood lead to a few popular nodes.
type bin struct {
	target uint32 // minus the first target of its piece
	source uint32 // piece of the sources
	first  uint64 // index of its first link in Graph.sources
	links  uint32
	slot   uint32 // of the sum, in the table of the target's piece
}
