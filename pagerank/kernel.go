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
	c := &computation{g: g, damping: damping, workers: workers, blocks: newBlocks(g, workers), ranks: make([]float64, g.Nodes())}
	if v := to.fill(nil, 0, uint32(g.Nodes())); v != nil {
		c.v = make([]float64, len(v))
		c.arrange(c.v, v)
	}
	c.sums = make([]pieceSums, len(c.blocks.pieces))
	return c
}

// arrange copies values by node to the positions of the nodes.
func (c *computation) arrange(to, from []float64) {
	for _, p := range c.blocks.pieces {
		for i, t := range p.order {
			to[p.from+uint32(i)] = from[p.from+t]
		}
	}
}

// straight copies the ranks of piece i, by node.
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
		return c.start(nil) // the old vector ranks none of these nodes
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
	share(c.workers, len(c.blocks.pieces), func(_, i int) { do(i) })
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
	byNode := make([]float64, len(c.ranks))
	left := byNode
	err := s.Ranks(func(ranks []float64) error {
		if len(ranks) > len(left) {
			return fmt.Errorf("pagerank: the state to go on from has too many ranks for %d nodes", len(byNode))
		}
		left = left[copy(left, ranks):]
		return nil
	})
	if err == nil && len(left) > 0 {
		err = fmt.Errorf("pagerank: the state to go on from lacks %d ranks of %d", len(left), len(byNode))
	}
	c.arrange(c.ranks, byNode)
	return err
}

func (c *computation) rest() (dangling, mass float64) { return c.dangling, c.mass }

func (c *computation) each(do func([]float64) error) error {
	var room []float64
	for i, p := range c.blocks.pieces {
		room = sized(room, len(p.order))
		c.straight(room, i)
		if err := do(room); err != nil {
			return err
		}
	}
	return nil
}

// result is the ranks by node, scaled to sum to 1.
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
	shares []F   // by position, see sharesOf
	heard  [][]F // by piece: its table
}

func newPass[F float32 | float64](c *computation) *pass[F] {
	p := &pass[F]{computation: c, shares: make([]F, len(c.ranks)), heard: make([][]F, len(c.blocks.pieces))}
	c.eachPiece(func(i int) {
		piece := &c.blocks.pieces[i]
		from, to := piece.from, piece.to
		shares := sharesOf(p.shares[from:from], c.g.out[from:to], piece.order, c.damping)
		p.heard[i] = make([]F, len(piece.order)+len(piece.wanted)+len(piece.sums))
		give(p.heard[i], c.ranks[from:to], shares)
	})
	return p
}

// sharesOf is damping / out-degree for each node of a piece, in order: of its rank, what a node
// contributes over each of its links; 0 without links. It appends to room.
func sharesOf[F float32 | float64](room []F, out, order []uint32, damping float64) []F {
	for _, t := range order {
		share := F(0)
		if n := out[t]; n > 0 {
			share = F(damping / float64(n))
		}
		room = append(room, share)
	}
	return room
}

// give fills the beginning of a table with what the nodes of its piece contribute.
func give[F float32 | float64](table []F, ranks []float64, shares []F) {
	for i, share := range shares {
		table[i] = F(ranks[i]) * share
	}
}

// iterate computes the next ranks from the last.
func (p *pass[F]) iterate(bored float64) {
	for _, round := range rounds(len(p.sums)) {
		share(p.workers, len(p.blocks.pieces), func(_, i int) { p.tell(i, round) })
		share(p.workers, round.to-round.from, func(_, i int) {
			i += round.from
			p.sums[i] = p.piece(i, bored)
		})
	}
}

