// Package pagerank computes how much each page is cited (BP98 §2.1), offline and at any time.
//
// The paper gives PR(A) = (1-d) + d (PR(T1)/C(T1) + … + PR(Tn)/C(Tn)) and says that the ranks sum
// to one; with this formula they sum to the number of pages. Ours is the same divided by that
// number, so that a rank is the share of time that the random surfer spends on a page and can be
// compared between collections:
//
//	PR(A) = (1-d) v(A) + d (PR(T1)/C(T1) + … + PR(Tn)/C(Tn) + D v(A))
//
// v is where the surfer goes when bored: 1/N for every page, or only the pages of a personalised
// rank. D is the rank of all pages without links, which the paper leaves out of its sum and which
// would be lost otherwise: from such a page the surfer goes on as if bored. So ranks sum to 1.
//
// Each iteration pulls: a page adds up what its in-links contribute. Nothing is written but by the
// one who owns it, so cores need no locks; and as the work is cut into the same pieces whatever
// the number of workers, the result is the same to the last bit. A link costs a look at what its
// source gives, which is cheap as long as all that is looked at fits a cache: so contributions are
// float32 until the residual needs more (see [Compute]), and pulled from copies that fit (see
// [blocks]). Sums and ranks are float64. A graph that outgrows a memory budget is laid out on disk
// in the same pieces, which are then read one after the other (see [Rank]).
package pagerank

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"runtime"
	"slices"
)

// Defaults of [Options].
const (
	DefaultDamping       = 0.85
	DefaultTolerance     = 1e-9
	DefaultMaxIterations = 150 // enough for the default tolerance at the default damping on any graph
)

// ErrNoNodes says that a graph has no nodes to rank.
var ErrNoNodes = errors.New("pagerank: the graph has no nodes")

// Options says what to compute. The zero value works.
type Options struct {
	Damping       float64 // share of clicks that follow a link, above 0 and below 1; default 0.85
	Tolerance     float64 // stop when an iteration changes the ranks by at most this in all (L1); default 1e-9
	MaxIterations int     // and at the latest after so many; default 150

	// Personalize gives the nodes that the bored surfer goes to and their weights, which are
	// scaled to sum to 1. Default: all nodes alike.
	Personalize map[uint32]float64

	// Warm is an earlier vector to start from, by node; it may be shorter or longer than the graph,
	// and is scaled. It saves iterations and does not change the result by more than the tolerance
	// allows. Default: start from v.
	Warm []float32

	// Resume is where a computation stopped that was saved. It goes on from there, to the same
	// result to the last bit, if the state is of the same graph, damping and personalisation, and
	// is passed over if not.
	Resume *State

	// Save is called after each iteration with the state, which is good until it returns; an error
	// ends the computation. Default: none.
	Save func(*State) error

	Memory int64  // for an edge list: bytes for the graph and its ranks, see [Builder]
	Dir    string // where what is larger than memory goes; default: the system's folder for temporary files

	SelfLinks bool                                  // for an edge list: keep links of a node to itself; default: dropped
	Workers   int                                   // default: one for each core
	Reading   func(links int)                       // called now and then while an edge list is read; default: none
	Progress  func(iteration int, residual float64) // called after each iteration, from 1; default: none
}

func (o Options) withDefaults() (Options, error) {
	o.Damping = cmp.Or(o.Damping, DefaultDamping)
	o.Tolerance = cmp.Or(o.Tolerance, DefaultTolerance)
	o.MaxIterations = cmp.Or(o.MaxIterations, DefaultMaxIterations)
	o.Workers = cmp.Or(o.Workers, runtime.GOMAXPROCS(0))
	switch {
	case !(o.Damping > 0 && o.Damping < 1):
		return o, fmt.Errorf("pagerank: damping %v is not between 0 and 1", o.Damping)
	case !(o.Tolerance > 0):
		return o, fmt.Errorf("pagerank: tolerance %v is not above 0", o.Tolerance)
	case o.MaxIterations < 1 || o.Workers < 1:
		return o, fmt.Errorf("pagerank: %d iterations by %d workers is less than one", o.MaxIterations, o.Workers)
	}
	return o, nil
}

