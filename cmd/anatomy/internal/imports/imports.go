// Package imports has the commands that add what other programs fetched.
package imports

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"anatomy/cmd/anatomy/internal/cli"
	"anatomy/cmd/anatomy/internal/record"
	"anatomy/internal/plural"
	"anatomy/upkeep"
)

// New returns the command.
func New(s *cli.GlobalFlags) *cobra.Command {
	c := &cobra.Command{
		Use:     "import",
		Short:   "add pages that other programs fetched",
		Long:    "Import adds pages that other programs fetched to the data folder and indexes them.",
		Example: "  anatomy import warc crawl-*.warc.gz",
	}
	c.AddCommand(newWARC(s))
	return c
}

// badLines is the number of damaged records that are reported one by one.
const badLines = 20

func newWARC(s *cli.GlobalFlags) *cobra.Command {
	return &cobra.Command{
		Use:   "warc FILE...",
		Short: "add the pages of web archives (WARC, WACZ, ARC, WET)",
		Long: `Warc imports web archives: WARC 1.1 or older and ARC, plain or compressed with gzip, zstd or lz4, and WACZ packages,
as wget, Heritrix and browser extensions write them; Common Crawl's texts (WET); and ClueWeb09, with its wrong lengths
and dates. - is standard input.

For an index (CDXJ, named .cdxj) only the records that it names are imported, from archives in its folder. A part of
an index imports a part of a large archive.

Pages are stored, indexed and ranked as if they had been fetched at the time that the archive gives. noindex is
obeyed, duplicates are stored once, and a stored page from the same time or later is kept. Links to other
pages are recorded, and "anatomy crawl" fetches those in its scope. After an interruption the same command
continues. Damaged records are reported and skipped.`,
		Example: "  anatomy import warc crawl-*.warc.gz my-session.wacz\n  zcat old.warc.gz | anatomy import warc -\n  grep '^org,example' all.cdxj >some.cdxj && anatomy import warc some.cdxj",
		Args:    cli.MinArgs(1, "one file or more"),
		RunE: record.Calls(s, func(c *cobra.Command, files []string) error {
			in, err := openArchives(c, files)
			if err != nil {
				return err
			}
			defer in.close()
			screen := cli.NewConsole(c.ErrOrStderr())
			line := screen.Progress()
			bad := 0
			r, err := upkeep.Import(c.Context(), upkeep.ImportOptions{
				Dir: s.Data, Files: in.names, Log: s.Logger(screen, true), Open: in.open,
				Damaged: func(name string, err error) {
					if bad++; bad <= badLines {
						fmt.Fprintf(screen, "%s: record skipped: %s\n", name, cli.ErrorText(err))
					}
				},
				Progress: func(name string, r upkeep.ImportReport) {
					line(fmt.Sprintf("%s: %d records, %.1f MB; %d pages", name, r.Records, float64(r.Bytes)/1e6, r.Pages))
				},
			})
			screen.SetStatus("")
			if bad > badLines {
				fmt.Fprintf(screen, "%d more records skipped\n", bad-badLines)
			}
			if err != nil {
				return err
			}
			printReport(c.OutOrStdout(), r)
			if r.Damaged > 0 {
				return cli.WithHint(fmt.Errorf("%s could not be read", plural.Count(r.Damaged, "record")), "all other records are imported; import intact copies of the files for the rest")
			}
			return nil
		}),
	}
}

func printReport(w io.Writer, r upkeep.ImportReport) {
	fmt.Fprintf(w, "%s, %s and %s imported of %s, %.1f MB, in %.1f s\n",
		plural.Count(r.Pages, "page"), plural.Count(r.Duplicates, "duplicate"), plural.Count(r.Redirects, "redirect"), plural.Count(r.Records, "record"), float64(r.Bytes)/1e6, r.Took.Seconds())
	for _, left := range []struct {
		n    int
		what string
	}{
		{r.Old, "stored already, from that time or later"},
		{r.Gone, "answers 404 or 410"},
		{r.Unsupported, "types that are not indexed, and server errors"},
		{r.Unresolved, "revisits of a page that is not stored"},
		{r.Other, "requests, metadata, robots.txt"},
	} {
		if left.n > 0 {
			fmt.Fprintf(w, "%d skipped: %s\n", left.n, left.what)
		}
	}
}
