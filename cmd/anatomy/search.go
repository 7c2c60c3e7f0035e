package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"anatomy/engine"
	"anatomy/searcher"
	"anatomy/web"
)

func newSearch(s *shared) *cobra.Command {
	var r searcher.Request
	var asJSON bool
	var weights string
	c := &cobra.Command{
		Use:   "search QUERY...",
		Short: "search in the terminal",
		Long: `Search finds pages that hold all words, themselves or in the text of links to them. "phrases", -without,
this OR that, ( … ), site:host/path, intitle:word, inurl:word, inanchor:word. Quote the query for the shell; one that
begins with - stands after --.`,
		Example: `  anatomy search page rank
  anatomy search '"page rank" -draft'
  anatomy search -- '-draft page'
  anatomy search 'type:image diagram'
  anatomy search --json '"anchor text" site:docs.example.org'`,
		Args:              atLeast(1, "a query"),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(c *cobra.Command, words []string) error {
			r.Query = strings.TrimSpace(strings.Join(words, " "))
			if err := checkRequest(r); err != nil {
				return err
			}
			if rest, images := searcher.ForImages(r.Query); images {
				r.Query = rest
				return searchImages(c, s.data, r, asJSON)
			}
			return withWeights(s.data, weights, func(found *searcher.Searcher) error {
				answer, err := searchWell(c.Context(), found, r)
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
	c.Flags().BoolVar(&asJSON, "json", false, "print what the API answers, /api/v1/search")
	c.Flags().IntVarP(&r.Limit, "num", "n", searcher.DefaultLimit, fmt.Sprintf("print at most `N` results, 1 to %d", searcher.MaxLimit))
	c.Flags().IntVar(&r.Offset, "start", 0, "pass over `N` results")
	c.Flags().StringVar(&r.Lang, "lang", "", "the `LANGUAGE` in which words have forms: de, fr (default: that of most pages)")
	c.Flags().BoolVar(&r.Verbatim, "verbatim", false, "never answer another spelling of the query")
	rankFlag(c, &r.Rank)
	c.Flags().BoolVar(&r.Ungrouped, "all", false, "show every page by itself: none folded into one that says nearly the same, a host as often as it comes")
	c.Flags().Uint64Var((*uint64)(&r.Similar), "similar", 0, "show the pages that are folded into the result of document `N`")
	c.Flags().BoolVar(&r.Explain, "explain", false, "show each score as a sum")
	weightsFlag(c, &weights)
	c.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return usageError{err, "a query with a minus goes in quotes: anatomy search 'page -draft', or -- '-draft page'"}
	})
	return c
}

// fewResults are so few that another spelling may be meant.
const fewResults = 10

// searchWell searches; where that finds little it learns the spellings of the index, which takes some
// tenths of a second, and searches with them.
func searchWell(ctx context.Context, s *searcher.Searcher, r searcher.Request) (*searcher.Response, error) {
	answer, err := s.Search(ctx, r)
	if err != nil || answer.Total >= fewResults || answer.Documents == 0 {
		return answer, err
	}
	if err := s.Learn(ctx); err != nil {
		return nil, err
	}
	return s.Search(ctx, r)
}

// checkRequest holds a request to the bounds that the API has.
func checkRequest(r searcher.Request) error {
	switch {
	case r.Query == "":
		return usagef("the query is empty")
	case len(r.Query) > web.MaxQuery:
		return usagef("the query has %d bytes; the limit is %d", len(r.Query), web.MaxQuery)
	case r.Limit < 1 || r.Limit > searcher.MaxLimit:
		return usagef("--num is a number from 1 to %d", searcher.MaxLimit)
	case r.Offset < 0 || r.Offset > searcher.MaxOffset:
		return usagef("--start is a number from 0 to %d", searcher.MaxOffset)
	}
	return nil
}

// printJSON prints a value as the API does, on one line.
func printJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

func printResults(w io.Writer, a *searcher.Response, r searcher.Request) {
	relation := ""
	if !a.Exact {
		relation = "at least "
	}
	fmt.Fprintf(w, "%s%d of %d pages match %s (%.1f ms)\n", relation, a.Total, a.Documents, oneLine(a.Interpreted), float64(a.Took)/float64(time.Millisecond))
	for _, note := range append(a.Cut, a.Why) {
		if note != "" {
			fmt.Fprintln(w, oneLine(note))
		}
	}
	for _, f := range a.Forms {
		fmt.Fprintf(w, "%s: also %s\n", f.Word, strings.Join(f.Forms, ", "))
	}
	if a.Corrected != "" {
		fmt.Fprintf(w, "Showing results for %s; --verbatim insists on the query as it was.\n", oneLine(a.Corrected))
	}
	if a.Suggestion != "" {
		fmt.Fprintf(w, "Did you mean %s?\n", oneLine(a.Suggestion))
	}
	for i, p := range a.Results {
		fmt.Fprintf(w, "\n%d. %s\n   %s\n", r.Offset+i+1, oneLine(cmp.Or(p.Title, p.URL)), oneLine(p.URL))
		if len(p.Missing) > 0 {
			fmt.Fprintf(w, "   missing: %s\n", oneLine(strings.Join(p.Missing, ", ")))
		}
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
		printGroup(w, &p)
		if p.Explanation != nil {
			printExplanation(w, p.Explanation, "   ")
		}
	}
	if a.Folded > 0 && !a.Next {
		fmt.Fprintf(w, "\n%d more say nearly the same as one of these: --all shows every page\n", a.Folded)
	}
	if a.Next {
		fmt.Fprintf(w, "\nmore: --start %d\n", r.Offset+len(a.Results))
	}
}

// printGroup tells of the pages that are not shown beside a result.
func printGroup(w io.Writer, p *searcher.Result) {
	if p.Similar > 0 {
		fmt.Fprintf(w, "   %d similar: --similar %d\n", p.Similar, p.Doc)
	}
	if u, err := url.Parse(p.URL); err == nil && p.More > 0 {
		fmt.Fprintf(w, "   %d more of this host: site:%s\n", p.More, oneLine(u.Host))
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
	var weights, rank string
	c := &cobra.Command{
		Use:   "explain QUERY URL",
		Short: "every term of a page's score",
		Long: `Explain shows the score of a page for a query as a sum that adds up exactly, or says which word the page lacks.
The page need not be among the first results.`,
		Example:           "  anatomy explain 'anchor text' https://docs.example.org/links.html",
		Args:              exactly(2, "a query and a URL"),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(c *cobra.Command, args []string) error {
			if strings.TrimSpace(args[0]) == "" {
				return usagef("the query is empty")
			}
			u, err := engine.ParseSeed(args[1])
			if err != nil {
				return usageError{error: err}
			}
			return withWeights(s.data, weights, func(found *searcher.Searcher) error {
				e, err := found.Explain(c.Context(), searcher.Request{Query: args[0], Rank: rank}, u.String())
				if errors.Is(err, searcher.ErrNotIndexed) {
					return hinted(err, "why it is not there: "+s.command("trace "+quoted(args[1])))
				}
				if err != nil {
					return err
				}
				fmt.Fprintln(c.OutOrStdout(), oneLine(e.URL))
				printExplanation(c.OutOrStdout(), e, "")
				return nil
			})
		},
	}
	rankFlag(c, &rank)
	weightsFlag(c, &weights)
	return c
}

// rankFlag adds --rank.
func rankFlag(c *cobra.Command, name *string) {
	c.Flags().StringVar(name, "rank", "", "order by the rank vector `NAME`, see \"anatomy pagerank list\" (default: \"default\")")
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
	if f := e.Folded; f != nil {
		fmt.Fprintf(w, "%sfolded under %s because their distance is %d\n", indent, oneLine(f.URL), f.Distance)
	}
	switch {
	case e.Matches:
	case len(e.Missing) > 0:
		fmt.Fprintf(w, "%sno result of this query: the page lacks %s\n", indent, strings.Join(e.Missing, ", "))
	default:
		fmt.Fprintf(w, "%sno result of this query: the page does not match it\n", indent)
	}
}
