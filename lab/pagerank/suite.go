package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"anatomy/lab/rig"
	"anatomy/pagerank"
)

// A suite measures package pagerank and the pr of the GAP Benchmark Suite in turns, each in a process
// of its own, on the same files.
type suite struct {
	gapbs   string   // program pr; converter is in the same folder
	dir     string   // where the graphs are
	graphs  []string // files of BV graphs
	scale   int      // of kron, urand and the generated graph: 2^scale nodes
	workers int
	runs    int
}

// tolerances of the suite: that of GAP, and one at which ranks are used.
var tolerances = []float64{1e-4, 1e-6}

func (s *suite) run() error {
	if err := os.MkdirAll(s.dir, 0o755); err != nil {
		return err
	}
	var err error
	if s.gapbs, err = filepath.Abs(s.gapbs); err != nil { // ./pr, without its folder, is looked for in PATH
		return err
	}
	files, err := s.files()
	if err != nil {
		return err
	}
	fmt.Printf("%d workers; STREAM triad %.1f GB/s by the clock, %.1f per core\n\n", s.workers, triad(s.workers), triad(1))
	fmt.Println("| graph | nodes | links | tolerance | sweeps | kernel | layout | error | GB/s | bytes a link | load | " +
		"GAPBS: sweeps | kernel | error | bytes a link | load | kernel ratio | with layout |")
	fmt.Println("|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|")
	for _, file := range files {
		g, err := readPacked(file)
		if err != nil {
			return err
		}
		want := reference(g)
		for _, tolerance := range tolerances {
			if err := s.row(file, g, want, tolerance); err != nil {
				return fmt.Errorf("%s: %w", file, err)
			}
		}
	}
	return nil
}

// files returns the graphs in the format of GAPBS, and makes those that are missing.
func (s *suite) files() (files []string, err error) {
	add := func(name string, make func(file string) error) {
		file := filepath.Join(s.dir, name+".sg")
		if !exists(file) && err == nil {
			if err = make(file); err != nil {
				os.Remove(file) // which is not whole
			}
		}
		files = append(files, file)
	}
	converter := filepath.Join(filepath.Dir(s.gapbs), "converter")
	for _, kind := range []string{"kron", "urand"} {
		add(fmt.Sprint(kind, s.scale), func(file string) error {
			out, err := exec.Command(converter, map[string]string{"kron": "-g", "urand": "-u"}[kind],
				fmt.Sprint(s.scale), "-b", file).CombinedOutput()
			if err != nil {
				return fmt.Errorf("%s: %w: %s", converter, err, out)
			}
			return nil
		})
	}
	add(fmt.Sprint("generated", s.scale), func(file string) error {
		nodes := 1 << s.scale
		g, err := (&generator{nodes: nodes, mean: 16}).graph("")
		if err != nil {
			return err
		}
		return writePacked(g, file)
	})
	for _, bv := range s.graphs {
		add(strings.TrimSuffix(filepath.Base(bv), ".graph"), func(file string) error {
			g, err := readBV(bv)
			if err != nil {
				return err
			}
			return writePacked(g, file)
		})
	}
	return files, err
}

// A turn is what one process measured, in seconds of all its processors.
type turn struct {
	Sweeps               int
	Kernel, Layout, Load float64
	Bytes                float64 // the most memory of the process, less that of one without a graph
	Ranks                string  // file with the ranks
}

// row prints the row of a graph and a tolerance. Of each time it has the least of all runs: what other
// work on the machine disturbed least.
func (s *suite) row(file string, g *plainGraph, want []float64, tolerance float64) error {
	var ours, theirs turn
	for i := range s.runs {
		t, err := s.own(file, tolerance)
		if err != nil {
			return err
		}
		o, err := s.other(file, tolerance)
		if err != nil {
			return err
		}
		if i == 0 {
			ours, theirs = t, o
		}
		ours.least(t)
		theirs.least(o)
	}
	ranks, err := readValues(ours.Ranks, len(want))
	if err != nil {
		return err
	}
	os.Remove(ours.Ranks)
	links := float64(len(g.sources))
	name := strings.TrimSuffix(filepath.Base(file), ".sg")
	fmt.Printf("| %s | %d | %d | %g | %d | %.4g s | %.4g s | %.2g | %.1f | %.1f | %.3g s | %d | %.4g s | %.2g | %.1f | %.3g s | %.2f | %.2f |\n",
		name, len(want), len(g.sources), tolerance, ours.Sweeps, ours.Kernel, ours.Layout, distance(ranks, want),
		8*links*float64(ours.Sweeps)/ours.Kernel/1e9, ours.Bytes/links, ours.Load,
		theirs.Sweeps, theirs.Kernel, distance(pullGS(g, tolerance), want), theirs.Bytes/links, theirs.Load,
		ours.Kernel/theirs.Kernel, (ours.Kernel+ours.Layout)/theirs.Kernel)
	return nil
}

