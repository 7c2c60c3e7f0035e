// Command coroutines compares goroutines with operating-system threads in the work of a crawler
// (Y14): fetch, read, fetch the next page, from one to several thousand at once. It prints pages
// fetched in a fixed period, processor time per page, context switches, and memory.
//
//	go run ./lab/coroutines [--latency 100ms] [--period 5s] [--svg FILE]
//	go run ./lab/coroutines --paper --latency 500ms     figures 3 to 5: from 1 to 300 at once
//	go run ./lab/coroutines --paper --line 10           all answers share a line of 10 Mbit/s
//
// Three ways, each in a process of its own, so that memory is counted separately:
//
//	goroutines  one per fetch; the runtime's poller waits for all of them
//	threads     one goroutine per fetch, locked to a thread (runtime.LockOSThread): the poller waits,
//	            the kernel wakes
//	blocking    one thread per fetch, which blocks in read(2): the thread pool of other languages
//
// The server is a process, too. It answers each request over a kept connection after a wait from a
// log-normal distribution, with a page of random length. The seed is printed.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"anatomy/lab/plot"
)

// options are the flags.
type options struct {
	latency time.Duration
	period  time.Duration
	page    int
	most    int
	paper   bool
	line    float64
	seed    uint64
	svg     string
	tsv     string

	serve bool   // this process is the server
	way   string // or measures one way
	at    int    // with so many at once
	addr  string
}

func main() {
	var o options
	flag.DurationVar(&o.latency, "latency", 100*time.Millisecond, "median `TIME` until the server answers")
	flag.DurationVar(&o.period, "period", 5*time.Second, "`TIME` of each measurement")
	flag.IntVar(&o.page, "page", 20_000, "mean `BYTES` of a page (Y14's files have 20 KB)")
	flag.IntVar(&o.most, "most", 4096, "greatest `N` at once")
	flag.BoolVar(&o.paper, "paper", false, "the numbers at once and the axes of Y14, up to 300")
	flag.Float64Var(&o.line, "line", 0, "all answers share a line of `MBIT` a second; 0 for no bound")
	flag.Uint64Var(&o.seed, "seed", 1, "seed of waits and lengths")
	flag.StringVar(&o.svg, "svg", "", "draw to `FILE`")
	flag.StringVar(&o.tsv, "tsv", "", "write the points to `FILE`")
	flag.BoolVar(&o.serve, "serve", false, "be the server (used by the program itself)")
	flag.StringVar(&o.way, "way", "", "measure only `WAY`, with --at and --addr (used by the program itself)")
	flag.IntVar(&o.at, "at", 0, "`N` at once, for --way")
	flag.StringVar(&o.addr, "addr", "", "`ADDRESS` of the server, for --way")
	flag.Parse()
	if err := run(context.Background(), os.Stdout, o); err != nil {
		fmt.Fprintln(os.Stderr, "coroutines:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer, o options) error {
	switch {
	case flag.NArg() > 0 || o.latency <= 0 || o.period <= 0 || o.page < 1 || o.most < 1 || o.line < 0:
		return errors.New("there are flags alone; --latency, --period, --page and --most are over 0")
	case o.serve:
		return serve(out, o)
	case o.way != "":
		r, err := measure(o)
		if err != nil {
			return err
		}
		return json.NewEncoder(out).Encode(r)
	}
	return compare(ctx, out, o)
}

// steps are the numbers at once: those of the paper, or powers of four, and the most.
func (o *options) steps() []int {
	if o.paper {
		return []int{1, 50, 100, 150, 200, 250, 300}
	}
	var all []int
	for n := 1; n < o.most; n *= 4 {
		all = append(all, n)
	}
	return append(all, o.most)
}

// compare measures every way at every step, each in a process of its own.
func compare(ctx context.Context, out io.Writer, o options) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	addr, stop, err := startServer(ctx, self, o)
	if err != nil {
		return err
	}
	defer stop()
	fmt.Fprintf(out, "seed %d; answers after %s at the median (log-normal, sigma %g), pages of %d bytes, %s each\n",
		o.seed, o.latency, sigma, o.page, o.period)
	if o.line > 0 {
		fmt.Fprintf(out, "a line of %g Mbit/s carries %.0f pages in that time\n", o.line, o.line*1e6/8/float64(o.page)*o.period.Seconds())
	}
	fmt.Fprintln(out)
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "at once\tway\tpages\tof the ideal\tCPU µs a page\tswitches a page\tmemory, MB\tKB for each\tthreads\t")
	var results []result
	base := map[string]float64{}
	for _, at := range o.steps() {
		for _, way := range ways {
			o.way, o.at, o.addr = way, at, addr
			r, err := child(ctx, self, o)
			if err != nil {
				return fmt.Errorf("%s, %d at once: %w", way, at, err)
			}
			if at == 1 {
				base[way] = r.Memory
			}
			results = append(results, r)
			fmt.Fprintf(t, "%d\t%s\t%d\t%.1f %%\t%.0f\t%.2f\t%.1f\t%.1f\t%d\t\n", at, way, r.Pages, 100*r.ideal(&o), r.CPU*1e6/float64(max(1, r.Pages)),
				float64(r.Switches)/float64(max(1, r.Pages)), r.Memory, 1000*(r.Memory-base[way])/float64(at), r.Threads)
		}
	}
	if err := t.Flush(); err != nil {
		return err
	}
	return errors.Join(plot.Write(o.svg, o.panels(results), plot.SVG), plot.Write(o.tsv, o.panels(results), plot.TSV))
}

