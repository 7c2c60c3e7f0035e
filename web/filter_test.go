package web

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestCachedPage(t *testing.T) {
	s := fullServer()
	around := get(t, s, "/cached?doc=4711&q=inverted+index", http.StatusOK)
	for _, want := range []string{`sandbox="allow-top-navigation-by-user-activation"`, `src="/cached/page?doc=4711&amp;q=inverted`, "3 Nov 2026, 14:05 UTC", `href="https://www.docs.test/anatomy/storage/inverted-index.html"`, "text only"} {
		if !strings.Contains(around, want) {
			t.Errorf("%s is missing in\n%s", want, around)
		}
	}
	inner := get(t, s, "/cached/page?doc=4711&q=inverted+index", http.StatusOK)
	for _, want := range []string{`<html lang="en">`, "<title>The inverted index</title>", "<em><mark id=\"anatomy-mark-3\">inverted</mark></em>", `href="https://www.docs.test/anatomy/storage/posting.html#list" target="_top"`, "Figure 1: the parts"} {
		if !strings.Contains(inner, want) {
			t.Errorf("%s is missing in\n%s", want, inner)
		}
	}
	if strings.Contains(inner, "color:red") || strings.Contains(inner, "<img") {
		t.Error("styles or images of the page came through")
	}
	for target, want := range map[string]string{
		"/cached?doc=4711&q=inverted+index&text=1":        `the <mark id="anatomy-mark-3">inverted</mark> <mark id="anatomy-mark-4">index</mark> has a list of documents.`,
		"/cached?doc=4711&q=inverted+index&text=1&mark=2": `<a href="/cached?doc=4711&amp;q=inverted&#43;index&amp;text=1&amp;mark=1#anatomy-mark-1" aria-label="previous mark"`,
		"/cached?doc=4711&q=inverted+index&text=1&mark=3": `<a href="/cached?doc=4711&amp;q=inverted&#43;index&amp;text=1&amp;mark=4#anatomy-mark-4" aria-label="next mark"`,
		"/cached?doc=4711&q=inverted+index&mark=2":        `<a href="/cached?doc=4711&amp;q=inverted&#43;index&amp;text=1#anatomy-mark-1">text only</a>`,
		"/cached?doc=13&text=1":                           `<article class="text" dir="auto" lang="ja">`,
		"/cached/page?doc=13":                             "<title>検索</title>",
		"/cached/page?doc=20&q=inverted+index":            "<pre>an <mark id=\"anatomy-mark-1\">index</mark> &lt;b&gt;\n\tof words\n</pre>",
		"/cached/page?doc=21":                             "<body></body>",
		"/cached?doc=4711&q=inverted":                     "src=\"/cached/page?doc=4711&amp;q=inverted#anatomy-mark-1\"",
		"/cached?doc=4711&q=inverted+index":               "<a href=\"/cached?doc=4711&amp;q=inverted&#43;index&amp;mark=2\" aria-label=\"next mark\"",
		"/cached?doc=4711&q=inverted&mark=2":              "cached/page?doc=4711&amp;q=inverted#anatomy-mark-2",
		"/cached?doc=4711&at=a+%22b%22":                   "src=\"/cached/page?doc=4711#a%20%22b%22\"",
		"/cached?doc=21&text=1":                           "This page has no text.",
		"/cached/page?doc=4711&q=fail":                    "<em>inverted</em>",
	} {
		if body := get(t, s, target, http.StatusOK); !strings.Contains(body, want) {
			t.Errorf("%s: %s is missing in\n%s", target, want, body)
		}
	}
}

// BenchmarkResultsPage is all that a page of ten results costs but the search: view, template, compression.
func BenchmarkResultsPage(b *testing.B) {
	h := fullServer().Handler()
	b.ReportAllocs()
	size := 0
	for b.Loop() {
		r := httptest.NewRequest(http.MethodGet, "/search?q=inverted+index", nil)
		r.Header.Set("Accept-Encoding", "gzip")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if size = w.Body.Len(); w.Code != http.StatusOK || w.Header().Get("Content-Encoding") != "gzip" {
			b.Fatal(w.Code, w.Header())
		}
	}
	b.ReportMetric(float64(size), "B/page")
}
