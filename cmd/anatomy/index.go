package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"anatomy/cmd/anatomy/internal/cli"
	"anatomy/cmd/anatomy/internal/record"
	"anatomy/disk/datadir"
	"anatomy/internal/plural"
	"anatomy/upkeep"
)

func newIndex(s *cli.GlobalFlags) *cobra.Command {
	var o upkeep.RebuildOptions
	var megabytes int64
	var text, profile, public string
	c := &cobra.Command{
		Use:   "index",
		Short: "rebuild the index from the repository, or index a text file",
		Long: `Index rebuilds the inverted index, the link database and the ranks from the pages in the repository. Searches use
the old index until the new one replaces it in one step. The ranks are computed with the defaults of
"anatomy pagerank".

With --text it indexes lines of text instead, in a data folder of their own: id, title, words of the path and body,
separated by tabs. An id that is a URL is the URL of the result; others follow http://text.invalid/. Invalid lines
are reported and skipped. The result is one segment, with any number of workers and any memory.

With --public-only it makes a new data folder of the pages that were fetched without credentials, and no trace of the
rest, for "anatomy serve --public-only". Run it again, into another new folder, to include later pages.`,
		Example: "  anatomy index\n  anatomy index --data /srv/anatomy-data --workers 2\n  anatomy index --text pages.tsv --data text-data",
		Args:    cli.ExactArgs(0, "no arguments"),
		RunE: func(c *cobra.Command, _ []string) error {
			if o.Workers < 0 || megabytes < 1 || megabytes > 1<<20 {
				return cli.UsageErrorf("--workers must be at least 0, --memory from 1 to %d", 1<<20)
			}
			o.BatchBytes, o.Log = megabytes<<20, s.Logger(c.ErrOrStderr(), false)
			o.PDF = readPDF()
			setGCPercent(100) // saves 5 % of the CPU for a fifth more memory; a crawl needs more
			stop, err := cli.StartProfile(profile)
			if err != nil {
				return err
			}
			defer stop()
			if c.Flags().Changed("public-only") {
				return record.Calls(&cli.GlobalFlags{Data: public}, func(c *cobra.Command, _ []string) error {
					return indexPublic(c, s, public)
				})(c, nil)
			}
			return record.Calls(s, func(c *cobra.Command, _ []string) error {
				if c.Flags().Changed("text") {
					return indexText(c, s, text, upkeep.TextOptions{
						Workers: o.Workers, BatchBytes: o.BatchBytes, Log: o.Log,
					})
				}
				return rebuild(c, s, o)
			})(c, nil)
		},
	}
	c.Flags().IntVar(&o.Workers, "workers", 0, "parse `N` pages at a time (default: one per core)")
	c.Flags().Int64Var(&megabytes, "memory", 48, "sort batches of `MB` of pages")
	c.Flags().StringVar(&text, "text", "", "index the lines of `FILE` instead of the repository; - is standard input")
	c.Flags().StringVar(&public, "public-only", "", "make the new data folder `FOLDER` of the pages that were fetched without credentials")
	c.MarkFlagsMutuallyExclusive("text", "public-only")
	cli.ProfileFlag(c.Flags(), &profile)
	return c
}

func rebuild(c *cobra.Command, s *cli.GlobalFlags, o upkeep.RebuildOptions) error {
	r, err := upkeep.Rebuild(c.Context(), s.Data, o)
	if err != nil {
		return err
	}
	fmt.Fprintf(c.OutOrStdout(), "%s and %s indexed in %.1f s\n",
		plural.Count(r.Pages, "page"), plural.Count(r.Links, "link"), r.Took.Seconds())
	return nil
}

// indexPublic makes the data folder to from the pages that were fetched without credentials.
func indexPublic(c *cobra.Command, s *cli.GlobalFlags, to string) error {
	if err := datadir.CheckVersion(s.Data); err != nil {
		return err
	}
	screen := cli.NewConsole(c.ErrOrStderr())
	line := screen.Progress()
	r, err := upkeep.Public(c.Context(), s.Data, upkeep.ImportOptions{
		Dir: to, Log: s.Logger(screen, true),
		Progress: func(_ string, r upkeep.ImportReport) { line(plural.Count(r.Pages, "page")) },
	})
	screen.SetStatus("")
	if errors.Is(err, upkeep.ErrNotEmpty) {
		return cli.WithHint(err, "name a new folder: anatomy index --public-only FOLDER")
	}
	if err != nil {
		return err
	}
	at := cli.GlobalFlags{Data: to}
	fmt.Fprintf(c.OutOrStdout(), "%s fetched without credentials are in %s. To serve them: %s\n",
		plural.Count(r.Pages, "page"), to, at.Command("serve --public-only"))
	return nil
}

// badLines is the number of invalid lines that are reported one by one.
const badLines = 20

func indexText(c *cobra.Command, s *cli.GlobalFlags, name string, o upkeep.TextOptions) error {
	in, err := cli.OpenInput(c, name)
	if err != nil {
		return err
	}
	defer in.Close()
	screen := cli.NewConsole(c.ErrOrStderr())
	bad := 0
	o.Bad = func(line int, err error) {
		if bad++; bad <= badLines {
			fmt.Fprintf(screen, "%s:%d: line skipped: %s\n", name, line, cli.ErrorText(err))
		}
	}
	o.Progress = textProgress(screen)
	r, err := upkeep.IndexText(c.Context(), s.Data, in, o)
	screen.SetStatus("")
	switch {
	case errors.Is(err, upkeep.ErrHasPages):
		return cli.WithHint(err, "name another folder with --data; text needs a data folder of its own")
	case err != nil:
		return err
	case bad > badLines:
		fmt.Fprintf(screen, "%s: %d more lines skipped\n", name, bad-badLines)
	}
	fmt.Fprintf(c.OutOrStdout(), "%s of %.1f MB indexed in %.1f s, %.1f s of CPU: %.1f MB per CPU second; index %.1f MB, %.2f of the text\n",
		plural.Count(r.Documents, "document"), float64(r.Bytes)/1e6, r.Took.Seconds(), r.CPU.Seconds(), r.PerCPUSecond(), float64(r.IndexBytes)/1e6, float64(r.IndexBytes)/float64(max(r.Bytes, 1)))
	if r.Documents == 0 {
		return cli.WithHint(fmt.Errorf("%s holds no valid line", name), "a line has id, title, path words and body, separated by tabs")
	}
	return nil
}

// textProgress returns a function that shows the progress of indexing.
func textProgress(screen *cli.Console) func(documents int, bytes int64) {
	show := screen.Progress()
	return func(documents int, bytes int64) {
		show(fmt.Sprintf("%d documents, %.1f MB", documents, float64(bytes)/1e6))
	}
}