// ideal is the share of the pages that waiting alone would let through.
func (r *result) ideal(o *options) float64 {
	return float64(r.Pages) / (float64(r.At) * r.Seconds / meanWait(o.latency).Seconds())
}

func (o *options) panels(results []result) []plot.Panel {
	all := []plot.Panel{
		{Title: "pages in the period", X: "at once", Y: "pages", LogX: !o.paper},
		{Title: "memory", X: "at once", Y: "MB", LogX: !o.paper},
		{Title: "processor time", X: "at once", Y: "µs a page", LogX: !o.paper},
		{Title: "context switches", X: "at once", Y: "a page", LogX: !o.paper},
	}
	for i := range all {
		for _, way := range ways {
			line := plot.Line{Name: way}
			for _, r := range results {
				if r.Way != way {
					continue
				}
				pages := float64(max(1, r.Pages))
				y := []float64{float64(r.Pages), r.Memory, r.CPU * 1e6 / pages, float64(r.Switches) / pages}[i]
				line.Points = append(line.Points, plot.Point{X: float64(r.At), Y: y})
			}
			all[i].Lines = append(all[i].Lines, line)
		}
	}
	return all
}

func (o *options) arguments(more ...string) []string {
	return append([]string{"--latency", o.latency.String(), "--period", o.period.String(), "--page", strconv.Itoa(o.page), "--most", strconv.Itoa(o.most),
		"--line", fmt.Sprint(o.line), "--seed", strconv.FormatUint(o.seed, 10)}, more...)
}

// startServer begins a server, which ends with its standard input.
func startServer(ctx context.Context, self string, o options) (addr string, stop func(), err error) {
	c := exec.CommandContext(ctx, self, o.arguments("--serve")...)
	c.Stderr = os.Stderr
	in, err := c.StdinPipe()
	if err != nil {
		return "", nil, err
	}
	out, err := c.StdoutPipe()
	if err != nil {
		return "", nil, err
	}
	if err := c.Start(); err != nil {
		return "", nil, err
	}
	stop = func() { in.Close(); c.Wait() }
	if _, err := fmt.Fscanln(out, &addr); err != nil {
		stop()
		return "", nil, fmt.Errorf("the server did not say where it is: %w", err)
	}
	return addr, stop, nil
}

// child measures in a process of its own.
func child(ctx context.Context, self string, o options) (result, error) {
	var r result
	c := exec.CommandContext(ctx, self, o.arguments("--way", o.way, "--at", strconv.Itoa(o.at), "--addr", o.addr)...)
	var trouble strings.Builder
	c.Stderr = &trouble
	out, err := c.Output()
	if err != nil {
		return r, fmt.Errorf("%w: %s", err, firstLine(trouble.String()))
	}
	return r, json.Unmarshal(out, &r)
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}