// tell has the tables of a round hear what piece i gives.
func (p *pass[F]) tell(i int, round round) {
	gives := p.heard[i]
	for j := round.from; j < round.to; j++ {
		piece := &p.blocks.pieces[j]
		from, to := piece.cuts[i], piece.cuts[i+1]
		heard := p.heard[j][len(piece.order):]
		for k, position := range piece.wanted[from.wanted:to.wanted] {
			heard[int(from.wanted)+k] = gives[position]
		}
		sums, summed := heard[len(piece.wanted):], piece.summed[from.summed:to.summed]
		for k, links := range piece.sums[from.sums:to.sums] {
			sums[int(from.sums)+k] = F(sumOf(gives, summed[:links]))
			summed = summed[links:]
		}
	}
}

func (p *pass[F]) piece(i int, bored float64) pieceSums {
	piece := &p.blocks.pieces[i]
	from, to := piece.from, piece.to
	s := sweep[F]{
		places: piece.places, heard: p.heard[i], ranks: p.ranks[from:to], shares: p.shares[from:to],
		bored: bored, even: bored / float64(len(p.ranks)),
	}
	if p.v != nil {
		s.v = p.v[from:to]
	}
	return s.run(piece.runs)
}

// A sweep computes the next ranks of the targets of one piece (see [blocks]).
type sweep[F float32 | float64] struct {
	places []uint32 // of the targets to come
	heard  []F
	ranks  []float64 // in the order of the piece, as what follows
	shares []F
	v      []float64 // nil: all nodes alike
	bored  float64   // what all of v gets
	even   float64   // what a node gets without v
	done   int       // targets
	sums   pieceSums // of these
}

func (w *sweep[F]) run(runs []equals) pieceSums {
	var totals [abreast]float64
	for _, run := range runs {
		left, links := int(run.targets), int(run.links)
		for ; left >= abreast; left -= abreast {
			totals[0], totals[1], totals[2], totals[3] = sumsOf(w.heard, w.places[:abreast*links])
			w.places = w.places[abreast*links:]
			w.settle(totals[:], run.self == 1)
		}
		for ; left > 0; left-- {
			totals[0] = sumOf(w.heard, w.places[:links])
			w.places = w.places[links:]
			w.settle(totals[:1], run.self == 1)
		}
	}
	return w.sums
}

// settle gives the next targets their ranks, which have heard so much in total. What a node gives to
// itself it hears at once, too: the equation is solved for its rank, which changes it 1/(1-share)
// times as far. Left to repetition, a node that links to itself alone would come nearer to its rank
// by the damping each time, and be the last to arrive: 43 iterations to 1e-6 for 14 on a graph of
// lab/pagerank.
func (w *sweep[F]) settle(totals []float64, self bool) {
	next := w.done + len(totals)
	ranks, shares, gives := w.ranks[w.done:next], w.shares[w.done:next], w.heard[w.done:next]
	s := w.sums
	for i, rank := range totals {
		if w.v == nil {
			rank += w.even
		} else {
			rank += w.bored * w.v[w.done+i]
		}
		old, share := ranks[i], shares[i]
		if self {
			rank = old + (rank-old)/(1-float64(share))
		}
		s.residual += math.Abs(rank - old)
		s.mass += rank
		ranks[i] = rank
		gives[i] = F(rank) * share
		if share == 0 {
			s.dangling += rank
		}
	}
	w.sums, w.done = s, next
}

// sumsOf adds up the values of four targets abreast.
func sumsOf[F float32 | float64](values []F, places []uint32) (a, b, c, d float64) {
	for len(places) >= abreast {
		a += float64(values[places[0]])
		b += float64(values[places[1]])
		c += float64(values[places[2]])
		d += float64(values[places[3]])
		places = places[abreast:]
	}
	return a, b, c, d
}

// sumOf adds up the values of one target. Four sums, as an addition waits for the one before it.
func sumOf[F float32 | float64](values []F, places []uint32) float64 {
	var a, b, c, d float64
	i := 0
	for ; i < len(places)-3; i += 4 {
		four := places[i : i+4 : i+4]
		a += float64(values[four[0]])
		b += float64(values[four[1]])
		c += float64(values[four[2]])
		d += float64(values[four[3]])
	}
	for ; i < len(places); i++ {
		a += float64(values[places[i]])
	}
	return a + b + (c + d)
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
