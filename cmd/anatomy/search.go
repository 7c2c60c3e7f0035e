package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/text/language"

	"anatomy/cmd/anatomy/internal/cli"
	"anatomy/cmd/anatomy/internal/quality"
	"anatomy/internal/plural"
	"anatomy/searcher"
	"anatomy/web"
	"anatomy/web/api"
	"anatomy/weburl"
)

func newSearch(s *cli.GlobalFlags) *cobra.Command {
	var r searcher.Request
	var asJSON bool
	var weights string
	c := &cobra.Command{
		Use:   "search QUERY...",
		Short: "search in the terminal",
		Long: `Search finds pages with all words of the query in their text or in the text of links to them. Operators: "phrase",
-without, this OR that, ( … ), site:host/path, intitle:word, inurl:word, inanchor:word. Quote the query for the shell,
and put -- before a query that starts with -.`,
		Example: `  anatomy search getting started
  anatomy search '"getting started" -draft'
  anatomy search -- '-draft page'
  anatomy search 'type:image diagram'
  anatomy search --json '"anchor text" site:docs.example.org'`,
		Args:              cli.MinArgs(1, "a query"),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(c *cobra.Command, words []string) error {
			r.Query = strings.TrimSpace(strings.Join(words, " "))
			if err := checkRequest(r); err != nil {
				return err
			}
			if rest, images := searcher.ForImages(r.Query); images {
				r.Query = rest
				return searchImages(c, s.Data, r, asJSON)
			}
			return quality.WithWeights(s.Data, weights, func(found *searcher.Searcher) error {
				answer, err := searchWell(c.Context(), found, r)
				if err != nil {
					return err
				}
				if asJSON {
					return cli.PrintJSON(c.OutOrStdout(), api.Answer(r, answer))
				}
				printResults(c.OutOrStdout(), answer, r)
				return nil
			})
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON, as /api/v1/search does")
	c.Flags().IntVarP(&r.Limit, "num", "n", searcher.DefaultLimit, fmt.Sprintf("print at most `N` results, 1 to %d", searcher.MaxLimit))
	c.Flags().IntVar(&r.Offset, "start", 0, "skip the first `N` results")
	c.Flags().StringVar(&r.Lang, "lang", "", "`LANGUAGE` of the query's words, for their other forms: de, fr (default: that of most pages)")
	c.Flags().BoolVar(&r.Verbatim, "verbatim", false, "do not correct the spelling")
	rankingFlags(c, &r)
	c.Flags().BoolVar(&r.Ungrouped, "all", false, "show near-duplicates, pages in every language, and all results of a host")
	c.Flags().Uint64Var((*uint64)(&r.Similar), "similar", 0, "show the near-duplicates of document `N`")
	c.Flags().BoolVar(&r.Explain, "explain", false, "show each score as a sum")
	quality.WeightsFlag(c, &weights)
	c.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		if errors.As(err, new(*pflag.InvalidValueError)) {
			return cli.FlagError(c, err)
		}
		return cli.UsageError{Err: err, Hint: "quote a query with a minus: anatomy search 'page -draft', or -- '-draft page'"}
	})
	return c
}

// fewResults is the number of matches below which the query may be misspelt.
const fewResults = 10

// searchWell searches. If it finds fewer than fewResults, it builds the spelling dictionary, which takes
// some tenths of a second, and searches again.
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

// checkRequest checks a request against the bounds of the API.
func checkRequest(r searcher.Request) error {
	switch {
	case r.Query == "":
		return cli.UsageErrorf("the query is empty")
	case len(r.Query) > web.MaxQuery:
		return cli.UsageErrorf("the query has %d bytes; the limit is %d", len(r.Query), web.MaxQuery)
	case r.Limit < 1 || r.Limit > searcher.MaxLimit:
		return cli.UsageErrorf("--num must be from 1 to %d", searcher.MaxLimit)
	case r.Offset < 0 || r.Offset > searcher.MaxOffset:
		return cli.UsageErrorf("--start must be from 0 to %d", searcher.MaxOffset)
	}
	if _, err := language.Parse(r.Lang); r.Lang != "" && err != nil {
		return cli.UsageErrorf("--lang: %q is not the code of a language, such as de or pt-BR", r.Lang)
	}
	return nil
}

