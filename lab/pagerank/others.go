package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"fmt"
	"math"
	"os"
	"slices"

	"anatomy/pagerank"
)

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

// compare ranks the graph and prints how far the ranks of a file are from ours in all (L1), whether
// its 100 highest are ours, the sum of ours, and their distance from the next iteration of a plain
// loop in float64.
func compare(g *pagerank.Graph, ids []uint32, file string) error {
	r, err := pagerank.Compute(context.Background(), g, pagerank.Options{})
	if err != nil {
		return err
	}
	their, err := readRanks(file)
	if err != nil {
		return err
	}
	of := map[uint32]float64{}
	total, distance := 0.0, 0.0
	for i, rank := range r.Ranks {
		id := uint32(i)
		if ids != nil {
			id = ids[i]
		}
		of[id] = rank
		total += rank
	}
	for id, rank := range their {
		distance += math.Abs(rank - of[id])
	}
	fmt.Printf("against %s: L1 %.2g over %d nodes, same top 100: %v; sum 1%+.1g, residual %.2g, recomputed %.2g\n",
		file, distance, len(their), slices.Equal(top(of), top(their)), total-1, r.Residual, plainResidual(g, r.Ranks))
	return nil
}

// top names the 100 highest: those that differ by less than a rounding are in the order of their names.
func top(ranks map[uint32]float64) []uint32 {
	ids := make([]uint32, 0, len(ranks))
	for id := range ranks {
		ids = append(ids, id)
	}
	slices.SortFunc(ids, func(a, b uint32) int {
		return cmp.Or(cmp.Compare(math.Round(ranks[b]*1e10), math.Round(ranks[a]*1e10)), cmp.Compare(a, b))
	})
	return ids[:min(100, len(ids))]
}

func readRanks(file string) (map[uint32]float64, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	ranks := map[uint32]float64{}
	lines := bufio.NewScanner(bytes.NewReader(data))
	for lines.Scan() {
		var id uint32
		var rank float64
		if _, err := fmt.Sscan(lines.Text(), &id, &rank); err != nil {
			return nil, fmt.Errorf("%s: %q: %w", file, lines.Text(), err)
		}
		ranks[id] = rank
	}
	return ranks, nil
}

// plainResidual is the L1 distance of ranks from the next ones, in float64.
func plainResidual(g *pagerank.Graph, ranks []float64) (residual float64) {
	dangling := 0.0
	for s, r := range ranks {
		if g.Out(uint32(s)) == 0 {
			dangling += r
		}
	}
	for t, r := range ranks {
		total := 0.0
		for _, s := range g.In(uint32(t)) {
			total += ranks[s] / float64(g.Out(s))
		}
		residual += math.Abs((0.15+0.85*dangling)/float64(len(ranks)) + 0.85*total - r)
	}
	return residual
}
