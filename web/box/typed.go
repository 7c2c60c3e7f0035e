package box

import (
	"context"
	"unicode"
	"unicode/utf8"

	"anatomy/searcher"
	"anatomy/web/internal/params"
	"anatomy/web/internal/reader"
)

// maxCompletions bounds the searches for one answer: completions are of the whole collection, and
// may have no results within a site.
const maxCompletions = 3

// searchTyped answers a query within a site. With typing, the last word may be incomplete: if the
// query itself has no results, searchTyped searches the best completion that has some.
func searchTyped(
	ctx context.Context, read *reader.Reader, r searcher.Request, site []string, typing bool,
) (*searcher.Response, error) {
	typed := r.Query
	r.Query = params.Narrow(site, typed)
	a, err := read.Search(ctx, r)
	if err != nil || !typing || a.Total > 0 && a.Corrected == "" || !endsInWord(typed) {
		return a, err
	}
	for _, whole := range read.Collection.Complete(typed, maxCompletions) {
		r.Query = params.Narrow(site, whole)
		if b, err := read.Search(ctx, r); err == nil && b.Total > 0 && b.Corrected == "" {
			return b, nil
		}
	}
	return a, nil
}

// endsInWord reports whether a query ends in a letter or a digit.
func endsInWord(query string) bool {
	last, _ := utf8.DecodeLastRuneInString(query)
	return unicode.IsLetter(last) || unicode.IsDigit(last) || unicode.IsMark(last)
}
