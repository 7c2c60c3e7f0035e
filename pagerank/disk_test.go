package pagerank

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// ranksOf runs Rank over a builder with a budget.
func ranksOf(t interface {
	Helper()
	Fatal(...any)
}, b *Builder, memory int64, dir string, o Options) (*Result, []float64) {
	t.Helper()
	b.Memory, b.Dir = memory, dir
	var ranks []float64
	r, err := Rank(context.Background(), b, o, func(some []float64) error {
		ranks = append(ranks, some...)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return r, ranks
}

// Any small graph is ranked from disk as in memory: parallel links, self-links, dangling nodes,
// personalised, from an old vector.
func TestDiskEqualsMemory(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		nodes := rapid.IntRange(1, 1200).Draw(t, "nodes")
		node := rapid.Uint32Range(0, uint32(nodes-1))
		selfLinks := rapid.Bool().Draw(t, "self")
		one, other := &Builder{SelfLinks: selfLinks}, &Builder{SelfLinks: selfLinks}
		one.Grow(nodes)
		other.Grow(nodes)
		for range rapid.IntRange(0, 200).Draw(t, "adds") {
			source, targets := node.Draw(t, "source"), rapid.SliceOfN(node, 0, 6).Draw(t, "targets")
			one.Add(source, targets)
			other.Add(source, targets)
		}
		o := Options{Tolerance: 1e-13, MaxIterations: 1000, Workers: rapid.IntRange(1, 3).Draw(t, "workers")}
		if rapid.Bool().Draw(t, "personalised") {
			o.Personalize = map[uint32]float64{node.Draw(t, "favourite"): 1, node.Draw(t, "second"): 2}
		}
		if rapid.Bool().Draw(t, "warm") {
			o.Warm = rapid.SliceOfN(rapid.Float32Range(0, 5), 0, 40).Draw(t, "vector")
		}
		a, want := ranksOf(t, one, 0, "", o)
		b, got := ranksOf(t, other, 1, dir, o)
		if a.OnDisk || !b.OnDisk {
			t.Fatalf("on disk: %v and %v", a.OnDisk, b.OnDisk)
		}
		if a.Nodes != b.Nodes || a.Links != b.Links || a.Dangling != b.Dangling || !b.Converged {
			t.Fatalf("from disk %+v, in memory %+v", b, a)
		}
		near(t, got, want)
	})
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("files left: %v, %v", left, err)
	}
}

// A graph of many pieces and an edge list with names for nodes, through float32 and float64.
func TestDiskOfManyPieces(t *testing.T) {
	build := func() *Builder { return webLike(60_000, 4) }
	links := mustGraph(t, build()).Links()
	want, ranks := ranksOf(t, build(), 0, "", Options{})
	for _, workers := range []int{1, 2} {
		r, got := ranksOf(t, build(), 400_000, t.TempDir(), Options{Workers: workers})
		if r.Links != links || !r.OnDisk || math.Abs(sum(got)-1) > 1e-9 || difference(got, ranks) > 1e-8 || r.Dangling != want.Dangling {
			t.Errorf("from disk %+v, %g from that in memory, sum %v", r, difference(got, ranks), sum(got))
		}
	}
	g := mustGraph(t, build())
	var list bytes.Buffer
	for node := range g.Nodes() {
		for _, source := range g.In(uint32(node)) {
			fmt.Fprintf(&list, "%d\t%d\n", 5*source+7, 5*node+7)
		}
	}
	var inMemory, fromDisk strings.Builder
	for out, memory := range map[*strings.Builder]int64{&inMemory: 0, &fromDisk: 500_000} {
		r, err := RankEdges(t.Context(), bytes.NewReader(list.Bytes()), out, Options{Memory: memory, Dir: t.TempDir()})
		if err != nil || r.OnDisk != (memory > 0) {
			t.Fatalf("%+v, %v", r, err)
		}
	}
	a, b := ranksIn(t, inMemory.String()), ranksIn(t, fromDisk.String())
	if len(a) != len(b) || len(a) < 40_000 {
		t.Fatalf("%d and %d ranks", len(a), len(b))
	}
	for node, rank := range a {
		if math.Abs(b[node]-rank) > 1e-9 {
			t.Fatalf("node %d: %g from disk, %g in memory", node, b[node], rank)
		}
	}
}

func ranksIn(t *testing.T, lines string) map[uint32]float64 {
	t.Helper()
	ranks := map[uint32]float64{}
	for line := range strings.Lines(lines) {
		var node uint32
		var rank float64
		if _, err := fmt.Sscan(line, &node, &rank); err != nil {
			t.Fatal(err)
		}
		ranks[node] = rank
	}
	return ranks
}

func TestDiskTroubles(t *testing.T) {
	b := webLike(20_000, 4)
	b.Memory = 1
	if _, err := b.Graph(); !errors.Is(err, ErrTooLarge) {
		t.Errorf("a graph of one byte: %v", err)
	}
	b = webLike(20_000, 4)
	b.Memory, b.Dir = 1, t.TempDir()+"/absent"
	if _, err := Rank(t.Context(), b, Options{}, nil); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a folder that does not exist: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	b = webLike(20_000, 4)
	b.Memory, b.Dir = 1, t.TempDir()
	_, err := Rank(ctx, b, Options{Progress: func(i int, _ float64) {
		if i == 3 {
			cancel()
		}
	}}, nil)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if left, err := os.ReadDir(b.Dir); err != nil || len(left) > 0 {
		t.Errorf("files left: %v, %v", left, err)
	}
}
