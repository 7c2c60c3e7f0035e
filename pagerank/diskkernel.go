package pagerank

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"os"
)

// A diskComputation is the state between two iterations over a graph on disk.
type diskComputation struct {
	g        *diskGraph
	damping  float64
	teleport *teleport
	workers  int
	dir      string
	ranks    *os.File // float64 by node
	heard    *os.File // what was given, by piece that wants
	told     *os.File // what is given for the next iteration
	sums     []pieceSums
	dangling float64 // as in computation
	mass     float64
	next     func(ctx context.Context, bored float64) error // one iteration
}

func newDiskComputation(g *diskGraph, damping float64, to *teleport, dir string, workers int) (*diskComputation, error) {
	c := &diskComputation{g: g, damping: damping, teleport: to, workers: workers, dir: dir, sums: make([]pieceSums, len(g.pieces))}
	for _, f := range []**os.File{&c.ranks, &c.heard, &c.told} {
		var err error
		if *f, err = scratch(dir); err != nil {
			c.close()
			return nil, err
		}
	}
	return c, nil
}

func (c *diskComputation) close() {
	for _, f := range []*os.File{c.ranks, c.heard, c.told} {
		if f != nil {
			f.Close()
		}
	}
}

// dangling counts the nodes without links.
func (g *diskGraph) dangling() (count int, err error) {
	room := make([]uint32, chunkLinks)
	for from := 0; from < g.nodes; from += len(room) {
		some := room[:min(len(room), g.nodes-from)]
		if err := readAt(g.out, some, int64(from)); err != nil {
			return 0, fmt.Errorf("pagerank: graph on disk: %w", err)
		}
		for _, out := range some {
			if out == 0 {
				count++
			}
		}
	}
	return count, nil
}

// diskRoom is what one worker holds of a piece.
type diskRoom[F float32 | float64] struct {
	order, places, out, wanted []uint32
	runs                       []equals
	ranks, v                   []float64 // in order, as shares and the beginning of heard
	shares, heard              []F
	byNode                     []float64 // ranks or v, as gives and out
	gives                      []F
	told                       []F
}

