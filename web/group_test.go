package web

import (
	"fmt"
	"html"
	"net/http"
	"strings"
	"testing"

	"anatomy/searcher"
	"anatomy/vocab"
)

// What is folded or passed over is counted and linked, in pages and for programs, and asked for as it is linked.
func TestGroups(t *testing.T) {
	f := newFake()
	found := *f.answers["inverted index"]
	found.Results = append([]searcher.Result(nil), found.Results[:12]...)
	found.Results[0].Similar, found.Results[1].Similar, found.Results[2].More = 3, 1, 7
	found.Total, found.Folded = 16, 4
	f.answers["grouped"] = &found
	s := newServer(f)

	first, last := get(t, s, "/search?q=grouped", http.StatusOK), get(t, s, "/search?q=grouped&start=10", http.StatusOK)
	for _, want := range []string{
		`<a href="/search?q=grouped&similar=4711">3 similar pages</a>`, `<a href="/search?q=grouped&similar=12">1 similar page</a>`,
		`<a href="/search?q=grouped+site%3Aja.docs.test" dir="ltr">more from ja.docs.test</a>`, `aria-label="Page 2"`,
	} {
		if !strings.Contains(html.UnescapeString(first), want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	for page, count := range map[string]int{first: 0, last: 1} {
		if n := strings.Count(html.UnescapeString(page), `<a href="/search?filter=0&q=grouped">Show all pages</a>`); n != count {
			t.Errorf("every page is offered %d times, want %d", n, count)
		}
	}
	if strings.Contains(first, `aria-label="Page 3"`) {
		t.Error("pages of results count what is folded")
	}

	d := readDescription(t)
	answer := get(t, s, "/api/v1/search?q=grouped", http.StatusOK)
	d.check(t, "/api/v1/search", "get", "200", []byte(answer))
	for _, want := range []string{`"folded":4`, `"similar":{"count":3,"href":"/api/v1/search?q=grouped&similar=4711"}`, `"more_from_host":{"count":7,"href":"/api/v1/search?q=grouped+site%3Aja.docs.test"}`} {
		if !strings.Contains(answer, want) {
			t.Errorf("the answer lacks %s: %.300s", want, answer)
		}
	}

	for target, want := range map[string]searcher.Request{
		"/search?q=grouped&similar=4711":             {Similar: 4711},
		"/search?q=grouped&filter=0":                 {Ungrouped: true},
		"/api/v1/search?q=grouped&filter=0&start=10": {Ungrouped: true},
		"/api/v1/search?q=grouped&filter=1":          {},
		"/customsearch/v1?q=grouped&filter=0":        {Ungrouped: true},
	} {
		page := get(t, s, target, http.StatusOK)
		if r := f.asked[len(f.asked)-1]; r.Ungrouped != want.Ungrouped || r.Similar != want.Similar {
			t.Errorf("%s asks %+v", target, r)
		}
		if want.Similar != vocab.DocID(0) && !strings.Contains(page, `<a href="/search?q=grouped">Back to all results</a>`) {
			t.Errorf("%s does not lead back", target)
		}
	}
	if page := html.UnescapeString(get(t, s, "/search?q=inverted+index&filter=0", http.StatusOK)); !strings.Contains(page, `href="/search?filter=0&q=inverted+index&start=10"`) {
		t.Error("the next page forgets filter=0")
	}
	get(t, s, "/search?q=a&filter=2", http.StatusBadRequest)
	get(t, s, "/search?q=a&similar=x", http.StatusBadRequest)
}

// TestLastPage: where a search shows no more of its results, the page says so.
func TestLastPage(t *testing.T) {
	f := newFake()
	f.answers["many"] = &searcher.Response{Total: 72_918, Exact: true, Results: make([]searcher.Result, searcher.MaxOffset+20)}
	s := newServerOf(Options{Collection: f})
	const note = "A search shows at most 10,010 results."
	for start, want := range map[int]bool{0: false, searcher.MaxOffset - 10: false, searcher.MaxOffset: true} {
		if body := get(t, s, fmt.Sprintf("/search?q=many&start=%d", start), http.StatusOK); strings.Contains(body, note) != want {
			t.Errorf("from %d on: it says so: %v", start, !want)
		}
	}
}
