package main

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"anatomy/engine"
	"anatomy/warc"
)

func newExport(s *shared) *cobra.Command {
	c := &cobra.Command{
		Use:     "export",
		Short:   "the pages, for other programs",
		Long:    "Export writes what is kept in a format that other programs read.",
		Example: "  anatomy export warc -o pages.warc.gz",
	}
	c.AddCommand(newExportWARC(s))
	return c
}

func newExportWARC(s *shared) *cobra.Command {
	var name string
	var gzip, zstd bool
	c := &cobra.Command{
		Use:   "warc",
		Short: "the pages as a web archive",
		Long: `Warc writes the pages in force as a web archive of version 1.1: a response for each page and redirect, a revisit
for each page that is the same as another. The records are compressed one by one if the file's name ends in .gz or
.zst, or a flag says so. The file appears when it is whole.`,
		Example: "  anatomy export warc -o pages.warc.gz\n  anatomy export warc --zstd >pages.warc.zst",
		Args:    exactly(0, "no arguments"),
		RunE: func(c *cobra.Command, _ []string) error {
			how := warc.Plain
			switch {
			case gzip && zstd:
				return usagef("--gzip and --zstd are two ways of the same")
			case gzip || !zstd && strings.HasSuffix(name, ".gz"):
				how = warc.Gzip
			case zstd || strings.HasSuffix(name, ".zst"):
				how = warc.Zstd
			}
			screen := newConsole(c.ErrOrStderr())
			line := progressOf(screen)
			var report engine.ExportReport
			err := writeWhole(c, name, func(w io.Writer) error {
				archive, err := warc.NewWriter(w, how)
				if err != nil {
					return err
				}
				report, err = engine.Export(c.Context(), archive, s.data, engine.ExportOptions{
					Software: "anatomy " + version(),
					Progress: func(r engine.ExportReport) { line(counted(r.Pages, "page")) },
				})
				return err
			})
			clearProgress(screen)
			if err != nil {
				return err
			}
			fmt.Fprintf(screen, "%s, %s and %s exported\n", counted(report.Pages, "page"), counted(report.Duplicates, "duplicate"), counted(report.Redirects, "redirect"))
			if report.Lost > 0 {
				fmt.Fprintf(screen, "%d duplicates are left out: their originals have changed since\n", report.Lost)
			}
			return nil
		},
	}
	c.Flags().StringVarP(&name, "output", "o", "-", "write to `FILE`; - is standard output")
	c.Flags().BoolVar(&gzip, "gzip", false, "compress with gzip")
	c.Flags().BoolVar(&zstd, "zstd", false, "compress with zstd")
	return c
}

