package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"anatomy/engine"
	"anatomy/pagerank"
	"anatomy/weburl"
)

func newPageRank(s *shared) *cobra.Command {
	var f rankFlags
	var e edgeFiles
	c := &cobra.Command{
		Use:   "pagerank",
		Short: "recompute PageRank, or rank any graph",
		Long: `Pagerank recomputes the ranks of all pages from the link database and puts them in force: a running "anatomy serve"
takes them up within a second or two, without a restart and without a rebuild. With --edges it ranks any
graph instead, and touches no data folder.`,
		Example: `  anatomy pagerank --damping 0.9
  anatomy pagerank --personalize docs.example.org --html ranks.html
  anatomy pagerank --personalize-file trusted.txt --name trusted
  anatomy pagerank --method hosts
  anatomy pagerank --edges graph.tsv.gz --output ranks.tsv`,
		Args: exactly(0, "no arguments"),
		RunE: func(c *cobra.Command, _ []string) error {
			if err := checkRank(c, &f, e); err != nil {
				return err
			}
			show := f.watch(c, s.verbose)
			defer show("")
			if f.topics != "" {
				return f.rankTopics(c, s, show)
			}
			if e.edges != "" {
				return e.rank(c, f.options.Options, show)
			}
			return f.rank(c, s, show)
		},
	}
	o := &f.options
	fs := c.Flags()
	fs.Float64Var(&o.Damping, "damping", pagerank.DefaultDamping, "probability of following a link rather than teleporting, `D` between 0 and 1")
	fs.StringVar(&f.place, "personalize", "", "teleport to this page or site alone: `URL|SITE`")
	fs.StringVar(&f.places, "personalize-file", "", "teleport to the pages and sites in `FILE`: a line each, with a weight after a blank (default: 1)")
	fs.StringVar(&f.topics, "topics", "", "compute at a time the vectors in `FILE`, at most 8: a line each place, with the name of its vector before it")
	fs.StringVar(&f.method, "method", "pages", "rank by `METHOD`: pages; hosts, each page as its host; harmonic, how near all others are; the latter two make vectors of these names")
	fs.StringVar(&o.Name, "name", "", "keep the ranks as vector `NAME`; searches use \"default\" unless they name another (default: \"default\")")
	fs.Float64Var(&o.Tolerance, "tolerance", pagerank.DefaultTolerance, "stop when an iteration changes the ranks by at most `T` in sum")
	fs.IntVar(&o.MaxIterations, "iterations", pagerank.DefaultMaxIterations, "stop after `N` iterations at the latest")
	fs.Var((*byteSize)(&o.Memory), "memory", "rank from disk a graph that takes more than `SIZE` in memory, such as 200MB (default: no bound)")
	fs.BoolVar(&f.json, "json", false, "print the report as JSON")
	fs.StringVar(&f.html, "html", "", "write the report to `FILE` as a page with plots")
	fs.StringVar(&e.edges, "edges", "", "rank the graph in `FILE`: a line a link, the numbers of source and target; gzip is noticed; - is standard input")
	fs.StringVar(&e.output, "output", "", "with --edges: write node and rank to `FILE` (default: standard output)")
	c.AddCommand(newRankList(s), newRankRemove(s), newTrustSeeds(s))
	return c
}

// rankFlags say how to rank pages, and where the report goes.
type rankFlags struct {
	options       engine.RankOptions
	place, places string
	topics        string
	method        string
	json          bool
	html          string
}

// watch returns how progress is shown: on a terminal a line that is drawn over, at most so often; "" takes it away.
func (f *rankFlags) watch(c *cobra.Command, verbose bool) (show func(line string)) {
	screen := newConsole(c.ErrOrStderr())
	last := time.Now()
	show = func(line string) {
		if screen.terminal == nil || line != "" && time.Since(last) < drawEvery {
			return
		}
		last = time.Now()
		screen.show(line)
	}
	f.options.Progress = func(iteration int, residual float64) {
		if verbose {
			fmt.Fprintf(screen, "iteration %d: residual %.3g\n", iteration, residual)
			return
		}
		show(fmt.Sprintf("iteration %d: residual %.3g", iteration, residual))
	}
	return show
}

