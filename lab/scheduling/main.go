// Scheduling reruns the experiment of CJS (High Performance Crawling Scheduling) in virtual time:
// a web of 500 servers and 30,000 pages, at most 64 connections, four policies. The scheduler is the
// real URL server on a file system in memory; servers, network and crawler are simulated.
//
//	go run ./lab/scheduling --svg quality.svg --tsv quality.tsv
//	go run ./lab/scheduling --data FOLDER        the hosts, pages and links that a crawl found
//
// Three experiments: the quality of a page is its PageRank, and is told to the scheduler; it is by
// Zipf's law, and is told; it is PageRank, and the scheduler has to guess it from the links found so
// far, as in a real crawl. Times are shares of the time that breadth-first needs for all pages.
package main

import (
	"bufio"
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"text/tabwriter"
	"time"

	"anatomy/urlserver"
)

type options struct {
	data           string
	servers, pages int
	plan           plan
	svg, tsv       string
}

func main() {
	var o options
	flag.StringVar(&o.data, "data", "", "use the --pages nearest pages of the crawl in `FOLDER` as the web")
	flag.IntVar(&o.servers, "servers", 500, "`N` servers")
	flag.IntVar(&o.pages, "pages", 30_000, "`N` pages")
	flag.IntVar(&o.plan.connections, "connections", 64, "at most `N` at once")
	flag.BoolVar(&o.plan.all, "all", false, "all URLs are known at the beginning")
	flag.Float64Var(&o.plan.jitter, "jitter", 0.3, "sigma of the times around the server's means, log-normal")
	flag.Uint64Var(&o.plan.seed, "seed", 1, "seed of web, qualities and times")
	flag.StringVar(&o.svg, "svg", "", "draw the curves to `FILE`")
	flag.StringVar(&o.tsv, "tsv", "", "write the curves to `FILE`")
	flag.Parse()
	if err := run(os.Stdout, o); err != nil {
		fmt.Fprintln(os.Stderr, "scheduling:", err)
		os.Exit(1)
	}
}

// An experiment is crawls with one kind of quality.
type experiment struct {
	name    string
	quality []float64
	known   bool
	curves  []curve
}

// A curve is one crawl.
type curve struct {
	name    string
	history []moment
}

func run(out io.Writer, o options) error {
	if o.servers < 1 || o.pages < o.servers || o.plan.connections < 1 {
		return errors.New("at least one server, a page for each, and a connection")
	}
	w, err := o.web()
	if err != nil {
		return err
	}
	ranks, err := w.pageRanks()
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%d servers, %d pages, %d connections, seed %d\n", len(w.servers), len(w.pages), o.plan.connections, o.plan.seed)
	experiments := []*experiment{
		{name: "PageRank, known", quality: ranks, known: true},
		{name: "Zipf, known", quality: w.zipf(o.plan.seed), known: true},
		{name: "PageRank, guessed from links", quality: ranks},
	}
	for _, e := range experiments {
		if err := e.crawl(w, o.plan); err != nil {
			return err
		}
		if err := e.report(out); err != nil {
			return err
		}
	}
	return errors.Join(write(o.tsv, experiments, writeTSV), write(o.svg, experiments, writeSVG))
}

func (o *options) web() (*web, error) {
	if o.data != "" {
		return readWeb(o.data, o.pages, o.plan.seed)
	}
	return makeWeb(o.servers, o.pages, o.plan.seed)
}

func (e *experiment) crawl(w *web, p plan) error {
	p.known = e.known
	for _, policy := range []urlserver.Policy{urlserver.BreadthFirst, urlserver.PerformanceFirst, urlserver.QualityFirst, urlserver.CrawlAbility} {
		p.policy = policy
		if err := e.add(p.policy.String(), w, p); err != nil {
			return err
		}
	}
	if !e.known {
		p.policy, p.anonymous = urlserver.CrawlAbility, true
		return e.add("crawl-ability, links without source", w, p)
	}
	return nil
}

