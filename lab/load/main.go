// Command load measures a running server with real queries: requests per second at saturation, and the
// times of answers at 80 % and at 150 % of that rate.
//
//	go run ./lab/load --queries FILE [--url http://127.0.0.1:8080] [--path "/search?q="] [--time 10s]
//
// FILE has one query per line; text after a tab is ignored. At saturation --connections send one
// request after the other, as wrk does. At the other rates requests arrive at random moments that do not
// depend on the answers, and times count from the moment that a request was due, so that queueing is
// not hidden (coordinated omission). It prints answers and refusals (429) per second, percentiles of the
// times, and the processor time of the server per request, from /metrics. The program uses a part of
// the machine itself, which it prints.
//
// By default each query is equally likely, so that the server's cache of answers helps little; with
// --zipf 1 the n-th query of FILE has a share of about 1/n. queries.lua makes wrk send the same queries.
package main

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"anatomy/eval"
	"anatomy/lab/rig"
)

// A target is the server and what it is asked.
type target struct {
	base, path  string
	queries     []string
	shares      []float64 // of queries: sums of their weights up to each
	connections int
	client      *http.Client
}

func main() {
	t := target{}
	file := flag.String("queries", "", "file of queries, one per line")
	flag.StringVar(&t.base, "url", "http://127.0.0.1:8080", "the server")
	flag.StringVar(&t.path, "path", "/search?q=", "path before the query")
	flag.IntVar(&t.connections, "connections", 64, "connections at saturation")
	each := flag.Duration("time", 10*time.Second, "duration of each measurement")
	rate := flag.Float64("rate", 0, "measure only at this rate, in requests per second")
	zipf := flag.Float64("zipf", 0, "exponent: the n-th query has weight n^-zipf")
	seed := flag.Uint64("seed", 1, "seed of the moments and of the order of queries")
	flag.Parse()
	var err error
	if t.queries, err = rig.Queries(*file); err != nil || *each <= 0 {
		fmt.Fprintln(os.Stderr, "usage: load --queries FILE:", err)
		os.Exit(2)
	}
	t.weigh(*zipf)
	t.client = &http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 4096, MaxIdleConns: 4096}}
	fmt.Printf("%s%s…, %d queries, seed %d, %v each\n", t.base, t.path, len(t.queries), *seed, *each)
	rates := []float64{*rate}
	if *rate <= 0 {
		t.measure("warm", func() *tally { return t.closed(*seed, *each) })
		full := t.measure(fmt.Sprintf("%d connections", t.connections), func() *tally { return t.closed(*seed+1, *each) })
		rates = []float64{0.8 * full, 1.5 * full}
	}
	for _, r := range rates {
		t.measure(fmt.Sprintf("%.0f arrive a second", r), func() *tally { return t.open(*seed+2, r, *each) })
	}
}

// weigh gives the n-th query a weight of n^-exponent.
func (t *target) weigh(exponent float64) {
	sum := 0.0
	for n := range t.queries {
		sum += math.Pow(float64(n+1), -exponent)
		t.shares = append(t.shares, sum)
	}
}

// draw draws a query.
func (t *target) draw(random *rand.Rand) string {
	i, _ := slices.BinarySearch(t.shares, random.Float64()*t.shares[len(t.shares)-1])
	return t.queries[min(i, len(t.queries)-1)]
}

// A tally counts what became of requests.
type tally struct {
	mu      sync.Mutex
	began   time.Time
	took    []time.Duration // of answers
	refused int             // 429
	failed  int             // anything else
	bytes   int64
}

func (y *tally) note(due time.Time, status int, n int64, err error) {
	took := time.Since(due)
	y.mu.Lock()
	defer y.mu.Unlock()
	y.bytes += n
	switch {
	case err == nil && status == http.StatusOK:
		y.took = append(y.took, took)
	case err == nil && status == http.StatusTooManyRequests:
		y.refused++
	default:
		y.failed++
	}
}

// ask sends one request that was due at some moment.
func (t *target) ask(y *tally, query string, due time.Time) {
	r, err := t.client.Get(t.base + t.path + url.QueryEscape(query))
	if err != nil {
		y.note(due, 0, 0, err)
		return
	}
	n, err := io.Copy(io.Discard, r.Body)
	r.Body.Close()
	y.note(due, r.StatusCode, n, err)
}

// closed has each connection ask when it has been answered.
func (t *target) closed(seed uint64, length time.Duration) *tally {
	y := &tally{began: time.Now()}
	ctx, cancel := context.WithTimeout(context.Background(), length)
	defer cancel()
	var wait sync.WaitGroup
	for i := range t.connections {
		wait.Go(func() {
			random := rand.New(rand.NewPCG(seed, uint64(i)))
			for ctx.Err() == nil {
				t.ask(y, t.draw(random), time.Now())
			}
		})
	}
	wait.Wait()
	return y
}

// open has requests arrive at a rate, whatever becomes of those before (a Poisson process).
func (t *target) open(seed uint64, rate float64, length time.Duration) *tally {
	y := &tally{began: time.Now()}
	random := rand.New(rand.NewPCG(seed, 0))
	var wait sync.WaitGroup
	for due := y.began; due.Sub(y.began) < length; due = due.Add(time.Duration(random.ExpFloat64() / rate * float64(time.Second))) {
		time.Sleep(time.Until(due))
		query := t.draw(random)
		wait.Go(func() { t.ask(y, query, due) })
	}
	wait.Wait()
	return y
}

// measure prints what a measurement gave, and returns answers a second.
func (t *target) measure(what string, run func() *tally) float64 {
	before, own := t.cpu(), rig.OwnCPU().Seconds()
	y := run()
	seconds, cpu := time.Since(y.began).Seconds(), t.cpu()-before
	own = rig.OwnCPU().Seconds() - own
	slices.Sort(y.took)
	at := func(perMille int) float64 { return eval.Percentile(y.took, perMille).Seconds() * 1e3 }
	answered := float64(len(y.took)) / seconds
	fmt.Printf("%-24s %7.0f answers/s %6.0f refused/s %3d failed  p50 %.1f  p90 %.1f  p99 %.1f  p99.9 %.1f ms  CPU %.2f ms a request, %.2f cores, and %.2f of the load\n",
		what, answered, float64(y.refused)/seconds, y.failed, at(500), at(900), at(990), at(999), cpu/float64(max(1, len(y.took)+y.refused))*1e3, cpu/seconds, own/seconds)
	return answered
}

// cpu returns the processor time of the server so far, in seconds; 0 if the server does not report
// it.
func (t *target) cpu() float64 {
	r, err := t.client.Get(t.base + "/metrics")
	if err != nil {
		return 0
	}
	defer r.Body.Close()
	for lines := bufio.NewScanner(r.Body); lines.Scan(); {
		if value, ok := strings.CutPrefix(lines.Text(), "process_cpu_seconds_total "); ok {
			seconds, _ := strconv.ParseFloat(value, 64)
			return seconds
		}
	}
	return 0
}