// rank ranks the pages.
func (f *rankFlags) rank(c *cobra.Command, s *shared, show func(string)) error {
	if f.places != "" {
		if err := f.readPlaces(); err != nil {
			return hinted(err, "a line holds a URL or a site, and a weight if you like; # begins a remark")
		}
	}
	report, err := engine.Rank(c.Context(), s.data, f.options)
	show("")
	if errors.Is(err, engine.ErrNoSuchPage) {
		return hinted(err, "name a page by its whole URL, a site by its host; what is known of a page: "+s.command("trace URL"))
	}
	if err != nil {
		return err
	}
	if len(report.Missing) > 0 {
		fmt.Fprintf(c.ErrOrStderr(), "warning: nothing known is in %d of %d places: %s\n", len(report.Missing), len(f.options.Personalize), some(report.Missing))
	}
	if f.html != "" {
		if err := writeRankPage(f.html, report); err != nil {
			return hinted(fmt.Errorf("pagerank: %w", err), "--html takes the name of a file to write")
		}
	}
	if f.json {
		return printJSON(c.OutOrStdout(), report)
	}
	printRanks(c.OutOrStdout(), report)
	all, err := engine.Ranks(s.data)
	adviseRanks(c.OutOrStdout(), all)
	return err
}

func (f *rankFlags) readPlaces() error {
	in, err := os.Open(f.places)
	if err != nil {
		return fmt.Errorf("pagerank: %w", err)
	}
	defer in.Close()
	f.options.Personalize, err = engine.ReadRankPlaces(in)
	return err
}

// rankTopics computes several vectors at a time.
func (f *rankFlags) rankTopics(c *cobra.Command, s *shared, show func(string)) error {
	const form = "a line holds the name of a vector, a URL or a site, and a weight if you like; # begins a remark"
	in, err := os.Open(f.topics)
	if err != nil {
		return hinted(fmt.Errorf("pagerank: %w", err), form)
	}
	topics, err := engine.ReadRankTopics(in)
	in.Close() // it was only read
	if err != nil {
		return hinted(err, form)
	}
	reports, err := engine.RankTopics(c.Context(), s.data, topics, f.options.Options)
	show("")
	if errors.Is(err, engine.ErrNoSuchPage) {
		return hinted(err, "name a page by its whole URL, a site by its host")
	}
	if err != nil {
		return err
	}
	if f.json {
		return printJSON(c.OutOrStdout(), reports)
	}
	for i, r := range reports {
		if i > 0 {
			fmt.Fprintln(c.OutOrStdout())
		}
		printRanks(c.OutOrStdout(), r)
	}
	return nil
}

// some names the first few of many.
func some(names []string) string {
	if len(names) > 3 {
		return oneLine(strings.Join(names[:3], ", ")) + ", …"
	}
	return oneLine(strings.Join(names, ", "))
}

func checkRank(c *cobra.Command, f *rankFlags, e edgeFiles) error {
	o := &f.options
	switch {
	case !(o.Damping > 0 && o.Damping < 1):
		return usagef("--damping %v is not between 0 and 1", o.Damping)
	case !(o.Tolerance > 0):
		return usagef("--tolerance %v is not above 0", o.Tolerance)
	case o.MaxIterations < 1:
		return usagef("--iterations %d is less than one", o.MaxIterations)
	case f.place != "" && !isPlace(f.place):
		return usagef("--personalize %q is neither a URL nor a site", f.place)
	case o.Name != "" && engine.CheckRankName(o.Name) != nil:
		return usagef("--name %q is not of lower-case letters, digits and hyphens", o.Name)
	}
	if f.place != "" {
		o.Personalize = []engine.RankPlace{{Spec: f.place, Weight: 1}}
	}
	for _, flag := range []string{"personalize", "personalize-file", "topics", "method", "name", "json", "html"} {
		if err := exclusive(c, e.edges != "", "--%s is for pages, and a graph of --edges has none", flag); err != nil {
			return err
		}
	}
	for _, flag := range []string{"personalize", "personalize-file", "method", "name", "html", "memory"} {
		if err := exclusive(c, f.topics != "", "--%s and --topics do not go together", flag); err != nil {
			return err
		}
	}
	var err error
	if o.Method, err = engine.ParseRankMethod(f.method); err != nil {
		return usagef("--method %q is none of pages, hosts, harmonic", f.method)
	}
	for _, flag := range []string{"personalize", "personalize-file"} {
		if err := exclusive(c, o.Method != engine.ByPages, "--%s is for --method pages", flag); err != nil {
			return err
		}
	}
	return cmp.Or(
		exclusive(c, e.edges == "", "--%s is for --edges", "output"),
		exclusive(c, f.place != "", "--%s and --personalize are two ways to say one thing", "personalize-file"),
	)
}

// isPlace says whether a string is a page or a site.
func isPlace(spec string) bool {
	if strings.Contains(spec, "://") {
		_, err := weburl.Parse(spec)
		return err == nil
	}
	_, _, ok := weburl.SiteKeys(spec)
	return ok
}

