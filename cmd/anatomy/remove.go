package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"anatomy/engine"
)

func newRemove(s *shared) *cobra.Command {
	var undo, asJSON bool
	c := &cobra.Command{
		Use:   "remove [URL|SITE|PATTERN]...",
		Short: "remove pages for good, or bring them back; without arguments, what is removed",
		Long: `Remove takes pages out of the results at once, and keeps them from being fetched again by this crawl and every
later one. A URL is that page alone; a SITE, such as example.org, is all its pages and those of all hosts below it; a
PATTERN is as of crawl --exclude, such as 'example.org/drafts/*'. The crawl that runs on the data folder does it where
one does, and a server that runs follows within a second or two.

With --undo what was removed is fetched again by the crawl that runs, or by the next. "anatomy trace URL" says of a page
that it was removed. What is stored of it leaves the disk with "anatomy compact --share 0".`,
		Example: `  anatomy remove https://example.org/private.html
  anatomy remove spam.example 'example.org/drafts/*'
  anatomy remove --undo spam.example
  anatomy remove`,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(c *cobra.Command, targets []string) error {
			if len(targets) == 0 {
				if undo {
					return usagef("remove --undo takes what was removed; anatomy remove lists it")
				}
				return listRemoved(c, s, asJSON)
			}
			do, said := engine.Ban, "%s removed, %s among them; patterns: %q\n"
			if undo {
				do, said = engine.Unban, "%s free to be fetched again, %s among them; patterns: %q\n"
			}
			report, err := removeOr(c.Context(), do, s.data, targets)
			switch {
			case err != nil:
				return err
			case asJSON:
				return printJSON(c.OutOrStdout(), report)
			case undo && len(report.Patterns) == 0:
				return hinted(fmt.Errorf("%q was not removed", targets), "what is: "+s.command("remove"))
			}
			fmt.Fprintf(c.OutOrStdout(), said, counted(report.Documents, "document"), counted(report.Pages, "page"), report.Patterns)
			return nil
		},
	}
	c.Flags().BoolVar(&undo, "undo", false, "bring back what was removed")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

// removeOr tells targets that make no sense from failures.
func removeOr(ctx context.Context, do func(context.Context, string, []string) (engine.BanReport, error), dir string, targets []string) (engine.BanReport, error) {
	if err := engine.CheckTargets(targets); err != nil {
		return engine.BanReport{}, usageError{error: err}
	}
	return do(ctx, dir, targets)
}

func listRemoved(c *cobra.Command, s *shared, asJSON bool) error {
	patterns, err := engine.Bans(c.Context(), s.data)
	if err != nil {
		return err
	}
	if asJSON {
		return printJSON(c.OutOrStdout(), engine.BanReport{Patterns: append([]string{}, patterns...)})
	}
	for _, p := range patterns {
		fmt.Fprintln(c.OutOrStdout(), p)
	}
	return nil
}
