package reader

import (
	"slices"
	"testing"
	"time"

	"anatomy/searcher"
	"anatomy/web/internal/recent"
)

// TestCountOfCorrectedQueries: a misspelt query whose correction has results needs nothing of the
// operator. One whose correction has none, and one that a visitor insists on, found nothing.
func TestCountOfCorrectedQueries(t *testing.T) {
	var kept recent.Searches
	r := New(nil, 1, nil, &kept, time.Now)
	r.Count(searcher.Request{Query: "garbge"}, &searcher.Response{Corrected: "garbage", Total: 3})
	r.Count(searcher.Request{Query: "garbge colector"}, &searcher.Response{Corrected: "garbage collector", Most: 2})
	if got := kept.Fruitless(); len(got) != 0 {
		t.Errorf("corrected queries that found something are listed: %v", got)
	}
	r.Count(searcher.Request{Query: "garbge nothing"}, &searcher.Response{Suggestion: "garbage nothing"})
	r.Count(searcher.Request{Query: "garbge", Verbatim: true}, &searcher.Response{Suggestion: "garbage"})
	want := []recent.FruitlessQuery{{Query: "garbge", Count: 1}, {Query: "garbge nothing", Count: 1}}
	if got := kept.Fruitless(); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
