package pagerank

import (
	"fmt"
	"math"
)

// pieceSums is the share of one piece in the sums over all nodes.
type pieceSums struct{ residual, dangling, mass float64 }

func total(pieces []pieceSums) (all pieceSums) {
	for _, s := range pieces { // always in this order, so that the sum does not depend on timing
		all.residual += s.residual
		all.dangling += s.dangling
		all.mass += s.mass
	}
	return all
}

// startRank returns the rank of a node to start from: that in warm or, for a node that warm lacks,
// v[t], which is 1/nodes if v is nil.
func startRank(warm []float32, node int, v []float64, t, nodes int) (float64, error) {
	switch {
	case node < len(warm) && !(warm[node] >= 0):
		return 0, fmt.Errorf("pagerank: node %d of the vector to start from has rank %v", node, warm[node])
	case node < len(warm):
		return float64(warm[node]), nil
	case v != nil:
		return v[t], nil
	}
	return 1 / float64(nodes), nil
}

// edgeShares appends to room, for each node of a piece by position, damping / out-degree: the share
// of its rank that the node contributes over each of its links; 0 without links.
func edgeShares[F float32 | float64](room []F, out, order []uint32, damping float64) []F {
	for _, t := range order {
		share := F(0)
		if n := out[t]; n > 0 {
			share = F(damping / float64(n))
		}
		room = append(room, share)
	}
	return room
}

// contribute sets the beginning of a table to the contributions of the nodes of its piece.
func contribute[F float32 | float64](table []F, ranks []float64, shares []F) {
	for i, share := range shares {
		table[i] = F(ranks[i]) * share
	}
}

// A sweep computes the next ranks of the targets of one piece (see [blocks]), in their order.
type sweep[F float32 | float64] struct {
	slots        []uint32 // of the targets that are left
	table        []F
	ranks        []float64 // by position, like shares and v
	shares       []F
	v            []float64 // teleport distribution; nil if uniform
	teleport     float64   // rank that is distributed over v
	evenTeleport float64   // what each node gets of it if v is nil
	done         int       // targets so far
	sums         pieceSums // of the targets so far
}

func (w *sweep[F]) run(runs []targetRun) pieceSums {
	var totals [abreast]float64
	for _, run := range runs {
		left, links := int(run.targets), int(run.links)
		for ; left >= abreast; left -= abreast {
			totals[0], totals[1], totals[2], totals[3] = sumsOf(w.table, w.slots[:abreast*links])
			w.slots = w.slots[abreast*links:]
			w.update(totals[:], run.self == 1)
		}
		for ; left > 0; left-- {
			totals[0] = sumOf(w.table, w.slots[:links])
			w.slots = w.slots[links:]
			w.update(totals[:1], run.self == 1)
		}
	}
	return w.sums
}

// update sets the next ranks of the next targets, given the sums of their in-edges. A node's own
// contribution counts in the same iteration, too: the equation is solved for the rank, which moves
// it 1/(1-share) times as far. Otherwise a node that links only to itself would approach its rank
// by the damping each time, and converge last.
func (w *sweep[F]) update(totals []float64, self bool) {
	next := w.done + len(totals)
	ranks, shares, contributions := w.ranks[w.done:next], w.shares[w.done:next], w.table[w.done:next]
	s := w.sums
	for i, rank := range totals {
		if w.v == nil {
			rank += w.evenTeleport
		} else {
			rank += w.teleport * w.v[w.done+i]
		}
		old, share := ranks[i], shares[i]
		if self {
			rank = old + (rank-old)/(1-float64(share))
		}
		s.residual += math.Abs(rank - old)
		s.mass += rank
		ranks[i] = rank
		contributions[i] = F(rank) * share
		if share == 0 {
			s.dangling += rank
		}
	}
	w.sums, w.done = s, next
}

// sumsOf returns the sums of four targets whose slots alternate, see abreast.
func sumsOf[F float32 | float64](values []F, slots []uint32) (a, b, c, d float64) {
	for len(slots) >= abreast {
		a += float64(values[slots[0]])
		b += float64(values[slots[1]])
		c += float64(values[slots[2]])
		d += float64(values[slots[3]])
		slots = slots[abreast:]
	}
	return a, b, c, d
}

// sumOf returns the sum of one target. It adds into four sums, because each addition waits for the
// one before it.
func sumOf[F float32 | float64](values []F, slots []uint32) float64 {
	var a, b, c, d float64
	i := 0
	for ; i < len(slots)-3; i += 4 {
		four := slots[i : i+4 : i+4]
		a += float64(values[four[0]])
		b += float64(values[four[1]])
		c += float64(values[four[2]])
		d += float64(values[four[3]])
	}
	for ; i < len(slots); i++ {
		a += float64(values[slots[i]])
	}
	return a + b + (c + d)
}
