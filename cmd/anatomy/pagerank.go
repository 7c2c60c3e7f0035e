package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"anatomy/engine"
	"anatomy/pagerank"
	"anatomy/weburl"
)

func newPageRank(s *shared) *cobra.Command {
	var o engine.RankOptions
	var e edgeFiles
	c := &cobra.Command{
		Use:   "pagerank",
		Short: "recompute PageRank, or rank any graph",
		Long: `Pagerank recomputes the ranks of all pages from the link database and puts them in force: a running "anatomy serve"
takes them up within a second or two, without a restart and without a rebuild. With --edges it ranks any
graph instead, and touches no data folder.`,
		Example: `  anatomy pagerank --damping 0.9
  anatomy pagerank --personalize docs.example.org
  anatomy pagerank --edges graph.tsv.gz --output ranks.tsv`,
		Args: exactly(0, "no arguments"),
		RunE: func(c *cobra.Command, _ []string) error {
			if err := checkRank(c, o, e); err != nil {
				return err
			}
			o.Progress = func(iteration int, residual float64) {
				if s.verbose {
					fmt.Fprintf(c.ErrOrStderr(), "iteration %d: residual %.3g\n", iteration, residual)
				}
			}
			if e.edges != "" {
				return e.rank(c, o.Options)
			}
			report, err := engine.Rank(c.Context(), s.data, o)
			if errors.Is(err, engine.ErrNoSuchPage) {
				return hinted(err, "name a page by its whole URL, a site by its host; what is known of a page: "+s.command("trace URL"))
			}
			if err != nil {
				return err
			}
			printRanks(c.OutOrStdout(), report)
			return nil
		},
	}
	f := c.Flags()
	f.Float64Var(&o.Damping, "damping", pagerank.DefaultDamping, "probability of following a link rather than teleporting, `D` between 0 and 1")
	f.StringVar(&o.Personalize, "personalize", "", "teleport to this page or site alone: `URL|SITE`")
	f.Float64Var(&o.Tolerance, "tolerance", pagerank.DefaultTolerance, "stop when an iteration changes the ranks by at most `T` in sum")
	f.IntVar(&o.MaxIterations, "iterations", pagerank.DefaultMaxIterations, "stop after `N` iterations at the latest")
	f.StringVar(&e.edges, "edges", "", "rank the graph in `FILE`: a line a link, the numbers of source and target; gzip is noticed; - is standard input")
	f.StringVar(&e.output, "output", "", "with --edges: write node and rank to `FILE` (default: standard output)")
	return c
}

func checkRank(c *cobra.Command, o engine.RankOptions, e edgeFiles) error {
	switch {
	case !(o.Damping > 0 && o.Damping < 1):
		return usagef("--damping %v is not between 0 and 1", o.Damping)
	case !(o.Tolerance > 0):
		return usagef("--tolerance %v is not above 0", o.Tolerance)
	case o.MaxIterations < 1:
		return usagef("--iterations %d is less than one", o.MaxIterations)
	case o.Personalize != "" && !isPlace(o.Personalize):
		return usagef("--personalize %q is neither a URL nor a site", o.Personalize)
	}
	return cmp.Or(
		exclusive(c, e.edges == "", "--%s is for --edges", "output"),
		exclusive(c, e.edges != "", "--%s is for pages, and a graph of --edges has none", "personalize"),
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
func (e *edgeFiles) rank(c *cobra.Command, o pagerank.Options) error {
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
	var ranks bytes.Buffer
	r, err := pagerank.RankEdges(c.Context(), in, &ranks, o)
	if err != nil {
		return hinted(err, "a line holds two numbers, source and target, with a blank or a tab between; # begins a remark")
	}
	fmt.Fprintf(c.ErrOrStderr(), "%d nodes; %s\n", len(r.Ranks), iterations(r.Iterations, r.Residual, o.Tolerance))
	if e.output == "" {
		_, err = ranks.WriteTo(c.OutOrStdout())
		return err
	}
	if err := os.WriteFile(e.output, ranks.Bytes(), 0o644); err != nil {
		return hinted(fmt.Errorf("pagerank: %w", err), "--output takes the name of a file to write")
	}
	return nil
}

// iterations says how a computation ended.
func iterations(n int, residual, tolerance float64) string {
	s := fmt.Sprintf("%d iterations, residual %.2g", n, residual)
	if residual > tolerance {
		s += fmt.Sprintf(", stopped above the tolerance of %.2g", tolerance)
	}
	return s
}

func printRanks(w io.Writer, r *engine.RankReport) {
	v := r.Vector
	to := "every page"
	if v.Personalized != "" {
		to = fmt.Sprintf("%s (%d pages)", v.Personalized, r.Teleport)
	}
	fmt.Fprintf(w, "%d pages, %d links, %d pages without links; damping %g, teleporting to %s\n", r.Pages, r.Links, r.Dangled, v.Damping, to)
	fmt.Fprintf(w, "%s, %.2f s\n", iterations(v.Iterations, v.Residual, v.Tolerance), r.Took.Seconds())
	printRanked(w, "highest", r.Top)
	printRanked(w, "gained most", r.Gainers)
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