// edgeFiles name a graph to rank and where its ranks go.
type edgeFiles struct {
	edges, output string
}

// rank ranks the graph. Links of a node to itself count, unlike those of a page: whoever hands us a
// graph means all of it.
func (e *edgeFiles) rank(c *cobra.Command, o pagerank.Options, show func(string)) error {
	in := c.InOrStdin()
	if e.edges != "-" {
		f, err := os.Open(e.edges)
		if err != nil {
			return hinted(fmt.Errorf("pagerank: %w", err), "--edges takes the name of a file, or - for standard input")
		}
		defer f.Close()
		in = f
	}
	o.SelfLinks = true
	o.Reading = func(links int) { show("reading: " + counted(links, "link")) }
	if o.Memory > 0 {
		left, undo := keepWithin(o.Memory)
		defer undo()
		o.Memory = left
	}
	var r *pagerank.Result
	write := func(out io.Writer) (err error) {
		r, err = pagerank.RankEdges(c.Context(), in, out, o) // writes nothing if it fails
		return err
	}
	var err error
	if e.output == "" {
		err = write(c.OutOrStdout())
	} else {
		err = writeFile(e.output, write)
	}
	show("")
	if err != nil {
		return hinted(err, "a line holds two numbers, source and target, with a blank or a tab between; # begins a remark")
	}
	where := ""
	if r.OnDisk {
		where = ", from disk"
	}
	fmt.Fprintf(c.ErrOrStderr(), "%s, %s%s; %s\n", counted(r.Nodes, "node"), counted(r.Links, "link"), where, iterations(r.Iterations, r.Residual, o.Tolerance))
	return nil
}

// iterations says how a computation ended.
func iterations(n int, residual, tolerance float64) string {
	s := fmt.Sprintf("%s, residual %.2g", counted(n, "iteration"), residual)
	if residual > tolerance {
		s += fmt.Sprintf(", stopped above the tolerance of %.2g", tolerance)
	}
	return s
}

func printRanks(w io.Writer, r *engine.RankReport) {
	by := fmt.Sprintf("damping %g, teleporting to %s", r.Damping, teleportTo(r))
	if r.Teleport == 0 && r.Personalized != "" {
		by = "favouring " + r.Personalized
	}
	what := "page"
	if r.Method == engine.ByHosts.String() {
		what = "host"
	}
	fmt.Fprintf(w, "%s, %s, %s without links; %s\n", counted(r.Pages, "page"), counted(r.Links, "link"), counted(r.Dangled, what), by)
	fmt.Fprintf(w, "%s, %.2f s\n", iterations(len(r.Residuals), r.Residuals[len(r.Residuals)-1], r.Tolerance), r.Seconds)
	fmt.Fprintf(w, "half of all rank is on %s", counted(r.Half, "page"))
	if r.Compared && r.Moved > leastMoved {
		fmt.Fprintf(w, "; %.2g %% of it moved", 100*r.Moved)
	}
	fmt.Fprintln(w)
	printRanked(w, "highest", r.Top)
	printRanked(w, "gained most", r.Gainers)
	printRanked(w, "lost most", r.Losers)
	fmt.Fprintf(w, "\nhosts:\n")
	for _, h := range r.Hosts[:min(hostsPrinted, len(r.Hosts))] {
		fmt.Fprintf(w, "  %.6f  %s, %s\n", h.Share, oneLine(h.Host), counted(h.Pages, "page"))
	}
	if r.Name != engine.DefaultRank {
		fmt.Fprintf(w, "\nkept as %q; searches use it by --rank %s, or rank=%s in the API, and else %q\n", r.Name, r.Name, r.Name, engine.DefaultRank)
	}
}

// leastMoved is what is worth a word: less is rounding.
const leastMoved = 1e-6

// hostsPrinted is how many hosts the text names.
const hostsPrinted = 10

// teleportTo says where the bored surfer goes.
func teleportTo(r *engine.RankReport) string {
	if r.Personalized == "" {
		return "every page"
	}
	return fmt.Sprintf("%s (%s)", r.Personalized, counted(r.Teleport, "page"))
}

func printRanked(w io.Writer, title string, pages []engine.RankedPage) {
	if len(pages) == 0 {
		return
	}
	fmt.Fprintf(w, "\n%s:\n", title)
	for _, p := range pages {
		change := ""
		if p.Before > 0 && p.Before != p.Rank {
			change = fmt.Sprintf("  (before %.6f)", p.Before)
		}
		fmt.Fprintf(w, "  %.6f  %s%s\n", p.Rank, strings.TrimSpace(oneLine(p.URL)), change)
	}
}
