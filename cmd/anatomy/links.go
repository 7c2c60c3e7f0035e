package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"anatomy/cmd/anatomy/internal/cli"
	"anatomy/collection"
	"anatomy/control"
	"anatomy/internal/plural"
	"anatomy/upkeep"
	"anatomy/vocab"
	"anatomy/weburl"
)

// shownLinks is the default of --num.
const shownLinks = 20

func newLinks(s *cli.GlobalFlags) *cobra.Command {
	var num int
	var asJSON bool
	c := &cobra.Command{
		Use:   "links URL",
		Short: "list the links to and from a page",
		Long: `Links lists the pages that link to a page, with their anchor texts, ordered by the PageRank that they contribute, and
the pages that it links to. Subcommands list broken links and orphans, propose synonyms, and export the link
graph.`,
		Example: `  anatomy links https://docs.example.org/
  anatomy links broken
  anatomy links export --output graph.tsv.gz`,
		Args:              cli.ExactArgs(1, "one URL"),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(c *cobra.Command, args []string) error {
			u, err := weburl.ParseTyped(args[0])
			if err != nil {
				return cli.UsageError{Err: err}
			}
			return withLinks(s, func(l *collection.Links) error {
				r, err := linksOf(c.Context(), l, u, cli.AtMost(num))
				if errors.Is(err, control.ErrUnknownURL) {
					return cli.WithHint(err, "to add it: "+s.Command("crawl "+cli.ShellQuote(args[0])))
				}
				if err != nil {
					return err
				}
				if asJSON {
					return cli.PrintJSON(c.OutOrStdout(), r)
				}
				return printLinks(c.OutOrStdout(), r)
			})
		},
	}
	c.Flags().IntVarP(&num, "num", "n", shownLinks, "list at most `N` links in each direction; 0 for all")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON, as /api/v1/links does")
	c.AddCommand(newBrokenLinks(s), newOrphans(s), newLinkedSynonyms(s), newExportLinks(s))
	return c
}

// withLinks calls fn with the link database of the data folder.
func withLinks(s *cli.GlobalFlags, fn func(*collection.Links) error) error {
	l, err := collection.OpenLinks(s.Data)
	if err != nil {
		return err
	}
	return errors.Join(fn(l), l.Close())
}

func linksOf(ctx context.Context, l *collection.Links, u weburl.URL, n int) (*collection.LinkReport, error) {
	doc, err := l.Doc(u)
	if err != nil {
		return nil, err
	}
	return l.Of(ctx, doc, n)
}