func (t *turn) least(o turn) {
	t.Kernel, t.Layout, t.Load = min(t.Kernel, o.Kernel), min(t.Layout, o.Layout), min(t.Load, o.Load)
	t.Bytes, t.Ranks = min(t.Bytes, o.Bytes), o.Ranks
}

// own measures this program, which it starts again.
func (s *suite) own(file string, tolerance float64) (t turn, err error) {
	program, err := os.Executable()
	if err != nil {
		return t, err
	}
	for _, mode := range []string{"nothing", "memory", "time"} {
		var m turn
		c := exec.Command(program, "-turn", mode, "-edges", file, "-tolerance", fmt.Sprint(tolerance),
			"-workers", fmt.Sprint(s.workers))
		c.Stderr = os.Stderr
		out, err := c.Output()
		if err == nil {
			err = json.Unmarshal(out, &m)
		}
		if err != nil {
			return t, fmt.Errorf("%v: %w", c.Args, err)
		}
		switch mode {
		case "nothing":
			t.Bytes = -m.Bytes
		case "memory":
			t.Bytes += m.Bytes
		case "time":
			m.Bytes = t.Bytes
			t = m
		}
	}
	return t, nil
}

// ownMemory returns the most memory that this process has had, in bytes.
func ownMemory() (kilobytes float64) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return math.NaN()
	}
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			fmt.Sscan(rest, &kilobytes)
		}
	}
	return kilobytes * 1024
}

// ownTurn is the process that own starts.
func ownTurn(mode, file string, tolerance float64, workers int) error {
	print := func(t turn) error { return json.NewEncoder(os.Stdout).Encode(t) }
	if mode == "nothing" {
		return print(turn{Bytes: ownMemory()})
	}
	runtime.GOMAXPROCS(workers)
	var b pagerank.Builder
	began := rig.OwnCPU().Seconds()
	if err := addPacked(&b, file); err != nil {
		return err
	}
	t := turn{Load: rig.OwnCPU().Seconds() - began}
	o := pagerank.Options{Tolerance: tolerance, Workers: workers}
	if mode == "memory" {
		_, err := pagerank.Rank(context.Background(), &b, o, func([]float64) error { return nil })
		return cmp.Or(err, print(turn{Bytes: ownMemory()}))
	}
	g, err := b.Graph()
	if err != nil {
		return err
	}
	runtime.GC() // of what building the graph left
	t.Load = rig.OwnCPU().Seconds() - began
	began = rig.OwnCPU().Seconds()
	first := 0.0
	o.Progress = func(iteration int, _ float64) {
		if iteration == 1 {
			first = rig.OwnCPU().Seconds()
		}
	}
	r, err := pagerank.Compute(context.Background(), g, o)
	if err != nil {
		return err
	}
	ended := rig.OwnCPU().Seconds()
	each := (ended - first) / float64(max(r.Iterations-1, 1)) // with the ranks by node at the end
	t.Sweeps, t.Layout = r.Iterations, first-began-each
	t.Kernel = ended - began - t.Layout
	t.Ranks = file + ".ranks"
	if err := writeValues(t.Ranks, r.Ranks); err != nil {
		return err
	}
	return print(t)
}

// other measures GAPBS from a small process, as a child begins with the memory of its parent.
func (s *suite) other(file string, tolerance float64) (t turn, err error) {
	program, err := os.Executable()
	if err != nil {
		return t, err
	}
	c := exec.Command(program, "-turn", "gapbs", "-edges", file, "-gapbs", s.gapbs, "-tolerance", fmt.Sprint(tolerance),
		"-workers", fmt.Sprint(s.workers))
	c.Stderr = os.Stderr
	out, err := c.Output()
	if err != nil {
		return t, fmt.Errorf("%v: %w", c.Args, err)
	}
	return t, json.Unmarshal(out, &t)
}

// otherTurn is the process that other starts. It measures the time of a process with several trials less that of one with one. Reading
// the graph is not charged, as it is not to us.
func (s *suite) otherTurn(file string, tolerance float64) (t turn, err error) {
	const more = 3
	run := func(trials int) (seconds float64, c *exec.Cmd, out []byte, err error) {
		c = exec.Command(s.gapbs, "-f", file, "-i", "1000", "-t", fmt.Sprint(tolerance), "-n", fmt.Sprint(trials), "-l")
		c.Env = append(os.Environ(), fmt.Sprintf("OMP_NUM_THREADS=%d", s.workers))
		if out, err = c.Output(); err != nil {
			return 0, c, nil, fmt.Errorf("%v: %w", c.Args, err)
		}
		return (c.ProcessState.UserTime() + c.ProcessState.SystemTime()).Seconds(), c, out, nil
	}
	one, c, out, err := run(1)
	if err != nil {
		return t, err
	}
	for line := range strings.Lines(string(out)) {
		if fields := strings.Fields(line); len(fields) == 2 && !strings.Contains(line, ":") {
			t.Sweeps++
		}
	}
	all, _, _, err := run(1 + more)
	t.Kernel = (all - one) / more
	t.Load = one - t.Kernel
	if u, ok := c.ProcessState.SysUsage().(*syscall.Rusage); ok {
		t.Bytes = float64(u.Maxrss) * 1024
	}
	return t, err
}

