package web

import (
	"html"
	"net/http"
	"strings"
	"testing"

	"anatomy/searcher"
)

// serverOf has one answer, for every query.
func serverOf(a *searcher.Response) *Server {
	f := newFake()
	for _, query := range []string{"asked", "big red fox"} {
		f.answers[query] = a
	}
	return newServerOf(Options{Collection: f})
}

// cache: leads to the cached page, where there is one.
func TestCachedPageAskedFor(t *testing.T) {
	a := &searcher.Response{Interpreted: "cache:docs.test/", Cached: 4711, Total: 1, Exact: true, Results: []searcher.Result{{Doc: 4711, URL: "https://docs.test/", Crawled: true}}}
	s := serverOf(a)
	if to := do(t, s, http.MethodGet, "/search?q=asked").Header().Get("Location"); to != "/cached?doc=4711" {
		t.Errorf("leads to %q", to)
	}
	if body := get(t, s, "/api/v1/search?q=asked", http.StatusOK); !strings.Contains(body, `"cached":"/cached?doc=4711"`) {
		t.Error(body)
	}
	a.Results[0].Crawled = false
	get(t, serverOf(a), "/search?q=asked", http.StatusOK)
}

// The page shows what the query was understood as, and leads to the search without a part of it.
func TestFiltersCanBeTakenAway(t *testing.T) {
	s := serverOf(&searcher.Response{
		Interpreted: "big site:x.org -<b>", Total: 1, Exact: true, Results: []searcher.Result{{Doc: 1, URL: "https://x.org/"}},
		Filters: []searcher.Filter{{Text: "site:x.org", Without: "big -<b>"}, {Text: "-<b>", Without: ""}}, Cut: []string{"only <i>so much</i>"},
	})
	body := get(t, s, "/search?q=asked&num=20", http.StatusOK)
	for _, want := range []string{
		`<a class="tag" href="/search?num=20&amp;q=big&#43;-%3Cb%3E" aria-label="without site:x.org"><bdi>site:x.org</bdi> <span aria-hidden="true">✕</span></a>`,
		`<a class="tag" href="/" aria-label="without -&lt;b&gt;">`, `<p class="note" lang="en">only &lt;i&gt;so much&lt;/i&gt;</p>`,
	} {
		if !strings.Contains(body, want) {
			t.Errorf("no %s in %s", want, body)
		}
	}
	body = get(t, s, "/api/v1/search?q=asked", http.StatusOK)
	if !strings.Contains(body, `"filters":[{"text":"site:x.org","without":"big -<b>"},{"text":"-<b>","without":""}],"cut":["only <i>so much</i>"]`) {
		t.Error(body)
	}
}

// A result that misses words names them, and leads to the search that demands them.
func TestMissingWords(t *testing.T) {
	s := serverOf(&searcher.Response{Interpreted: "big red fox", Exact: true, Most: 1, Results: []searcher.Result{
		{Doc: 1, URL: "https://x.org/", Missing: []string{"red", "fix OR <b>", "den"}},
	}})
	body := html.UnescapeString(get(t, s, "/search?q=big+red+fox", http.StatusOK))
	const want = `Missing: <s><bdi>red</bdi></s> <s><bdi>fix OR <b></bdi></s> <s><bdi>den</bdi></s> | Must include: ` +
		`<a href="/search?q=big+%2Bred+fox"><bdi>red</bdi></a> <a href="/search?q=big+red+fox+%2Bden"><bdi>den</bdi></a>`
	if !strings.Contains(body, want) {
		t.Errorf("no %s in %s", want, body)
	}
}

// Where the index does not know a URL, the page leads to the reason.
func TestUnknownURL(t *testing.T) {
	s := serverOf(&searcher.Response{Interpreted: "info:x.org/a", Exact: true, Why: "The index does not know x.org/a.", Unknown: []string{"x.org/a", "y.org"}})
	body := get(t, s, "/search?q=asked", http.StatusOK)
	if strings.Count(body, "/page?") != 1 || !strings.Contains(body, `<a href="/page?url=http%3A%2F%2Fx.org%2Fa"><bdi>x.org/a</bdi></a>`) {
		t.Error(body)
	}
}
