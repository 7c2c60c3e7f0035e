package main

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/miekg/dns"

	"anatomy/crawler/dnsclient"
	"anatomy/lab/plot"
)

const (
	ticks     = 5 // columns over the period
	figureLen = 1_000_000

	libcTimeout  = 5 * time.Second // the defaults of resolv.conf(5)
	libcAttempts = 2
)

// A row is one way of resolving.
type row struct {
	name, paper string
	done        [ticks]int64 // names, at each tick
	failed      int64
	took        time.Duration // the period, or less where the stream ended before
}

func (r *row) rate() float64 { return float64(r.done[ticks-1]) / r.took.Seconds() }

// drawFigures resolves one stream for the same time in the paper's four ways.
//
// The paper's blocking resolver is the C library's: a question, a socket of its own, and a thread
// that waits. It has several threads here, as a crawler would give it. Asynchrony alone is our client
// where no answer is kept; that questions in flight are shared belongs to its table and stays.
func drawFigures(ctx context.Context, o options, addr string) error {
	names := o.stream(figureLen)
	fmt.Printf("\nnames resolved of a stream of %d (blocking: %d threads; asynchronous: %d at once)\n%-18s", len(names), o.threads, o.atOnce, "after")
	for i := range ticks {
		fmt.Printf(" %8.1fs", (o.period * time.Duration(i+1) / ticks).Seconds())
	}
	fmt.Printf(" %10s %7s %8s   %s\n", "a second", "failed", "ratio", "CY09")

	blocking := count("blocking", "1", names, o.threads, o.period, ask(addr))
	blocking.print(blocking)
	rows := []*row{blocking}
	cached := count("cache alone", "2 to 3 (figure 6)", names, o.threads, o.period, remember(ask(addr)))
	cached.print(blocking)
	rows = append(rows, cached)
	for _, c := range []struct {
		name, paper string
		dnsclient.Options
	}{
		{"asynchrony alone", "1.5 (figure 7)", dnsclient.Options{MinTTL: -1, MaxTTL: 1, Stale: -1, Now: time.Now}},
		{"both", "3 to 5 (figure 8)", dnsclient.Options{}},
	} {
		c.Servers = []string{addr}
		client, stop, err := startClient(ctx, c.Options)
		if err != nil {
			return err
		}
		r := count(c.name, c.paper, names, o.atOnce, o.period, func(name string) error { _, err := client.Lookup(ctx, name); return err })
		r.print(blocking)
		rows = append(rows, r)
		if err := stop(); err != nil {
			return err
		}
	}
	return plot.Write(o.svg, panels(rows, o.period), plot.SVG)
}

// panels returns figures 6 to 8: each way beside the blocking one, until the stream ended.
func panels(rows []*row, period time.Duration) []plot.Panel {
	var all []plot.Panel
	for i, r := range rows[1:] {
		p := plot.Panel{Title: fmt.Sprintf("CY09, figure %d: %s", 6+i, r.name), X: "seconds", Y: "names resolved"}
		for _, of := range []*row{rows[0], r} {
			line := plot.Line{Name: of.name, Points: []plot.Point{{}}}
			for k, n := range of.done {
				line.Points = append(line.Points, plot.Point{X: min(of.took, period*time.Duration(k+1)/ticks).Seconds(), Y: float64(n)})
			}
			p.Lines = append(p.Lines, line)
		}
		all = append(all, p)
	}
	return all
}

func (r *row) print(base *row) {
	fmt.Printf("%-18s", r.name)
	for _, n := range r.done {
		fmt.Printf(" %9d", n)
	}
	ratio := r.rate() / base.rate()
	fmt.Printf(" %10.0f %7d %8.1f   %s\n", r.rate(), r.failed, ratio, r.paper)
}

// count resolves names with so many callers until the period or the stream is over.
func count(name, paper string, names []string, callers int, period time.Duration, lookup func(string) error) *row {
	r := &row{name: name, paper: paper}
	var next, done, failed atomic.Int64
	var workers sync.WaitGroup
	begun := time.Now()
	for range callers {
		workers.Go(func() {
			for time.Since(begun) < period {
				i := next.Add(1) - 1
				if i >= int64(len(names)) {
					return
				}
				if lookup(names[i]) != nil {
					failed.Add(1)
				}
				done.Add(1)
			}
		})
	}
	over := make(chan struct{})
	go func() { workers.Wait(); r.took = min(time.Since(begun), period); close(over) }()
	for i := range r.done {
		select {
		case <-over:
		case <-time.After(time.Until(begun.Add(period * time.Duration(i+1) / ticks))):
		}
		r.done[i] = done.Load()
	}
	<-over
	r.failed = failed.Load()
	return r
}

// ask is a blocking resolver in the manner of the C library.
func ask(addr string) func(string) error {
	return func(name string) (err error) {
		c := dns.Client{Timeout: libcTimeout}
		for range libcAttempts {
			if _, _, err = c.Exchange(new(dns.Msg).SetQuestion(dns.Fqdn(name), dns.TypeA), addr); err == nil {
				return nil
			}
		}
		return err
	}
}

// remember puts a cache before a resolver. Nothing leaves it: the paper's holds 50,000 names for half
// an hour, which is more than the stream has, and longer than it lasts.
func remember(lookup func(string) error) func(string) error {
	var known sync.Map
	return func(name string) error {
		name = strings.ToLower(name)
		if _, ok := known.Load(name); ok {
			return nil
		}
		err := lookup(name)
		if err == nil {
			known.Store(name, true)
		}
		return err
	}
}
