package eval

import (
	"math"
	"math/rand/v2"
)

// A Comparison compares two runs on the same queries by MRR@10.
type Comparison struct {
	Better int     `json:"better"` // queries
	Worse  int     `json:"worse"`
	Gain   float64 `json:"gain"` // of the mean
	P      float64 `json:"p"`    // probability of a gain or loss as large by chance
}

// trials is the number of random permutations of the test.
const trials = 10_000

// Compare compares runs query by query. P is that of a paired randomization test (SAC07): if the
// runs do not differ, the two results of a query may be swapped.
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
		swapped := 0.0
		for _, gain := range gains {
			if random.Uint64()&1 == 0 {
				gain = -gain
			}
			swapped += gain
		}
		if math.Abs(swapped) >= math.Abs(sum)-1e-9 {
			asLarge++
		}
	}
	c.P = float64(asLarge) / trials
	return c
}
