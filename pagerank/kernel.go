package pagerank

import (
	"context"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
)

// A computation is the state between two iterations over a graph in memory.
type computation struct {
	g        *Graph
	damping  float64
	workers  int
	v        []float64 // nil: 1/N each
	blocks   *blocks
	ranks    []float64
	dangling float64             // rank of the nodes without links
	mass     float64             // of all ranks, near 1
	sums     []pieceSums         // by piece
	next     func(bored float64) // one iteration
}

// pieceSums are what one piece adds to the sums over all nodes.
type pieceSums struct{ residual, dangling, mass float64 }

func total(pieces []pieceSums) (all pieceSums) {
	for _, s := range pieces { // in this order whoever was first
		all.residual += s.residual
		all.dangling += s.dangling
		all.mass += s.mass
	}
	return all
}

func newComputation(g *Graph, damping float64, to *teleport, workers int) *computation {
	c := &computation{g: g, damping: damping, workers: workers, v: to.fill(nil, 0, uint32(g.Nodes())), blocks: newBlocks(g, workers), ranks: make([]float64, g.Nodes())}
	c.sums = make([]pieceSums, len(c.blocks.pieces))
	return c
}

func (c *computation) start(warm []float32) (err error) {
	for t := range c.ranks {
		if c.ranks[t], err = startRank(warm, t, c.v, t, len(c.ranks)); err != nil {
			return err
		}
	}
	all := sum(c.ranks)
	if !(all > 0) || math.IsInf(all, 1) {
		return c.start(nil) // the old vector ranks none of these nodes
	}
	scale(c.ranks, all)
	c.dangling, c.mass = 0, 1
	for t, r := range c.ranks {
		if c.g.out[t] == 0 {
			c.dangling += r
		}
	}
	return nil
}

// startRank is the rank of an earlier run, or v[t], which is 1/nodes without v, for nodes that it did not know.
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

func (c *computation) resume(s *State) error {
	c.dangling, c.mass = s.Dangling, s.Mass
	left := c.ranks
	err := s.Ranks(func(ranks []float64) error {
		if len(ranks) > len(left) {
			return fmt.Errorf("pagerank: the state to go on from has too many ranks for %d nodes", len(c.ranks))
		}
		left = left[copy(left, ranks):]
		return nil
	})
	if err == nil && len(left) > 0 {
		err = fmt.Errorf("pagerank: the state to go on from lacks %d ranks of %d", len(left), len(c.ranks))
	}
	return err
}

func (c *computation) rest() (dangling, mass float64) { return c.dangling, c.mass }

func (c *computation) each(do func([]float64) error) error { return do(c.ranks) }

func (c *computation) narrow(context.Context) error { c.next = newPass[float32](c).iterate; return nil }
func (c *computation) wide(context.Context) error   { c.next = newPass[float64](c).iterate; return nil }

func (c *computation) iterate(context.Context) (residual float64, err error) {
	before := c.mass
	c.next((1-c.damping)*c.mass + c.damping*c.dangling) // what all of v gets
	all := total(c.sums)
	c.dangling, c.mass = all.dangling, all.mass
	return all.residual / before, nil
}

// A pass iterates with contributions of type F.
type pass[F float32 | float64] struct {
	*computation
	shares []F   // damping / out-degree: of its rank, what a node contributes over each of its links; 0 without links
	gives  []F   // that contribution
	heard  [][]F // by piece: what the nodes that it wants give, and room for one more
}

func newPass[F float32 | float64](c *computation) *pass[F] {
	p := &pass[F]{computation: c, shares: sharesOf[F](nil, c.g.out, c.damping), gives: make([]F, len(c.ranks))}
	for t, r := range c.ranks {
		p.gives[t] = F(r) * p.shares[t]
	}
	for _, piece := range c.blocks.pieces {
		p.heard = append(p.heard, make([]F, len(piece.wanted)+1))
	}
	return p
}

// sharesOf is damping / out for each node, in room if that is large enough.
func sharesOf[F float32 | float64](room []F, out []uint32, damping float64) []F {
	room = sized(room, len(out))
	for t, n := range out {
		room[t] = 0
		if n > 0 {
			room[t] = F(damping / float64(n))
		}
	}
	return room
}

// iterate computes the next ranks from the last.
func (p *pass[F]) iterate(bored float64) {
	for _, round := range rounds(len(p.sums)) {
		share(p.workers, p.blocks.sourceBlocks(), func(_, i int) { p.tell(i, round) })
		share(p.workers, round.to-round.from, func(_, i int) {
			i += round.from
			p.sums[i] = p.piece(i, bored)
		})
	}
}

func (p *pass[F]) piece(i int, bored float64) pieceSums {
	piece := &p.blocks.pieces[i]
	from, to := piece.from, piece.to
	s := sweep[F]{
		order: piece.order, own: piece.own, runs: piece.runs, places: p.blocks.places[p.g.first[from]:p.g.first[to]], heard: p.heard[i],
		ranks: p.ranks[from:to], gives: p.gives[from:to], shares: p.shares[from:to],
	}
	var v []float64
	if p.v != nil {
		v = p.v[from:to]
	}
	return s.run(v, bored, len(p.ranks))
}

// A sweep computes the next ranks of the targets of one piece (see [blocks]).
type sweep[F float32 | float64] struct {
	order, own []uint32
	runs       []equals
	places     []uint32
	heard      []F
	ranks      []float64 // by target, as what follows
	gives      []F
	shares     []F
}

// run has the bored give to the targets as v says, and without it to all nodes alike. What a node
// gives to itself it hears at once, too: the equation is solved for its rank, which changes it
// 1/(1-share) times as far. Left to repetition, a node that links to itself alone would come nearer
// to its rank by the damping each time, and be the last to arrive: 43 iterations to 1e-6 for 14 on a
// graph of lab/pagerank.
func (w *sweep[F]) run(v []float64, bored float64, nodes int) (s pieceSums) {
	order, own, places, heard := w.order, w.own, w.places, w.heard
	even := bored / float64(nodes)
	for _, run := range w.runs {
		for i, t := range order[:run.targets] {
			rank := sumOf(heard, places[:run.links])
			places = places[run.links:]
			if v == nil {
				rank += even
			} else {
				rank += bored * v[t]
			}
			old, share, me := w.ranks[t], w.shares[t], own[i]
			if me >= selfLink {
				rank = old + (rank-old)/(1-float64(share))
				me -= selfLink
			}
			s.residual += math.Abs(rank - old)
			s.mass += rank
			w.ranks[t] = rank
			gives := F(rank) * share
			w.gives[t], heard[me] = gives, gives
			if share == 0 {
				s.dangling += rank
			}
		}
		order, own = order[run.targets:], own[run.targets:]
	}
	return s
}

// share has workers, from 0, do n things between them.
func share(workers, n int, do func(worker, i int)) {
	var taken atomic.Int64
	work := func(worker int) {
		for i := int(taken.Add(1)) - 1; i < n; i = int(taken.Add(1)) - 1 {
			do(worker, i)
		}
	}
	var others sync.WaitGroup
	for worker := 1; worker < min(workers, n); worker++ {
		others.Go(func() { work(worker) })
	}
	work(0)
	others.Wait()
}
