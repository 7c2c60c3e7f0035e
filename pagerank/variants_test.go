package pagerank

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
)

// Eight topics at a time have the results of eight computations, for any number of workers.
func TestTopics(t *testing.T) {
	g := mustGraph(t, webLike(30_000, 4))
	var topics []map[uint32]float64
	for i := range uint32(MaxTopics) {
		topics = append(topics, map[uint32]float64{100 * i: 1, 100*i + 7: 3})
	}
	topics[3] = nil // all nodes alike
	var first []*Result
	for _, workers := range []int{1, 3} {
		got, err := ComputeTopics(t.Context(), g, Options{Workers: workers}, topics)
		if err != nil {
			t.Fatal(err)
		}
		for i, r := range got {
			want := mustCompute(t, g, Options{Personalize: topics[i]})
			if d := difference(r.Ranks, want.Ranks); d > 2e-8 || !r.Converged || r.Dangling != want.Dangling || math.Abs(sum(r.Ranks)-1) > 1e-9 {
				t.Errorf("topic %d: %g from the one alone, residual %g", i, d, r.Residual)
			}
			if first != nil && !slices.Equal(first[i].Ranks, r.Ranks) {
				t.Errorf("topic %d: %d workers have another result than one", i, workers)
			}
		}
		first = got
	}
	for want, bad := range map[string][]map[uint32]float64{
		"0 topics":      {},
		"9 topics":      make([]map[uint32]float64, MaxTopics+1),
		"topic 2: node": {nil, {9: math.NaN()}},
		"node 30000":    {{30_000: 1}},
		"sum to 0":      {{}},
	} {
		if _, err := ComputeTopics(t.Context(), g, Options{}, bad); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := ComputeTopics(ctx, g, Options{}, topics); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// exactHarmonic is harmonic centrality by a search from each node against the links.
func exactHarmonic(g *Graph) []float64 {
	all := make([]float64, g.Nodes())
	for t := range all {
		seen := map[uint32]bool{uint32(t): true}
		edge := []uint32{uint32(t)}
		for d := 1.0; len(edge) > 0; d++ {
			var next []uint32
			for _, u := range edge {
				for _, s := range g.In(u) {
					if !seen[s] {
						seen[s] = true
						next = append(next, s)
						all[t] += 1 / d
					}
				}
			}
			edge = next
		}
	}
	return all
}

// HyperBall is near the exact sums: with the default of 2^7 registers, whose standard error is 9 %, and with
// 2^10, 3.3 %; a line is exact.
func TestHarmonic(t *testing.T) {
	g := mustGraph(t, webLike(2_000, 3))
	want := exactHarmonic(g)
	for bits, bound := range map[int]struct{ mean, most float64 }{7: {0.04, 0.2}, 10: {0.03, 0.13}} {
		var first []float64
		for _, workers := range []int{1, 3} {
			got, err := Harmonic(t.Context(), g, HarmonicOptions{Bits: bits, Workers: workers})
			if err != nil {
				t.Fatal(err)
			}
			mean, most, n := 0.0, 0.0, 0
			for i := range want {
				if want[i] > 0 {
					off := math.Abs(got[i]-want[i]) / max(want[i], 10) // of a few, two may share a register
					mean, most, n = mean+off, max(most, off), n+1
				} else if got[i] != 0 {
					t.Errorf("node %d, which nothing reaches, has %g", i, got[i])
				}
			}
			mean /= float64(n)
			t.Logf("2^%d registers: off by %.3f on average, %.3f at most, over %d nodes", bits, mean, most, n)
			if n < 1000 || mean > bound.mean || most > bound.most {
				t.Errorf("2^%d registers: off by %g on average, %g at most, over %d nodes", bits, mean, most, n)
			}
			if first != nil && !slices.Equal(first, got) {
				t.Errorf("%d workers have another result than one", workers)
			}
			first = got
		}
	}
	line := &Builder{} // 0 → 1 → 2 → 3
	for s := range uint32(3) {
		line.Add(s, []uint32{s + 1})
	}
	got, err := Harmonic(t.Context(), mustGraph(t, line), HarmonicOptions{Bits: 12})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []float64{0, 1, 1.5, 1 + 1./2 + 1./3} {
		if math.Abs(got[i]-want) > 0.01 {
			t.Errorf("node %d of a line has %g, want %g", i, got[i], want)
		}
	}
	if _, err := Harmonic(t.Context(), g, HarmonicOptions{Bits: 3}); err == nil {
		t.Error("counters of 8 registers")
	}
	if _, err := Harmonic(t.Context(), &Graph{first: []uint64{0}}, HarmonicOptions{}); !errors.Is(err, ErrNoNodes) {
		t.Errorf("no nodes: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Harmonic(ctx, g, HarmonicOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
