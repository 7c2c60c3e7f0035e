package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"anatomy/engine"
	"anatomy/pagerank"
)

func newPageRank(s *shared) *cobra.Command {
	var o engine.RankOptions
	var edges, output string
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
			if o.Damping < 0 || o.Damping >= 1 || o.Tolerance < 0 {
				return usageError{errors.New("--damping is at least 0 and below 1, --tolerance is not negative")}
			}
			o.Progress = func(iteration int, residual float64) {
				if s.verbose {
					fmt.Fprintf(c.ErrOrStderr(), "iteration %d: residual %.3g\n", iteration, residual)
				}
			}
			if edges != "" {
				return rankEdges(c, edges, output, o.Options)
			}
			report, err := engine.Rank(c.Context(), s.data, o)
			if errors.Is(err, engine.ErrNoSuchPage) {
				return hinted(err, "name a page by its whole URL, a site by its host: anatomy stats lists the hosts")
			}
			if err != nil {
				return err
			}
			printRanks(c.OutOrStdout(), report)
			return nil
		},
	}
	f := c.Flags()
	f.Float64Var(&o.Damping, "damping", 0.85, "probability of following a link rather than teleporting")
	f.StringVar(&o.Personalize, "personalize", "", "teleport to this `URL or site` alone")
	f.Float64Var(&o.Tolerance, "tolerance", 1e-9, "stop when ranks change by less than this in sum")
	f.IntVar(&o.MaxIterations, "iterations", 100, "stop after so many iterations")
	f.StringVar(&edges, "edges", "", "rank the graph in `FILE`: source and target, numbers, a line a link; gzip is noticed; - is standard input")
	f.StringVar(&output, "output", "", "with --edges: write node and rank to `FILE` (default: standard output)")
	return c
}

func rankEdges(c *cobra.Command, edges, output string, o pagerank.Options) (err error) {
	in := c.InOrStdin()
	if edges != "-" {
		f, err := os.Open(edges)
		if err != nil {
			return fmt.Errorf("pagerank: %w", err)
		}
		defer f.Close()
		in = f
	}
	out := c.OutOrStdout()
	if output != "" {
		f, err := os.Create(output)
		if err != nil {
			return fmt.Errorf("pagerank: %w", err)
		}
		defer func() { err = errors.Join(err, f.Close()) }()
		out = f
	}
	_, err = pagerank.RankEdges(c.Context(), in, out, o)
	return err
}

func printRanks(w io.Writer, r *engine.RankReport) {
	v := r.Vector
	to := "every page"
	if v.Personalized != "" {
		to = fmt.Sprintf("%s (%d pages)", v.Personalized, r.Teleport)
	}
	fmt.Fprintf(w, "%d pages, %d links, %d pages without links; damping %g, teleporting to %s\n", r.Pages, r.Links, r.Dangled, v.Damping, to)
	fmt.Fprintf(w, "%d iterations, residual %.2g, %.2f s\n", v.Iterations, v.Residual, r.Took.Seconds())
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
