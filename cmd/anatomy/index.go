package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"anatomy/engine"
)

func newIndex(s *shared) *cobra.Command {
	var o engine.RebuildOptions
	var megabytes int64
	var text, profile string
	c := &cobra.Command{
		Use:   "index",
		Short: "rebuild the index from the repository, or index given text",
		Long: `Index makes the inverted index, the link database and the ranks anew from the pages in the repository. Searches go
on in the old index until the new one replaces it in one step. The ranks are then those that favour no page,
whatever "anatomy pagerank" made of them before.

With --text it indexes lines of text instead, in a data folder of their own: id, title, words of the path and body,
parted by tabs. The id of a result is its URL where it is one, and else what follows http://text.invalid/. Lines
that are not so are named and left out. The result is one segment, whatever the workers and the memory.`,
		Example: "  anatomy index\n  anatomy index --data /srv/anatomy-data --workers 2\n  anatomy index --text pages.tsv --data text-data",
		Args:    exactly(0, "no arguments"),
		RunE: func(c *cobra.Command, _ []string) error {
			if o.Workers < 0 || megabytes < 1 || megabytes > 1<<20 {
				return usagef("--workers is not negative, --memory from 1 to %d", 1<<20)
			}
			o.BatchBytes, o.Log = megabytes<<20, s.logger(c.ErrOrStderr(), false)
			o.PDF = readPDF()
			collectAt(100) // 5 % of the CPU for a fifth more memory, of which an index takes less than a crawl
			stop, err := startProfile(profile)
			if err != nil {
				return err
			}
			defer stop()
			if c.Flags().Changed("text") {
				return indexText(c, s, text, engine.TextOptions{Workers: o.Workers, BatchBytes: o.BatchBytes, Log: o.Log})
			}
			r, err := engine.Rebuild(c.Context(), s.data, o)
			if err != nil {
				return err
			}
			fmt.Fprintf(c.OutOrStdout(), "%s and %s indexed in %.1f s\n", counted(r.Pages, "page"), counted(r.Links, "link"), r.Took.Seconds())
			return nil
		},
	}
	c.Flags().IntVar(&o.Workers, "workers", 0, "parse `N` pages at a time (default: one a core)")
	c.Flags().Int64Var(&megabytes, "memory", 48, "gather `MB` of pages before they are sorted")
	c.Flags().StringVar(&text, "text", "", "index the lines of `FILE` instead of the repository; - is standard input")
	profileFlag(c.Flags(), &profile)
	return c
}

// badLines is how many bad lines are named, one by one.
const badLines = 20

func indexText(c *cobra.Command, s *shared, name string, o engine.TextOptions) error {
	in, err := openInput(c, name)
	if err != nil {
		return err
	}
	defer in.Close()
	screen := newConsole(c.ErrOrStderr())
	bad := 0
	o.Bad = func(line int, err error) {
		if bad++; bad <= badLines {
			fmt.Fprintf(screen, "%s, line %d is left out: %s\n", name, line, message(err))
		}
	}
	o.Progress = textProgress(screen)
	r, err := engine.IndexText(c.Context(), s.data, in, o)
	if screen.terminal != nil {
		screen.show("")
	}
	switch {
	case errors.Is(err, engine.ErrHasPages):
		return hinted(err, "name another folder with --data: text is indexed in a folder of its own")
	case err != nil:
		return err
	case bad > badLines:
		fmt.Fprintf(screen, "%s: %d more lines are left out\n", name, bad-badLines)
	}
	fmt.Fprintf(c.OutOrStdout(), "%d documents of %.1f MB indexed in %.1f s, %.1f s of CPU: %.1f MB a CPU second; index %.1f MB, %.2f of the text\n",
		r.Documents, float64(r.Bytes)/1e6, r.Took.Seconds(), r.CPU.Seconds(), r.PerCPUSecond(), float64(r.IndexBytes)/1e6, float64(r.IndexBytes)/float64(max(r.Bytes, 1)))
	if r.Documents == 0 {
		return hinted(fmt.Errorf("%s: no line is a document", name), "a line holds id, title, path words and body, with a tab between")
	}
	return nil
}

// openInput opens a file; - is standard input.
func openInput(c *cobra.Command, name string) (io.ReadCloser, error) {
	if name == "-" {
		return io.NopCloser(c.InOrStdin()), nil
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, hinted(err, "name a file that can be read, or - for standard input")
	}
	return f, nil
}

// textProgress draws the progress on a terminal, and logs it elsewhere.
func textProgress(screen *console) func(documents int, bytes int64) {
	show := progressOf(screen)
	return func(documents int, bytes int64) {
		show(fmt.Sprintf("%d documents, %.1f MB", documents, float64(bytes)/1e6))
	}
}