func printResults(w io.Writer, a *searcher.Response, r searcher.Request) {
	found := "1 page matches"
	if a.Total != 1 {
		found = fmt.Sprintf("%d pages match", a.Total)
	}
	if !a.Exact {
		found = "at least " + found
	}
	if asked := cli.OneLine(a.Interpreted); asked != "" { // a query without words has none
		found += " " + asked
	}
	most := ""
	if a.Most > 0 {
		most = fmt.Sprintf(", and %d have most of its words", a.Most)
	}
	fmt.Fprintf(w, "%s%s (%.1f ms)\n", found, most, float64(a.Took)/float64(time.Millisecond))
	for _, note := range append(a.Cut, a.Why) {
		if note != "" {
			fmt.Fprintln(w, cli.OneLine(note))
		}
	}
	for _, f := range a.Forms {
		fmt.Fprintf(w, "%s: also %s\n", f.Word, strings.Join(f.Forms, ", "))
	}
	if a.Corrected != "" {
		fmt.Fprintf(w, "Showing results for %s. To search for the original spelling, add --verbatim.\n", cli.OneLine(a.Corrected))
	}
	if a.Suggestion != "" {
		fmt.Fprintf(w, "Did you mean %s?\n", cli.OneLine(a.Suggestion))
	}
	for i, p := range a.Results {
		fmt.Fprintf(w, "\n%d. %s\n   %s\n", r.Offset+i+1, cli.OneLine(cmp.Or(p.Title, p.URL)), cli.OneLine(p.Link()))
		if p.Pin != nil {
			fmt.Fprintln(w, cli.OneLine(strings.TrimSuffix("   pinned: "+p.Pin.Note, ": ")))
		}
		if len(p.Missing) > 0 {
			fmt.Fprintf(w, "   missing: %s\n", cli.OneLine(strings.Join(p.Missing, ", ")))
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
			for line := range strings.SplitSeq(b.String(), "\n") {
				fmt.Fprintf(w, "   %s\n", cli.OneLine(line))
			}
		}
		printGroup(w, &p)
		if p.Explanation != nil {
			printExplanation(w, p.Explanation, "   ")
		}
	}
	if a.Folded > 0 && !a.Next {
		fmt.Fprintf(w, "\n%s not shown (near-duplicates, other languages); to show all: --all\n", plural.Count(a.Folded, "result"))
	}
	if a.Next {
		fmt.Fprintf(w, "\nmore: --start %d\n", r.Offset+len(a.Results))
	}
}

// printGroup prints how many pages are collapsed into a result.
func printGroup(w io.Writer, p *searcher.Result) {
	for i, v := range p.Versions {
		fmt.Fprint(w, []string{"   also in ", ", "}[min(i, 1)], v.Lang, []string{"", "\n"}[(i+1)/len(p.Versions)])
	}
	if p.Similar > 0 {
		fmt.Fprintf(w, "   %d similar: --similar %d\n", p.Similar, p.Doc)
	}
	if u, err := url.Parse(p.URL); err == nil && p.More > 0 {
		fmt.Fprintf(w, "   %d more of this host: site:%s\n", p.More, cli.OneLine(u.Host))
	}
}

func newExplain(s *cli.GlobalFlags) *cobra.Command {
	var weights string
	var r searcher.Request
	c := &cobra.Command{
		Use:   "explain QUERY URL",
		Short: "show the score of a page as a sum",
		Long: `Explain shows the score of a page for a query as a sum of all its terms, or which words the page lacks. The page need
not be among the first results.`,
		Example:           "  anatomy explain 'anchor text' https://docs.example.org/links.html",
		Args:              cli.ExactArgs(2, "a query and a URL"),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(c *cobra.Command, args []string) error {
			if strings.TrimSpace(args[0]) == "" {
				return cli.UsageErrorf("the query is empty")
			}
			u, err := weburl.ParseTyped(args[1])
			if err != nil {
				return cli.UsageError{Err: err}
			}
			return quality.WithWeights(s.Data, weights, func(found *searcher.Searcher) error {
				r.Query = args[0]
				e, err := found.Explain(c.Context(), r, u.String())
				if errors.Is(err, searcher.ErrNotIndexed) {
					return cli.WithHint(err, "to see why: "+s.Command("trace "+cli.ShellQuote(args[1])))
				}
				if err != nil {
					return err
				}
				fmt.Fprintln(c.OutOrStdout(), cli.OneLine(e.URL))
				printExplanation(c.OutOrStdout(), e, "")
				return nil
			})
		},
	}
	rankingFlags(c, &r)
	quality.WeightsFlag(c, &weights)
	return c
}

// rankingFlags adds --rank and --anchors.
func rankingFlags(c *cobra.Command, r *searcher.Request) {
	f := c.Flags()
	f.StringVar(&r.Rank, "rank", "", "use the rank vector `NAME` of \"anatomy pagerank list\", none, or near: and the URL of a page to rank from (default \"default\")")
	f.Var(anchorsFlag{&r.Anchors}, "anchors", "score pages by the texts of `all|others|none` of the links to them; others: those from other sites (default all)")
}

// An anchorsFlag is the value of --anchors.
type anchorsFlag struct{ used *searcher.Anchors }

func (f anchorsFlag) String() string { return "" }
func (f anchorsFlag) Type() string   { return "string" }

func (f anchorsFlag) Set(name string) (err error) {
	*f.used, err = searcher.ParseAnchors(name)
	return err
}

// printExplanation prints the sum, one line per term.
func printExplanation(w io.Writer, e *searcher.Explanation, indent string) {
	for _, p := range e.Parts {
		name := p.Name
		if p.Word != "" {
			name += " " + p.Word
		}
		fmt.Fprintf(w, "%s%12.6f  %-28s %s\n", indent, p.Points.Points(), cli.OneLine(name), cli.OneLine(p.Detail))
	}
	fmt.Fprintf(w, "%s%12.6f  score\n", indent, e.Score.Points())
	if f := e.Folded; f != nil {
		why := fmt.Sprintf("near-duplicate at distance %d", f.Distance)
		if f.Lang != "" {
			why = "the same page in another language, " + f.Lang
		}
		fmt.Fprintf(w, "%scollapsed into %s: %s\n", indent, cli.OneLine(f.URL), why)
	}
	if e.Pinned {
		fmt.Fprintf(w, "%spinned for this query, so that it comes first\n", indent)
	}
	switch {
	case e.Matches:
	case len(e.Missing) > 0:
		fmt.Fprintf(w, "%snot a result of this query: the page lacks %s\n", indent, strings.Join(e.Missing, ", "))
	default:
		fmt.Fprintf(w, "%snot a result of this query\n", indent)
	}
}
