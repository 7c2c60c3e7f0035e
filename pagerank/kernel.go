package pagerank

import (
	"context"
	"math"
)

// A computation computes the ranks of a graph in memory. Between two iterations ranks has the
// ranks by position, and dangling and mass are sums over them. Within a step each piece writes only
// its own ranks, sums and room.
type computation struct {
	out      []uint32 // out-degree of each node
	damping  float64
	workers  int
	v        []float64 // teleport distribution by position; nil if uniform
	layout   *layout
	ranks    []float64
	dangling float64                // rank of the dangling nodes
	mass     float64                // sum of all ranks, near 1
	sums     []pieceSums            // by piece
	next     func(teleport float64) // runs one iteration
}

// newComputation returns a computation on g. If owned is set, it takes over g, which must not be
// used afterwards.
func newComputation(g *Graph, owned bool, damping float64, to *teleportSet, workers int) *computation {
	c := &computation{
		out: g.out, damping: damping, workers: workers,
		layout: newLayout(g, owned, workers), ranks: make([]float64, g.Nodes()),
	}
	if v := to.fill(nil, 0, uint32(g.Nodes())); v != nil {
		c.v = make([]float64, len(v))
		c.eachPiece(func(i int) {
			p := &c.layout.pieces[i]
			for i, t := range p.order {
				c.v[p.from+uint32(i)] = v[p.from+t]
			}
		})
	}
	c.sums = make([]pieceSums, len(c.layout.pieces))
	return c
}

func (c *computation) start(warm []float32) error {
	errs := make([]error, len(c.sums))
	c.eachPiece(func(i int) { c.sums[i], errs[i] = c.startPiece(&c.layout.pieces[i], warm) })
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	all := total(c.sums)
	if !(all.mass > 0) || math.IsInf(all.mass, 1) {
		return c.start(nil) // warm has no rank for any of these nodes
	}
	c.eachPiece(func(i int) { scale(c.ranks[c.layout.pieces[i].from:c.layout.pieces[i].to], all.mass) })
	c.dangling, c.mass = all.dangling/all.mass, 1
	return nil
}

func (c *computation) startPiece(p *piece, warm []float32) (s pieceSums, err error) {
	for i, t := range p.order {
		at, node := int(p.from)+i, int(p.from+t)
		rank, err := startRank(warm, node, c.v, at, len(c.ranks))
		if err != nil {
			return s, err
		}
		c.ranks[at] = rank
		s.mass += rank
		if c.out[node] == 0 {
			s.dangling += rank
		}
	}
	return s, nil
}

func (c *computation) eachPiece(do func(i int)) {
	parallel(c.workers, len(c.layout.pieces), func(_, i int) { do(i) })
}

// result returns the ranks by node, scaled to sum to 1. The computation must not be used
// afterwards.
func (c *computation) result() []float64 {
	all := sum(c.ranks)
	rooms := make([][]float64, c.workers)
	parallel(c.workers, len(c.layout.pieces), func(worker, i int) {
		p := &c.layout.pieces[i]
		ranks := c.ranks[p.from:p.to]
		rooms[worker] = append(rooms[worker][:0], ranks...)
		for i, t := range p.order {
			ranks[t] = rooms[worker][i] / all
		}
	})
	return c.ranks
}

func (c *computation) narrow(context.Context) error { c.next = newPass[float32](c).iterate; return nil }

func (c *computation) wide(context.Context) error {
	c.next = nil // of the narrow contributions, before the wide ones take memory
	c.next = newPass[float64](c).iterate
	return nil
}

func (c *computation) iterate(context.Context) (residual float64, err error) {
	before := (1-c.damping)*c.mass + c.damping*c.dangling // the rank that v distributes
	c.next(before)
	all := total(c.sums)
	c.dangling, c.mass = all.dangling, all.mass
	after := (1-c.damping)*c.mass + c.damping*c.dangling
	return (c.damping*all.change + math.Abs(after-before)) / c.mass, nil
}

// A pass iterates with contributions of type F.
type pass[F float32 | float64] struct {
	*computation
	shares []F // by position, see edgeShares
	table  []F // see layout
}

func newPass[F float32 | float64](c *computation) *pass[F] {
	p := &pass[F]{computation: c, shares: make([]F, len(c.ranks)), table: make([]F, c.layout.table())}
	c.eachPiece(func(i int) {
		piece := &c.layout.pieces[i]
		from, to := piece.from, piece.to
		shares := edgeShares(p.shares[from:from], c.out[from:to], piece.order, c.damping)
		contribute(p.table[from:to], c.ranks[from:to], shares)
	})
	return p
}

// iterate computes the next ranks, step after step.
func (p *pass[F]) iterate(teleport float64) {
	for _, step := range p.layout.steps {
		parallel(p.workers, step.to-step.from, func(_, i int) { p.piece(step.from+i, teleport) })
		for i := step.from; i < step.to; i++ { // a copy is too short to be divided
			piece := &p.layout.pieces[i]
			copy(p.table[piece.from:piece.to], p.table[p.layout.roomOf(i):])
		}
	}
}

func (p *pass[F]) piece(i int, teleport float64) {
	piece, room := &p.layout.pieces[i], p.layout.roomOf(i)
	from, to := piece.from, piece.to
	own := p.table[room : room+int(to-from)]
	copy(own, p.table[from:to])
	s := sweep[F]{
		slots: piece.slots, table: p.table, own: own, ranks: p.ranks[from:to], shares: p.shares[from:to],
		teleport: teleport, evenTeleport: teleport / float64(len(p.ranks)),
	}
	if p.v != nil {
		s.v = p.v[from:to]
	}
	p.sums[i] = s.run(piece.runs)
}
