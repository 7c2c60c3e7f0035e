package pagerank

import (
	"math"
)

// A layout is a graph in memory in the order of an iteration. The targets, which are all nodes, are
// cut into lanes, and each lane into as many pieces as the iteration has steps. A step computes one
// piece of each lane at the same time; a piece is the work of one core. The graph alone determines the
// cut, so that the result does not depend on the number of cores.
//
// New ranks count within the iteration (Gauss-Seidel): at once within the piece, and everywhere else
// from the next step on. Only between the pieces of one step the iteration is that of Jacobi, and
// these are far apart, where links are few. Iterations to 1e-6, on cnr-2000, uk-2007-05 at 100,000
// nodes, and GAP's kron and urand of 2^18 nodes:
//
//	                                  cnr   uk  kron  urand
//	node after node, on one core       32   33    11      6
//	lanes and steps                    35   34    12      7
//	pr of the GAP Benchmark Suite      31   32    22     12
//
// The table has the contributions of all nodes, by position, as the other lanes see them. Behind
// them each lane has room for those of the piece that it computes. A slot is an index of either: of
// the room if the source is in the same piece. After a step the room is copied to the front.
//
// Ranks do not sum to 1 between iterations. So the teleport takes the share 1-damping of their sum,
// not of 1, and the ranks are scaled at the end; otherwise the sum would converge last.
//
// A layout takes 4 bytes a link, which replace those of the graph if nothing else needs it, and about
// 5 a node.
type layout struct {
	nodes  int
	lanes  int
	room   int       // of a lane in the table
	pieces []piece   // by step, and within it by lane
	laneOf []int     // of each piece
	steps  []section // of pieces
}

// A section is the pieces from from up to to.
type section struct{ from, to int }

// maxSteps is the number of steps of an iteration on all but small graphs. With 8, GAP's kron takes two
// iterations more; with 32, no graph takes fewer.
const maxSteps = 16

// lanesOf returns the number of lanes for an amount of work, in links plus nodes: few enough that a
// step outweighs the start of its workers, and that little of the graph is computed at the same time.
func lanesOf(work int) int { return max(1, min(work>>17, 8+work>>21, 32)) }

// maxNodesInMemory bounds the nodes of a layout: slots have 32 bits.
const maxNodesInMemory = math.MaxUint32 - 1<<28

// newLayout lays out a graph. If owned is set, the slots replace the sources of g, which must not
// be used afterwards.
func newLayout(g *Graph, owned bool, workers int) *layout {
	l := cutLanes(g)
	positions := make([]uint32, g.Nodes())
	parallel(workers, len(l.pieces), func(_, i int) {
		p := &l.pieces[i]
		p.arrange(g.part(p.from, p.to), g.selfLinks, p.from)
		of := positions[p.from:p.to]
		p.positions(of)
		for k := range of {
			of[k] += p.from
		}
	})
	sources := make([][]uint32, workers)
	parallel(workers, len(l.pieces), func(worker, i int) {
		p, lane := &l.pieces[i], uint32(l.roomOf(i))
		from, size := p.from, p.to-p.from
		e, room := g.part(p.from, p.to), []uint32(nil)
		if owned {
			room = e.sources
			sources[worker] = append(sources[worker][:0], e.sources...)
			e.sources = sources[worker]
		}
		p.fill(e, room, func(slots []uint32, at, step int, sources []uint32) {
			for _, s := range sources {
				own := uint32((int64(s-from) - int64(size)) >> 63) // all ones or none, without a branch
				slots[at] = positions[s] + own&(lane-from)
				at += step
			}
		})
	})
	return l
}

// cutLanes cuts the nodes of a graph into pieces.
func cutLanes(g *Graph) *layout {
	work := g.Links() + g.Nodes()
	lanes := g.cut(0, g.Nodes(), lanesOf(work))
	l := &layout{nodes: g.Nodes(), lanes: len(lanes)}
	byLane := make([][]piece, len(lanes))
	steps := 0
	for i, lane := range lanes {
		byLane[i] = g.cut(int(lane.from), int(lane.to), min(maxSteps, max(work>>15, 1)))
		steps = max(steps, len(byLane[i]))
	}
	for step := range steps {
		from := len(l.pieces)
		for lane, pieces := range byLane {
			if step < len(pieces) {
				l.pieces = append(l.pieces, pieces[step])
				l.laneOf = append(l.laneOf, lane)
				l.room = max(l.room, int(pieces[step].to-pieces[step].from))
			}
		}
		l.steps = append(l.steps, section{from, len(l.pieces)})
	}
	return l
}

// roomOf returns where the room for piece i begins in the table.
func (l *layout) roomOf(i int) int { return l.nodes + l.laneOf[i]*l.room }

// table returns the size of the table.
func (l *layout) table() int { return l.nodes + l.lanes*l.room }
