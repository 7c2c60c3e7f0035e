package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"anatomy/crawler/dnsclient"
	"anatomy/eval"
	"anatomy/lab/rig"
)

// A result is one run over a stream.
type result struct {
	done, failed int
	took         time.Duration // of all
	cpu          time.Duration // of the process
	waits        []time.Duration
	sockets      int
}

func (r *result) rate() float64 { return float64(r.done) / r.took.Seconds() }

func (r *result) percentile(perMille int) time.Duration {
	return eval.Percentile(r.waits, perMille)
}

// measureStream resolves the stream with our client, then as much of it as the period allows with
// others.
func measureStream(ctx context.Context, o options, addr string) error {
	names := o.stream(o.lookups)
	fmt.Printf("\nstream of %d lookups, %d at once\n", o.lookups, o.atOnce)
	fmt.Printf("%-14s %9s %9s %9s %9s %8s %8s %8s %12s\n", "", "lookups", "a second", "p50 ms", "p99 ms", "p99.9", "failed", "sockets", "CPU s/million")

	before := openSockets()
	c, stop, err := startClient(ctx, dnsclient.Options{Servers: []string{addr}})
	if err != nil {
		return err
	}
	ours := resolve(names, o.atOnce, before, 0, func(name string) error { _, err := c.Lookup(ctx, name); return err })
	st := c.Stats()
	if err := stop(); err != nil {
		return err
	}
	ours.print("ours")
	if err := measureOthers(ctx, o, addr, names, ours); err != nil {
		return err
	}
	fmt.Printf("ours: %.1f %% hits, %.1f %% joined, %d misses, %.3f packets a miss, %d strays, %d waited for room\n",
		100*float64(st.Hits)/float64(o.lookups), 100*float64(st.Joined)/float64(o.lookups), st.Misses, float64(st.Queries)/float64(st.Misses), st.Strays, st.Full)
	return nil
}

// measureOthers resolves the stream with one socket and a map, with unbound if there is one, and with
// Go's resolver, and compares each with ours.
func measureOthers(ctx context.Context, o options, addr string, names []string, ours *result) error {
	var rows []string
	measure := func(name string, lookup func(string) error) {
		r := resolve(names, o.atOnce, openSockets(), o.period, lookup)
		r.print(name)
		rows = append(rows, fmt.Sprintf("ours / %s: %.2f times the lookups a second, %.3f of the CPU",
			name, ours.rate()/r.rate(), ours.cpuPerMillion()/r.cpuPerMillion()))
	}
	one, err := openOneSocket(addr, true)
	if err != nil {
		return err
	}
	measure("one socket", one.lookup)
	one.close()
	if o.unbound != "" {
		at, stop, err := startUnbound(ctx, o.unbound, addr)
		if err != nil {
			return err
		}
		defer stop()
		if one, err = openOneSocket(at, false); err != nil {
			return err
		}
		measure("unbound", one.lookup) // its own processor time is not counted
		one.close()
	}
	measure("net.Resolver", goResolver(addr))
	for _, row := range rows {
		fmt.Println(row)
	}
	return nil
}

func (r *result) cpuPerMillion() float64 { return r.cpu.Seconds() * 1e6 / float64(r.done) }

func (r *result) print(name string) {
	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	fmt.Printf("%-14s %9d %9.0f %9.3f %9.1f %8.1f %8d %8d %12.2f\n", name, r.done, r.rate(), ms(r.percentile(500)), ms(r.percentile(990)), ms(r.percentile(999)),
		r.failed, r.sockets, r.cpuPerMillion())
}

// resolve looks up the names, atOnce at a time, until the period is over; 0 is until the last one.
// The sockets counted are the most at ten moments a second, less the given number of others.
func resolve(names []string, atOnce, before int, period time.Duration, lookup func(string) error) *result {
	r := &result{waits: make([]time.Duration, len(names))}
	var next, failed atomic.Int64
	var workers, counter sync.WaitGroup
	over := make(chan struct{})
	counter.Go(func() { r.sockets = mostSockets(over) - before })
	used := rig.OwnCPU()
	begun := time.Now()
	for range atOnce {
		workers.Go(func() {
			for period == 0 || time.Since(begun) < period {
				i := int(next.Add(1) - 1)
				if i >= len(names) {
					return
				}
				asked := time.Now()
				if err := lookup(names[i]); err != nil {
					failed.Add(1)
				}
				r.waits[i] = time.Since(asked)
			}
		})
	}
	workers.Wait()
	r.took, r.cpu = time.Since(begun), rig.OwnCPU()-used
	close(over)
	counter.Wait()
	r.done, r.failed = min(int(next.Load()), len(names)), int(failed.Load())
	r.waits = r.waits[:r.done]
	slices.Sort(r.waits)
	return r
}

// mostSockets looks every 100 ms how many UDP and TCP sockets the process has.
func mostSockets(over <-chan struct{}) (most int) {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		most = max(most, openSockets())
		select {
		case <-over:
			return most
		case <-tick.C:
		}
	}
}

func openSockets() (n int) {
	files, _ := filepath.Glob("/proc/self/fd/*")
	for _, f := range files {
		if to, err := os.Readlink(f); err == nil && strings.HasPrefix(to, "socket:") {
			n++
		}
	}
	return n
}

// startClient runs a client until stop is called.
func startClient(ctx context.Context, o dnsclient.Options) (c *dnsclient.Client, stop func() error, err error) {
	if c, err = dnsclient.New(o); err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- c.Run(ctx) }()
	return c, func() error { cancel(); return <-ended }, nil
}

// goResolver is Go's own resolver, as a program would use it.
func goResolver(addr string) func(string) error {
	r := &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, network, addr)
	}}
	return func(name string) error {
		_, err := r.LookupNetIP(context.Background(), "ip4", name+".")
		return err
	}
}
