package web

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"anatomy/web/internal/params"
)

// Each fate of a page has its answer, in words that say what to do next.
func TestTracePage(t *testing.T) {
	s := fullServer()
	for target, c := range map[string]struct {
		status int
		want   []string
	}{
		"/page":                              {200, []string{"<h1>Page information</h1>", `name="url"`}},
		"/page?q=a+%3Cb%3E":                  {200, []string{`<input id="for" name="q" value="a &lt;b&gt;"`}},
		"/page?q=x&url=http://unknown.test/": {404, []string{"<h1>Not known to the crawl</h1>", `name="q" value="x"`}},
		"/page?url=https://www.docs.test/old": {200, []string{"<h1>In the index</h1>", "1,234 words", "redirected, status 301; leads to document 4711", "38.50 times the average", "<dt>PageRank by links alone</dt><dd>0.070\u00a0% of all rank, 6.50 times the average</dd>", "3 times, the last 3 Nov 2026",
			"only with anatomy crawl --recrawl", `href="/cached?doc=4711"`, `href="/links?doc=4711"`, `href="/site/www.docs.test"`, "/api/v1/trace?url="}},
		"/page?url=http://forbidden.test/":                  {200, []string{"<h1>Not in the index</h1>", "Robots.txt forbids it."}},
		"/page?url=http://waiting.test/":                    {200, []string{"from the running crawl", "next attempt 3 Nov 2026, 14:05 UTC, failed 2 times", "the path repeats itself"}},
		"/page?url=http://unknown.test/":                    {404, []string{"<h1>Not known to the crawl</h1>", "To add it: <code>anatomy crawl URL</code>", `<a href="/crawl#act">`, "Known instead", `href="/page?url=https%3A%2F%2Fwww.docs.test%2F"`}},
		"/page?url=http://unread.test/":                     {200, []string{"cannot be read: run anatomy trace on the server to see why"}},
		"/page?url=ftp://a.test/":                           {400, []string{"not a valid URL"}},
		"/page?url=a&url=b":                                 {400, []string{"must not occur twice"}},
		"/page?url=" + strings.Repeat("a", params.MaxURL+1): {400, []string{"the limit is 2,048"}},
	} {
		body := get(t, s, target, c.status)
		for _, want := range c.want {
			if !strings.Contains(body, want) {
				t.Errorf("%s lacks %q:\n%s", target, want, body)
			}
		}
	}
	if to := do(t, s, "GET", "/page?q=x&url=https://www.docs.test/old").Header().Get("Location"); !strings.HasPrefix(to, "/explain?q=x&url=") {
		t.Errorf("a page in the index and a query lead to %q", to)
	}
	if body := get(t, s, "/search?q=inverted+index", http.StatusOK); strings.Count(body, `href="/page?url=`) != 10 || !strings.Contains(body, `<a href="/page?q=inverted%20index">Is a page missing?</a>`) {
		t.Error("results do not lead to their information")
	}
	link := regexp.MustCompile(`<a href="/page\?url=[^>]*>([^<]*)</a>`)
	for _, target := range []string{"/cached?doc=4711", "/site/docs.test", "/links?doc=4711", "/search?q=inverted+index"} {
		found := link.FindAllStringSubmatch(get(t, s, target, http.StatusOK), -1)
		if len(found) == 0 || found[0][1] != "Page information" {
			t.Errorf("%s leads to its information by %q", target, found)
		}
	}
}

func TestTraceIsEscaped(t *testing.T) {
	s := fullServer()
	for _, target := range []string{"http://forbidden.test/", "http://unknown.test/", hostileQuery, "javascript:hit()"} {
		if body := do(t, s, http.MethodGet, "/page?url="+url.QueryEscape(target)).Body.String(); strings.Contains(body, "<script>") || strings.Contains(body, `href="javascript:`) {
			t.Errorf("%s came through:\n%s", target, body)
		}
	}
}
