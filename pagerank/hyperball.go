package pagerank

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/bits"
	"runtime"
)

// HarmonicOptions are the options of [Harmonic]. The zero value works.
type HarmonicOptions struct {
	Bits     int // each node has 2^Bits registers of a byte, 4 to 12; default 7
	MaxSteps int // largest distance; default: no bound
	Workers  int // default: one for each core

	// Progress is called after each distance, with the share of all centrality that it added.
	// Default: none.
	Progress func(distance int, added float64)
}

// defaultBits is the default of HarmonicOptions.Bits.
const defaultBits = 7

// HarmonicBytes is the memory of the counters for a node, beside that of the graph.
const HarmonicBytes = 2 << defaultBits

// Harmonic approximates harmonic centrality by HyperBall (Boldi and Vigna, 2013): for each node the
// sum of 1/d over all other nodes, where d is the least number of links by which they reach it.
// Each node has a HyperLogLog counter (Flajolet et al., 2007) of the nodes that reach it by at most
// d links; the counter for d+1 is its union with those of the node's in-edges. The sums are by
// node, not scaled.
//
// The standard deviation of a counter with m registers is 1.04/√m of its value, 9 % for 128, and
// that of the sums about as much. Memory: twice 2^Bits bytes a node.
func Harmonic(ctx context.Context, g *Graph, o HarmonicOptions) ([]float64, error) {
	o.Bits = cmp.Or(o.Bits, defaultBits)
	if o.Bits < 4 || o.Bits > 12 {
		return nil, fmt.Errorf("counters of 2^%d registers, there must be 2^4 to 2^12", o.Bits)
	}
	if o.Workers == 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	if g.Nodes() == 0 {
		return nil, ErrNoNodes
	}
	b := newBalls(g, o.Bits)
	for d := 1; o.MaxSteps == 0 || d <= o.MaxSteps; d++ {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("stopped at distance %d: %w", d, err)
		}
		added := b.grow(float64(d), o.Workers)
		if all := sum(b.sums); o.Progress != nil {
			o.Progress(d, added/max(all, 1))
		}
		if !b.changed {
			break
		}
	}
	return b.sums, nil
}

// HarmonicRanks is [Compute] by harmonic centrality: the sums of [Harmonic], scaled to sum to 1. An
// iteration is a distance, and the residual the share of all centrality that it added. It uses the options
// Workers and Progress.
func HarmonicRanks(ctx context.Context, g *Graph, o Options) (*Result, error) {
	r := &Result{Nodes: g.Nodes(), Links: g.Links(), Dangling: g.Dangling(), Converged: true}
	progress := func(distance int, added float64) {
		r.Iterations, r.Residual = distance, added
		if o.Progress != nil {
			o.Progress(distance, added)
		}
	}
	sums, err := Harmonic(ctx, g, HarmonicOptions{Workers: o.Workers, Progress: progress})
	if err != nil {
		return nil, err
	}
	scale(sums, cmp.Or(sum(sums), 1))
	r.Ranks = sums
	return r, nil
}

// balls are the counters of all nodes for the current and the next distance.
type balls struct {
	g          *Graph
	bits       int
	now, next  []uint8 // 2^bits registers by node
	sizes      []float64
	sums       []float64
	moved      []bool // by node: its counter changed in the last step
	moving     []bool
	pieces     []piece
	perPiece   []float64
	changed    bool
	changedOne []bool // by piece
}

func newBalls(g *Graph, bits int) *balls {
	n := g.Nodes()
	b := &balls{
		g: g, bits: bits, now: make([]uint8, n<<bits), next: make([]uint8, n<<bits),
		sizes: make([]float64, n), sums: make([]float64, n),
		moved: make([]bool, n), moving: make([]bool, n), pieces: g.evenPieces(),
	}
	b.perPiece, b.changedOne = make([]float64, len(b.pieces)), make([]bool, len(b.pieces))
	for t := range n {
		h := mix(uint64(t))
		register, rest := h&(1<<bits-1), h>>bits
		b.now[t<<bits+int(register)] = uint8(leadingZeros(rest, 64-bits) + 1)
		b.sizes[t] = estimate(b.now[t<<bits : (t+1)<<bits])
		b.moved[t] = true
	}
	return b
}

// mix hashes a number (Stafford's thirteenth variant of the MurmurHash3 finalizer).
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// leadingZeros returns the number of leading zeros among the low width bits of x.
func leadingZeros(x uint64, width int) int {
	return bits.LeadingZeros64(x<<(64-width) | 1<<(63-width))
}

// grow computes the counters for distance d from those for d-1, and returns what that adds to all
// sums.
func (b *balls) grow(d float64, workers int) (added float64) {
	parallel(workers, len(b.pieces), func(_, i int) {
		p := b.pieces[i]
		b.perPiece[i], b.changedOne[i] = b.piece(p, d)
	})
	b.changed = false
	for i := range b.pieces {
		added += b.perPiece[i]
		b.changed = b.changed || b.changedOne[i]
	}
	b.now, b.next = b.next, b.now
	b.moved, b.moving = b.moving, b.moved
	return added
}

func (b *balls) piece(p piece, d float64) (added float64, changed bool) {
	for t := int(p.from); t < int(p.to); t++ {
		from, to := t<<b.bits, (t+1)<<b.bits
		next := b.next[from:to]
		copy(next, b.now[from:to])
		b.moving[t] = false
		for _, s := range b.g.In(uint32(t)) {
			if b.moved[s] {
				b.moving[t] = union(next, b.now[int(s)<<b.bits:(int(s)+1)<<b.bits]) || b.moving[t]
			}
		}
		if !b.moving[t] {
			continue
		}
		changed = true
		size := estimate(next)
		gain := max(size-b.sizes[t], 0) / d
		b.sums[t] += gain
		b.sizes[t] = max(size, b.sizes[t])
		added += gain
	}
	return added, changed
}

// union makes a the union of a and b, and reports whether that changed it.
func union(a, b []uint8) (changed bool) {
	b = b[:len(a)]
	for i, v := range b {
		if v > a[i] {
			a[i], changed = v, true
		}
	}
	return changed
}

// estimate returns the estimated size of a counter: HyperLogLog, or linear counting if small.
func estimate(registers []uint8) float64 {
	m := float64(len(registers))
	total, empty := 0.0, 0
	for _, r := range registers {
		total += 1 / float64(uint64(1)<<r)
		if r == 0 {
			empty++
		}
	}
	alpha := 0.7213 / (1 + 1.079/m)
	switch len(registers) {
	case 16:
		alpha = 0.673
	case 32:
		alpha = 0.697
	case 64:
		alpha = 0.709
	}
	size := alpha * m * m / total
	if size <= 2.5*m && empty > 0 {
		return m * math.Log(m/float64(empty))
	}
	return size
}
