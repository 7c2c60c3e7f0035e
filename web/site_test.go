package web

import (
	"net/http"
	"strings"
	"testing"
)

// wants gets a page that has to hold some texts, and no script of a page that it shows.
func wants(t *testing.T, s *Server, target string, want []string) {
	t.Helper()
	body := get(t, s, target, http.StatusOK)
	for _, w := range want {
		if !strings.Contains(body, w) {
			t.Errorf("%s lacks %q:\n%s", target, w, body)
		}
	}
	if strings.Contains(body, "<script>") {
		t.Errorf("%s: a script came through", target)
	}
}

func TestSitePage(t *testing.T) {
	s := fullServer()
	for target, want := range map[string][]string{
		"/site/docs.test": {"1,234 pages in the index, 1,200 of them fetched", "25.0\u00a0%", `href="/site/from.test"`, "No other host.", "not found", `href="/page?url=https%3A%2F%2Fdocs.test%2F0"`, "by links alone", `href="/site/docs.test?num=1000"`,
			`href="/api/v1/site?site=docs.test"`, "its 200 best pages", "転置インデックスとは何か"},
		"/site/https://docs.test/a/": {`dir="ltr">docs.test/a</h1>`},
		"/site/live.test":            {"A crawl runs, and has their records open"},
		"/site/docs.test?num=2":      {"https://docs.test/1"},
	} {
		wants(t, s, target, want)
	}
	for target, status := range map[string]int{
		"/site/": 400, "/site/..": 400, "/site/../../etc/passwd": 400, "/site/%3Cscript%3E": 400, "/site/a%20b": 400, "/site/" + strings.Repeat("a", 400): 400,
		"/site/docs.test?num=0": 400, "/site/docs.test?num=x": 400, "/site/docs.test?num=1&num=2": 400, "/site/docs.test?num=1001": 400, "/site/unknown.test": 404,
	} {
		get(t, s, target, status)
	}
}

// TestBlockedSite: the report of a site without pages in the index has no link to a search of it.
func TestBlockedSite(t *testing.T) {
	s := fullServer()
	wants(t, s, "/site/docs.test", []string{"Search this site"})
	if body := get(t, s, "/site/blocked.test", http.StatusOK); !strings.Contains(body, "has blocked all known pages of <bdi>blocked.test</bdi>") || strings.Contains(body, "Search this site") {
		t.Error(body)
	}
	if body := get(t, s, "/site/partly.test", http.StatusOK); strings.Contains(body, "has blocked") {
		t.Errorf("one page is blocked, the others do not exist: %s", body)
	}
}

func TestVersionsPage(t *testing.T) {
	s := fullServer()
	for target, want := range map[string][]string{
		"/versions?doc=4711":                     {"40\u00a0% of the repository", "Look further", `href="/cached?doc=4711&amp;version=1%3A2%3A0"`, `href="/versions?doc=4711&amp;new=1%3A3%3A0&amp;old=1%3A2%3A0"`, "the oldest", "2.0 kB", "www.docs.test"},
		"/versions?doc=66":                       {"the oldest"},
		"/versions?doc=4711&old=1:2:0&new=1:3:0": {"0 paragraphs added, 1 paragraph removed.", "<del>An old beginning &lt;script&gt;"},
		"/versions?doc=4711&old=1:3:0&new=1:3:0": {"the text is the same"},
		"/cached?doc=4711&version=1:2:0&q=x":     {"A stored version of this page", `src="/cached/page?doc=4711&amp;q=x&amp;version=1%3A2%3A0#anatomy-mark-1"`, `href="/versions?doc=4711"`},
		"/cached?doc=4711&version=1:2:0&text=1":  {"An old beginning"},
		"/cached/page?doc=4711&version=1:1:0":    {"nothing of it"},
	} {
		wants(t, s, target, want)
	}
	for target, status := range map[string]int{
		"/versions": 400, "/versions?doc=0": 400, "/versions?doc=x": 400, "/versions?doc=1&doc=2": 400, "/versions?doc=1": 404, "/versions?doc=4711&old=1:2:0": 404, "/versions?doc=4711&old=../../etc&new=1:2:0": 404,
		"/versions?doc=4711&old=" + strings.Repeat("1", 101) + "&new=1:2:0": 400, "/cached?doc=4711&version=9:9:9": 404, "/cached?url=https://www.docs.test/plain.txt&version=1:2:0": 404, "/cached/page?doc=4711&version=1:2:0&version=1": 400,
	} {
		get(t, s, target, status)
	}
}
