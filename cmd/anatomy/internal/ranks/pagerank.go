// Package ranks has the command "anatomy pagerank": it computes, lists and removes rank vectors.
package ranks

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"anatomy/cmd/anatomy/internal/cli"
	"anatomy/cmd/anatomy/internal/rankpage"
	"anatomy/cmd/anatomy/internal/record"
	"anatomy/pagerank"
	"anatomy/ranking"
	"anatomy/weburl"
)

// New returns the command "pagerank" with those below it.
func New(s *cli.GlobalFlags) *cobra.Command {
	var f rankFlags
	var e edgeFiles
	c := &cobra.Command{
		Use:   "pagerank",
		Short: "recompute PageRank, or rank any graph",
		Long: `Pagerank recomputes the ranks of all pages from the link database. A running "anatomy serve" uses them within two
seconds, without a restart or a rebuild. With --edges it ranks any graph instead, without a data folder.`,
		Example: `  anatomy pagerank --damping 0.9
  anatomy pagerank --personalize docs.example.org --name docs --html ranks.html
  anatomy pagerank --personalize-file trusted.txt --name trusted
  anatomy pagerank --method hosts
  anatomy pagerank --edges graph.tsv.gz --output ranks.tsv`,
		Args: cli.ExactArgs(0, "no arguments"),
		RunE: func(c *cobra.Command, _ []string) error {
			if err := checkRank(c, &f, e); err != nil {
				return err
			}
			show := f.watch(c, s.Verbose)
			defer show("")
			defer limitMemory(c.ErrOrStderr(), &f.options.Memory)()
			if e.edges != "" {
				return e.rank(c, &f, show)
			}
			return record.Calls(s, func(c *cobra.Command, _ []string) error {
				if f.topics != "" {
					return f.rankTopics(c, s, show)
				}
				return f.rank(c, s, show)
			})(c, nil)
		},
	}
	o := &f.options
	fs := c.Flags()
	fs.Float64Var(&o.Damping, "damping", pagerank.DefaultDamping, "probability `D` of following a link instead of teleporting, between 0 and 1")
	fs.StringVar(&f.place, "personalize", "", "teleport only to the page or site `URL|SITE`, or with --edges to that node")
	fs.StringVar(&f.places, "personalize-file", "", "teleport only to the pages and sites, or nodes, in `FILE`, one per line, optionally followed by a weight (default 1)")
	fs.StringVar(&f.topics, "topics", "", "compute up to 8 vectors in one pass from `FILE`: lines of vector name, page or site (with --edges node), and optional weight")
	fs.StringVar(&f.method, "method", "vouched", "`METHOD` is vouched: PageRank, in which links within a site lift its pages as far as other sites link to it; pages: PageRank as published; hosts: a page has the rank of its host; or harmonic centrality. The latter three write vectors of their names. Default with --edges: pages; of graphs whose nodes are URLs: all")
	fs.StringVar(&o.Name, "name", "", "name the rank vector `NAME`; searches use \"default\" unless they name another (default \"default\")")
	fs.Float64Var(&o.Tolerance, "tolerance", pagerank.DefaultTolerance, "stop when the residual, the sum of all changes of an iteration, is at most `T`")
	fs.IntVar(&o.MaxIterations, "iterations", pagerank.DefaultMaxIterations, "stop after `N` iterations")
	fs.Var((*cli.ByteSize)(&o.Memory), "memory", "keep memory below `SIZE`, such as 200MB, and rank larger graphs from disk (default: no limit)")
	fs.BoolVar(&f.json, "json", false, "print the report as JSON")
	fs.StringVar(&f.html, "html", "", "write the report to `FILE` as an HTML page with plots")
	fs.StringVar(&e.edges, "edges", "", "rank the graph in `FILE`, plain, gzip or zstd: lines of source and target, numbers or names, or a file of SNAP, KONECT or Matrix Market; NAME.graph of WebGraph beside NAME.properties; - is standard input")
	fs.StringVarP(&e.output, "output", "o", "", "with --edges: write nodes and ranks to `FILE` (default: standard output)")
	fs.StringVar(&e.vertices, "vertices", "", "with --edges: names of the nodes, lines of number and name in `FILE`, as of Common Crawl's host graph")
	fs.StringVar(&e.warm, "warm", "", "with --edges: start from the ranks in `FILE`, lines of node and rank or a rank file of Common Crawl")
	fs.BoolVar(&e.hostRanks, "host-ranks", false, "with --edges: write harmonic centrality and PageRank with positions, as Common Crawl's rank files")
	fs.StringVar(&e.bv, "write-graph", "", "with --edges: instead of ranks write `NAME`.graph, .offsets and .properties of WebGraph; node i is line i of the ranks")
	c.AddCommand(newRankList(s), newRankDiff(s), newRankRemove(s), newRankRestore(s), newTrustSeeds(s))
	return c
}

