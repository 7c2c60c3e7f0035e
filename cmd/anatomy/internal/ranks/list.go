package ranks

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"anatomy/cmd/anatomy/internal/cli"
	"anatomy/cmd/anatomy/internal/record"
	"anatomy/pagerank"
	"anatomy/ranking"
)

func newRankList(s *cli.GlobalFlags) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "list",
		Short: "list the rank vectors",
		Long: `List shows the rank vectors of the data folder: where each teleports to, when it was computed, and how many links
changed since, as a share of all: new ones, those that are gone, and those that lead elsewhere. To search with one:
"rank=NAME" in the API and on the result page, or "search --rank NAME".`,
		Example: "  anatomy pagerank list\n  anatomy pagerank list --json",
		Args:    cli.ExactArgs(0, "no arguments"),
		RunE: func(c *cobra.Command, _ []string) error {
			all, err := ranking.List(s.Data)
			if err != nil {
				return err
			}
			if asJSON {
				return cli.PrintJSON(c.OutOrStdout(), all)
			}
			if len(all) == 0 {
				fmt.Fprintln(c.OutOrStdout(), "No rank vector yet. To compute one: "+s.Command("pagerank"))
				return nil
			}
			return printRankList(c.OutOrStdout(), all, time.Now())
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

func printRankList(w io.Writer, all []ranking.VectorStatus, now time.Time) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "vector\tcomputed\tpages\tlinks\tlinks changed since\tteleports to")
	for _, r := range all {
		teleport := "every page"
		if r.Personalized != "" {
			teleport = cli.OneLine(r.Personalized)
		}
		fmt.Fprintf(t, "%s\t%s\t%d\t%d\t%.0f %%\t%s\n", r.Name, cli.FormatAge(now, r.Computed), r.Pages, r.Links, 100*r.Changed, teleport)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	Advise(w, all)
	return nil
}

// Advise names the vectors that should be recomputed.
func Advise(w io.Writer, all []ranking.VectorStatus) {
	var stale []string
	for _, r := range all {
		if r.Stale {
			stale = append(stale, fmt.Sprintf("%s (%.0f %%)", r.Name, 100*r.Changed))
		}
	}
	if len(stale) > 0 {
		fmt.Fprintf(w, "Outdated rank vectors, with the share of links that changed since: %s. To recompute: anatomy pagerank\n", strings.Join(stale, ", "))
	}
}

// completeVectors completes the names of vectors.
func completeVectors(s *cli.GlobalFlags) cobra.CompletionFunc {
	return func(*cobra.Command, []string, string) (names []string, _ cobra.ShellCompDirective) {
		all, _ := ranking.List(s.Data) // no completions where it fails
		for _, r := range all {
			names = append(names, r.Name)
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}
}

func newRankRemove(s *cli.GlobalFlags) *cobra.Command {
	return &cobra.Command{
		Use:               "remove NAME",
		Short:             "remove a rank vector",
		Long:              "Remove deletes a rank vector. Without the vector \"default\" all pages have the same rank until ranks are recomputed.",
		Example:           "  anatomy pagerank remove trusted",
		Args:              cli.ExactArgs(1, "the name of a vector"),
		ValidArgsFunction: completeVectors(s),
		RunE: record.Calls(s, func(_ *cobra.Command, args []string) error {
			if err := ranking.Remove(s.Data, args[0]); err != nil {
				return cli.WithHint(err, "to list them: "+s.Command("pagerank list"))
			}
			return nil
		}),
	}
}

func newRankRestore(s *cli.GlobalFlags) *cobra.Command {
	return &cobra.Command{
		Use:   "restore",
		Short: "make the previous default ranks the default again",
		Long: `Restore exchanges the vectors "default" and "previous". When a default vector with another personalisation or damping
is computed, the one that it replaces becomes "previous". New ranks of the same kind, as after a crawl, leave
"previous" as it is.`,
		Example: "  anatomy pagerank --personalize docs.example.org --name default\n  anatomy pagerank restore",
		Args:    cli.ExactArgs(0, "no arguments"),
		RunE: record.Calls(s, func(c *cobra.Command, _ []string) error {
			if err := ranking.Restore(s.Data); err != nil {
				return cli.WithHint(err, "to list the vectors: "+s.Command("pagerank list"))
			}
			all, err := ranking.List(s.Data)
			if err != nil {
				return err
			}
			return printRankList(c.OutOrStdout(), all, time.Now())
		}),
	}
}

func newTrustSeeds(s *cli.GlobalFlags) *cobra.Command {
	var num int
	var asJSON bool
	c := &cobra.Command{
		Use:   "seeds",
		Short: "list candidates for TrustRank seeds",
		Long: `Seeds lists the pages from which most of the collection is reachable, by inverse PageRank. Keep the good ones in a file:
ranks that teleport only there are TrustRank, and pages that no good page links to, such as spam, get little.`,
		Example: "  anatomy pagerank seeds --num 200 > seeds.txt\n  anatomy pagerank --personalize-file seeds.txt --name trust",
		Args:    cli.ExactArgs(0, "no arguments"),
		RunE: func(c *cobra.Command, _ []string) error {
			seeds, err := ranking.TrustSeeds(c.Context(), s.Data, cli.AtMost(num), pagerank.Options{})
			if err != nil {
				return err
			}
			if asJSON {
				return cli.PrintJSON(c.OutOrStdout(), seeds)
			}
			for _, seed := range seeds {
				fmt.Fprintln(c.OutOrStdout(), strings.TrimSpace(cli.OneLine(seed.URL)))
			}
			return nil
		},
	}
	c.Flags().IntVarP(&num, "num", "n", 50, "list at most `N` pages; 0 for all")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON, with the score of each")
	return c
}