// A Result is a rank for each node, and how it was reached.
type Result struct {
	Ranks      []float64 // by node; they sum to 1; nil for Rank, which hands them out
	Nodes      int
	Links      int // parallel ones counted once
	Dangling   int // nodes without links
	Iterations int // those before Resume among them
	Resumed    int // of Iterations, those before; 0 if it began anew
	OnDisk     bool

	// Residual is the L1 change of the last iteration. The ranks are at most this from what the
	// formula makes of them, and this divided by 1-damping from the fixed point, up to rounding.
	Residual  float64
	Converged bool // the residual is within the tolerance
}

// A State is a computation between two iterations.
type State struct {
	Fingerprint uint64 // of the graph and of all that the ranks depend on among the options
	Iterations  int
	Residual    float64
	Dangling    float64                              // rank of the nodes without links
	Mass        float64                              // sum of all ranks, near 1
	Ranks       func(do func([]float64) error) error // calls do with all ranks by node, some at a time
}

// ErrTooLarge says that a graph does not fit the memory that was given.
var ErrTooLarge = errors.New("larger than the memory")

// narrowTolerance is the residual down to which contributions are float32. What they are rounded
// by, at most 6e-8 of each, moves ranks by less than 1e-7 in all, and the residual bottoms out
// well below.
const narrowTolerance = 1e-7

// exactLinks is the size of graph, in links, up to which all is float64: there is nothing to gain.
const exactLinks = 1 << 16

// Compute ranks the nodes of a graph in memory. Each iteration makes the residual smaller by the
// damping, on the whole and up to rounding: 1e-9 takes at most 132 iterations at 0.85, and 94
// on 325,557 pages of one country.
//
// Contributions are float32 until the residual is 1e-7, and float64 from there, if the tolerance
// asks for less; so at a tolerance of 1e-7 ranks are within 1e-6 of the exact ones in all (L1),
// and at smaller ones within 7 times the tolerance.
func Compute(ctx context.Context, g *Graph, o Options) (*Result, error) {
	o, to, err := o.check(g.Nodes())
	if err != nil {
		return nil, err
	}
	c := newComputation(g, o.Damping, to, o.Workers)
	r := &Result{Nodes: g.Nodes(), Links: g.Links()}
	for _, out := range g.out {
		if out == 0 {
			r.Dangling++
		}
	}
	if err := r.compute(ctx, c, o, g.fingerprint); err != nil {
		return nil, err
	}
	r.Ranks = c.result()
	return r, nil
}

// Rank ranks the graph of a builder, which it empties, and calls each with all ranks, by node, some
// at a time. A graph that is larger than the memory of the builder is laid out on disk and read
// from there in each iteration: then the ranks are the same up to rounding.
func Rank(ctx context.Context, b *Builder, o Options, each func([]float64) error) (*Result, error) {
	store, nodes, err := b.finish()
	if err != nil {
		return nil, err
	}
	return rank(ctx, store, nodes, nil, o, each)
}

