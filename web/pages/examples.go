package pages

import (
	"context"
	"slices"
	"strings"
	"unicode"

	"anatomy/searcher"
	"anatomy/web/internal/address"
	"anatomy/web/internal/reader"
	"anatomy/web/internal/text"
)

// plainExamples are queries of some kinds, without links: what they find depends on the collection.
var plainExamples = []helpExample{
	{Query: `"new york"`, Means: "this very phrase"},
	{Query: "jaguar -car", Means: "without a word"},
	{Query: "site:example.org/docs", Means: "one site, or a part of it"},
	{Query: "intitle:news", Means: "in the title"},
}

// examplesQuery finds the pages of whose titles examples are made.
const examplesQuery = "filetype:html OR filetype:txt OR filetype:md"

// Bounds of examples.
const (
	examplePages   = 30 // whose titles give words
	exampleLetters = 4  // fewest of a word: shorter ones say little by themselves
	exampleTries   = 5  // queries of a kind that are tried
)

// findExamples returns what people can ask this collection: a query of each kind of plainExamples. The
// words are of the titles of the pages with the highest PageRank, and each query finds something. A kind
// without such a query is left out; it returns nil if all are.
func findExamples(ctx context.Context, reader *reader.Reader) *[]helpExample {
	best, err := reader.Search(ctx, searcher.Request{Query: examplesQuery, Limit: examplePages})
	if err != nil || len(best.Results) == 0 {
		return nil
	}
	var list []helpExample
	for i, queries := range exampleQueries(best.Results) {
		others := min(i, len(queries)) // not all kinds from the same title
		queries = slices.Concat(queries[others:], queries[:others])
		for _, q := range queries[:min(exampleTries, len(queries))] {
			a, err := reader.Search(ctx, searcher.Request{Query: q, Limit: 1, Verbatim: true})
			if err != nil {
				return nil
			}
			if len(a.Results) > 0 {
				list = append(list, helpExample{q, plainExamples[i].Means, address.SearchHref("/search", searcher.Request{Query: q}, 0)})
				break
			}
		}
	}
	if list == nil {
		return nil
	}
	return &list
}

// exampleQueries returns queries of the kinds of plainExamples about some pages.
func exampleQueries(pages []searcher.Result) [][]string {
	kinds := make([][]string, len(plainExamples))
	add := func(kind int, query string) {
		if !slices.Contains(kinds[kind], query) {
			kinds[kind] = append(kinds[kind], query)
		}
	}
	var words []string // of all titles, different
	for _, p := range pages {
		title := exampleWords(text.Visible(p.Title))
		if len(title) >= 2 {
			if pair := title[0] + " " + title[1]; strings.Contains(strings.ToLower(p.Title), pair) {
				add(0, `"`+pair+`"`)
			}
		}
		for _, w := range title {
			if !slices.Contains(words, w) {
				words = append(words, w)
			}
		}
		add(2, "site:"+text.HostOf(p.URL))
	}
	for i, w := range words {
		add(3, "intitle:"+w)
		if i > 0 {
			add(1, words[i-1]+" -"+w)
		}
	}
	return kinds
}

// exampleWords returns the words of a text that are long enough and of letters alone, in lower case.
func exampleWords(s string) (words []string) {
	for _, w := range strings.FieldsFunc(s, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' }) {
		isWord := !strings.ContainsFunc(w, func(r rune) bool { return !unicode.IsLetter(r) })
		if isWord && len([]rune(w)) >= exampleLetters {
			words = append(words, strings.ToLower(w))
		}
	}
	return words
}