func (e *experiment) add(name string, w *web, p plan) error {
	history, err := p.run(w, e.quality)
	e.curves = append(e.curves, curve{name, history})
	return err
}

// whole is the unit of time: the end of the first crawl, breadth-first.
func (e *experiment) whole() time.Duration {
	h := e.curves[0].history
	return h[len(h)-1].at
}

func (e *experiment) report(out io.Writer) error {
	whole := e.whole()
	fmt.Fprintf(out, "\nquality: %s; breadth-first takes %.0f s\n", e.name, whole.Seconds())
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "\tquality at 10 %\t30 %\t50 % of the time\tpages at 50 %\t80 % of quality after\tof the time, and\tof the pages\tall after\tguess ~ quality\tin-links ~ quality\t")
	for _, c := range e.curves {
		at, pages := c.reach(0.8)
		_, half := c.after(whole / 2)
		fmt.Fprintf(t, "%s\t%.1f %%\t%.1f %%\t%.1f %%\t%.1f %%\t\t%.1f %%\t%.1f %%\t%.0f %%\t%s\t%s\t\n", c.name,
			c.percent(whole/10), c.percent(whole*3/10), c.percent(whole/2), 100*half,
			100*at.Seconds()/whole.Seconds(), 100*pages, 100*c.history[len(c.history)-1].at.Seconds()/whole.Seconds(), c.correlation(func(m moment) float64 { return m.guess }), c.correlation(func(m moment) float64 { return m.linked }))
	}
	return t.Flush()
}

// after gives the shares of quality and of pages that came until a time.
func (c *curve) after(at time.Duration) (quality, pages float64) {
	n := 0
	for n < len(c.history) && c.history[n].at <= at {
		quality += c.history[n].quality
		n++
	}
	return quality / c.total(), float64(n) / float64(len(c.history))
}

func (c *curve) percent(at time.Duration) float64 {
	quality, _ := c.after(at)
	return 100 * quality
}

func (c *curve) total() (sum float64) {
	for _, m := range c.history {
		sum += m.quality
	}
	return sum
}

// reach is when a share of the quality was there, and with which share of the pages.
func (c *curve) reach(share float64) (at time.Duration, pages float64) {
	left := share * c.total()
	for i, m := range c.history {
		if left -= m.quality; left <= 0 {
			return m.at, float64(i+1) / float64(len(c.history))
		}
	}
	return c.history[len(c.history)-1].at, 1
}

// correlation is Spearman's between what the scheduler thought of the pages when it asked for them
// and their quality.
func (c *curve) correlation(guess func(moment) float64) string {
	guesses, qualities := make([]float64, len(c.history)), make([]float64, len(c.history))
	for i, m := range c.history {
		guesses[i], qualities[i] = guess(m), m.quality
	}
	if r := spearman(guesses, qualities); !math.IsNaN(r) {
		return fmt.Sprintf("%.2f", r)
	}
	return "-"
}

// spearman is the correlation of ranks; equals share their mean rank.
func spearman(a, b []float64) float64 {
	x, y := ranked(a), ranked(b)
	mean := float64(len(x)-1) / 2
	var xy, xx, yy float64
	for i := range x {
		dx, dy := x[i]-mean, y[i]-mean
		xy, xx, yy = xy+dx*dy, xx+dx*dx, yy+dy*dy
	}
	return xy / math.Sqrt(xx*yy)
}

func ranked(v []float64) []float64 {
	order := make([]int, len(v))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(v[i], v[j]) })
	ranks := make([]float64, len(v))
	for from := 0; from < len(order); {
		to := from
		for to < len(order) && v[order[to]] == v[order[from]] {
			to++
		}
		for _, i := range order[from:to] {
			ranks[i] = float64(from+to-1) / 2
		}
		from = to
	}
	return ranks
}

func write(name string, all []*experiment, to func(io.Writer, []*experiment)) error {
	if name == "" {
		return nil
	}
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	to(w, all)
	return errors.Join(w.Flush(), f.Close())
}
