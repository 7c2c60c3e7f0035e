package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"anatomy/cmd/anatomy/internal/cli"
	"anatomy/cmd/anatomy/internal/record"
	"anatomy/disk/datadir"
	"anatomy/engine"
	"anatomy/upkeep"
)

func newCompact(s *cli.GlobalFlags) *cobra.Command {
	var o engine.CompactOptions
	c := &cobra.Command{
		Use:   "compact",
		Short: "reclaim the space of old versions and removed pages",
		Long: `Compact deletes superseded versions and removed pages from the repository: it copies the live records of a file to
the end of the repository and deletes the file. It needs free space for one file (1 GB). Searches and the server
continue. It can be interrupted or killed at any time; the same command continues.

End a running crawl first, because one process at a time writes to a data folder. A crawl with --watch compacts by
itself when half of the repository is dead.`,
		Example: "  anatomy compact\n  anatomy compact --share 0 --versions 3",
		Args:    cli.ExactArgs(0, "no arguments"),
		RunE: record.Calls(s, func(c *cobra.Command, _ []string) error {
			if o.Share < 0 || o.Share >= 1 || o.Versions < 0 {
				return cli.UsageErrorf("--share must be at least 0 and below 1, --versions at least 0")
			}
			screen := cli.NewConsole(c.ErrOrStderr())
			o.Log = s.Logger(screen, false)
			shown := time.Now()
			o.Progress = func(r engine.CompactReport) {
				if time.Since(shown) < cli.DrawEvery {
					return
				}
				shown = time.Now()
				fmt.Fprintf(screen, "%d files rewritten; the repository takes %.1f MB of %.1f MB before\n", r.Rewritten, float64(r.After)/1e6, float64(r.Before)/1e6)
			}
			r, err := upkeep.Compact(c.Context(), s.Data, o)
			if errors.As(err, new(*datadir.BusyError)) {
				return cli.WithHint(err, "end the crawl first; a crawl with --watch compacts by itself")
			}
			if err != nil {
				return err
			}
			fmt.Fprintf(c.OutOrStdout(), "%d of %d files rewritten: %d records kept, %d dropped; %.1f MB before, %.1f after; %.1f s\n",
				r.Rewritten, r.Files, r.Kept, r.Dropped, float64(r.Before)/1e6, float64(r.After)/1e6, r.Took.Seconds())
			if len(r.Damaged) > 0 {
				return cli.WithHint(fmt.Errorf("%w: %d files were left unchanged", errDamaged, len(r.Damaged)), "to see what is damaged: "+s.Command("check"))
			}
			return nil
		}),
	}
	c.Flags().Float64Var(&o.Share, "share", 0.1, "rewrite files with more than this `SHARE` of dead records")
	c.Flags().IntVar(&o.Versions, "versions", 0, "keep `N` superseded versions of each page")
	return c
}