// rankFlags are the flags of pagerank for the pages of a data folder.
type rankFlags struct {
	options       ranking.Options
	place, places string
	topics        string
	method        string
	json          bool
	html          string
}

// watch makes f report iterations, and returns a function that sets the status line; "" erases it.
func (f *rankFlags) watch(c *cobra.Command, verbose bool) (show func(line string)) {
	screen := cli.NewConsole(c.ErrOrStderr())
	last := time.Now()
	show = func(line string) {
		if !screen.IsTerminal() || line != "" && time.Since(last) < cli.DrawEvery {
			return
		}
		last = time.Now()
		screen.SetStatus(line)
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

// rank ranks the pages of the data folder and prints the report.
func (f *rankFlags) rank(c *cobra.Command, s *cli.GlobalFlags, show func(string)) error {
	if f.places != "" {
		var err error
		if f.options.Personalize, err = readFile(f.places, ranking.ReadTeleportTargets); err != nil {
			return cli.WithHint(err, "a line is a URL or a site, optionally followed by a weight; # starts a comment")
		}
	}
	report, err := ranking.Compute(c.Context(), s.Data, f.options)
	show("")
	if errors.Is(err, ranking.ErrNoSuchPage) {
		return cli.WithHint(err, "name a page by its whole URL, a site by its host; to see what is known of a page: "+s.Command("trace URL"))
	}
	if err != nil {
		return err
	}
	if len(report.Missing) > 0 {
		fmt.Fprintf(c.ErrOrStderr(), "warning: no known page in %d of %d teleport targets: %s\n", len(report.Missing), len(f.options.Personalize), firstFew(report.Missing))
	}
	if f.html != "" {
		if err := rankpage.Write(c, f.html, report); err != nil {
			return cli.WithHint(err, "--html takes the name of a file to write")
		}
	}
	if f.json {
		return cli.PrintJSON(c.OutOrStdout(), report)
	}
	printRanks(c.OutOrStdout(), report)
	all, err := ranking.List(s.Data)
	Advise(c.OutOrStdout(), all)
	return err
}

// readFile returns what read returns of the file of a flag.
func readFile[T any](path string, read func(io.Reader) (T, error)) (all T, err error) {
	in, err := os.Open(path)
	if err != nil {
		return all, err
	}
	defer in.Close()
	return read(in)
}

// rankTopics computes the vectors of --topics in one pass over the graph.
func (f *rankFlags) rankTopics(c *cobra.Command, s *cli.GlobalFlags, show func(string)) error {
	const form = "a line is the name of a vector, a URL or a site, and optionally a weight; # starts a comment"
	topics, err := readFile(f.topics, ranking.ReadTopics)
	if err != nil {
		return cli.WithHint(err, form)
	}
	reports, err := ranking.ComputeTopics(c.Context(), s.Data, topics, f.options.Options)
	show("")
	if errors.Is(err, ranking.ErrNoSuchPage) {
		return cli.WithHint(err, "name a page by its whole URL, a site by its host")
	}
	if err != nil {
		return err
	}
	if f.json {
		return cli.PrintJSON(c.OutOrStdout(), reports)
	}
	for i, r := range reports {
		if i > 0 {
			fmt.Fprintln(c.OutOrStdout())
		}
		printRanks(c.OutOrStdout(), r)
	}
	return nil
}

// firstFew returns up to three names.
func firstFew(names []string) string {
	if len(names) > 3 {
		return cli.OneLine(strings.Join(names[:3], ", ")) + ", …"
	}
	return cli.OneLine(strings.Join(names, ", "))
}

func checkRank(c *cobra.Command, f *rankFlags, e edgeFiles) error {
	o := &f.options
	switch {
	case !(o.Damping > 0 && o.Damping < 1):
		return cli.UsageErrorf("--damping %v must be between 0 and 1", o.Damping)
	case !(o.Tolerance > 0):
		return cli.UsageErrorf("--tolerance %v must be above 0", o.Tolerance)
	case o.MaxIterations < 1:
		return cli.UsageErrorf("--iterations %d must be at least 1", o.MaxIterations)
	case c.Flags().Changed("personalize") && f.place == "":
		return cli.UsageErrorf("--personalize is empty")
	case f.place != "" && e.edges == "" && !isTeleportTarget(f.place):
		return cli.UsageErrorf("--personalize %q is not a URL or a site", f.place)
	}
	if f.place != "" {
		o.Personalize = []ranking.TeleportTarget{{Spec: f.place, Weight: 1}}
	}
	for _, flag := range []string{"personalize", "personalize-file", "method", "name", "html"} {
		if err := cli.RejectFlags(c, f.topics != "", "--%s and --topics exclude each other", flag); err != nil {
			return err
		}
	}
	var err error
	if o.Method, err = ranking.ParseMethod(f.method); err != nil {
		return cli.UsageErrorf("--method %q must be vouched, pages, hosts or harmonic", f.method)
	}
	if err := o.CheckName(); o.Name != "" && err != nil {
		return cli.UsageError{Err: err}
	}
	if e.edges != "" && !c.Flags().Changed("method") {
		o.Method = ranking.ByPages
	}
	for _, flag := range []string{"personalize", "personalize-file"} {
		weighed := e.edges != "" && o.Method == ranking.ByVouchers
		if err := cli.RejectFlags(c, weighed || o.Method > ranking.ByPages, "--%s needs --method pages", flag); err != nil {
			return err
		}
	}
	if e.edges != "" && f.json && e.output == "" {
		return cli.UsageErrorf("--json with --edges needs --output FILE for the ranks")
	}
	if e.edges == "" && (f.place != "" || f.places != "") && o.Name == "" {
		return cli.UsageErrorf("personalised ranks need a name: add --name NAME, or --name default to use them in all searches")
	}
	return cmp.Or(
		cli.RejectFlags(c, o.Method == ranking.ByHarmonic, "--%s and --method harmonic exclude each other", "damping", "tolerance", "iterations"),
		cli.RejectFlags(c, e.edges == "", "--%s needs --edges", "output", "vertices", "warm", "host-ranks", "write-graph"),
		cli.RejectFlags(c, e.edges != "", "--%s and --edges exclude each other", "name"),
		cli.RejectFlags(c, e.bv != "", "--%s and --write-graph exclude each other", "topics", "json", "html"),
		cli.RejectFlags(c, e.hostRanks, "--%s and --host-ranks exclude each other", "method", "memory", "topics"),
		cli.RejectFlags(c, f.topics != "" || o.Method == ranking.ByHosts || o.Method == ranking.ByHarmonic,
			"--%s needs --method pages or vouched, without --topics", "warm"),
		cli.RejectFlags(c, f.place != "", "--%s and --personalize exclude each other", "personalize-file"),
	)
}

// isTeleportTarget reports whether spec has the form of a URL or a site.
func isTeleportTarget(spec string) bool {
	if strings.Contains(spec, "://") {
		_, err := weburl.Parse(spec)
		return err == nil
	}
	_, _, ok := weburl.SiteKeys(spec)
	return ok
}
