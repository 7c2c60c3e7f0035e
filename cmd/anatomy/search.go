package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"anatomy/disk/datadir"
	"anatomy/searcher"
	"anatomy/web"
)

func newSearch(s *shared) *cobra.Command {
	var r searcher.Request
	var asJSON bool
	c := &cobra.Command{
		Use:     "search QUERY...",
		Short:   "search in the terminal",
		Long:    "Search finds pages that hold all words. \"phrases\", -without, this OR that, site:host/path, intitle:word, inurl:word.",
		Example: "  anatomy search page rank\n  anatomy search --json '\"anchor text\" site:docs.example.org'",
		Args:    atLeast(1, "a query"),
		RunE: func(c *cobra.Command, words []string) error {
			r.Query = strings.Join(words, " ")
			return withSearcher(s.data, func(found *searcher.Searcher) error {
				answer, err := found.Search(c.Context(), r)
				if err != nil {
					return err
				}
				if asJSON {
					return printJSON(c.OutOrStdout(), web.Answer(r, answer))
				}
				printResults(c.OutOrStdout(), answer, r)
				return nil
			})
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print what the API answers")
	c.Flags().IntVar(&r.Limit, "num", searcher.DefaultLimit, "results to print")
	c.Flags().IntVar(&r.Offset, "start", 0, "results to pass over")
	c.Flags().BoolVar(&r.Explain, "explain", false, "show each score as a sum")
	return c
}

// withSearcher opens the data folder for one question.
func withSearcher(dir string, ask func(*searcher.Searcher) error) error {
	if err := datadir.CheckVersion(dir); err != nil {
		return err
	}
	s, err := searcher.Open(dir, searcher.Options{})
	if err != nil {
		return err
	}
	return errors.Join(ask(s), s.Close())
}

func printJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

func printResults(w io.Writer, a *searcher.Response, r searcher.Request) {
	relation := ""
	if !a.Exact {
		relation = "at least "
	}
	fmt.Fprintf(w, "%s%d of %d pages match %s (%.1f ms)\n", relation, a.Total, a.Documents, a.Interpreted, float64(a.Took)/float64(time.Millisecond))
	if a.Why != "" {
		fmt.Fprintln(w, a.Why)
	}
	for i, p := range a.Results {
		fmt.Fprintf(w, "\n%d. %s\n   %s\n", r.Offset+i+1, oneLine(cmp.Or(p.Title, p.URL)), p.URL)
		var b strings.Builder
		for _, f := range p.Snippet {
			if f.Mark {
				b.WriteString("*" + f.Text + "*")
			} else {
				b.WriteString(f.Text)
			}
		}
		if b.Len() > 0 {
			fmt.Fprintf(w, "   %s\n", oneLine(b.String()))
		}
		if p.Explanation != nil {
			printExplanation(w, p.Explanation, "   ")
		}
	}
	if a.Next {
		fmt.Fprintf(w, "\nmore: --start %d\n", r.Offset+len(a.Results))
	}
}

// oneLine keeps text from the web from moving the cursor or colouring the terminal.
func oneLine(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && r < 0xa0 {
			return ' '
		}
		return r
	}, text)
}

func newExplain(s *shared) *cobra.Command {
	return &cobra.Command{
		Use:     "explain QUERY URL",
		Short:   "every term of a page's score",
		Example: "  anatomy explain 'anchor text' https://docs.example.org/links.html",
		Args:    exactly(2, "a query and a URL"),
		RunE: func(c *cobra.Command, args []string) error {
			return withSearcher(s.data, func(found *searcher.Searcher) error {
				e, err := explain(c.Context(), found, args[0], args[1])
				if err != nil {
					return err
				}
				fmt.Fprintln(c.OutOrStdout(), e.URL)
				printExplanation(c.OutOrStdout(), e, "")
				return nil
			})
		},
	}
}

func explain(ctx context.Context, s *searcher.Searcher, query, url string) (*searcher.Explanation, error) {
	e, err := s.Explain(ctx, query, url)
	if errors.Is(err, searcher.ErrNotIndexed) {
		return nil, hinted(err, "why it is not there says: anatomy trace "+url)
	}
	return e, err
}

// printExplanation prints the sum, a line a term.
func printExplanation(w io.Writer, e *searcher.Explanation, indent string) {
	for _, p := range e.Parts {
		name := p.Name
		if p.Word != "" {
			name += " " + p.Word
		}
		fmt.Fprintf(w, "%s%12.6f  %-28s %s\n", indent, p.Points.Points(), oneLine(name), oneLine(p.Detail))
	}
	fmt.Fprintf(w, "%s%12.6f  score\n", indent, e.Score.Points())
}
