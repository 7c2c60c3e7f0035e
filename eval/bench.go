package eval

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"anatomy/searcher"
)

// A Timing is what one query took.
type Timing struct {
	Query string
	Hits  int           // pages that match
	Best  time.Duration // of all passes
}

// BenchOptions say how to measure.
type BenchOptions struct {
	Mode     Mode // default All
	Passes   int  // default 3; one more goes before, to warm up
	Snippets bool // make titles and snippets too
}

// Bench asks for the ten best pages of each query, several times over, one query after the other.
func Bench(ctx context.Context, s Searcher, queries []string, o BenchOptions) ([]Timing, error) {
	if o.Passes <= 0 {
		o.Passes = 3
	}
	timings := make([]Timing, len(queries))
	for pass := range o.Passes + 1 {
		for i, query := range queries {
			req := searcher.Request{Query: o.Mode.Text(query), Bare: !o.Snippets, Verbatim: true, Strict: true, Within: queryTime}
			began := time.Now()
			answer, err := s.Search(ctx, req)
			took := time.Since(began)
			if err == nil && answer.Partial {
				err = fmt.Errorf("answered in part: %s", answer.Why)
			}
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				return nil, fmt.Errorf("eval: query %q: %w", query, err)
			}
			if pass == 0 {
				timings[i] = Timing{query, answer.Total, math.MaxInt64}
				continue
			}
			timings[i].Best = min(timings[i].Best, took)
		}
	}
	return timings, nil
}

// A Latency sums up timings.
type Latency struct {
	Mean, P50, P95, P99 time.Duration
	Hits                int // in sum
}

// Summary sums up timings; a percentile p of n is number n·p, counted from 0, as the programs of
// other engines have it.
func Summary(timings []Timing) (l Latency) {
	if len(timings) == 0 {
		return l
	}
	all := make([]time.Duration, len(timings))
	for i, t := range timings {
		all[i] = t.Best
		l.Mean += t.Best
		l.Hits += t.Hits
	}
	slices.Sort(all)
	at := func(p int) time.Duration { return all[len(all)*p/100] }
	l.Mean /= time.Duration(len(all))
	l.P50, l.P95, l.P99 = at(50), at(95), at(99)
	return l
}
