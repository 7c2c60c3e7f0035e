package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"anatomy/cmd/anatomy/internal/cli"
	"anatomy/cmd/anatomy/internal/record"
	"anatomy/internal/plural"
	"anatomy/upkeep"
	"anatomy/warc"
)

func newImport(s *cli.GlobalFlags) *cobra.Command {
	c := &cobra.Command{
		Use:     "import",
		Short:   "add pages that other programs fetched",
		Long:    "Import adds pages that other programs fetched to the data folder and indexes them.",
		Example: "  anatomy import warc crawl-*.warc.gz",
	}
	c.AddCommand(newImportWARC(s))
	return c
}

func newImportWARC(s *cli.GlobalFlags) *cobra.Command {
	return &cobra.Command{
		Use:   "warc FILE...",
		Short: "add the pages of web archives (WARC, WACZ, ARC, WET)",
		Long: `Warc imports web archives: WARC 1.1 or older and ARC, plain or compressed with gzip, zstd or lz4, and WACZ packages,
as wget, Heritrix and browser extensions write them; Common Crawl's texts (WET); and ClueWeb09, with its wrong lengths
and dates. - is standard input.

Pages are stored, indexed and ranked as if they had been fetched at the time that the archive gives. noindex is
obeyed, duplicates are stored once, and a stored page from the same time or later is kept. Links to other
pages are recorded, and "anatomy crawl" fetches those in its scope. After an interruption the same command
continues. Damaged records are reported and skipped.`,
		Example: "  anatomy import warc crawl-*.warc.gz my-session.wacz\n  zcat old.warc.gz | anatomy import warc -",
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
			printImport(c.OutOrStdout(), r)
			if r.Damaged > 0 {
				return cli.WithHint(fmt.Errorf("%d records could not be read", r.Damaged), "all other records are imported; import intact copies of the files for the rest")
			}
			return nil
		}),
	}
}

// archives are the web archives named on the command line, with those in packages listed one by one.
type archives struct {
	names    []string
	packed   map[string]func() (io.ReadCloser, error) // opens an archive in a package, by its name
	packages []*warc.Package
	c        *cobra.Command
}

// openArchives fails if one of the files cannot be read.
func openArchives(c *cobra.Command, files []string) (*archives, error) {
	a := &archives{c: c, packed: map[string]func() (io.ReadCloser, error){}}
	for _, name := range files {
		if err := a.add(name); err != nil {
			a.close()
			return nil, err
		}
	}
	return a, nil
}

func (a *archives) add(name string) error {
	switch {
	case strings.HasSuffix(strings.ToLower(name), ".wacz"):
		p, err := warc.OpenPackage(name)
		if err != nil {
			return cli.WithHint(err, "a .wacz file is a zip file with WARC files in its folder archive")
		}
		a.packages = append(a.packages, p)
		for _, member := range p.Archives() {
			full := name + "/" + member
			a.names = append(a.names, full)
			a.packed[full] = func() (io.ReadCloser, error) { return p.Open(member) }
		}
		return nil
	case name != "-":
		f, err := cli.OpenInput(a.c, name)
		if err != nil {
			return err
		}
		f.Close()
	}
	a.names = append(a.names, name)
	return nil
}

func (a *archives) open(name string) (io.ReadCloser, error) {
	if open, ok := a.packed[name]; ok {
		return open()
	}
	return cli.OpenInput(a.c, name)
}

func (a *archives) close() {
	for _, p := range a.packages {
		p.Close()
	}
}

func printImport(w io.Writer, r upkeep.ImportReport) {
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
