package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"anatomy/cmd/anatomy/internal/cli"
	"anatomy/cmd/anatomy/internal/record"
	"anatomy/control"
	"anatomy/disk/datadir"
	"anatomy/engine"
	"anatomy/internal/plural"
	"anatomy/upkeep"
)

func newRemove(s *cli.GlobalFlags) *cobra.Command {
	var undo, purge, asJSON bool
	c := &cobra.Command{
		Use:   "remove [URL|SITE|PATTERN]...",
		Short: "block pages, or unblock them",
		Long: `Remove blocks pages: they leave the results and are not fetched by this crawl or a later one. A URL names
one page; a SITE such as example.org all pages of that host and of the hosts below it; a PATTERN such as
'example.org/drafts/*' works as in crawl --exclude. A running crawl applies it, and a running server follows
within two seconds. Without arguments, remove lists what is blocked.

--undo unblocks: pages come back from the repository without a fetch, even outside the crawl's scope. Those that
--purge or "anatomy compact" deleted are fetched again. "anatomy trace URL" shows whether a page is blocked.

--purge deletes the pages from the disk, with their older versions: it blocks the targets, rewrites the repository and
the index without any blocked page, deletes leftover snapshots, and reads everything that remains to prove that nothing
of them is there. It needs a folder that no crawl uses. URLs stay in the list of what is blocked. Backups and exports
outside of the folder stay as they are.`,
		Example: `  anatomy remove https://example.org/private.html
  anatomy remove spam.example 'example.org/drafts/*'
  anatomy remove --undo spam.example
  anatomy remove --purge https://example.org/private.html
  anatomy remove`,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(c *cobra.Command, targets []string) error {
			switch {
			case len(targets) == 0 && purge:
				return cli.UsageErrorf("remove --purge needs a URL, site or pattern; anatomy remove lists what is blocked")
			case len(targets) == 0 && undo:
				return cli.UsageErrorf("remove --undo needs a URL, site or pattern; anatomy remove lists what is blocked")
			case len(targets) == 0:
				return listRemoved(c, s, asJSON)
			case undo && purge:
				return cli.UsageErrorf("--undo and --purge exclude each other")
			}
			return record.Calls(s, func(c *cobra.Command, targets []string) error {
				switch {
				case purge:
					return runPurge(c, s, targets, asJSON)
				case undo:
					return runUnblock(c, s, targets, asJSON)
				}
				return runBlock(c, s, targets, asJSON)
			})(c, targets)
		},
	}
	c.Flags().BoolVar(&undo, "undo", false, "unblock pages")
	c.Flags().BoolVar(&purge, "purge", false, "delete the pages from the disk, and prove it")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

func runBlock(c *cobra.Command, s *cli.GlobalFlags, targets []string, asJSON bool) error {
	r, err := removeOr(c.Context(), upkeep.Block, s.Data, targets)
	switch {
	case err != nil:
		return err
	case asJSON:
		return cli.PrintJSON(c.OutOrStdout(), r)
	}
	printBlocked(c.OutOrStdout(), &r)
	return nil
}

func runUnblock(c *cobra.Command, s *cli.GlobalFlags, targets []string, asJSON bool) error {
	r, err := removeOr(c.Context(), upkeep.Unblock, s.Data, targets)
	switch {
	case err != nil:
		return err
	case asJSON:
		return cli.PrintJSON(c.OutOrStdout(), r)
	case len(r.Patterns) == 0:
		return cli.WithHint(fmt.Errorf("%s: not blocked", strings.Join(targets, ", ")), "to list what is blocked: "+s.Command("remove"))
	}
	fmt.Fprintf(c.OutOrStdout(), "%s; patterns: %s\n", unblocked(&r), cli.OneLine(strings.Join(r.Patterns, ", ")))
	return nil
}

// printBlocked prints which documents were blocked.
func printBlocked(w io.Writer, r *control.BlockReport) {
	fmt.Fprintf(w, "%s; patterns: %s\n", blocked(r), cli.OneLine(strings.Join(r.Patterns, ", ")))
}

func blocked(r *control.BlockReport) string {
	if r.Documents == 0 {
		return "no known page matches, and crawls will not fetch one that does"
	}
	return fmt.Sprintf("%s blocked, %s among them", plural.Count(r.Documents, "document"), plural.Count(r.Pages, "page"))
}

func unblocked(r *control.BlockReport) string {
	text := fmt.Sprintf("%s unblocked, %d restored without a fetch", plural.Count(r.Documents, "document"), r.Restored)
	if r.Restored < r.Documents {
		text += ", the others fetched by a crawl"
	}
	return text
}

func runPurge(c *cobra.Command, s *cli.GlobalFlags, targets []string, asJSON bool) error {
	if err := upkeep.CheckTargets(targets); err != nil {
		return cli.UsageError{Err: err}
	}
	o := engine.Options{Log: s.Logger(cli.NewConsole(c.ErrOrStderr()), false), PDF: readPDF()}
	r, err := upkeep.Purge(c.Context(), s.Data, targets, o)
	switch {
	case errors.As(err, new(*datadir.BusyError)):
		return cli.WithHint(err, "end the crawl first; without --purge the running crawl blocks the pages")
	case errors.Is(err, upkeep.ErrNotPurged):
		return cli.WithHint(err, "run the same command again; if that does not help: "+s.Command("check"))
	case err != nil:
		return err
	case asJSON:
		return cli.PrintJSON(c.OutOrStdout(), r)
	}
	printBlocked(c.OutOrStdout(), &r.BlockReport)
	fmt.Fprintf(c.OutOrStdout(), "%s deleted; the repository takes %.1f MB of %.1f MB before; nothing of a blocked page is left in %s that were read\n",
		plural.Count(r.Dropped, "record"), float64(r.After)/1e6, float64(r.Before)/1e6, plural.Count(r.Proved, "item"))
	return nil
}

// removeOr calls do, or returns a UsageError if a target is invalid.
func removeOr(ctx context.Context, do func(context.Context, string, []string) (control.BlockReport, error), dir string, targets []string) (control.BlockReport, error) {
	if err := upkeep.CheckTargets(targets); err != nil {
		return control.BlockReport{}, cli.UsageError{Err: err}
	}
	return do(ctx, dir, targets)
}

func listRemoved(c *cobra.Command, s *cli.GlobalFlags, asJSON bool) error {
	patterns, err := upkeep.Blocked(c.Context(), s.Data)
	if err != nil {
		return err
	}
	if asJSON {
		return cli.PrintJSON(c.OutOrStdout(), control.BlockReport{Patterns: append([]string{}, patterns...)})
	}
	for _, p := range patterns {
		fmt.Fprintln(c.OutOrStdout(), p)
	}
	return nil
}
