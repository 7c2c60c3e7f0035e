package pagerank

import (
	"bufio"
	"cmp"
	"math"
	"os"
	"slices"
	"strconv"
	"testing"
)

// The ranks are those of igraph 0.10's PRPACK on the same graph, which lab/pagerank/prpack.py computed:
// L1 below 1e-6, the same 100 highest, a sum of 1 within 1e-9, and the reported residual is no smaller
// than what one more iteration of a plain loop in float64 changes.
func TestEqualsPRPACK(t *testing.T) {
	f, err := os.Open("testdata/prpack.tsv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var want []float64
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		rank, err := strconv.ParseFloat(lines.Text(), 64)
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, rank)
	}
	const nodes = 1200
	if len(want) != nodes {
		t.Fatalf("%d ranks", len(want))
	}
	g := mustGraph(t, webLike(nodes, 3))
	inMemory := mustCompute(t, g, Options{})
	b := webLike(nodes, 3)
	_, fromDisk := ranksOf(t, b, 1, t.TempDir(), Options{})
	for where, got := range map[string][]float64{"in memory": inMemory.Ranks, "from disk": fromDisk} {
		if d := difference(got, want); d > 1e-6 || math.Abs(sum(got)-1) > 1e-9 || !slices.Equal(highest(got), highest(want)) {
			t.Errorf("%s: %g from PRPACK, sum %v, same order: %v", where, d, sum(got), slices.Equal(highest(got), highest(want)))
		}
		next := make([]float64, nodes)
		plainIteration(g, got, next)
		if d := difference(got, next); d > inMemory.Residual+1e-12 {
			t.Errorf("%s: one more iteration changes %g, the residual is %g", where, d, inMemory.Residual)
		}
	}
}

// highest are the 100 nodes with the highest ranks; those that differ by less than a rounding are in order.
func highest(ranks []float64) []int {
	nodes := make([]int, len(ranks))
	for i := range nodes {
		nodes[i] = i
	}
	slices.SortFunc(nodes, func(a, b int) int {
		return cmp.Or(cmp.Compare(math.Round(ranks[b]*1e8), math.Round(ranks[a]*1e8)), cmp.Compare(a, b))
	})
	return nodes[:100]
}
