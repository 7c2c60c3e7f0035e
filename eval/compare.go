package eval

import (
	"math"
	"math/rand/v2"
	"slices"
)

// A Gain is the mean difference of a measure between two runs, with its 95 % confidence interval by a
// paired bootstrap: queries are drawn again and again with replacement
// (Efron and Tibshirani 1993).
type Gain struct {
	Mean float64 `json:"gain"`
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// A Comparison compares two runs on the same queries. All of it but NDCG10 is by MRR@10.
type Comparison struct {
	Better int     `json:"better"` // queries
	Worse  int     `json:"worse"`
	Gain           // of MRR@10
	P      float64 `json:"p"` // probability of a gain or loss as large by chance
	NDCG10 Gain    `json:"ndcg10"`
}

// trials is the number of random permutations of the test, and of samples of the bootstrap.
const trials = 10_000

// Compare compares runs query by query.
func Compare(judged []Judged, before, after [][]string, seed uint64) Comparison {
	var c Comparison
	var mrr, ndcg []float64
	for i := range judged {
		then, now := judged[i].measure(before[i]), judged[i].measure(after[i])
		mrr = append(mrr, now.MRR10-then.MRR10)
		ndcg = append(ndcg, now.NDCG10-then.NDCG10)
		switch {
		case now.MRR10 > then.MRR10:
			c.Better++
		case now.MRR10 < then.MRR10:
			c.Worse++
		}
	}
	random := rand.New(rand.NewPCG(seed, 1))
	c.P = pValue(mrr, random)
	c.Gain, c.NDCG10 = gain(mrr, random), gain(ndcg, random)
	return c
}

// pValue returns p of a paired randomization test (SAC07): if the runs do not differ, the two results
// of a query may be swapped.
func pValue(gains []float64, random *rand.Rand) float64 {
	gains = slices.DeleteFunc(slices.Clone(gains), func(g float64) bool { return g == 0 })
	observed, asLarge := math.Abs(sum(gains)), 0
	for range trials {
		swapped := 0.0
		for _, g := range gains {
			if random.Uint64()&1 == 0 {
				g = -g
			}
			swapped += g
		}
		if math.Abs(swapped) >= observed-1e-9 {
			asLarge++
		}
	}
	return float64(asLarge) / trials
}

// gain returns the mean of the gains of the queries and its interval.
func gain(gains []float64, random *rand.Rand) Gain {
	n := max(len(gains), 1)
	mean := sum(gains) / float64(n)
	if !slices.ContainsFunc(gains, func(g float64) bool { return g != gains[0] }) {
		return Gain{mean, mean, mean}
	}
	means := make([]float64, trials)
	for i := range means {
		drawn := 0.0
		for range gains {
			drawn += gains[random.IntN(n)]
		}
		means[i] = drawn / float64(n)
	}
	slices.Sort(means)
	return Gain{mean, means[trials/40], means[trials-1-trials/40]}
}

func sum(values []float64) (all float64) {
	for _, v := range values {
		all += v
	}
	return all
}
