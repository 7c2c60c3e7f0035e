package main

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"anatomy/engine"
	"anatomy/web"
	"anatomy/weburl"
)

// shownLinks is how many links are printed where --num does not say.
const shownLinks = 20

func newLinks(s *shared) *cobra.Command {
	var num int
	var asJSON bool
	c := &cobra.Command{
		Use:   "links URL",
		Short: "what links to a page, and what it links to",
		Long: `Links shows the pages that link to a page, with the words of their links, those first that bring it most PageRank,
and the pages that it links to. It also lists broken links and orphans, and writes the link graph out.`,
		Example: `  anatomy links https://docs.example.org/
  anatomy links broken
  anatomy links export --output graph.tsv.gz`,
		Args:              exactly(1, "one URL"),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(c *cobra.Command, args []string) error {
			u, err := engine.ParseSeed(args[0])
			if err != nil {
				return usageError{error: err}
			}
			return withLinks(s, func(l *engine.Links) error {
				r, err := linksOf(c.Context(), l, u, atMost(num))
				if errors.Is(err, engine.ErrUnknownURL) {
					return hinted(err, "to add it: "+s.command("crawl "+quoted(args[0])))
				}
				if err != nil {
					return err
				}
				if asJSON {
					return printJSON(c.OutOrStdout(), r)
				}
				return printLinks(c.OutOrStdout(), r)
			})
		},
	}
	c.Flags().IntVarP(&num, "num", "n", shownLinks, "links to show each way; 0 for all")
	c.Flags().BoolVar(&asJSON, "json", false, "print what the API answers, /api/v1/links")
	c.AddCommand(newBrokenLinks(s), newOrphans(s), newExportLinks(s))
	return c
}

// withLinks opens the links of the data folder for fn.
func withLinks(s *shared, fn func(*engine.Links) error) error {
	l, err := engine.OpenLinks(s.data)
	if err != nil {
		return err
	}
	return errors.Join(fn(l), l.Close())
}

// atMost is a number of things to show, of which 0 stands for all.
func atMost(num int) int {
	if num <= 0 {
		return int(^uint(0) >> 1)
	}
	return num
}

func linksOf(ctx context.Context, l *engine.Links, u weburl.URL, n int) (*web.LinkReport, error) {
	doc, err := l.Doc(ctx, u)
	if err != nil {
		return nil, err
	}
	return l.Of(ctx, doc, n)
}

func printLinks(w io.Writer, r *web.LinkReport) error {
	fmt.Fprintf(w, "%s\n\nlinked to by %s, %d of them on other sites", r.URL, counted(r.InCount, "page"), r.OffSite)
	if r.Rank > 0 {
		fmt.Fprintf(w, "; they bring %.0f %% of its PageRank, %.3g", 100*r.FromLinks/r.Rank, r.Rank)
	}
	fmt.Fprintln(w)
	for _, in := range r.In {
		share := ""
		if r.Rank > 0 {
			share = fmt.Sprintf("%5.1f %%", 100*in.Share/r.Rank)
		}
		fmt.Fprintf(w, "%s  %s  %s\n", share, in.URL, wording(in.Texts))
	}
	more(w, r.InCount-len(r.In))
	fmt.Fprintf(w, "\nIt links to %s", counted(r.OutCount, "page"))
	if r.Broken > 0 {
		fmt.Fprintf(w, ", of which %d do not exist", r.Broken)
	}
	fmt.Fprintln(w)
	for _, out := range r.Out {
		note := ""
		if out.Broken {
			note += "  (does not exist)"
		}
		if out.NoFollow {
			note += "  (nofollow)"
		}
		fmt.Fprintf(w, "  %s%s\n", out.URL, note)
	}
	more(w, r.OutCount-len(r.Out))
	return nil
}

// wording shows the words of links as quotations.
func wording(texts []string) string {
	shown := make([]string, len(texts))
	for i, text := range texts {
		shown[i] = fmt.Sprintf("%q", text)
	}
	return strings.Join(shown, " ")
}

