// Scheduling reruns the experiments of CJS (High Performance Crawling Scheduling) in virtual time:
// 500 servers, 30,000 pages, at most 64 connections, four policies. The scheduler is the real URL
// server on a file system in memory; servers, network and crawler are simulated.
//
//	go run ./lab/scheduling --plots DIR           the paper's figures 6 and 7, and with guessed quality
//	go run ./lab/scheduling --sweep               what the paper leaves open, and when its curves appear
//	go run ./lab/scheduling --speed --plots DIR   figures 3 to 5: pages per second by connections
//	go run ./lab/scheduling --polite              with a delay of 1 s: quality by requests, cost of Add
//	go run ./lab/scheduling --order               PageRank held after shares of the fetches, by policy
//	go run ./lab/scheduling --data FOLDER         the hosts, pages and links that a crawl found
//	go run ./lab/scheduling --docsweb PROGRAM --folder DIR --connections 4    by the program, over docsweb
//
// The quality of a page is its PageRank, known to the scheduler; a value by Zipf's law, known; or
// PageRank that the scheduler estimates from the links found so far, as in a real crawl. Times are
// shares of the time that breadth-first needs for all pages.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"text/tabwriter"
	"time"

	"anatomy/lab/plot"
	"anatomy/urlserver"
)

type options struct {
	setting
	data                 string
	servers, pages       int
	plan                 plan
	sweep, speed, polite bool
	order                bool
	served               served
	plots                string
}

func main() {
	o := options{setting: paper}
	flag.StringVar(&o.data, "data", "", "use the --pages nearest pages of the crawl in `FOLDER` as the web")
	flag.IntVar(&o.servers, "servers", 500, "`N` servers")
	flag.IntVar(&o.pages, "pages", 30_000, "`N` pages")
	flag.Float64Var(&o.sizes, "sizes", o.sizes, "the server of rank k has k^-`X` of the pages of the first")
	flag.Float64Var(&o.spread, "spread", o.spread, "`SIGMA` of the speeds of servers, log-normal")
	flag.DurationVar(&o.opening, "opening", o.opening, "median `TIME` of opening a connection")
	flag.BoolVar(&o.fast, "fast", o.fast, "the larger a server, the faster")
	flag.BoolVar(&o.popular, "popular", o.popular, "the larger a server, the more links lead to it")
	flag.IntVar(&o.plan.connections, "connections", 64, "at most `N` at once")
	flag.BoolVar(&o.plan.all, "all", false, "all URLs are known at the beginning")
	flag.Float64Var(&o.plan.jitter, "jitter", 0.3, "sigma of the times around the server's means, log-normal")
	flag.Uint64Var(&o.plan.seed, "seed", 1, "seed of web, qualities and times")
	flag.BoolVar(&o.sweep, "sweep", false, "vary what the paper leaves open")
	flag.BoolVar(&o.speed, "speed", false, "vary the number of connections")
	flag.BoolVar(&o.polite, "polite", false, "with a delay of 1 s between requests to a site")
	flag.BoolVar(&o.order, "order", false, "print the PageRank held after 10, 20 and 50 % of the fetches")
	flag.StringVar(&o.served.docsweb, "docsweb", "", "crawl the web that the built `PROGRAM` docsweb serves")
	flag.StringVar(&o.served.folder, "folder", "", "`FOLDER` of docsweb's pages")
	flag.DurationVar(&o.served.latency, "latency", 20*time.Millisecond, "median `TIME` of docsweb's answers")
	flag.DurationVar(&o.served.delay, "delay", 0, "`TIME` between two requests to a site of docsweb")
	flag.StringVar(&o.plots, "plots", "", "draw the figures into `DIR`, as SVG and TSV")
	flag.Parse()
	if err := run(os.Stdout, o); err != nil {
		fmt.Fprintln(os.Stderr, "scheduling:", err)
		os.Exit(1)
	}
}

func run(out io.Writer, o options) error {
	if o.servers < 1 || o.pages < o.servers || o.plan.connections < 1 {
		return errors.New("at least one server, a page for each, and a connection")
	}
	if (o.served.docsweb == "") != (o.served.folder == "") {
		return errors.New("--docsweb and --folder belong together")
	}
	switch {
	case o.served.docsweb != "":
		return o.runDocsweb(out)
	case o.sweep:
		return o.runSweep(out)
	case o.speed:
		return o.runSpeed(out)
	case o.order:
		return o.runOrder(out)
	case o.polite:
		return o.runPolite(out)
	}
	return o.runFigures(out)
}

func (o *options) web() (*web, error) {
	if o.data != "" {
		return o.readWeb(o.data, o.pages, o.plan.seed)
	}
	return o.makeWeb(o.servers, o.pages, o.plan.seed)
}

// withRanks returns a web and the PageRank of its pages.
func withRanks(w *web, err error) (*web, []float64, error) {
	if err != nil {
		return nil, nil, err
	}
	ranks, err := w.pageRanks()
	return w, ranks, err
}

