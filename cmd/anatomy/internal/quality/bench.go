package quality

import (
	"fmt"
	"math"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"anatomy/cmd/anatomy/internal/cli"
	"anatomy/eval"
	"anatomy/internal/plural"
	"anatomy/searcher"
)

// NewBench returns the command bench.
func NewBench(s *cli.GlobalFlags) *cobra.Command {
	var o eval.BenchOptions
	var mode, count, output, weights, profile string
	c := &cobra.Command{
		Use:   "bench QUERIES",
		Short: "measure the time of queries",
		Long: `Bench runs each query of a file, one per line, for its ten best pages with full ranking, on one processor: once to
warm up, then --passes times. It prints query, number of matches and best time in nanoseconds, separated by tabs, and
the mean and the percentiles on standard error. Titles and snippets are made only with --snippets.
Matches are counted exactly up to 1,000, as a server does, or as --count says; with none as few are as the best pages
need.`,
		Example: "  anatomy bench queries.txt\n  anatomy bench queries.txt --mode any --passes 5 --output any.tsv",
		Args:    cli.ExactArgs(1, "a file of queries"),
		RunE: func(c *cobra.Command, args []string) error {
			switch o.Mode = eval.Mode(mode); o.Mode {
			case eval.Fill, eval.All, eval.Any, eval.Phrase:
			default:
				return cli.UsageErrorf("--mode is fill, any, all or phrase")
			}
			if o.Passes < 1 {
				return cli.UsageErrorf("--passes is 1 or more")
			}
			countTo, err := parseCount(count)
			if err != nil {
				return err
			}
			queries, err := readQueries(c, args[0])
			if err != nil {
				return err
			}
			w, err := readWeights(s.Data, weights)
			if err != nil {
				return err
			}
			return withOptions(s.Data, searcher.Options{Weights: w, CountTo: countTo}, func(found *searcher.Searcher) error {
				defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
				stop, err := cli.StartProfile(profile)
				if err != nil {
					return err
				}
				defer stop()
				timings, err := eval.Bench(c.Context(), found, queries, o)
				if err != nil {
					return err
				}
				printLatency(c, o, timings)
				return writeTimings(c, output, timings)
			})
		},
	}
	f := c.Flags()
	f.StringVar(&mode, "mode", "all", "match pages with `any|all|phrase` of the words, or fill: as typed")
	f.StringVar(&count, "count", "1000", "count matches exactly up to `none|N|all`")
	f.IntVar(&o.Passes, "passes", 3, "run each query `N` times and report the best")
	f.BoolVar(&o.Snippets, "snippets", false, "include titles and snippets")
	f.StringVarP(&output, "output", "o", "", "write to `FILE` (default: standard output)")
	cli.ProfileFlag(f, &profile)
	WeightsFlag(c, &weights)
	return c
}

// parseCount returns the number of matches that are counted exactly.
func parseCount(count string) (int, error) {
	switch count {
	case "none":
		return 1, nil
	case "all":
		return math.MaxInt, nil
	}
	n, err := strconv.Atoi(count)
	if err != nil || n < 1 {
		return 0, cli.UsageErrorf("--count is none, all, or a number from 1 on")
	}
	return n, nil
}

// readQueries reads the queries of a file or standard input.
func readQueries(c *cobra.Command, name string) ([]string, error) {
	in, err := cli.OpenInput(c, name)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	queries, err := eval.ReadQueries(in, name)
	if err != nil {
		return nil, cli.WithHint(err, "the file has one query per line")
	}
	return queries, nil
}

func printLatency(c *cobra.Command, o eval.BenchOptions, timings []eval.Timing) {
	l := eval.Summary(timings)
	ms := func(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
	fmt.Fprintf(c.ErrOrStderr(), "%s: %s, best of %d; ms: median %.3f, p95 %.3f, p99 %.3f, mean %.3f; hits %d\n",
		o.Mode, plural.Count(len(timings), "query"), o.Passes, ms(l.P50), ms(l.P95), ms(l.P99), ms(l.Mean), l.Hits)
}

func writeTimings(c *cobra.Command, name string, timings []eval.Timing) error {
	var b strings.Builder
	for _, t := range timings {
		fmt.Fprintf(&b, "%s\t%d\t%d\n", t.Query, t.Hits, t.Best.Nanoseconds())
	}
	return cli.WriteText(c, name, b.String())
}
