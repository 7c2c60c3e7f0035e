package pagerank

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestPush compares forward push with Compute on random graphs, with nodes without links: the ranks
// that are missing are within the bound, and no rank is too high. A second push is like the first.
func TestPush(t *testing.T) {
	for seed := range uint64(30) {
		r := rand.New(rand.NewPCG(seed, 5))
		n := 2 + r.IntN(400)
		b, f := &Builder{}, NewForward(n, 0)
		b.Grow(n)
		links := 0
		for from := range uint32(n) {
			if r.IntN(5) == 0 {
				continue
			}
			known := map[uint32]bool{from: true}
			var targets []uint32
			for range r.IntN(8) {
				if to := uint32(r.IntN(n)); !known[to] {
					known[to] = true
					targets = append(targets, to)
				}
			}
			if len(targets) > 0 {
				b.Add(from, targets)
				f.Add(from, targets)
				links += len(targets)
			}
		}
		g, err := b.Graph()
		if err != nil {
			t.Fatal(err)
		}
		start := uint32(r.IntN(n))
		want, err := Compute(t.Context(), g, Options{Personalize: map[uint32]float64{start: 1}, Tolerance: 1e-12})
		if err != nil {
			t.Fatal(err)
		}
		const epsilon = 1e-6
		for range 2 {
			got, missing := make([]float64, n), 0.0
			for _, page := range f.Push(start, DefaultDamping, epsilon) {
				got[page.Node] = page.Rank
			}
			for node, rank := range want.Ranks {
				if got[node] > rank+1e-9 {
					t.Fatalf("seed %d: node %d has %g, want at most %g", seed, node, got[node], rank)
				}
				missing += math.Abs(rank - got[node])
			}
			if bound := epsilon * float64(links+n); missing > bound+1e-9 || got[start] < 1-DefaultDamping {
				t.Errorf("seed %d: %g is missing, at most %g may be; the start has %g", seed, missing, bound, got[start])
			}
		}
	}
	if NewForward(3, 0).Push(7, DefaultDamping, 1e-6) != nil {
		t.Error("a node outside the graph has ranks")
	}
}
