package pagerank

import (
	"fmt"
	"math"
	"unsafe"
)

// pieceSums is the share of one piece in the sums over all nodes: how far ranks moved, the rank of
// dangling nodes, and that of all.
type pieceSums struct{ change, dangling, mass float64 }

func total(pieces []pieceSums) (all pieceSums) {
	for _, s := range pieces { // always in this order, so that the sum does not depend on timing
		all.change += s.change
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
		return 0, fmt.Errorf("node %d of the vector to start from has rank %v", node, warm[node])
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

// A sweep computes the next ranks of the targets of one piece, in their order.
type sweep[F float32 | float64] struct {
	slots        []uint32 // of the targets that are left
	table        []F      // every slot is an index of it
	own          []F      // the part of table for the targets, by position
	ranks        []float64
	shares       []F
	v            []float64 // teleport distribution; nil if uniform
	teleport     float64   // rank that is distributed over v
	evenTeleport float64   // what each node gets of it if v is nil
	done         int       // targets so far
	sums         pieceSums // of the targets so far
}

func (w *sweep[F]) run(runs []targetRun) pieceSums {
	var totals [abreast]float64
	for i := range runs {
		run := &runs[i]
		left, links := int(run.targets), int(run.links)
		if left >= abreast && run.self == 0 && w.v == nil {
			w.groups(run)
			continue
		}
		for ; left >= abreast; left -= abreast {
			sumsOf(&totals, w.table, w.slots[:abreast*links])
			w.slots = w.slots[abreast*links:]
			w.sumMore(run, &totals)
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

// sumMore adds the further links of an unequal group to its sums.
func (w *sweep[F]) sumMore(run *targetRun, totals *[abreast]float64) {
	for i, more := range run.more {
		if more > 0 {
			totals[i+1] += sumOf(w.table, w.slots[:more])
			w.slots = w.slots[more:]
		}
	}
}

// groups is what run does for groups without links of nodes to themselves and with a uniform teleport,
// which most are. All slots are indices of the table: the checks that it leaves out are a quarter of
// the time of an iteration where the table fits a cache.
func (w *sweep[F]) groups(run *targetRun) {
	table, size := unsafe.Pointer(unsafe.SliceData(w.table)), unsafe.Sizeof(F(0))
	slots, links, even := w.slots, abreast*int(run.links), w.evenTeleport
	ranks, shares, own := w.ranks[w.done:], w.shares[w.done:], w.own[w.done:]
	change, mass, dangling := w.sums.change, w.sums.mass, w.sums.dangling
	for range run.targets / abreast {
		a, b, c, d := even, even, even, even
		for some := slots[:links]; len(some) >= abreast; some = some[abreast:] {
			a += float64(*(*F)(unsafe.Add(table, uintptr(some[0])*size)))
			b += float64(*(*F)(unsafe.Add(table, uintptr(some[1])*size)))
			c += float64(*(*F)(unsafe.Add(table, uintptr(some[2])*size)))
			d += float64(*(*F)(unsafe.Add(table, uintptr(some[3])*size)))
		}
		slots = slots[links:]
		if run.more[2] > 0 {
			totals := [abreast]float64{a, b, c, d}
			w.slots = slots
			w.sumMore(run, &totals)
			slots = w.slots
			a, b, c, d = totals[0], totals[1], totals[2], totals[3]
		}
		old, share, next := (*[abreast]float64)(ranks), (*[abreast]F)(shares), (*[abreast]F)(own)
		ranks, shares, own = ranks[abreast:], shares[abreast:], own[abreast:]
		change += math.Abs(a-old[0]) + math.Abs(b-old[1]) + (math.Abs(c-old[2]) + math.Abs(d-old[3]))
		mass += a + b + (c + d)
		old[0], old[1], old[2], old[3] = a, b, c, d
		sa, sb, sc, sd := share[0], share[1], share[2], share[3]
		next[0], next[1], next[2], next[3] = F(a)*sa, F(b)*sb, F(c)*sc, F(d)*sd
		if sa == 0 {
			dangling += a
		}
		if sb == 0 {
			dangling += b
		}
		if sc == 0 {
			dangling += c
		}
		if sd == 0 {
			dangling += d
		}
	}
	w.slots, w.done = slots, w.done+int(run.targets)
	w.sums = pieceSums{change: change, dangling: dangling, mass: mass}
}

// update sets the next ranks of the next targets, given the sums of their in-edges. A node's own
// contribution counts in the same iteration, too: the equation is solved for the rank, which moves
// it 1/(1-share) times as far. Otherwise a node that links only to itself would approach its rank
// by the damping each time, and converge last.
func (w *sweep[F]) update(totals []float64, self bool) {
	next := w.done + len(totals)
	ranks, shares, contributions := w.ranks[w.done:next], w.shares[w.done:next], w.own[w.done:next]
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
		s.change += math.Abs(rank - old)
		s.mass += rank
		ranks[i] = rank
		contributions[i] = F(rank) * share
		if share == 0 {
			s.dangling += rank
		}
	}
	w.sums, w.done = s, next
}

// sumsOf sets totals to the sums of four targets whose slots alternate, see abreast. All slots are
// indices of values: the checks that it leaves out are a quarter of its time where values fit a cache.
func sumsOf[F float32 | float64](totals *[abreast]float64, values []F, slots []uint32) {
	var a, b, c, d float64
	first, size := unsafe.Pointer(unsafe.SliceData(values)), unsafe.Sizeof(F(0))
	for len(slots) >= abreast {
		a += float64(*(*F)(unsafe.Add(first, uintptr(slots[0])*size)))
		b += float64(*(*F)(unsafe.Add(first, uintptr(slots[1])*size)))
		c += float64(*(*F)(unsafe.Add(first, uintptr(slots[2])*size)))
		d += float64(*(*F)(unsafe.Add(first, uintptr(slots[3])*size)))
		slots = slots[abreast:]
	}
	totals[0], totals[1], totals[2], totals[3] = a, b, c, d
}

// sumOf returns the sum of the values at some slots. It adds into four sums, because each addition
// waits for the one before it.
func sumOf[F float32 | float64](values []F, slots []uint32) float64 {
	var totals [abreast]float64
	sumsOf(&totals, values, slots)
	all := totals[0] + totals[1] + (totals[2] + totals[3])
	for _, slot := range slots[len(slots)&^(abreast-1):] {
		all += float64(values[slot])
	}
	return all
}
