// Package export has the commands that write a collection for other programs.
package export

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"anatomy/cmd/anatomy/internal/cli"
	"anatomy/internal/plural"
	"anatomy/upkeep"
	"anatomy/warc"
)

// New returns the command.
func New(s *cli.GlobalFlags, version string) *cobra.Command {
	c := &cobra.Command{
		Use:     "export",
		Short:   "write the pages in formats of other programs",
		Long:    "Export writes pages, or what is known of them, in a format that other programs read.",
		Example: "  anatomy export warc -o pages.warc.gz\n  anatomy export parallel -o pairs.tsv",
	}
	c.AddCommand(newWARC(s, version), newParallel(s, version))
	return c
}

func newWARC(s *cli.GlobalFlags, version string) *cobra.Command {
	var name, index string
	var gzip, zstd bool
	c := &cobra.Command{
		Use:   "warc",
		Short: "write the pages as a web archive (WARC)",
		Long: `Warc writes the current version of each page as WARC/1.1: a response record for each page and redirect, a revisit
record for each duplicate. Records are compressed one by one if the file's name ends in .gz or .zst, or with
--gzip or --zstd. The file appears under its name when it is complete.

--cdxj also writes an index, by which players of web archives such as pywb find a page in the file. Pages that
were fetched with "anatomy crawl --keep-headers" have their whole headers, and a request record each; others have the
header fields that indexing needs.`,
		Example: "  anatomy export warc -o pages.warc.gz --cdxj pages.cdxj\n  anatomy export warc --zstd >pages.warc.zst",
		Args:    cli.ExactArgs(0, "no arguments"),
		RunE: func(c *cobra.Command, _ []string) error {
			how := warc.Plain
			switch {
			case index != "" && name == "-":
				return cli.UsageErrorf("--cdxj needs -o FILE, which the index names")
			case index != "" && isSameFile(name, index):
				return cli.UsageErrorf("-o and --cdxj name the same file")
			case gzip && zstd:
				return cli.UsageErrorf("--gzip and --zstd exclude each other")
			case gzip || !zstd && strings.HasSuffix(name, ".gz"):
				how = warc.Gzip
			case zstd || strings.HasSuffix(name, ".zst"):
				how = warc.Zstd
			}
			screen := cli.NewConsole(c.ErrOrStderr())
			line := screen.Progress()
			var report upkeep.ExportReport
			var written func(warc.Entry)
			var lines []string
			if index != "" {
				written = func(e warc.Entry) {
					e.Filename = filepath.Base(name)
					lines = append(lines, e.Line())
				}
			}
			err := cli.WriteOutput(c, name, func(w io.Writer) error {
				archive, err := warc.NewWriter(w, how)
				if err != nil {
					return err
				}
				report, err = upkeep.Export(c.Context(), archive, s.Data, upkeep.ExportOptions{
					Software: "anatomy " + version,
					Written:  written,
					Progress: func(r upkeep.ExportReport) { line(plural.Count(r.Pages, "page")) },
				})
				return err
			})
			screen.SetStatus("")
			if err == nil && index != "" {
				slices.Sort(lines)
				err = cli.WriteOutput(c, index, func(w io.Writer) error {
					for _, line := range lines {
						if _, err := io.WriteString(w, line+"\n"); err != nil {
							return err
						}
					}
					return nil
				})
			}
			if err != nil {
				return err
			}
			fmt.Fprintf(screen, "%s, %s and %s exported\n", plural.Count(report.Pages, "page"), plural.Count(report.Duplicates, "duplicate"), plural.Count(report.Redirects, "redirect"))
			if report.Lost > 0 {
				fmt.Fprintf(screen, "%d duplicates were left out, because their originals changed since\n", report.Lost)
			}
			return nil
		},
	}
	c.Flags().StringVarP(&name, "output", "o", "-", "write to `FILE`; - is standard output")
	c.Flags().StringVar(&index, "cdxj", "", "also write an index of the archive to `FILE` (CDXJ)")
	c.Flags().BoolVar(&gzip, "gzip", false, "compress with gzip")
	c.Flags().BoolVar(&zstd, "zstd", false, "compress with zstd")
	return c
}

// isSameFile reports whether two names, of files that need not exist, name the same file.
func isSameFile(a, b string) bool {
	if x, err := os.Stat(a); err == nil {
		y, err := os.Stat(b)
		return err == nil && os.SameFile(x, y)
	}
	inFolder := filepath.Base(a) == filepath.Base(b)
	x, errX := os.Stat(filepath.Dir(a))
	y, errY := os.Stat(filepath.Dir(b))
	return inFolder && errX == nil && errY == nil && os.SameFile(x, y)
}
