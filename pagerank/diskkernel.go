package pagerank

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
)

var errDamagedLayout = errors.New("the scratch file was changed by another program, or the disk is damaged")

// maxRounds bounds the rounds of an iteration from disk: each reads the results of earlier ones.
const maxRounds = 8

// rounds divides a number of pieces into rounds. The pieces of a round are computed at the same time,
// from the results of the rounds before.
func rounds(pieces int) []section {
	all := make([]section, min(maxRounds, pieces))
	for i := range all {
		all[i] = section{pieces * i / len(all), pieces * (i + 1) / len(all)}
	}
	return all
}

// A diskComputation computes the ranks of a graph on disk. Between two iterations incoming has,
// in the areas of the pieces, the contributions for the next iteration.
type diskComputation struct {
	g        *diskGraph
	damping  float64
	teleport *teleportSet
	workers  int
	ranks    *os.File // float64 by node
	incoming *os.File // contributions for this iteration, by piece that reads them
	outgoing *os.File // contributions for the next iteration
	sums     []pieceSums
	dangling float64 // as in computation
	mass     float64
	next     func(ctx context.Context, teleport float64) error // runs one iteration
}

func newDiskComputation(
	g *diskGraph, damping float64, to *teleportSet, dir string, workers int,
) (*diskComputation, error) {
	sums := make([]pieceSums, len(g.pieces))
	c := &diskComputation{g: g, damping: damping, teleport: to, workers: workers, sums: sums}
	for _, f := range []**os.File{&c.ranks, &c.incoming, &c.outgoing} {
		var err error
		if *f, err = scratch(dir); err != nil {
			c.close()
			return nil, err
		}
	}
	return c, nil
}

func (c *diskComputation) close() {
	for _, f := range []*os.File{c.ranks, c.incoming, c.outgoing} {
		if f != nil {
			f.Close()
		}
	}
}

// dangling returns the number of dangling nodes.
func (g *diskGraph) dangling() (count int, err error) {
	room := make([]uint32, chunkLinks)
	for from := 0; from < g.nodes; from += len(room) {
		some := room[:min(len(room), g.nodes-from)]
		if err := readAt(g.out, some, int64(from)); err != nil {
			return 0, fmt.Errorf("graph on disk: %w", err)
		}
		for _, out := range some {
			if out == 0 {
				count++
			}
		}
	}
	return count, nil
}

// A diskRoom has the buffers of one worker for a piece.
type diskRoom[F float32 | float64] struct {
	order, slots, out, remote []uint32
	runs                      []targetRun
	ranks, v                  []float64 // by position, like shares and the beginning of table
	shares, table             []F
	byNode                    []float64 // ranks or v, by node, like contributions and out
	contributions             []F
	outgoing                  []F
}

// begin prepares iterations with contributions of type F.
func begin[F float32 | float64](ctx context.Context, c *diskComputation) error {
	rooms := make([]diskRoom[F], c.workers)
	c.next = func(ctx context.Context, teleport float64) error {
		for _, round := range rounds(len(c.g.pieces)) {
			err := parallelErr(ctx, c.workers, round.to-round.from, func(worker, i int) error {
				return rooms[worker].iterate(c, round, round.from+i, teleport)
			})
			if err != nil {
				return err
			}
		}
		return nil
	}
	err := parallelErr(ctx, c.workers, len(c.g.pieces), func(worker, i int) error {
		r, d := &rooms[worker], &c.g.pieces[i]
		if err := r.load(c, d); err != nil {
			return err
		}
		return r.scatter(c, i, len(c.g.pieces))
	})
	c.incoming, c.outgoing = c.outgoing, c.incoming
	return err
}

// load reads the order, ranks and out-degrees of a piece, and sets the beginning of its table.
func (r *diskRoom[F]) load(c *diskComputation, d *diskPiece) error {
	n := int(d.to - d.from)
	r.order, r.byNode, r.out = sized(r.order, n), sized(r.byNode, n), sized(r.out, n)
	err := cmp.Or(
		readBytes(c.g.sources, r.order, d.layout),
		readAt(c.ranks, r.byNode, int64(d.from)),
		readAt(c.g.out, r.out, int64(d.from)),
	)
	if err != nil {
		return err
	}
	r.ranks = r.arranged(r.ranks)
	r.shares = edgeShares(r.shares[:0], r.out, r.order, c.damping)
	r.table = sized(r.table, n+d.remoteCount())
	contribute(r.table, r.ranks, r.shares)
	return nil
}

// arranged returns byNode by position, in room if its capacity suffices.
func (r *diskRoom[F]) arranged(room []float64) []float64 {
	room = sized(room, len(r.order))
	for i, t := range r.order {
		room[i] = r.byNode[t]
	}
	return room
}

