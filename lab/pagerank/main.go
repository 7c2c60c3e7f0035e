// Command pagerank measures the computation of PageRank on a generated graph that is like the web:
// nodes in the order of URLs, hosts of very different sizes, three links of four within the host
// and mostly near, the rest to the popular (Zipf). It prints the time of a plain loop and of
// package pagerank, in nanoseconds a link, iteration and core.
//
//	go run ./lab/pagerank -nodes 4194304 -links 67108864
//	go run ./lab/pagerank -nodes 4194304 -links 67108864 -write graph.el -plain=false -workers 0
package main

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"log"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"syscall"
	"time"

	"anatomy/pagerank"
)

func main() {
	nodes := flag.Int("nodes", 1<<22, "nodes of the graph")
	links := flag.Int("links", 1<<26, "links of the graph, about")
	uniform := flag.Bool("uniform", false, "every link to a random node: the worst case, not the web")
	dangling := flag.Float64("dangling", 0, "share of nodes without links")
	plain := flag.Bool("plain", true, "measure a plain loop as well")
	write := flag.String("write", "", "write the links to this file, a line each")
	tolerance := flag.Float64("tolerance", 1e-7, "stop at this residual")
	runs := flag.Int("runs", 3, "how often each is measured; the median is printed")
	flag.Parse()
	gen := generator{nodes: *nodes, mean: float64(*links) / float64(*nodes) / (1 - *dangling), uniform: *uniform, dangling: *dangling}
	began := time.Now()
	g, err := gen.graph(*write)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d nodes, %d links, made in %.1f s\n", g.Nodes(), g.Links(), time.Since(began).Seconds())
	if *plain {
		fmt.Printf("plain loop: %.2f ns/link\n", median(*runs, func() float64 { return plainLoop(g) }))
	}
	for _, workers := range []int{2} {
		measure(g, workers, *tolerance, *runs)
	}
}

// measure prints the median of the time between iterations, and of the whole, by the clock and by
// what the processors spent: other work on the machine disturbs that less.
func measure(g *pagerank.Graph, workers int, tolerance float64, runs int) {
	var each, all, busy, allBusy []float64
	var r *pagerank.Result
	for range runs {
		began := time.Now()
		last := began
		cpuBegan := cpu()
		lastCPU := cpuBegan
		o := pagerank.Options{Tolerance: tolerance, Workers: workers, Progress: func(i int, _ float64) {
			if i > 1 { // the first one pays for the layout
				each = append(each, time.Since(last).Seconds())
				busy = append(busy, cpu()-lastCPU)
			}
			last, lastCPU = time.Now(), cpu()
		}}
		var err error
		if r, err = pagerank.Compute(context.Background(), g, o); err != nil {
			log.Fatal(err)
		}
		all, allBusy = append(all, time.Since(began).Seconds()), append(allBusy, cpu()-cpuBegan)
	}
	links := float64(g.Links())
	fmt.Printf("%d workers: %.2f ns/link, CPU %.2f ns/link; %d iterations to %.2g in %.2f s, CPU %.2f s, with the layout\n",
		workers, middle(each)*1e9/links, middle(busy)*1e9/links, r.Iterations, r.Residual, middle(all), middle(allBusy))
}

// cpu is what the processors spent on this program, in seconds.
func cpu() float64 {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()).Seconds()
}

func middle(x []float64) float64 {
	slices.Sort(x)
	return x[len(x)/2]
}

func median(runs int, measure func() float64) float64 {
	var all []float64
	for range runs {
		all = append(all, measure())
	}
	return middle(all)
}

// plainLoop is what one writes first, on one core: float64, and a division for each link.
func plainLoop(g *pagerank.Graph) (nanoseconds float64) {
	n := g.Nodes()
	ranks, next := make([]float64, n), make([]float64, n)
	for i := range ranks {
		ranks[i] = 1 / float64(n)
	}
	began := time.Now()
	const iterations = 3
	for range iterations {
		change := 0.0
		for t := range next {
			total := 0.0
			for _, s := range g.In(uint32(t)) {
				total += ranks[s] / float64(g.Out(s))
			}
			next[t] = 0.15/float64(n) + 0.85*total
			change += math.Abs(next[t] - ranks[t])
		}
		ranks, next = next, ranks
	}
	return float64(time.Since(began).Nanoseconds()) / iterations / float64(g.Links())
}

type generator struct {
	nodes    int
	mean     float64 // links of a node that has any
	uniform  bool
	dangling float64
}

// graph makes the graph, the same each time, and writes its links to a file if one is named.
func (gen generator) graph(file string) (*pagerank.Graph, error) {
	out, err := newEdgeWriter(file)
	if err != nil {
		return nil, err
	}
	random := rand.New(rand.NewPCG(1, 2))
	zipf := rand.NewZipf(random, 1.2, 10, uint64(gen.nodes-1))
	var b pagerank.Builder
	b.Grow(gen.nodes)
	var targets []uint32
	for host := 0; host < gen.nodes; {
		size := min(1+int(math.Exp(random.NormFloat64()*1.5+4)), gen.nodes-host)
		for s := host; s < host+size; s++ {
			targets = targets[:0]
			for range gen.degree(random) {
				targets = append(targets, gen.target(random, zipf, host, size, s))
			}
			b.Add(uint32(s), targets)
			out.add(uint32(s), targets)
		}
		host += size
	}
	if err := out.close(); err != nil {
		return nil, err
	}
	return b.Graph()
}

func (gen generator) degree(random *rand.Rand) int {
	if random.Float64() < gen.dangling {
		return 0
	}
	return 1 + int(random.ExpFloat64()*(gen.mean-0.5))
}

func (gen generator) target(random *rand.Rand, zipf *rand.Zipf, host, size, source int) uint32 {
	switch {
	case gen.uniform:
		return uint32(random.IntN(gen.nodes))
	case random.IntN(4) > 0:
		near := source + int(random.NormFloat64()*50)
		return uint32(host + ((near-host)%size+size)%size)
	}
	return uint32(zipf.Uint64() * 2654435761 % uint64(gen.nodes))
}

// An edgeWriter writes links as lines; a nil one does nothing.
type edgeWriter struct {
	file *os.File
	out  *bufio.Writer
	line []byte
}

func newEdgeWriter(name string) (*edgeWriter, error) {
	if name == "" {
		return nil, nil
	}
	f, err := os.Create(name)
	if err != nil {
		return nil, err
	}
	return &edgeWriter{file: f, out: bufio.NewWriterSize(f, 1<<20)}, nil
}

func (w *edgeWriter) add(source uint32, targets []uint32) {
	if w == nil {
		return
	}
	for _, t := range targets {
		w.line = strconv.AppendUint(w.line[:0], uint64(source), 10)
		w.line = append(w.line, '\t')
		w.line = strconv.AppendUint(w.line, uint64(t), 10)
		w.out.Write(append(w.line, '\n')) // an error stays until Flush
	}
}

func (w *edgeWriter) close() error {
	if w == nil {
		return nil
	}
	if err := w.out.Flush(); err != nil {
		return err
	}
	return w.file.Close()
}
