// Command pagerank measures the computation of PageRank on a generated graph that is like the web:
// nodes in the order of URLs, hosts of very different sizes, three links of four within the host
// and mostly near, the rest to the popular (Zipf). It prints the time of a plain loop and of
// package pagerank, in nanoseconds a link, iteration and core.
//
//	go run ./lab/pagerank -nodes 4194304 -links 67108864
//	go run ./lab/pagerank -nodes 4194304 -links 67108864 -write graph.el -runs 0
//
// A graph that is larger than memory is piped to the program:
//
//	go run ./lab/pagerank -stream -nodes 26000000 -links 518000000 -dangling 0.5 |
//		anatomy pagerank --edges - --tolerance 1e-6 --output ranks.tsv
//
// With -edges it takes a graph from a file, and compares the ranks with those of another program
// (prpack.py beside this file makes them):
//
//	go run ./lab/pagerank -edges graph.tsv.gz -against reference.tsv -runs 0
//
// With -suite it takes turns with the pr of the GAP Benchmark Suite (Beamer, Asanović, Patterson,
// arXiv:1508.03619) on its kron and urand, the generated graph, and graphs in WebGraph's BV format. It
// prints a table of the processors' time in the kernel, which is the same work on both sides: reading
// the graph is not charged, and what we spend on the layout has a column of its own.
//
//	go run ./lab/pagerank -suite -gapbs ../gapbs/pr -dir /tmp/suite -scale 20 cnr-2000.graph
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strconv"
	"time"

	"anatomy/lab/rig"
	"anatomy/pagerank"
)

func main() {
	var gen generator
	flag.IntVar(&gen.nodes, "nodes", 1<<22, "nodes of the graph")
	links := flag.Int("links", 1<<26, "links of the graph, about")
	flag.BoolVar(&gen.uniform, "uniform", false, "every link to a random node: the worst case, not the web")
	flag.Float64Var(&gen.dangling, "dangling", 0, "share of nodes without links")
	plain := flag.Bool("plain", false, "measure a plain loop as well")
	write := flag.String("write", "", "write the links to `FILE`, one per line")
	stream := flag.Bool("stream", false, "write the links to standard output, and hold no graph in memory")
	edges := flag.String("edges", "", "read the graph from `FILE`, one link per line, instead of generating one")
	against := flag.String("against", "", "compare with the ranks in `FILE`: lines of node and rank, of all nodes or of the highest")
	suiteOf := flag.Bool("suite", false, "take turns with GAPBS on several graphs; arguments are files of BV graphs")
	gapbs := flag.String("gapbs", "", "with -suite: this `PROGRAM`, pr of the GAP Benchmark Suite, with converter beside it")
	dir := flag.String("dir", "suite", "with -suite: make graphs in `FOLDER`, and take those that are there")
	scale := flag.Int("scale", 20, "with -suite: 2^`N` nodes in kron, urand and the generated graph")
	turnOf := flag.String("turn", "", "one turn of -suite: time, memory, nothing or gapbs")
	tolerance := flag.Float64("tolerance", 1e-7, "stop at this residual")
	workers := flag.Int("workers", runtime.GOMAXPROCS(0), "cores")
	runs := flag.Int("runs", 3, "measurements of each; the median is printed")
	flag.Parse()
	var err error
	s := suite{gapbs: *gapbs, dir: *dir, graphs: flag.Args(), scale: *scale, workers: *workers, runs: *runs}
	switch {
	case *suiteOf:
		err = s.run()
	case *turnOf == "gapbs":
		var t turn
		if t, err = s.otherTurn(*edges, *tolerance); err == nil {
			err = json.NewEncoder(os.Stdout).Encode(t)
		}
	case *turnOf != "":
		err = ownTurn(*turnOf, *edges, *tolerance, *workers)
	}
	if err != nil {
		log.Fatal(err)
	}
	if *suiteOf || *turnOf != "" {
		return
	}
	gen.mean = float64(*links) / float64(gen.nodes) / (1 - gen.dangling)
	if *stream {
		if err := gen.stream(); err != nil {
			log.Fatal(err)
		}
		return
	}
	began := time.Now()
	g, ids, err := gen.graphOrRead(*edges, *write)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d nodes, %d links, made in %.1f s, CPU %.1f s\n", g.Nodes(), g.Links(), time.Since(began).Seconds(), rig.OwnCPU().Seconds())
	if *plain {
		fmt.Printf("plain loop: %.2f ns/link\n", median(*runs, func() float64 { return plainLoop(g) }))
	}
	if *against != "" {
		if err := compare(g, ids, *against); err != nil {
			log.Fatal(err)
		}
	}
	var all []measured
	for range *runs {
		all = append(all, measure(g, *workers, *tolerance))
	}
	if *runs > 0 {
		report(g, *workers, all)
	}
}

