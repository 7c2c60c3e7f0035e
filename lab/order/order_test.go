package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// bits returns the sum of the logarithms of all gaps, for an order of documents.
func bits(order []int, terms [][]uint32) (sum float64) {
	last := map[uint32]int{}
	for position, doc := range order {
		for _, t := range terms[doc] {
			before, known := last[t]
			if !known {
				before = -1
			}
			sum += math.Log2(float64(position-before) + 1)
			last[t] = position
		}
	}
	return sum
}

// TestBisection: shuffled documents of twenty subjects are grouped by subject.
func TestBisection(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	terms := make([][]uint32, 2000)
	order := make([]int, len(terms))
	for doc := range terms {
		order[doc] = doc
		for range 20 {
			terms[doc] = append(terms[doc], uint32(doc%20*100+r.IntN(100)))
		}
		slices.Sort(terms[doc])
		terms[doc] = slices.Compact(terms[doc])
	}
	before := bits(order, terms)
	bisect(order, terms)
	if after := bits(order, terms); after > .7*before {
		t.Errorf("gaps take %.0f bits, %.0f before", after, before)
	}
	sorted := slices.Sorted(slices.Values(order))
	for i, doc := range sorted {
		if doc != i {
			t.Fatalf("document %d is missing or occurs twice", i)
		}
	}
	changes := 0
	for i := 1; i < len(order); i++ {
		if order[i]%20 != order[i-1]%20 {
			changes++
		}
	}
	if changes > 400 {
		t.Errorf("the subject changes %d times", changes)
	}
}

func TestOrders(t *testing.T) {
	var lines [][]byte
	for i := range 100 {
		lines = append(lines, fmt.Appendf(nil, "%02d\tt\tp\tword%d common\n", (i*37)%100, i%7))
	}
	numbers := filepath.Join(t.TempDir(), "numbers")
	if err := os.WriteFile(numbers, []byte("07\t2.5\n99\t3\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if order, err := ordered(lines, numbers, 1); err != nil || order[0]*37%100 != 99 || order[1]*37%100 != 7 {
		t.Errorf("by numbers: %v, %v", order[:2], err)
	}
	for _, by := range []string{"id", "chance", numbers, "bisection"} {
		order, err := ordered(lines, by, 1)
		if err != nil {
			t.Fatal(err)
		}
		if slices.Sort(order); order[0] != 0 || order[99] != 99 || len(slices.Compact(order)) != 100 {
			t.Errorf("%s: not each line once", by)
		}
	}
	if _, err := ordered(lines, "taste", 1); err == nil {
		t.Error("an unknown order is accepted")
	}
}
