package pagerank

import (
	"context"
	"math"
)

// A computation computes the ranks of a graph in memory. Between two iterations ranks holds the
// ranks by piece and position, and dangling and mass are sums over them. Within a step each piece
// writes only its own ranks, sums and table.
type computation struct {
	g        *Graph
	damping  float64
	workers  int
	v        []float64 // teleport distribution by position; nil if uniform
	blocks   *blocks
	ranks    []float64
	dangling float64                // rank of the dangling nodes
	mass     float64                // sum of all ranks, near 1
	sums     []pieceSums            // by piece
	next     func(teleport float64) // runs one iteration
}

func newComputation(g *Graph, damping float64, to *teleportSet, workers int) *computation {
	c := &computation{
		g: g, damping: damping, workers: workers,
		blocks: newBlocks(g, workers), ranks: make([]float64, g.Nodes()),
	}
	if v := to.fill(nil, 0, uint32(g.Nodes())); v != nil {
		c.v = make([]float64, len(v))
		c.arrange(c.v, v)
	}
	c.sums = make([]pieceSums, len(c.blocks.pieces))
	return c
}

// arrange copies values from the order of nodes to that of positions.
func (c *computation) arrange(to, from []float64) {
	for _, p := range c.blocks.pieces {
		for i, t := range p.order {
			to[p.from+uint32(i)] = from[p.from+t]
		}
	}
}

// straight copies the ranks of piece i in the order of nodes.
func (c *computation) straight(to []float64, i int) {
	p := &c.blocks.pieces[i]
	for i, t := range p.order {
		to[t] = c.ranks[p.from+uint32(i)]
	}
}

func (c *computation) start(warm []float32) error {
	errs := make([]error, len(c.sums))
	c.eachPiece(func(i int) { c.sums[i], errs[i] = c.startPiece(&c.blocks.pieces[i], warm) })
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	all := total(c.sums)
	if !(all.mass > 0) || math.IsInf(all.mass, 1) {
		return c.start(nil) // warm has no rank for any of these nodes
	}
	c.eachPiece(func(i int) { scale(c.ranks[c.blocks.pieces[i].from:c.blocks.pieces[i].to], all.mass) })
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
		if c.g.out[node] == 0 {
			s.dangling += rank
		}
	}
	return s, nil
}

func (c *computation) eachPiece(do func(i int)) {
	parallel(c.workers, len(c.blocks.pieces), func(_, i int) { do(i) })
}

// result returns the ranks by node, scaled to sum to 1.
func (c *computation) result() []float64 {
	all := sum(c.ranks)
	ranks := make([]float64, len(c.ranks))
	c.eachPiece(func(i int) {
		of := ranks[c.blocks.pieces[i].from:c.blocks.pieces[i].to]
		c.straight(of, i)
		scale(of, all)
	})
	return ranks
}

func (c *computation) narrow(context.Context) error { c.next = newPass[float32](c).iterate; return nil }

func (c *computation) wide(context.Context) error { c.next = newPass[float64](c).iterate; return nil }

func (c *computation) iterate(context.Context) (residual float64, err error) {
	before := c.mass
	c.next((1-c.damping)*c.mass + c.damping*c.dangling) // the rank that v distributes
	all := total(c.sums)
	c.dangling, c.mass = all.dangling, all.mass
	return all.residual / before, nil
}

// A pass iterates with contributions of type F.
type pass[F float32 | float64] struct {
	*computation
	shares []F   // by position, see edgeShares
	tables [][]F // by piece: its table
}

func newPass[F float32 | float64](c *computation) *pass[F] {
	p := &pass[F]{computation: c, shares: make([]F, len(c.ranks)), tables: make([][]F, len(c.blocks.pieces))}
	c.eachPiece(func(i int) {
		piece := &c.blocks.pieces[i]
		from, to := piece.from, piece.to
		shares := edgeShares(p.shares[from:from], c.g.out[from:to], piece.order, c.damping)
		p.tables[i] = make([]F, len(piece.order)+len(piece.remote)+len(piece.binLinks))
		contribute(p.tables[i], c.ranks[from:to], shares)
	})
	return p
}

// iterate computes the next ranks. All pieces scatter at the beginning of each round, so that a
// round uses the ranks of the rounds before.
func (p *pass[F]) iterate(teleport float64) {
	for _, round := range rounds(len(p.sums)) {
		parallel(p.workers, len(p.blocks.pieces), func(_, i int) { p.scatter(i, round) })
		parallel(p.workers, round.to-round.from, func(_, i int) {
			i += round.from
			p.sums[i] = p.piece(i, teleport)
		})
	}
}

// scatter copies the contributions of piece i to the tables of the pieces of a round.
func (p *pass[F]) scatter(i int, round round) {
	contributions := p.tables[i]
	for j := round.from; j < round.to; j++ {
		piece := &p.blocks.pieces[j]
		from, to := piece.cuts[i], piece.cuts[i+1]
		remote := p.tables[j][len(piece.order):]
		for k, position := range piece.remote[from.remote:to.remote] {
			remote[int(from.remote)+k] = contributions[position]
		}
		sums, sources := remote[len(piece.remote):], piece.binSources[from.binSources:to.binSources]
		for k, links := range piece.binLinks[from.bins:to.bins] {
			sums[int(from.bins)+k] = F(sumOf(contributions, sources[:links]))
			sources = sources[links:]
		}
	}
}

func (p *pass[F]) piece(i int, teleport float64) pieceSums {
	piece := &p.blocks.pieces[i]
	from, to := piece.from, piece.to
	s := sweep[F]{
		slots: piece.slots, table: p.tables[i], ranks: p.ranks[from:to], shares: p.shares[from:to],
		teleport: teleport, evenTeleport: teleport / float64(len(p.ranks)),
	}
	if p.v != nil {
		s.v = p.v[from:to]
	}
	return s.run(piece.runs)
}