// triad measures the memory as STREAM does (McCalpin, 1995): a = b + 3c over arrays that exceed every
// cache, in GB/s, the most of five.
func triad(workers int) (rate float64) {
	const size = 1 << 24
	a, b, c := make([]float64, size*workers), make([]float64, size*workers), make([]float64, size*workers)
	for range 5 {
		began := time.Now()
		var running sync.WaitGroup
		for w := range workers {
			running.Go(func() {
				a, b, c := a[w*size:(w+1)*size], b[w*size:(w+1)*size], c[w*size:(w+1)*size]
				for i := range a {
					a[i] = b[i] + 3*c[i]
				}
			})
		}
		running.Wait()
		rate = max(rate, 24*float64(len(a))/time.Since(began).Seconds()/1e9)
	}
	return rate
}

// pullGS is the iteration of GAPBS's pr on one core, for its error, which pr does not print: float32,
// node after node, without the ranks of dangling nodes. The ranks are scaled to sum to 1.
func pullGS(g *plainGraph, tolerance float64) []float64 {
	n := len(g.out)
	ranks, contributions := make([]float32, n), make([]float32, n)
	for i, out := range g.out {
		ranks[i] = 1 / float32(n)
		contributions[i] = ranks[i] / float32(out)
	}
	for range 1000 {
		change := 0.0
		for t := range ranks {
			total := float32(0)
			for _, s := range g.in(t) {
				total += contributions[s]
			}
			next := 0.15/float32(n) + 0.85*total
			change += math.Abs(float64(next - ranks[t]))
			ranks[t], contributions[t] = next, next/float32(g.out[t])
		}
		if change < tolerance {
			break
		}
	}
	wide := make([]float64, n)
	for i, r := range ranks {
		wide[i] = float64(r)
	}
	return scaled(wide)
}

// reference ranks a graph to 1e-14 in float64, node after node, by a plain loop. The ranks without
// those of dangling nodes are those with them, but for a factor.
func reference(g *plainGraph) []float64 {
	n := len(g.out)
	ranks, contributions := make([]float64, n), make([]float64, n)
	for range 1000 {
		change := 0.0
		for t := range ranks {
			next := 0.15 / float64(n)
			for _, s := range g.in(t) {
				next += contributions[s]
			}
			change += math.Abs(next - ranks[t])
			ranks[t] = next
			if out := g.out[t]; out > 0 {
				contributions[t] = 0.85 * next / float64(out)
			}
		}
		if change < 1e-14 {
			break
		}
	}
	return scaled(ranks)
}

func scaled(ranks []float64) []float64 {
	all := 0.0
	for _, r := range ranks {
		all += r
	}
	for i := range ranks {
		ranks[i] /= all
	}
	return ranks
}

func distance(a, b []float64) (d float64) {
	for i := range a {
		d += math.Abs(a[i] - b[i])
	}
	return d
}

// readBV reads a BV graph.
func readBV(file string) (*pagerank.Graph, error) {
	var b pagerank.Builder
	err := eachBV(file, func(node uint32, successors []uint32) {
		b.Grow(int(node) + 1)
		b.Add(node, slices.Clone(successors))
	})
	if err != nil {
		return nil, err
	}
	return b.Graph()
}

// A plainGraph is a graph as the plain loops take it.
type plainGraph struct {
	first   []int64
	sources []uint32
	out     []uint32
}

func (g *plainGraph) in(t int) []uint32 { return g.sources[g.first[t]:g.first[t+1]] }

// packed is the head of GAPBS's format: whether the graph is directed, its links and nodes. It is
// followed by the offsets and targets of all nodes and, if the graph is directed, by those of its
// in-edges.
type packed struct {
	directed     bool
	links, nodes int64
	in           *bufio.Reader
	file         *os.File
}

func openPacked(file string) (p packed, err error) {
	if p.file, err = os.Open(file); err != nil {
		return p, err
	}
	p.in = bufio.NewReaderSize(p.file, 1<<20)
	flag, err := p.in.ReadByte()
	p.directed = flag != 0
	return p, cmp.Or(err, read(p.in, &p.links), read(p.in, &p.nodes))
}
