package main

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"anatomy/eval"
	"anatomy/searcher"
)

func newBench(s *shared) *cobra.Command {
	var o eval.BenchOptions
	var mode, output, weights, profile string
	c := &cobra.Command{
		Use:   "bench QUERIES",
		Short: "measure how fast queries are answered",
		Long: `Bench asks for the ten best pages of each query, a line each, in full ranking, one after the other on one processor: once
to warm up, then --passes times. It prints lines of query, pages that match and the best time in nanoseconds, parted by
tabs, and on standard error the mean and the percentiles. Titles and snippets are not made unless --snippets asks for
them: ranking is measured.`,
		Example: "  anatomy bench queries.txt\n  anatomy bench queries.txt --mode any --passes 5 --output any.tsv",
		Args:    exactly(1, "a file of queries"),
		RunE: func(c *cobra.Command, args []string) error {
			switch o.Mode = eval.Mode(mode); o.Mode {
			case eval.All, eval.Any, eval.Phrase:
			default:
				return usagef("--mode is any, all or phrase")
			}
			if o.Passes < 1 {
				return usagef("--passes is 1 or more")
			}
			queries, err := readQueries(c, args[0])
			if err != nil {
				return err
			}
			return withWeights(s.data, weights, func(found *searcher.Searcher) error {
				defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
				stop, err := startProfile(profile)
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
	f.StringVar(&mode, "mode", "all", "ask for pages with `any|all|phrase` of the words")
	f.IntVar(&o.Passes, "passes", 3, "ask each query `N` times; the best counts")
	f.BoolVar(&o.Snippets, "snippets", false, "make titles and snippets too")
	f.StringVar(&output, "output", "", "write the lines to `FILE` instead of standard output")
	profileFlag(f, &profile)
	weightsFlag(c, &weights)
	return c
}

// readQueries reads lines; empty ones are none.
func readQueries(c *cobra.Command, name string) (queries []string, err error) {
	in, err := openInput(c, name)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if query := strings.TrimSpace(lines.Text()); query != "" {
			queries = append(queries, query)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(queries) == 0 {
		return nil, hinted(fmt.Errorf("%s: there is no query", name), "a query a line")
	}
	return queries, nil
}

func printLatency(c *cobra.Command, o eval.BenchOptions, timings []eval.Timing) {
	l := eval.Summary(timings)
	ms := func(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
	fmt.Fprintf(c.ErrOrStderr(), "%s: %d queries, best of %d; ms: median %.3f, p95 %.3f, p99 %.3f, mean %.3f; hits %d\n",
		o.Mode, len(timings), o.Passes, ms(l.P50), ms(l.P95), ms(l.P99), ms(l.Mean), l.Hits)
}

func writeTimings(c *cobra.Command, name string, timings []eval.Timing) error {
	var b strings.Builder
	for _, t := range timings {
		fmt.Fprintf(&b, "%s\t%d\t%d\n", t.Query, t.Hits, t.Best.Nanoseconds())
	}
	return writeOutput(c, name, b.String())
}

// writeOutput writes a file, or where it has no name to standard output.
func writeOutput(c *cobra.Command, name, text string) error {
	if name == "" {
		_, err := fmt.Fprint(c.OutOrStdout(), text)
		return err
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		return hinted(err, "--output takes the name of a file to write")
	}
	return nil
}
