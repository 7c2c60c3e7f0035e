package web

import (
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"testing"
	"time"

	"anatomy/searcher"
)

// examplesOf returns the queries of the home page that have a link, and the others.
func examplesOf(t *testing.T, s *Server) (linked, plain []string) {
	t.Helper()
	w := httptest.NewRecorder()
	s.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil))
	for _, m := range regexp.MustCompile(`<dt>(<a href="/search\?q=([^"]*)">)?<code><bdi>([^<]*)</bdi>`).FindAllStringSubmatch(w.Body.String(), -1) {
		if m[1] == "" {
			plain = append(plain, m[3])
			continue
		}
		query, err := url.QueryUnescape(html.UnescapeString(m[2]))
		if err != nil {
			t.Fatal(err)
		}
		linked = append(linked, query)
	}
	if len(plain) != 4 && (len(linked) == 0 || len(plain) > 0) { // all are plain, or none is
		t.Fatalf("%d and %d examples in\n%s", len(linked), len(plain), w.Body)
	}
	return linked, plain
}

// TestExamples: the home page shows queries made of titles that find something, and asks for new ones after
// some time.
func TestExamples(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	f := newFake()
	s := newServerOf(Options{Collection: f, Now: func() time.Time { return now }})
	if linked, _ := examplesOf(t, s); len(linked) > 0 {
		t.Errorf("an empty collection has %q", linked)
	}
	one := &searcher.Response{Total: 1, Results: []searcher.Result{{URL: "http://a.test/"}}}
	f.answers["filetype:html OR filetype:txt OR filetype:md"] = &searcher.Response{Results: []searcher.Result{
		{URL: "http://docs.test/guide/x.html", Title: "Baking sour bread: 2nd"},
		{URL: "http://docs.test/", Title: "Rye"},
		{URL: "http://docs.test/3", Title: "Flour <b>&"},
	}}
	want := []string{`"baking sour"`, "bread -flour", "site:docs.test"}
	for _, query := range want {
		f.answers[query] = one
	}
	if linked, _ := examplesOf(t, s); len(linked) > 0 {
		t.Errorf("asked again at once: %q", linked)
	}
	now = now.Add(time.Minute)
	linked, plain := examplesOf(t, s)
	if !slices.Equal(linked, want) || len(plain) > 0 {
		t.Errorf("linked %q, plain %q, want %q", linked, plain, want)
	}
	f.mu.Lock()
	asked := len(f.asked)
	f.mu.Unlock()
	examplesOf(t, s)
	if len(f.asked) != asked {
		t.Error("each view of the home page searches")
	}
}