// crawlAll crawls a web by all policies for each experiment.
func crawlAll(w *web, p plan, experiments ...*experiment) error {
	for _, e := range experiments {
		if err := e.crawl(w, p); err != nil {
			return err
		}
	}
	return nil
}

// runFigures repeats figures 6 and 7, and the same with guessed quality.
func (o *options) runFigures(out io.Writer) error {
	w, ranks, err := withRanks(o.web())
	if err != nil {
		return err
	}
	experiments := []*experiment{
		{name: "PageRank, known", file: "figure-6", quality: ranks, known: true},
		{name: "Zipf, known", file: "figure-7", quality: w.zipf(o.plan.seed), known: true},
		{name: "PageRank, guessed from links", file: "guessed", quality: ranks},
	}
	if err := crawlAll(w, o.plan, experiments...); err != nil {
		return err
	}
	fmt.Fprintf(out, "%s, %d connections, seed %d\n", w, o.plan.connections, o.plan.seed)
	for _, e := range experiments {
		if err := e.report(out); err != nil {
			return err
		}
		if err := o.draw(e.file, e.panels()); err != nil {
			return err
		}
	}
	return nil
}

func (o *options) draw(name string, panels []plot.Panel) error {
	if o.plots == "" {
		return nil
	}
	name = filepath.Join(o.plots, name)
	return errors.Join(plot.Write(name+".svg", panels, plot.SVG), plot.Write(name+".tsv", panels, plot.TSV))
}

// An experiment is crawls with one kind of quality.
type experiment struct {
	name    string
	file    string // of its plots
	quality []float64
	known   bool
	curves  []curve
}

var policies = []urlserver.Policy{
	urlserver.BreadthFirst, urlserver.PerformanceFirst, urlserver.QualityFirst, urlserver.CrawlAbility,
}

func (e *experiment) crawl(w *web, p plan) error {
	p.known = e.known
	for _, policy := range policies {
		p.policy = policy
		c, err := p.run(w, e.quality)
		if err != nil {
			return err
		}
		e.curves = append(e.curves, c)
	}
	return nil
}

// whole is the unit of time: the end of the first crawl, breadth-first.
func (e *experiment) whole() time.Duration { return e.curves[0].end() }

func (e *experiment) report(out io.Writer) error {
	whole := e.whole()
	fmt.Fprintf(out, "\nquality: %s; breadth-first takes %.0f s\n", e.name, whole.Seconds())
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "\tpages at 50 %\tto breadth-first\tquality at 10 %\t30 %\t50 % of the time\t80 % of quality after\t"+
		"of the time, and\tof the pages\tall after\tguess ~ quality\tin-links ~ quality\t")
	_, first := e.curves[0].after(whole / 2)
	for _, c := range e.curves {
		at, pages := c.reach(0.8)
		_, half := c.after(whole / 2)
		fmt.Fprintf(t, "%s\t%.1f %%\t%.2f\t%.1f %%\t%.1f %%\t%.1f %%\t\t%.1f %%\t%.1f %%\t%.0f %%\t%s\t%s\t\n", c.name,
			100*half, half/first, c.percent(whole/10), c.percent(whole*3/10), c.percent(whole/2),
			100*at.Seconds()/whole.Seconds(), 100*pages, 100*c.end().Seconds()/whole.Seconds(),
			c.correlation(func(m moment) float64 { return m.guess }),
			c.correlation(func(m moment) float64 { return m.linked }))
	}
	return t.Flush()
}

// points of a line, the first at 0.
const points = 100

// panels are the paper's three: pages over time, quality over pages, quality over time.
func (e *experiment) panels() []plot.Panel {
	const share = "% of breadth-first's time"
	pages := plot.Panel{Title: "pages: " + e.name, X: share, Y: "% of the pages"}
	order := plot.Panel{Title: "order: " + e.name, X: "% of the pages", Y: "% of the quality"}
	quality := plot.Panel{Title: "quality: " + e.name, X: share, Y: "% of the quality"}
	for _, c := range e.curves {
		lines := [3]plot.Line{{Name: c.name}, {Name: c.name}, {Name: c.name}}
		for i := range points + 1 {
			x := float64(i) * 100 / points
			q, p := c.after(e.whole() * time.Duration(i) / points)
			lines[0].Points = append(lines[0].Points, plot.Point{X: x, Y: 100 * p})
			lines[1].Points = append(lines[1].Points, plot.Point{X: x, Y: 100 * c.first(i*len(c.history)/points)})
			lines[2].Points = append(lines[2].Points, plot.Point{X: x, Y: 100 * q})
		}
		pages.Lines = append(pages.Lines, lines[0])
		order.Lines = append(order.Lines, lines[1])
		quality.Lines = append(quality.Lines, lines[2])
	}
	return []plot.Panel{pages, order, quality}
}