// rank ranks the graph of a store, which it closes; seen numbers the nodes, if it is not nil.
func rank(ctx context.Context, store *linkStore, nodes int, seen *idSet, o Options, each func([]float64) error) (*Result, error) {
	defer store.close()
	o, to, err := o.check(nodes)
	if err != nil {
		return nil, err
	}
	if store.fits(nodes) {
		r, err := Compute(ctx, store.graph(nodes, seen, o.Workers), o)
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
	if err := r.compute(ctx, c, o, func() uint64 { return g.fingerprint }); err != nil {
		return nil, err
	}
	return r, c.eachScaled(each)
}

// A surfer is a computation in memory or on disk.
type surfer interface {
	start(warm []float32) error // ranks from v, or from those of an earlier run
	resume(*State) error
	narrow(context.Context) error // contributions are float32 from here, or with wide float64
	wide(context.Context) error
	iterate(context.Context) (residual float64, err error)
	each(do func([]float64) error) error // hands out the ranks
	rest() (dangling, mass float64)      // as in State
}

// compute has c iterate until the residual is within the tolerance.
func (r *Result) compute(ctx context.Context, c surfer, o Options, fingerprint func() uint64) error {
	s := &State{Ranks: c.each}
	if o.Save != nil || o.Resume != nil {
		s.Fingerprint = o.fingerprint(fingerprint())
	}
	if o.Resume != nil && o.Resume.Fingerprint == s.Fingerprint {
		if err := c.resume(o.Resume); err != nil {
			return err
		}
		r.Resumed, r.Iterations, r.Residual = o.Resume.Iterations, o.Resume.Iterations, o.Resume.Residual
	} else if err := c.start(o.Warm); err != nil {
		return err
	}
	done := func(tolerance float64) bool { return r.Iterations > 0 && r.Residual <= tolerance }
	if narrow := max(o.Tolerance, narrowTolerance); r.Links > exactLinks && !done(narrow) {
		if err := c.narrow(ctx); err != nil {
			return r.stopped(err)
		}
		if err := r.repeat(ctx, c, o, narrow, s); err != nil {
			return err
		}
	}
	if !done(o.Tolerance) && r.Iterations < o.MaxIterations {
		if err := c.wide(ctx); err != nil {
			return r.stopped(err)
		}
		if err := r.repeat(ctx, c, o, o.Tolerance, s); err != nil {
			return err
		}
	}
	r.Converged = done(o.Tolerance)
	return nil
}

// repeat iterates with contributions of one width until the residual is small enough for it.
func (r *Result) repeat(ctx context.Context, c surfer, o Options, tolerance float64, s *State) error {
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
		if o.Save != nil {
			s.Iterations, s.Residual = r.Iterations, r.Residual
			s.Dangling, s.Mass = c.rest()
			if err := o.Save(s); err != nil {
				return r.stopped(err)
			}
		}
	}
	return nil
}

func (r *Result) stopped(err error) error {
	return fmt.Errorf("pagerank: stopped after %d iterations: %w", r.Iterations, err)
}

// check completes the options for a graph, and returns where teleportation goes.
func (o Options) check(nodes int) (Options, *teleport, error) {
	o, err := o.withDefaults()
	if err != nil {
		return o, nil, err
	}
	if nodes == 0 {
		return o, nil, ErrNoNodes
	}
	to, err := newTeleport(o.Personalize, nodes)
	return o, to, err
}

// fingerprint is that of a state, given that of the graph.
func (o Options) fingerprint(graph uint64) uint64 {
	nodes := slices.Sorted(maps.Keys(o.Personalize))
	all := []uint64{graph, math.Float64bits(o.Damping)}
	for _, n := range nodes {
		all = append(all, uint64(n), math.Float64bits(o.Personalize[n]))
	}
	return hashOf(all)
}

// A teleport is where the bored surfer goes, in ascending order; nil: to all nodes alike.
type teleport struct {
	nodes   []uint32
	weights []float64 // they sum to 1
}

func newTeleport(weights map[uint32]float64, nodes int) (*teleport, error) {
	if weights == nil {
		return nil, nil
	}
	to := &teleport{nodes: slices.Sorted(maps.Keys(weights))}
	for _, node := range to.nodes {
		w := weights[node]
		if int(node) >= nodes {
			return nil, fmt.Errorf("pagerank: personalised to node %d of a graph of %d", node, nodes)
		}
		if !(w >= 0) || math.IsInf(w, 1) {
			return nil, fmt.Errorf("pagerank: node %d has weight %v", node, w)
		}
		to.weights = append(to.weights, w)
	}
	all := sum(to.weights)
	if !(all > 0) || math.IsInf(all, 1) {
		return nil, fmt.Errorf("pagerank: the weights of the personalisation sum to %v", all)
	}
	scale(to.weights, all)
	return to, nil
}

// fill returns v for the nodes from up to to, in room if that is large enough, or nil for all nodes alike.
func (p *teleport) fill(room []float64, from, to uint32) []float64 {
	if p == nil {
		return nil
	}
	v := sized(room, int(to-from))
	clear(v)
	at, _ := slices.BinarySearch(p.nodes, from)
	for ; at < len(p.nodes) && p.nodes[at] < to; at++ {
		v[p.nodes[at]-from] = p.weights[at]
	}
	return v
}

func sum(x []float64) float64 {
	total := 0.0
	for _, v := range x {
		total += v
	}
	return total
}

func scale(x []float64, total float64) {
	for i := range x {
		x[i] /= total
	}
}
