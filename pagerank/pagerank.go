// Package pagerank computes PageRank (BP98 §2.1) and other measures of a link graph, offline.
//
// The paper defines PR(A) = (1-d) + d (PR(T1)/C(T1) + … + PR(Tn)/C(Tn)) and says that the ranks sum
// to one; with this formula they sum to the number of pages. This package divides by that number,
// so that a rank is a probability and can be compared between collections:
//
//	PR(A) = (1-d) v(A) + d (PR(T1)/C(T1) + … + PR(Tn)/C(Tn) + D v(A))
//
// v is the distribution of the teleport: 1/N for every page, or that of a personalised rank. D is
// the rank of all dangling nodes, which the paper leaves out of its sum and which would be lost
// otherwise: from a dangling node the walk continues with a teleport. So the ranks sum to 1.
//
// Each iteration pulls: a node adds up the contributions of its in-edges. Every value is written
// only by the worker that owns it, so there are no locks; and the work is divided in the same way
// for any number of workers, so the result is the same to the last bit. Most time goes into loading
// contributions from memory, so these are float32 until the residual needs more (see [Compute]), and
// four sums are computed at a time (see [piece]). Sums and ranks are float64. A graph that exceeds a
// memory budget is laid out on disk (see [Rank]).
package pagerank

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"

	"anatomy/pagerank/bvgraph"
)

// Defaults of [Options].
const (
	DefaultDamping       = 0.85
	DefaultTolerance     = 1e-9
	DefaultMaxIterations = 150 // enough for the default tolerance at the default damping on any graph
)

// ErrNoNodes is the error for a graph without nodes.
var ErrNoNodes = errors.New("the graph has no nodes")

// Options are the options of a computation. The zero value works.
type Options struct {
	Damping       float64 // probability to follow a link, above 0 and below 1; default 0.85
	Tolerance     float64 // largest residual (L1) of a converged result; default 1e-9
	MaxIterations int     // default 150

	// Personalize has the nodes that a teleport may lead to and their weights, which are scaled
	// to sum to 1. Default: all nodes with equal weights.
	Personalize map[uint32]float64

	// Warm is an earlier rank vector to start from, by node. It may be shorter or longer than the
	// graph and is scaled. It saves iterations and changes the result by no more than the
	// tolerance allows. Default: start from v.
	Warm []float32

	Workers int // default: one for each core

	// Progress is called after each iteration, which are numbered from 1. Default: none.
	Progress func(iteration int, residual float64)

	// The rest is for edge lists.

	Memory    int64           // bytes for the graph and its ranks, see [Builder]; default: no bound
	Dir       string          // for a graph on disk; default: the system's folder for temporary files
	SelfLinks bool            // keep links of a node to itself; default: dropped
	Reading   func(links int) // called now and then with the links read so far; default: none

	// Teleport is Personalize with the nodes as they are in the list, numbers or names. Default: none.
	Teleport map[string]float64

	// BV are the properties of a list that is a graph in WebGraph's BV format. Default: it is none.
	BV *bvgraph.Properties

	// Vertices has the names of the nodes: lines of number and name, from 0 on. Default: none.
	Vertices io.Reader

	// Earlier has ranks to start from, as Warm: lines of node and rank, or a rank file of Common Crawl
	// (see [HostRanks]). Default: none.
	Earlier io.Reader

	Keep bool // keep the ranks in the result, and the names of the nodes
}

func (o Options) withDefaults() (Options, error) {
	o.Damping = cmp.Or(o.Damping, DefaultDamping)
	o.Tolerance = cmp.Or(o.Tolerance, DefaultTolerance)
	o.MaxIterations = cmp.Or(o.MaxIterations, DefaultMaxIterations)
	o.Workers = cmp.Or(o.Workers, runtime.GOMAXPROCS(0))
	switch {
	case !(o.Damping > 0 && o.Damping < 1):
		return o, fmt.Errorf("damping %v is not between 0 and 1", o.Damping)
	case !(o.Tolerance > 0):
		return o, fmt.Errorf("tolerance %v is not above 0", o.Tolerance)
	case o.MaxIterations < 1 || o.Workers < 1:
		return o, fmt.Errorf("%d iterations by %d workers is less than one", o.MaxIterations, o.Workers)
	}
	return o, nil
}

// A Result is a rank for each node, and how the computation ended.
type Result struct {
	Ranks []float64 // by node, with sum 1; nil in the result of Rank

	Name func(node int) string // name or number of a node in its edge list; nil without Options.Keep

	Nodes      int
	Links      int // parallel links count once
	Dangling   int // number of dangling nodes
	Iterations int
	OnDisk     bool

	// Residual bounds what one more iteration would change (L1), up to rounding: the damping times what
	// the last one changed, as the rest of that is not passed on, plus the change of the teleport.
	// The ranks are at most this divided by 1-damping from the exact ones.
	Residual  float64
	Converged bool // the residual is within the tolerance
}

// narrowTolerance is the residual down to which contributions are float32. Rounding changes each
// contribution by at most 6e-8 of its value, which changes the ranks by less than 1e-7 in all.
const narrowTolerance = 1e-7

// exactLinks is the number of links up to which float32 contributions save no time.
const exactLinks = 1 << 16