// writeWhole has a file written that appears under its name when it is whole and on disk; - is standard
// output.
func writeWhole(c *cobra.Command, name string, write func(io.Writer) error) (err error) {
	if name == "-" {
		w := bufio.NewWriterSize(c.OutOrStdout(), 1<<20)
		return cmp.Or(write(w), w.Flush())
	}
	f, err := os.CreateTemp(filepath.Dir(name), filepath.Base(name)+".*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	w := bufio.NewWriterSize(f, 1<<20)
	if err := cmp.Or(write(w), w.Flush(), f.Chmod(0o644), f.Sync(), f.Close()); err != nil {
		f.Close()
		return err
	}
	if err := os.Rename(f.Name(), name); err != nil {
		return err
	}
	dir, err := os.Open(filepath.Dir(name))
	if err != nil {
		return err
	}
	defer dir.Close()
	return dir.Sync()
}

func newImport(s *shared) *cobra.Command {
	c := &cobra.Command{
		Use:     "import",
		Short:   "pages that other programs fetched",
		Long:    "Import takes pages into the data folder that another program fetched, and indexes them.",
		Example: "  anatomy import warc crawl-*.warc.gz",
	}
	c.AddCommand(newImportWARC(s))
	return c
}

func newImportWARC(s *shared) *cobra.Command {
	return &cobra.Command{
		Use:   "warc FILE...",
		Short: "the pages of web archives",
		Long: `Warc imports web archives, of version 1.1 or older, plain or compressed with gzip or zstd, such as those of wget,
Heritrix and browser extensions, and those in packages (.wacz). - is standard input.

The pages are stored, indexed and ranked as if they had been fetched when the archive says, and by the same rules:
pages that ask not to be shown are not, equal ones are kept once, and what is known as of the same time or later
stays. Links to other pages become known, and "anatomy crawl" fetches those within its scope. The same line again
goes on with what an interruption left out. Records that cannot be read are named and passed over.`,
		Example: "  anatomy import warc crawl-*.warc.gz my-session.wacz\n  zcat old.warc.gz | anatomy import warc -",
		Args:    atLeast(1, "one file or more"),
		RunE: func(c *cobra.Command, files []string) error {
			in, err := openArchives(c, files)
			if err != nil {
				return err
			}
			defer in.close()
			screen := newConsole(c.ErrOrStderr())
			line := progressOf(screen)
			bad := 0
			r, err := engine.Import(c.Context(), engine.ImportOptions{
				Dir: s.data, Files: in.names, Log: s.logger(screen, true), Open: in.open,
				Damaged: func(name string, err error) {
					if bad++; bad <= badLines {
						fmt.Fprintf(screen, "%s: a record is left out: %s\n", name, message(err))
					}
				},
				Progress: func(name string, r engine.ImportReport) {
					line(fmt.Sprintf("%s: %d records, %.1f MB; %d pages", name, r.Records, float64(r.Bytes)/1e6, r.Pages))
				},
			})
			clearProgress(screen)
			if bad > badLines {
				fmt.Fprintf(screen, "%d more records are left out\n", bad-badLines)
			}
			if err != nil {
				return err
			}
			printImport(c.OutOrStdout(), r)
			if r.Damaged > 0 {
				return hinted(fmt.Errorf("%d records of the archives could not be read", r.Damaged), "what could be is imported; get whole files for the rest, and import those")
			}
			return nil
		},
	}
}

// archives are the web archives that were named, those in packages one by one.
type archives struct {
	names    []string
	packed   map[string]func() (io.ReadCloser, error) // those in packages
	packages []*warc.Package
	c        *cobra.Command
}

// openArchives says which file cannot be read, before anything is done.
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
			return hinted(err, "a .wacz file is a zip file with web archives in its folder archive")
		}
		a.packages = append(a.packages, p)
		for _, member := range p.Archives() {
			full := name + "/" + member
			a.names = append(a.names, full)
			a.packed[full] = func() (io.ReadCloser, error) { return p.Open(member) }
		}
		return nil
	case name != "-":
		f, err := openInput(a.c, name)
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
	return openInput(a.c, name)
}

func (a *archives) close() {
	for _, p := range a.packages {
		p.Close()
	}
}

func printImport(w io.Writer, r engine.ImportReport) {
	fmt.Fprintf(w, "%s, %s and %s imported of %s, %.1f MB, in %.1f s\n",
		counted(r.Pages, "page"), counted(r.Duplicates, "duplicate"), counted(r.Redirects, "redirect"), counted(r.Records, "record"), float64(r.Bytes)/1e6, r.Took.Seconds())
	for _, left := range []struct {
		n    int
		what string
	}{
		{r.Old, "known already, as of that time or later"},
		{r.Gone, "of pages that were not there"},
		{r.Unsupported, "no page that is indexed, or an error of its server"},
		{r.Unresolved, "repeat a page that is not here"},
		{r.Other, "requests, metadata, robots.txt"},
	} {
		if left.n > 0 {
			fmt.Fprintf(w, "left out, %d: %s\n", left.n, left.what)
		}
	}
}

// progressOf gives a function that shows a line now and then: drawn over on a terminal, logged
// elsewhere.
func progressOf(screen *console) func(line string) {
	last := time.Now()
	return func(line string) {
		now := time.Now()
		switch {
		case screen.terminal != nil && now.Sub(last) >= drawEvery:
			screen.show(line)
		case screen.terminal == nil && now.Sub(last) >= logEvery:
			fmt.Fprintln(screen, line)
		default:
			return
		}
		last = now
	}
}

func clearProgress(screen *console) {
	if screen.terminal != nil {
		screen.show("")
	}
}
