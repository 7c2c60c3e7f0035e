package pagerank

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestKendall compares with the definition, over all pairs.
func TestKendall(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for n := range 60 {
		for _, values := range []int{1, 2, 10, 1000} {
			a, b := make([]float32, n), make([]float32, n)
			for i := range n {
				a[i], b[i] = float32(r.IntN(values)), float32(r.IntN(values))
			}
			var sum, inA, inB float64
			for i := range n {
				for j := range i {
					x, y := float64(sign(a[i]-a[j])), float64(sign(b[i]-b[j]))
					sum, inA, inB = sum+x*y, inA+x*x, inB+y*y
				}
			}
			want := 0.0
			if inA > 0 && inB > 0 {
				want = sum / math.Sqrt(inA*inB)
			}
			before := slices.Clone(b)
			if got := Kendall(a, b); math.Abs(got-want) > 1e-12 || !slices.Equal(b, before) {
				t.Fatalf("%v and %v: %g, want %g", a, b, got, want)
			}
			if values == 1000 && n > 1 && inA > 0 {
				back := make([]float32, n)
				for i := range back {
					back[i] = -a[i]
				}
				if same, reverse := Kendall(a, a), Kendall(a, back); math.Abs(same-1) > 1e-12 || math.Abs(reverse+1) > 1e-12 {
					t.Fatalf("%v: %g with itself, %g with its reverse", a, same, reverse)
				}
			}
		}
	}
}

func sign(x float32) int {
	switch {
	case x > 0:
		return 1
	case x < 0:
		return -1
	}
	return 0
}
