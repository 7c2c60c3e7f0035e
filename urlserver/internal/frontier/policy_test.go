package frontier

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestRaiseExpectation: the chance of a rise makes the expected quality exact.
func TestRaiseExpectation(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	for _, amount := range []float64{0.01, 0.3, 5} {
		sum := 0.0
		const runs, links = 2000, 20
		for range runs {
			p := PriorityOf(1)
			for range links {
				p = Raise(p, amount, random)
			}
			sum += Quality(p)
		}
		if mean, want := sum/runs, 1+links*amount; math.Abs(mean/want-1) > 0.03 {
			t.Errorf("%d links of %v: %.3f on average, want %.3f", links, amount, mean, want)
		}
	}
	if Raise(1, 1e30, random) != 1 {
		t.Error("a priority above the best")
	}
}

func TestPriorities(t *testing.T) {
	for p := 1; p <= 255; p++ {
		if got := PriorityOf(Quality(uint8(p))); got != uint8(p) {
			t.Errorf("priority %d comes back as %d", p, got)
		}
	}
	for quality, want := range map[float64]uint8{math.Inf(1): 1, 1e-300: 255, 0: 255, -1: 255, math.NaN(): 255} {
		if got := PriorityOf(quality); got != want {
			t.Errorf("quality %v is priority %d, want %d", quality, got, want)
		}
	}
}