func printLinks(w io.Writer, r *collection.LinkReport) error {
	fmt.Fprintf(w, "%s\n\nlinked to by %s, %d of them on other sites", r.URL, plural.Count(r.InCount, "page"), r.OffSite)
	if r.Rank > 0 {
		fmt.Fprintf(w, "; they contribute %.0f %% of its PageRank, %.3g", 100*r.FromLinks/r.Rank, r.Rank)
	}
	fmt.Fprintln(w)
	for _, in := range r.In {
		share := ""
		if r.Rank > 0 {
			share = fmt.Sprintf("%5.1f %%", 100*in.Share/r.Rank)
		}
		fmt.Fprintf(w, "%s  %s  %s\n", share, in.URL, quoteAll(in.Texts))
	}
	more(w, r.InCount-len(r.In))
	fmt.Fprintf(w, "\nIt links to %s", plural.Count(r.OutCount, "page"))
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

// quoteAll returns anchor texts in quotes.
func quoteAll(texts []string) string {
	shown := make([]string, len(texts))
	for i, text := range texts {
		shown[i] = fmt.Sprintf("%q", text)
	}
	return strings.Join(shown, " ")
}

func more(w io.Writer, n int) {
	if n > 0 {
		fmt.Fprintf(w, "  … and %d more; --num 0 shows all\n", n)
	}
}

func newBrokenLinks(s *cli.GlobalFlags) *cobra.Command {
	var num int
	var asJSON bool
	c := &cobra.Command{
		Use:   "broken",
		Short: "list links to pages that do not exist",
		Long: `Broken lists the URLs that pages link to and that do not exist (404, 410, unknown host), with the pages that link to
them, most links first. Pages removed with "anatomy remove" are not listed.`,
		Example: "  anatomy links broken\n  anatomy links broken --json --num 0",
		Args:    cli.ExactArgs(0, "no arguments"),
		RunE: func(c *cobra.Command, _ []string) error {
			return withLinks(s, func(l *collection.Links) error {
				removed, err := upkeep.Blocked(c.Context(), s.Data)
				if err != nil { // another command may hold the folder's lock, for which links need not wait
					s.Logger(c.ErrOrStderr(), false).Warn("the list may include pages that you removed", "error", err)
				}
				broken, err := l.Broken(c.Context(), cli.AtMost(num), removed)
				if err != nil {
					return err
				}
				if asJSON {
					return cli.PrintJSON(c.OutOrStdout(), broken)
				}
				for _, b := range broken {
					fmt.Fprintf(c.OutOrStdout(), "%s, from %s\n", b.URL, plural.Count(b.Count, "page"))
					for _, in := range b.From {
						fmt.Fprintf(c.OutOrStdout(), "  %s  %s\n", in.URL, quoteAll(in.Texts))
					}
					more(c.OutOrStdout(), b.Count-len(b.From))
				}
				return nil
			})
		},
	}
	c.Flags().IntVarP(&num, "num", "n", 5, "list at most `N` pages for each URL; 0 for all")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

func newOrphans(s *cli.GlobalFlags) *cobra.Command {
	return &cobra.Command{
		Use:     "orphans",
		Short:   "list pages that no other page links to",
		Long:    "Orphans lists pages that only start URLs, sitemaps or nofollow links lead to. Start URLs of crawls are marked.",
		Example: "  anatomy links orphans | grep -v 'start URL'",
		Args:    cli.ExactArgs(0, "no arguments"),
		RunE: func(c *cobra.Command, _ []string) error {
			return withLinks(s, func(l *collection.Links) error {
				seeds, err := l.Seeds()
				if err != nil { // a crawl may hold the folder's lock, for which links need not wait
					s.Logger(c.ErrOrStderr(), false).Warn("start URLs are not marked", "error", err)
				}
				return l.Orphans(c.Context(), func(doc vocab.DocID, url string) error {
					if seeds[doc] {
						url += "  (start URL)"
					}
					_, err := fmt.Fprintln(c.OutOrStdout(), url)
					return err
				})
			})
		},
	}
}

func newLinkedSynonyms(s *cli.GlobalFlags) *cobra.Command {
	var num int
	var asJSON bool
	c := &cobra.Command{
		Use:   "synonyms",
		Short: "propose synonyms from links to home pages",
		Long: `Synonyms lists words with similar letters that other sites use for the same home page, as texts of links or as names of
sites that redirect to it, with the numbers of these sites. Many groups are names of one thing, and some are not: delete
those, and add the others to the file of synonyms that anatomy.toml names.`,
		Example: "  anatomy links synonyms > anatomy-data/synonyms.txt   # then, below [search] in anatomy.toml: synonyms = 'synonyms.txt'",
		Args:    cli.ExactArgs(0, "no arguments"),
		RunE: func(c *cobra.Command, _ []string) error {
			return withLinks(s, func(l *collection.Links) error {
				all, err := l.Synonyms(c.Context())
				if err != nil {
					return err
				}
				all = all[:min(len(all), cli.AtMost(num))]
				if asJSON {
					return cli.PrintJSON(c.OutOrStdout(), all)
				}
				for _, g := range all {
					var sites []string
					for _, n := range g.Sites {
						sites = append(sites, fmt.Sprint(n))
					}
					fmt.Fprintf(c.OutOrStdout(), "%s  # %s: %s sites\n", strings.Join(g.Words, " = "), g.Host, strings.Join(sites, " and "))
				}
				return nil
			})
		},
	}
	c.Flags().IntVarP(&num, "num", "n", 0, "list at most `N` groups; 0 for all")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

func newExportLinks(s *cli.GlobalFlags) *cobra.Command {
	var output string
	var urls bool
	c := &cobra.Command{
		Use:   "export",
		Short: "export the link graph as an edge list",
		Long: `Export writes the graph that PageRank is computed on: one link per line, as the docIDs of source and target, and
"# node N" for a page without outlinks. "anatomy pagerank --edges" reads it, and computes the ranks of the vector "pages".
Redirects and duplicates are resolved; nofollow links are omitted.`,
		Example: "  anatomy links export | grep -v '^#' | sort -k2n | head\n  anatomy links export --urls --output graph.tsv.gz",
		Args:    cli.ExactArgs(0, "no arguments"),
		RunE: func(c *cobra.Command, _ []string) error {
			return withLinks(s, func(l *collection.Links) error {
				export := func(w io.Writer) error { return l.Export(c.Context(), w, urls) }
				return cli.WriteOutput(c, output, cli.GzipFor(output, export))
			})
		},
	}
	c.Flags().StringVarP(&output, "output", "o", "", "write to `FILE`, compressed if it ends in .gz (default: standard output)")
	c.Flags().BoolVar(&urls, "urls", false, "write URLs instead of docIDs")
	return c
}