// measured is one computation: the seconds between iterations and of the whole, by the clock and
// by what the processors spent, which other work on the machine disturbs less.
type measured struct {
	each, eachCPU []float64
	all, allCPU   float64
	result        *pagerank.Result
}

func measure(g *pagerank.Graph, workers int, tolerance float64) (m measured) {
	began, beganCPU := time.Now(), rig.OwnCPU().Seconds()
	last, lastCPU := began, beganCPU
	o := pagerank.Options{Tolerance: tolerance, Workers: workers, Progress: func(i int, _ float64) {
		if i > 1 { // the first one pays for the layout
			m.each = append(m.each, time.Since(last).Seconds())
			m.eachCPU = append(m.eachCPU, rig.OwnCPU().Seconds()-lastCPU)
		}
		last, lastCPU = time.Now(), rig.OwnCPU().Seconds()
	}}
	var err error
	if m.result, err = pagerank.Compute(context.Background(), g, o); err != nil {
		log.Fatal(err)
	}
	m.all, m.allCPU = time.Since(began).Seconds(), rig.OwnCPU().Seconds()-beganCPU
	return m
}

// report prints medians, and the least of the whole times: what the quietest run took.
func report(g *pagerank.Graph, workers int, all []measured) {
	var each, eachCPU, whole, wholeCPU []float64
	for _, m := range all {
		each, eachCPU = append(each, m.each...), append(eachCPU, m.eachCPU...)
		whole, wholeCPU = append(whole, m.all), append(wholeCPU, m.allCPU)
	}
	links, r := float64(g.Links()), all[0].result
	fmt.Printf("%d workers: %.2f ns/link by the clock, %.2f ns/link and core; %d iterations to %.2g in %.2f s (least %.2f), CPU %.2f s, with the layout\n",
		workers, middle(each)*1e9/links, middle(eachCPU)*1e9/links, r.Iterations, r.Residual, middle(whole), slices.Min(whole), middle(wholeCPU))
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

// graphOrRead returns the graph of an edge list, with the names of its nodes, or makes one. Links of
// a node to itself are part of a list.
func (gen generator) graphOrRead(edges, write string) (*pagerank.Graph, []uint32, error) {
	if edges == "" {
		g, err := gen.graph(write)
		return g, nil, err
	}
	f, err := os.Open(edges)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	return pagerank.ReadEdges(context.Background(), f, pagerank.Options{SelfLinks: true})
}

// graph makes the graph, the same each time, and writes its links to a file if one is named.
func (gen generator) graph(file string) (*pagerank.Graph, error) {
	out, err := newEdgeWriter(file)
	if err != nil {
		return nil, err
	}
	var b pagerank.Builder
	b.Grow(gen.nodes)
	gen.each(func(source uint32, targets []uint32) {
		b.Add(source, targets)
		out.add(source, targets)
	})
	if err := out.close(); err != nil {
		return nil, err
	}
	return b.Graph()
}

// stream writes the links to standard output.
func (gen generator) stream() error {
	out := &edgeWriter{file: os.Stdout, out: bufio.NewWriterSize(os.Stdout, 1<<20)}
	gen.each(out.add)
	return out.close()
}

// each calls do with the targets of each node, which it may not keep.
func (gen generator) each(do func(source uint32, targets []uint32)) {
	random := rand.New(rand.NewPCG(1, 2))
	zipf := rand.NewZipf(random, 1.2, 10, uint64(gen.nodes-1))
	var targets []uint32
	for host := 0; host < gen.nodes; {
		size := min(1+int(math.Exp(random.NormFloat64()*1.5+4)), gen.nodes-host)
		for s := host; s < host+size; s++ {
			targets = targets[:0]
			for range gen.degree(random) {
				targets = append(targets, gen.target(random, zipf, host, size, s))
			}
			do(uint32(s), targets)
		}
		host += size
	}
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
