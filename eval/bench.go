package eval

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"anatomy/searcher"
)

// A Timing is the latency of one query.
type Timing struct {
	Query string
	Hits  int           // pages that match
	Best  time.Duration // of all passes
}

// BenchOptions are options of Bench. The zero value works.
type BenchOptions struct {
	Mode     Mode // default All; Fill searches for queries as typed
	Passes   int  // default 3, after one that warms up caches
	Snippets bool // make titles and snippets, too
}

// Bench searches for the ten best results of each query in turn, in several passes.
func Bench(ctx context.Context, s Searcher, queries []string, o BenchOptions) ([]Timing, error) {
	if o.Passes <= 0 {
		o.Passes = 3
	}
	timings := make([]Timing, len(queries))
	for pass := range o.Passes + 1 {
		for i, query := range queries {
			req := searcher.Request{
				Query: o.Mode.Text(query), Bare: !o.Snippets,
				Verbatim: true, Strict: o.Mode != Fill, Within: queryTime,
			}
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
				return nil, fmt.Errorf("query %q: %w", query, err)
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

// A Latency summarizes timings.
type Latency struct {
	Mean, P50, P95, P99 time.Duration
	Hits                int // sum
}

// Summary summarizes timings.
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
	l.Mean /= time.Duration(len(all))
	l.P50, l.P95, l.P99 = Percentile(all, 500), Percentile(all, 950), Percentile(all, 990)
	return l
}
