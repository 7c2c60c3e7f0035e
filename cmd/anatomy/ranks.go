package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"anatomy/engine"
	"anatomy/pagerank"
)

func newRankList(s *shared) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "list",
		Short: "the rank vectors that are kept",
		Long: `List shows the rank vectors of the data folder: what each favours, when it was computed, and by how much the links
grew or shrank since. A query names one by "rank=NAME" on the result page and in the API, or "search --rank NAME".`,
		Example: "  anatomy pagerank list\n  anatomy pagerank list --json",
		Args:    exactly(0, "no arguments"),
		RunE: func(c *cobra.Command, _ []string) error {
			all, err := engine.Ranks(s.data)
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(c.OutOrStdout(), all)
			}
			if len(all) == 0 {
				fmt.Fprintln(c.OutOrStdout(), "No ranks are computed yet: "+s.command("pagerank"))
				return nil
			}
			return printRankList(c.OutOrStdout(), all, time.Now())
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	return c
}

func printRankList(w io.Writer, all []engine.RankStatus, now time.Time) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "vector\tcomputed\tpages\tlinks\tlinks changed since\tfavours")
	for _, r := range all {
		favours := "every page alike"
		if r.Personalized != "" {
			favours = oneLine(r.Personalized)
		}
		fmt.Fprintf(t, "%s\t%s\t%d\t%d\t%.0f %%\t%s\n", r.Name, ago(now, r.Computed), r.Pages, r.Links, 100*r.Changed, favours)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	adviseRanks(w, all)
	return nil
}

// ago says how long before now something was.
func ago(now, then time.Time) string {
	switch d := now.Sub(then); {
	case d < time.Minute:
		return "just now"
	case d < time.Hour:
		return counted(int(d/time.Minute), "minute") + " ago"
	case d < 48*time.Hour:
		return counted(int(d/time.Hour), "hour") + " ago"
	default:
		return counted(int(d/(24*time.Hour)), "day") + " ago"
	}
}

// adviseRanks says which vectors should be computed anew.
func adviseRanks(w io.Writer, all []engine.RankStatus) {
	var stale []string
	for _, r := range all {
		if r.Stale {
			stale = append(stale, fmt.Sprintf("%s (%.0f %%)", r.Name, 100*r.Changed))
		}
	}
	if len(stale) > 0 {
		fmt.Fprintf(w, "Of an older web, by the share of links that changed since: %s. Compute them anew with \"anatomy pagerank\".\n", strings.Join(stale, ", "))
	}
}

func newRankRemove(s *shared) *cobra.Command {
	return &cobra.Command{
		Use:     "remove NAME",
		Short:   "remove a rank vector",
		Long:    "Remove removes a rank vector that was kept by name. Without \"default\" all pages count alike until ranks are computed anew.",
		Example: "  anatomy pagerank remove trusted",
		Args:    exactly(1, "the name of a vector"),
		ValidArgsFunction: func(*cobra.Command, []string, string) (names []string, _ cobra.ShellCompDirective) {
			all, _ := engine.Ranks(s.data) // no completions where it fails
			for _, r := range all {
				names = append(names, r.Name)
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(c *cobra.Command, args []string) error {
			if err := engine.RemoveRank(s.data, args[0]); err != nil {
				return hinted(err, "what is kept: "+s.command("pagerank list"))
			}
			return nil
		},
	}
}

func newTrustSeeds(s *shared) *cobra.Command {
	var num int
	var asJSON bool
	c := &cobra.Command{
		Use:   "seeds",
		Short: "pages to look at, and to trust if they are good",
		Long: `Seeds lists the pages from which most of the collection is reached, by PageRank with all links turned round. Those that
are good go into a file, and ranks that teleport there alone are TrustRank: spam, to which good pages do not
link, gets little of them.`,
		Example: "  anatomy pagerank seeds --num 200 > seeds.txt\n  anatomy pagerank --personalize-file seeds.txt --name trust",
		Args:    exactly(0, "no arguments"),
		RunE: func(c *cobra.Command, _ []string) error {
			seeds, err := engine.TrustSeeds(c.Context(), s.data, atMost(num), pagerank.Options{})
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(c.OutOrStdout(), seeds)
			}
			for _, seed := range seeds {
				fmt.Fprintln(c.OutOrStdout(), strings.TrimSpace(oneLine(seed.URL)))
			}
			return nil
		},
	}
	c.Flags().IntVarP(&num, "num", "n", 50, "pages to list; 0 for all")
	c.Flags().BoolVar(&asJSON, "json", false, "print as JSON, with what each reaches")
	return c
}
