package searcher_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"anatomy/searcher"
	"anatomy/searcher/labels"
	"anatomy/searcher/reload"
	"anatomy/vocab"
)

// openLabels opens a file with patterns of products and versions.
func openLabels(t testing.TB, patterns ...string) *labels.File {
	file, err := reload.Open("", func(string) (*labels.Patterns, error) { return labels.Parse(patterns) }, func(err error) { t.Error(err) })
	must(t, err)
	return file
}

// TestLabels: pages have the products and versions of patterns and those that they state, each once.
func TestLabels(t *testing.T) {
	f := newFolder(t)
	var n int
	for _, urls := range []string{
		"http://docs.test/db/1.0/ http://docs.test/db/1.0/a http://docs.test/db/v2.0/a http://docs.test/web/1.0/a?x http://docs.test/about http://docs.test/?db/3.0/",
		"http://docs.test/db/1.0/b http://docs.test/db/readme http://cache.test/en/7.x/a http://cache.test/de/7.x/a http://old.test/manual/a http://old.test/other http://docs.test:8080/db/9.0/a",
	} {
		pages := pagesOf()
		for url := range strings.FieldsSeq(urls) {
			n++
			d := textPage(vocab.DocID(n), url, "page")
			if strings.HasSuffix(url, "/a") { // states what the pattern says of some, and of others not
				d.Words[":version:1.0"], d.Words[":product:db"] = d.Words["page"], d.Words["page"]
			}
			pages.Documents = append(pages.Documents, d)
		}
		f.add(pages, bare)
	}
	f.publish()
	patterns := []string{"http://docs.test/{product}/{version}/", "https://cache.test/*/{version} product:cache", "http://old.test/manual/ version:0.9"}
	s := f.open(searcher.Options{Labels: openLabels(t, patterns...)})
	ask := func(r searcher.Request) *searcher.Response {
		r.Limit, r.Ungrouped, r.Strict = searcher.MaxLimit, true, true
		resp, err := s.Search(t.Context(), r)
		must(t, err)
		return resp
	}
	for text, want := range map[string]string{
		"version:2":                  "",
		"version:2.0":                "http://docs.test/db/v2.0/a",
		"product:web":                "http://docs.test/web/1.0/a?x",
		"version:7.x":                "http://cache.test/de/7.x/a http://cache.test/en/7.x/a",
		"product:cache -version:1.0": "",
		"version:0.9":                "http://old.test/manual/a",
		"version:9.0":                "",
		"product:db -site:cache.test -site:old.test": "http://docs.test/db/1.0/ http://docs.test/db/1.0/a http://docs.test/db/1.0/b http://docs.test/db/v2.0/a http://docs.test:8080/db/9.0/a",
	} {
		got := strings.Join(sorted(ask(searcher.Request{Query: "page " + text}).Results), " ")
		filtered := strings.Join(sorted(ask(searcher.Request{Query: "page", Preferences: &searcher.Preferences{Filters: text}}).Results), " ")
		if got != want || filtered != want {
			t.Errorf("%s: %s, as a filter of preferences %s, want %s", text, got, filtered, want)
		}
	}
	var counted []string
	for _, facet := range ask(searcher.Request{Query: "page", Facets: "product,version"}).Facets {
		for _, v := range facet.Values {
			counted = append(counted, fmt.Sprint(v.Filter, " ", v.Count))
			if found := ask(searcher.Request{Query: v.Query}); found.Total != v.Count || !facet.Exact {
				t.Errorf("%s counts %d, %q finds %d", v.Filter, v.Count, v.Query, found.Total)
			}
		}
	}
	want := []string{"product:db 8", "product:cache 2", "product:web 1", "version:1.0 9", "version:7.x 2", "version:0.9 1", "version:2.0 1"}
	if !slices.Equal(counted, want) {
		t.Errorf("counted %q, want %q", counted, want)
	}
}

func sorted(results []searcher.Result) (urls []string) {
	for _, r := range results {
		urls = append(urls, r.URL)
	}
	slices.Sort(urls)
	return urls
}