// Compute ranks the nodes of a graph in memory. Each iteration multiplies the residual by at most
// the damping, up to rounding: at 0.85 a residual of 1e-9 takes at most 132 iterations.
//
// Contributions are float32 until the residual is 1e-7, and float64 from then on, if the tolerance
// is smaller. So at a tolerance of 1e-7 the ranks differ from the exact ones by at most 1e-6 in all
// (L1), and at a smaller one by at most 7 times the tolerance.
func Compute(ctx context.Context, g *Graph, o Options) (*Result, error) {
	return compute(ctx, g, false, o)
}

// compute is Compute. If owned is set, it lays out the graph in the memory of its links, which saves 4
// bytes a link, and g may not be used any more.
func compute(ctx context.Context, g *Graph, owned bool, o Options) (*Result, error) {
	o, to, err := o.check(g.Nodes())
	if err != nil {
		return nil, err
	}
	if g.Nodes() > maxNodesInMemory {
		return nil, fmt.Errorf("%d nodes are more than %d: set Memory to rank them from disk",
			g.Nodes(), int64(maxNodesInMemory))
	}
	r := &Result{Nodes: g.Nodes(), Links: g.Links(), Dangling: g.Dangling()}
	c := newComputation(g, owned, o.Damping, to, o.Workers)
	if err := r.compute(ctx, c, o); err != nil {
		return nil, err
	}
	r.Ranks = c.result()
	return r, nil
}

// Rank ranks the graph of a builder, which it empties, and calls each with consecutive parts of the
// ranks, by node. A graph that exceeds the memory of the builder is laid out on disk and read from
// there in each iteration; the ranks are the same up to rounding.
func Rank(ctx context.Context, b *Builder, o Options, each func([]float64) error) (*Result, error) {
	store, nodes, err := b.finish()
	if err != nil {
		return nil, err
	}
	return rank(ctx, store, nodes, nil, o, each)
}

// rank ranks the graph of a store, which it closes. If seen is not nil, it maps the nodes of the
// links to those of the graph.
func rank(
	ctx context.Context, store *linkStore, nodes int, seen *idSet, o Options, each func([]float64) error,
) (*Result, error) {
	defer store.close()
	o, to, err := o.check(nodes)
	if err != nil {
		return nil, err
	}
	if store.fits(nodes) {
		r, err := compute(ctx, store.graph(nodes, seen, o.Workers), true, o)
		if err != nil {
			return nil, err
		}
		ranks := r.Ranks
		r.Ranks = nil
		return r, each(ranks)
	}
	g, err := newDiskGraph(ctx, store, nodes, seen, o.Workers)
	if err != nil {
		return nil, err
	}
	defer g.close()
	c, err := newDiskComputation(g, o.Damping, to, store.dir, o.Workers)
	if err != nil {
		return nil, err
	}
	defer c.close()
	r := &Result{Nodes: nodes, Links: g.links, OnDisk: true}
	if r.Dangling, err = g.dangling(); err != nil {
		return nil, err
	}
	if err := r.compute(ctx, c, o); err != nil {
		return nil, err
	}
	return r, c.eachScaled(each)
}

// A solver is a computation in memory or on disk.
type solver interface {
	start(warm []float32) error   // sets the ranks to v, or to warm
	narrow(context.Context) error // makes contributions float32
	wide(context.Context) error   // makes contributions float64
	iterate(context.Context) (residual float64, err error)
}

// compute iterates until the residual is within the tolerance.
func (r *Result) compute(ctx context.Context, c solver, o Options) error {
	if err := c.start(o.Warm); err != nil {
		return err
	}
	if r.Links > exactLinks {
		if err := c.narrow(ctx); err != nil {
			return r.stopped(err)
		}
		if err := r.repeat(ctx, c, o, max(o.Tolerance, narrowTolerance)); err != nil {
			return err
		}
		r.Converged = r.Residual <= o.Tolerance
	}
	if !r.Converged && r.Iterations < o.MaxIterations {
		if err := c.wide(ctx); err != nil {
			return r.stopped(err)
		}
		if err := r.repeat(ctx, c, o, o.Tolerance); err != nil {
			return err
		}
		r.Converged = r.Residual <= o.Tolerance
	}
	return nil
}

// repeat iterates, without a change of the width of contributions, until the residual is at most
// the given tolerance.
func (r *Result) repeat(ctx context.Context, c solver, o Options, tolerance float64) error {
	for r.Iterations < o.MaxIterations {
		err := ctx.Err()
		if err == nil {
			r.Residual, err = c.iterate(ctx)
		}
		if err != nil {
			return r.stopped(err)
		}
		r.Iterations++
		if o.Progress != nil {
			o.Progress(r.Iterations, r.Residual)
		}
		if r.Residual <= tolerance {
			break
		}
	}
	return nil
}

func (r *Result) stopped(err error) error {
	return fmt.Errorf("stopped after %d iterations: %w", r.Iterations, err)
}

// check returns the options with defaults for a graph, and the teleport set.
func (o Options) check(nodes int) (Options, *teleportSet, error) {
	o, err := o.withDefaults()
	if err != nil {
		return o, nil, err
	}
	if nodes == 0 {
		return o, nil, ErrNoNodes
	}
	to, err := newTeleportSet(o.Personalize, nodes)
	return o, to, err
}
