package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"anatomy/disk/datadir"
	"anatomy/engine"
)

func newCompact(s *shared) *cobra.Command {
	var o engine.CompactOptions
	c := &cobra.Command{
		Use:   "compact",
		Short: "free the room of old versions and of removed pages",
		Long: `Compact copies what counts out of the files of the repository that hold much else, and deletes them: versions that
newer ones replaced, pages that are gone or were removed. It takes little memory, and room for one more file (1 GB)
while it works. Searches and the server go on meanwhile. It may be interrupted, or killed, at any time, and does the
rest when it is given again.

One process writes to a folder at a time: end the crawl first. A crawl with --watch compacts by itself when half of
the repository is dead.`,
		Example: "  anatomy compact\n  anatomy compact --share 0 --versions 3",
		Args:    exactly(0, "no arguments"),
		RunE: func(c *cobra.Command, _ []string) error {
			if o.Share < 0 || o.Share >= 1 || o.Versions < 0 {
				return usagef("--share is from 0 to under 1, --versions not negative")
			}
			screen := newConsole(c.ErrOrStderr())
			o.Log = s.logger(screen, false)
			shown := time.Now()
			o.Progress = func(r engine.CompactReport) {
				if time.Since(shown) < drawEvery {
					return
				}
				shown = time.Now()
				fmt.Fprintf(screen, "%d files rewritten; the repository takes %.1f MB, %.1f at first\n", r.Rewritten, float64(r.After)/1e6, float64(r.Before)/1e6)
			}
			r, err := engine.Compact(c.Context(), s.data, o)
			if errors.As(err, new(*datadir.BusyError)) {
				return hinted(err, "end the crawl first; one with --watch compacts by itself")
			}
			if err != nil {
				return err
			}
			fmt.Fprintf(c.OutOrStdout(), "%d of %d files rewritten: %d records kept, %d dropped; %.1f MB before, %.1f after; %.1f s\n",
				r.Rewritten, r.Files, r.Kept, r.Dropped, float64(r.Before)/1e6, float64(r.After)/1e6, r.Took.Seconds())
			if len(r.Damaged) > 0 {
				return hinted(fmt.Errorf("%w: %d files stay as they are", errDamaged, len(r.Damaged)), "what is damaged: "+s.command("check"))
			}
			return nil
		},
	}
	c.Flags().Float64Var(&o.Share, "share", 0.1, "rewrite files of which more than this `SHARE` is dead")
	c.Flags().IntVar(&o.Versions, "versions", 0, "keep the newest `N` older versions of each page")
	return c
}
