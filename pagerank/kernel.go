package pagerank

import (
	"fmt"
	"math"
	"sync"
	"sync/atomic"
)

// A computation is the state between two iterations.
type computation struct {
	g        *Graph
	damping  float64
	teleport []float64 // nil: 1/N each
	blocks   *blocks
	ranks    []float64
	dangling float64     // rank of the nodes without links
	sums     []pieceSums // by piece
	given    [][]float64 // by worker: room for the targets of a piece
}

// pieceSums are what one piece adds to the sums over all nodes.
type pieceSums struct{ residual, dangling float64 }

func newComputation(g *Graph, damping float64, teleport []float64, workers int) *computation {
	c := &computation{g: g, damping: damping, teleport: teleport, blocks: newBlocks(g, workers), ranks: make([]float64, g.Nodes())}
	c.sums = make([]pieceSums, len(c.blocks.pieces))
	for range min(workers, len(c.sums)) {
		c.given = append(c.given, make([]float64, c.blocks.widest))
	}
	return c
}

func (c *computation) v(node int) float64 {
	if c.teleport != nil {
		return c.teleport[node]
	}
	return 1 / float64(len(c.ranks))
}

// start sets the ranks to v, or to those of an earlier run, with v for nodes that it did not know.
func (c *computation) start(warm []float32) error {
	for t := range c.ranks {
		c.ranks[t] = c.v(t)
		if t < len(warm) {
			c.ranks[t] = float64(warm[t])
			if !(c.ranks[t] >= 0) {
				return fmt.Errorf("pagerank: node %d of the vector to start from has rank %v", t, warm[t])
			}
		}
	}
	total := sum(c.ranks)
	if !(total > 0) || math.IsInf(total, 1) {
		return c.start(nil) // the old vector ranks none of these nodes
	}
	scale(c.ranks, total)
	c.dangling = 0
	for t, r := range c.ranks {
		if c.g.out[t] == 0 {
			c.dangling += r
		}
	}
	return nil
}

// A pass iterates with contributions of type F.
type pass[F float32 | float64] struct {
	*computation
	gives []F   // damping * rank / out-degree: what a node contributes over each of its links
	heard [][]F // by piece: what the nodes that it wants give
}

func newPass[F float32 | float64](c *computation) *pass[F] {
	p := &pass[F]{computation: c, gives: make([]F, len(c.ranks))}
	for t, r := range c.ranks {
		if out := c.g.out[t]; out > 0 {
			p.gives[t] = F(c.damping * r / float64(out))
		}
	}
	for _, piece := range c.blocks.pieces {
		p.heard = append(p.heard, make([]F, len(piece.wanted)))
	}
	return p
}

// iterate computes the next ranks from the last and returns the L1 change.
func (p *pass[F]) iterate() (residual float64) {
	workers := len(p.given)
	share(workers, p.blocks.sourceBlocks(), func(_, i int) { p.tell(i) })
	bored := 1 - p.damping + p.damping*p.dangling // what all of v gets
	share(workers, len(p.sums), func(worker, i int) { p.sums[i] = p.piece(i, p.given[worker], bored) })
	p.dangling = 0
	for _, s := range p.sums { // in this order whoever was first
		residual += s.residual
		p.dangling += s.dangling
	}
	return residual
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

// piece computes the next ranks of the targets of one piece.
func (p *pass[F]) piece(i int, given []float64, bored float64) (s pieceSums) {
	from, to := p.blocks.pieces[i].from, p.blocks.pieces[i].to
	given = given[:to-from]
	p.pull(i, given)
	ranks, gives, out := p.ranks[from:to], p.gives[from:to], p.g.out[from:to]
	share := bored / float64(len(p.ranks))
	for t, rank := range given {
		if p.teleport == nil {
			rank += share
		} else {
			rank += bored * p.teleport[from+uint32(t)]
		}
		s.residual += math.Abs(rank - ranks[t])
		ranks[t] = rank
		if out := out[t]; out > 0 {
			gives[t] = F(p.damping * rank / float64(out))
		} else {
			s.dangling += rank
		}
	}
	return s
}