// sized is n values of any content, in s if that is large enough.
func sized[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

// begin makes ready for iterations with contributions of type F.
func begin[F float32 | float64](ctx context.Context, c *diskComputation) error {
	rooms := make([]diskRoom[F], c.workers)
	c.next = func(ctx context.Context, bored float64) error {
		for _, round := range rounds(len(c.g.pieces)) {
			err := shareErr(ctx, c.workers, round.to-round.from, func(worker, i int) error {
				return rooms[worker].iterate(c, round, round.from+i, bored)
			})
			if err != nil {
				return err
			}
		}
		return nil
	}
	err := shareErr(ctx, c.workers, len(c.g.pieces), func(worker, i int) error {
		r, d := &rooms[worker], &c.g.pieces[i]
		if err := r.load(c, d); err != nil {
			return err
		}
		return r.tell(c, i, len(c.g.pieces))
	})
	c.heard, c.told = c.told, c.heard
	return err
}

// load reads the order, the ranks and the links out of a piece, and begins its table.
func (r *diskRoom[F]) load(c *diskComputation, d *diskPiece) error {
	n := int(d.to - d.from)
	r.order, r.byNode, r.out = sized(r.order, n), sized(r.byNode, n), sized(r.out, n)
	err := cmp.Or(readBytes(c.g.sources, r.order, d.layout), readAt(c.ranks, r.byNode, int64(d.from)), readAt(c.g.out, r.out, int64(d.from)))
	if err != nil {
		return err
	}
	r.ranks = r.arranged(r.ranks)
	r.shares = sharesOf(r.shares[:0], r.out, r.order, c.damping)
	r.heard = sized(r.heard, n+d.wants())
	give(r.heard, r.ranks, r.shares)
	return nil
}

// arranged returns byNode in the order of the piece, in room if that is large enough.
func (r *diskRoom[F]) arranged(room []float64) []float64 {
	room = sized(room, len(r.order))
	for i, t := range r.order {
		room[i] = r.byNode[t]
	}
	return room
}

// iterate computes the next ranks of a piece.
func (r *diskRoom[F]) iterate(c *diskComputation, round round, i int, bored float64) error {
	d := &c.g.pieces[i]
	if err := r.load(c, d); err != nil {
		return err
	}
	n := int(d.to - d.from)
	r.runs, r.places = sized(r.runs, d.runs), sized(r.places, d.links)
	at := d.layout + int64(4*n)
	if err := cmp.Or(readBytes(c.g.sources, r.places, at), readBytes(c.g.sources, r.runs, at+int64(4*d.links))); err != nil {
		return err
	}
	if err := readAt(c.heard, r.heard[n:], d.heard); err != nil {
		return err
	}
	s := sweep[F]{places: r.places, heard: r.heard, ranks: r.ranks, shares: r.shares, bored: bored, even: bored / float64(c.g.nodes)}
	if c.teleport != nil {
		r.byNode = c.teleport.fill(r.byNode, d.from, d.to)
		r.v = r.arranged(r.v)
		s.v = r.v
	}
	c.sums[i] = s.run(r.runs)
	for i, t := range r.order {
		r.byNode[t] = r.ranks[i]
	}
	if err := writeAt(c.ranks, r.byNode, int64(d.from)); err != nil {
		return err
	}
	return r.tell(c, i, round.to)
}

// tell writes what a piece gives to the rooms of the others: those from piece later on hear it in
// this iteration, those before in the next.
func (r *diskRoom[F]) tell(c *diskComputation, i, later int) error {
	d := &c.g.pieces[i]
	r.wanted, r.told = sized(r.wanted, d.giving), sized(r.told, d.giving)
	if err := readAt(c.g.wanted, r.wanted, d.gives); err != nil {
		return err
	}
	r.gives = sized(r.gives, len(r.order))
	for i, t := range r.order {
		r.gives[t] = r.heard[i]
	}
	for j, node := range r.wanted {
		r.told[j] = r.gives[node-d.from]
	}
	told := r.told
	for j := range c.g.pieces {
		other := &c.g.pieces[j]
		n := other.section(i)
		room := c.told
		if j >= later {
			room = c.heard
		}
		if err := writeAt(room, told[:n], other.heard+int64(other.cuts[i])); err != nil {
			return err
		}
		told = told[n:]
	}
	return nil
}

func (c *diskComputation) rest() (dangling, mass float64) { return c.dangling, c.mass }

func (c *diskComputation) narrow(ctx context.Context) error { return begin[float32](ctx, c) }
func (c *diskComputation) wide(ctx context.Context) error   { return begin[float64](ctx, c) }

func (c *diskComputation) iterate(ctx context.Context) (residual float64, err error) {
	before := c.mass
	if err := c.next(ctx, (1-c.damping)*c.mass+c.damping*c.dangling); err != nil {
		return 0, err
	}
	c.heard, c.told = c.told, c.heard
	all := total(c.sums)
	c.dangling, c.mass = all.dangling, all.mass
	return all.residual / before, nil
}

// each calls do with all ranks, some at a time.
func (c *diskComputation) each(do func([]float64) error) error {
	room := make([]float64, chunkLinks)
	for from := 0; from < c.g.nodes; from += len(room) {
		some := room[:min(len(room), c.g.nodes-from)]
		if err := readAt(c.ranks, some, int64(from)); err != nil {
			return fmt.Errorf("pagerank: graph on disk: %w", err)
		}
		if err := do(some); err != nil {
			return err
		}
	}
	return nil
}

// eachScaled hands out the ranks so that they sum to 1.
func (c *diskComputation) eachScaled(do func([]float64) error) error {
	all := 0.0
	if err := c.each(func(ranks []float64) error { all += sum(ranks); return nil }); err != nil {
		return err
	}
	return c.each(func(ranks []float64) error {
		scale(ranks, all)
		return do(ranks)
	})
}

// start sets the ranks to v, or to those of an earlier run.
func (c *diskComputation) start(warm []float32) error {
	sum, err := c.fill(warm, 1)
	if err == nil && warm != nil && (!(sum > 0) || math.IsInf(sum, 1)) {
		return c.start(nil) // the old vector ranks none of these nodes
	}
	if err == nil {
		_, err = c.fill(warm, sum)
	}
	return err
}

// fill writes the ranks to start from, divided by scale, and returns their sum.
func (c *diskComputation) fill(warm []float32, scale float64) (sum float64, err error) {
	c.dangling, c.mass = 0, 1
	var r diskRoom[float64]
	for i := range c.g.pieces {
		d := &c.g.pieces[i]
		n := int(d.to - d.from)
		r.ranks, r.out = sized(r.ranks, n), sized(r.out, n)
		if err := readAt(c.g.out, r.out, int64(d.from)); err != nil {
			return 0, fmt.Errorf("pagerank: graph on disk: %w", err)
		}
		r.v = c.teleport.fill(r.v, d.from, d.to)
		for t := range r.ranks {
			rank, err := startRank(warm, int(d.from)+t, r.v, t, c.g.nodes)
			if err != nil {
				return 0, err
			}
			sum += rank
			r.ranks[t] = rank / scale
			if r.out[t] == 0 {
				c.dangling += r.ranks[t]
			}
		}
		if err := writeAt(c.ranks, r.ranks, int64(d.from)); err != nil {
			return 0, fmt.Errorf("pagerank: graph on disk: %w", err)
		}
	}
	return sum, nil
}

// resume sets the ranks to those of a state.
func (c *diskComputation) resume(s *State) error {
	at := int64(0)
	err := s.Ranks(func(ranks []float64) error {
		err := writeAt(c.ranks, ranks, at)
		at += int64(len(ranks))
		return err
	})
	if err == nil && at != int64(c.g.nodes) {
		err = fmt.Errorf("pagerank: the state to go on from has %d ranks for %d nodes", at, c.g.nodes)
	}
	c.dangling, c.mass = s.Dangling, s.Mass
	return err
}
