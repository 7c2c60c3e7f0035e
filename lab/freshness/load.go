package main

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"anatomy/eval"
)

// A load asks queries at random moments, whatever becomes of those before (a Poisson process).
type load struct {
	base    string
	queries []string
	rate    float64 // a second
	seed    uint64
}

// An answer is how long one took from when it was due.
type answer struct {
	due  time.Time
	took time.Duration
}

func (l *load) run(ctx context.Context, length time.Duration) (all []answer) {
	random := rand.New(rand.NewPCG(l.seed, 0))
	var mu sync.Mutex
	var open sync.WaitGroup
	began := time.Now()
	for due := began; due.Sub(began) < length && ctx.Err() == nil; due = due.Add(time.Duration(random.ExpFloat64() / l.rate * float64(time.Second))) {
		time.Sleep(time.Until(due))
		query := l.queries[random.IntN(len(l.queries))]
		open.Go(func() {
			r, err := client.Get(l.base + "/api/v1/search?q=" + url.QueryEscape(query))
			if err != nil {
				return
			}
			io.Copy(io.Discard, r.Body)
			r.Body.Close()
			if took := time.Since(due); r.StatusCode == http.StatusOK {
				mu.Lock()
				all = append(all, answer{due, took})
				mu.Unlock()
			}
		})
	}
	open.Wait()
	return all
}

// A mergeWatch sees when segments are merged: one is being written, and it is not made of barrels of its name.
type mergeWatch struct {
	index, barrels string
	merges         int
	times          [][2]time.Time
}

// watchEvery is how short a merge may be that is seen.
const watchEvery = 20 * time.Millisecond

func (m *mergeWatch) run(ctx context.Context) {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	merging := false
	for ctx.Err() == nil {
		now := <-tick.C
		switch was := merging; {
		case m.merging() != was && !was:
			merging = true
			m.merges++
			m.times = append(m.times, [2]time.Time{now, now.Add(time.Hour)})
		case !m.merging() && was:
			merging = false
			m.times[len(m.times)-1][1] = now
		}
	}
}

func (m *mergeWatch) merging() bool {
	written, _ := filepath.Glob(filepath.Join(m.index, "*.tmp"))
	for _, path := range written {
		name := strings.TrimSuffix(filepath.Base(path), ".tmp")
		if _, err := os.Stat(filepath.Join(m.barrels, name+".barrel")); err != nil {
			return true
		}
	}
	return false
}

// part parts answers by whether a merge was going on at their beginning or end.
func (m *mergeWatch) part(all []answer) (during, between []answer) {
	for _, a := range all {
		merging := slices.ContainsFunc(m.times, func(t [2]time.Time) bool { return a.due.Before(t[1]) && a.due.Add(a.took).After(t[0]) })
		if merging {
			during = append(during, a)
		} else {
			between = append(between, a)
		}
	}
	return during, between
}

func report(what string, all []answer) {
	took := make([]time.Duration, len(all))
	for i := range all {
		took[i] = all[i].took
	}
	fmt.Printf("%-24s %s\n", what, percentiles(took))
}

// percentiles returns the median, 95th and 99th percentile and maximum, for printing.
func percentiles(took []time.Duration) string {
	if len(took) == 0 {
		return "none"
	}
	slices.Sort(took)
	at := func(perMille int) time.Duration {
		return eval.Percentile(took, perMille).Round(100 * time.Microsecond)
	}
	return fmt.Sprintf("median %v, p95 %v, p99 %v, most %v (%d)", at(500), at(950), at(990), at(1000), len(took))
}
