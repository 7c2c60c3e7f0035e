package eval

import (
	"math"
	"math/rand/v2"
)

// A Comparison says how one run differs from another on the same queries, by MRR@10.
type Comparison struct {
	Better int     `json:"better"` // queries
	Worse  int     `json:"worse"`
	Gain   float64 `json:"gain"` // of the mean
	P      float64 `json:"p"`    // how often chance alone makes a gain or loss as large
}

// trials are the random exchanges of the test.
const trials = 10_000

// Compare compares runs query by query. P is that of a paired randomisation test (SAC07): where the runs
// are alike, either of two results of a query may as well have come from the other one.
func Compare(judged []Judged, before, after [][]string, seed uint64) Comparison {
	var c Comparison
	var gains []float64
	sum := 0.0
	for i := range judged {
		gain := judged[i].measure(after[i]).MRR10 - judged[i].measure(before[i]).MRR10
		switch {
		case gain > 0:
			c.Better++
		case gain < 0:
			c.Worse++
		default:
			continue
		}
		gains = append(gains, gain)
		sum += gain
	}
	c.Gain = sum / float64(max(len(judged), 1))
	random := rand.New(rand.NewPCG(seed, 1))
	asLarge := 0
	for range trials {
		exchanged := 0.0
		for _, gain := range gains {
			if random.Uint64()&1 == 0 {
				gain = -gain
			}
			exchanged += gain
		}
		if math.Abs(exchanged) >= math.Abs(sum)-1e-9 {
			asLarge++
		}
	}
	c.P = float64(asLarge) / trials
	return c
}