// iterate computes the next ranks of piece i.
func (r *diskRoom[F]) iterate(c *diskComputation, round section, i int, teleport float64) error {
	d := &c.g.pieces[i]
	if err := r.load(c, d); err != nil {
		return err
	}
	n := int(d.to - d.from)
	r.runs, r.slots = sized(r.runs, d.runs), sized(r.slots, d.links)
	at := d.layout + int64(4*n)
	err := cmp.Or(
		readBytes(c.g.sources, r.slots, at),
		readBytes(c.g.sources, r.runs, at+int64(4*d.links)),
		readAt(c.incoming, r.table[n:], d.remoteAt),
	)
	if err != nil {
		return err
	}
	if len(r.slots) > 0 && int(slices.Max(r.slots)) >= len(r.table) {
		return errDamagedLayout // which the sweep would not notice
	}
	s := sweep[F]{
		slots: r.slots, table: r.table, own: r.table[:n], ranks: r.ranks, shares: r.shares,
		teleport: teleport, evenTeleport: teleport / float64(c.g.nodes),
	}
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
	return r.scatter(c, i, round.to)
}

// scatter writes the contributions of piece i to the areas of all pieces: pieces from later on read
// them in this iteration, the others in the next.
func (r *diskRoom[F]) scatter(c *diskComputation, i, later int) error {
	d := &c.g.pieces[i]
	r.remote, r.outgoing = sized(r.remote, d.outCount), sized(r.outgoing, d.outCount)
	if err := readAt(c.g.remote, r.remote, d.outAt); err != nil {
		return err
	}
	r.contributions = sized(r.contributions, len(r.order))
	for i, t := range r.order {
		r.contributions[t] = r.table[i]
	}
	for j, node := range r.remote {
		r.outgoing[j] = r.contributions[node-d.from]
	}
	outgoing := r.outgoing
	for j := range c.g.pieces {
		other := &c.g.pieces[j]
		n := other.remoteFrom(i)
		room := c.outgoing
		if j >= later {
			room = c.incoming
		}
		if err := writeAt(room, outgoing[:n], other.remoteAt+int64(other.cuts[i])); err != nil {
			return err
		}
		outgoing = outgoing[n:]
	}
	return nil
}

func (c *diskComputation) narrow(ctx context.Context) error { return begin[float32](ctx, c) }

func (c *diskComputation) wide(ctx context.Context) error { return begin[float64](ctx, c) }

func (c *diskComputation) iterate(ctx context.Context) (residual float64, err error) {
	before := (1-c.damping)*c.mass + c.damping*c.dangling
	if err := c.next(ctx, before); err != nil {
		return 0, err
	}
	c.incoming, c.outgoing = c.outgoing, c.incoming
	all := total(c.sums)
	c.dangling, c.mass = all.dangling, all.mass
	after := (1-c.damping)*c.mass + c.damping*c.dangling
	return (c.damping*all.change + math.Abs(after-before)) / c.mass, nil
}

// each calls do with consecutive parts of the ranks, by node.
func (c *diskComputation) each(do func([]float64) error) error {
	room := make([]float64, chunkLinks)
	for from := 0; from < c.g.nodes; from += len(room) {
		some := room[:min(len(room), c.g.nodes-from)]
		if err := readAt(c.ranks, some, int64(from)); err != nil {
			return fmt.Errorf("graph on disk: %w", err)
		}
		if err := do(some); err != nil {
			return err
		}
	}
	return nil
}

// eachScaled is each with the ranks scaled to sum to 1.
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

// start sets the ranks to v, or to an earlier vector.
func (c *diskComputation) start(warm []float32) error {
	sum, err := c.fill(warm, 1)
	if err == nil && warm != nil && (!(sum > 0) || math.IsInf(sum, 1)) {
		return c.start(nil) // warm has no rank for any of these nodes
	}
	if err == nil {
		_, err = c.fill(warm, sum)
	}
	return err
}

// fill writes the ranks to start from, divided by scale, and returns their sum before that.
func (c *diskComputation) fill(warm []float32, scale float64) (sum float64, err error) {
	c.dangling, c.mass = 0, 1
	var r diskRoom[float64]
	for i := range c.g.pieces {
		d := &c.g.pieces[i]
		n := int(d.to - d.from)
		r.ranks, r.out = sized(r.ranks, n), sized(r.out, n)
		if err := readAt(c.g.out, r.out, int64(d.from)); err != nil {
			return 0, fmt.Errorf("graph on disk: %w", err)
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
			return 0, fmt.Errorf("graph on disk: %w", err)
		}
	}
	return sum, nil
}
