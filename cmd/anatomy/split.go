package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"anatomy/cmd/anatomy/internal/cli"
	"anatomy/disk/shards"
	"anatomy/internal/plural"
	"anatomy/upkeep"
)

func newSplit(s *cli.GlobalFlags) *cobra.Command {
	n := 0
	c := &cobra.Command{
		Use:   "split FOLDER",
		Short: "divide the data folder by site into several that are searched in parallel",
		Long: `Split makes a new folder with N data folders, its shards, and leaves the data folder as it is. Each shard has the
pages of some sites, with all links from and to them and the ranks that they have among all pages. A site with more
than half of all pages is divided by host. The crawl must have ended with its index merged, as it does by itself.

Search with --data FOLDER: the answers are those of the data folder, with the same scores. A query reads all shards at
the same time, on several cores. No crawl continues in these shards: crawl in the data folder, and split it again, or
crawl into shards from the start with "anatomy crawl --shards".`,
		Example: "  anatomy split --shards 4 split-data\n  anatomy serve --data split-data",
		Args:    cli.ExactArgs(1, "a new folder"),
		RunE: func(c *cobra.Command, args []string) error {
			if n < 1 || n > shards.Max {
				return cli.UsageErrorf("--shards must be from 1 to %d", shards.Max)
			}
			r, err := upkeep.Split(c.Context(), s.Data, args[0], n)
			switch {
			case errors.Is(err, upkeep.ErrNotEmpty):
				return cli.WithHint(err, "name a new or empty folder")
			case errors.Is(err, upkeep.ErrNotMerged):
				return cli.WithHint(err, "to complete it, end the crawl or run: "+s.Command("index"))
			case err != nil:
				return err
			}
			printSplit(c, args[0], &r)
			return nil
		},
	}
	c.Flags().IntVar(&n, "shards", 2, "make `N` shards")
	return c
}

func printSplit(c *cobra.Command, to string, r *upkeep.SplitReport) {
	out := c.OutOrStdout()
	for i, shard := range r.Shards {
		fmt.Fprintf(out, "%s: %s, %d known URLs, %d of other shards\n",
			shards.Folder(to, i), plural.Count(int(shard.Pages), "page"), shard.Known, shard.Foreign)
	}
	if len(r.Hosts) > 0 {
		fmt.Fprintf(out, "divided by host: %s\n", strings.Join(r.Hosts, ", "))
	}
	at := cli.GlobalFlags{Data: to}
	fmt.Fprintf(out, "split in %.1f s. To search: %s\n", r.Took.Seconds(), at.Command("serve"))
}