func more(w io.Writer, n int) {
	if n > 0 {
		fmt.Fprintf(w, "  … and %d more: --num 0 shows all\n", n)
	}
}

func newBrokenLinks(s *shared) *cobra.Command {
	var num int
	var asJSON bool
	c := &cobra.Command{
		Use:   "broken",
		Short: "links to pages that do not exist",
		Long: `Broken lists every address that some page links to and that is not there (404, 410, no such name), with the pages
that link to it: those with most first. What you removed with "anatomy remove" is not among them.`,
		Example: "  anatomy links broken\n  anatomy links broken --json --num 0",
		Args:    exactly(0, "no arguments"),
		RunE: func(c *cobra.Command, _ []string) error {
			return withLinks(s, func(l *engine.Links) error {
				removed, err := engine.Bans(c.Context(), s.data)
				if err != nil { // another command may write to the folder, which links need not wait for
					s.logger(c.ErrOrStderr(), false).Warn("pages that you removed may be among these", "because", err)
				}
				broken, err := l.Broken(c.Context(), atMost(num), removed)
				if err != nil {
					return err
				}
				if asJSON {
					return printJSON(c.OutOrStdout(), broken)
				}
				for _, b := range broken {
					fmt.Fprintf(c.OutOrStdout(), "%s, from %s\n", b.URL, counted(b.Count, "page"))
					for _, in := range b.From {
						fmt.Fprintf(c.OutOrStdout(), "  %s  %s\n", in.URL, wording(in.Texts))
					}
					more(c.OutOrStdout(), b.Count-len(b.From))
				}
				return nil
			})
		},
	}
	c.Flags().IntVarP(&num, "num", "n", 5, "pages to show for each address; 0 for all")
	c.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	return c
}

func newOrphans(s *shared) *cobra.Command {
	return &cobra.Command{
		Use:     "orphans",
		Short:   "pages that no other page links to",
		Long:    "Orphans lists the pages that only seeds and sitemaps lead to: no other page links there, but for nofollow links.",
		Example: "  anatomy links orphans",
		Args:    exactly(0, "no arguments"),
		RunE: func(c *cobra.Command, _ []string) error {
			return withLinks(s, func(l *engine.Links) error {
				return l.Orphans(c.Context(), func(url string) error {
					_, err := fmt.Fprintln(c.OutOrStdout(), url)
					return err
				})
			})
		},
	}
}

func newExportLinks(s *shared) *cobra.Command {
	var output string
	var urls bool
	c := &cobra.Command{
		Use:   "export",
		Short: "the link graph as an edge list",
		Long: `Export writes the graph that PageRank is computed on, source and target a line, as docIDs that "anatomy pagerank
--edges" reads. Redirects and duplicates are resolved to the pages that they are; nofollow links are left out.`,
		Example: "  anatomy links export | sort -k2n | head\n  anatomy links export --urls --output graph.tsv.gz",
		Args:    exactly(0, "no arguments"),
		RunE: func(c *cobra.Command, _ []string) error {
			return withLinks(s, func(l *engine.Links) error {
				if output == "" {
					return l.Export(c.Context(), c.OutOrStdout(), urls)
				}
				return writeFile(output, func(w io.Writer) error { return l.Export(c.Context(), w, urls) })
			})
		},
	}
	c.Flags().StringVarP(&output, "output", "o", "", "`FILE` to write, compressed where it ends in .gz; default: standard output")
	c.Flags().BoolVar(&urls, "urls", false, "URLs in place of docIDs")
	return c
}

// writeFile writes a file whole or not at all, compressed where its name ends in .gz.
func writeFile(name string, write func(io.Writer) error) (err error) {
	f, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+".*")
	if err != nil {
		return hinted(err, "--output takes the name of a file to write")
	}
	defer func() {
		if err != nil {
			os.Remove(f.Name())
		}
	}()
	if strings.HasSuffix(name, ".gz") {
		z := gzip.NewWriter(f)
		err = errors.Join(write(z), z.Close())
	} else {
		err = write(f)
	}
	if err = errors.Join(err, f.Chmod(0o644), f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), name)
}
