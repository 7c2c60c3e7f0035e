package ranks

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"anatomy/cmd/anatomy/internal/cli"
	"anatomy/internal/plural"
	"anatomy/ranking"
)

func newRankDiff(s *cli.GlobalFlags) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "diff VECTOR VECTOR",
		Short: "compare two rank vectors",
		Long: `Diff compares two rank vectors of the data folder: Kendall's tau of their orders, 1 for the same order and -1 for the
reverse, how many of the first pages they share, and the pages whose rank differs most.`,
		Example:           "  anatomy pagerank diff default pages\n  anatomy pagerank diff pages hosts --json",
		Args:              cli.ExactArgs(2, "the names of two vectors"),
		ValidArgsFunction: completeVectors(s),
		RunE: func(c *cobra.Command, args []string) error {
			for _, name := range args {
				if err := ranking.CheckName(name); err != nil {
					return cli.UsageError{Err: err}
				}
			}
			d, err := ranking.Diff(s.Data, args[0], args[1])
			if err != nil {
				return err
			}
			if asJSON {
				return cli.PrintJSON(c.OutOrStdout(), d)
			}
			printDiff(c.OutOrStdout(), d)
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

func printDiff(w io.Writer, d *ranking.Comparison) {
	fmt.Fprintf(w, "%s, Kendall's tau %.4f; %.2g %% of the rank moved\n", plural.Count(d.Pages, "page"), d.Kendall, 100*d.Moved)
	for _, s := range d.Shared {
		fmt.Fprintf(w, "%d of the first %d pages are the same\n", s.Pages, s.First)
	}
	printRanked(w, "more rank in "+d.To, d.Gainers)
	printRanked(w, "less rank in "+d.To, d.Losers)
}
