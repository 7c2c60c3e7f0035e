package web

import (
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"anatomy/web/api"
	"anatomy/web/internal/params"
)

// TestCustomSearchShape compares answers with testdata/customsearch.golden; ANATOMY_UPDATE=1
// rewrites it.
func TestCustomSearchShape(t *testing.T) {
	s := fullServer()
	var got strings.Builder
	for _, target := range []string{
		"/customsearch/v1?q=inverted+index&num=2&start=3&cx=0123:abc&key=secret&alt=json",
		"/customsearch/v1?q=none",
		"/customsearch/v1?q=a&num=11",
		"/customsearch/v1?q=fail",
		"/customsearch/v2",
	} {
		got.WriteString("GET " + target + "\n" + do(t, s, http.MethodGet, target).Body.String() + "\n")
	}
	const file = "testdata/customsearch.golden"
	if os.Getenv("ANATOMY_UPDATE") != "" {
		if err := os.WriteFile(file, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got.String() != string(want) {
		t.Errorf("got:\n%swant:\n%s", got.String(), want)
	}
}

func TestCustomSearchQueries(t *testing.T) {
	f := newFake()
	now := func() time.Time { return time.Date(2026, 3, 31, 1, 2, 3, 0, time.UTC) }
	s := newServerOf(Options{Collection: f, Now: now, API: APIOptions{SiteSets: map[string][]string{"docs": {"a.test", "b.test/x"}}}})
	cases := map[string]string{
		"q=a&cx=docs":                                          "(site:a.test OR site:b.test/x) a",
		"q=a&cx=other&fileType=pdf":                            "filetype:pdf a",
		"q=a&lr=lang_zh-CN":                                    "lang:zh a",
		"q=a&lr=lang_de|lang_en&dateRestrict=w2":               "(lang:de OR lang:en) after:2026-03-17 a",
		"q=a&dateRestrict=y1":                                  "after:2025-03-31 a",
		"q=OR+a&siteSearch=a.test":                             "site:a.test a",
		"q=a&siteSearchFilter=e":                               "a",
		"q=a&siteSearch=https://a.test/x/*&siteSearchFilter=e": "-site:a.test/x a",
		"q=a&siteSearch=*.a.test&siteSearchFilter=i":           "site:a.test a",
		"q=a+OR+b&exactTerms=%22new+york%22&excludeTerms=x+-y&orTerms=c+OR+(d": `"new york" -(x) -(y) (c OR d) a OR b`,
	}
	for query, want := range cases {
		f.asked = nil
		get(t, s, "/customsearch/v1?"+query, http.StatusOK)
		if len(f.asked) != 1 || f.asked[0].Query != want {
			t.Errorf("%s: asked %+v, want %s", query, f.asked, want)
		}
	}
}

func TestCustomSearchBadParameters(t *testing.T) {
	s := fullServer()
	long := strings.Repeat("a", params.MaxQuery+1)
	for _, query := range []string{
		"", "q=", "q=+", "q=a&q=b", "q=" + long, "q=%zz", "q=a&num=0", "q=a&num=11", "q=a&num=-1", "q=a&num=x", "q=a&num=1&num=2",
		"q=a&start=0", "q=a&start=-1", "q=a&start=10002", "q=a&start=99999999999999999999", "q=a&start=1.5", "q=a&cx=" + long,
		"q=a&siteSearch=a.test+OR+b", "q=a&siteSearch=%22", "q=a&siteSearch=(a", "q=a&siteSearch=a&siteSearchFilter=x",
		"q=a&dateRestrict=x1", "q=a&dateRestrict=d", "q=a&dateRestrict=d0", "q=a&dateRestrict=m-1", "q=a&dateRestrict=y99999",
		"q=a&exactTerms=" + long, "q=a&orTerms=a&orTerms=b", "q=a&excludeTerms=" + long,
	} {
		w := do(t, s, http.MethodGet, "/customsearch/v1?"+query)
		var answer struct {
			Error struct {
				Code    int
				Message string
				Errors  []struct{ Message, Domain, Reason string }
				Status  string
			}
		}
		if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil || w.Code != http.StatusBadRequest || answer.Error.Code != w.Code ||
			answer.Error.Message == "" || len(answer.Error.Errors) != 1 || answer.Error.Status != "INVALID_ARGUMENT" {
			t.Errorf("%s: %d %s", query, w.Code, w.Body)
		}
	}
}

// TestCustomSearchEscapes: what is called HTML is, and links lead to the web.
func TestCustomSearchEscapes(t *testing.T) {
	f := newFake()
	a := f.answers[hostileQuery]
	a.Results[0].URL = "https://a.test/<script>"
	var answer struct{ Items []api.CustomItem }
	target := "/customsearch/v1?q=" + url.QueryEscape(hostileQuery)
	if err := json.Unmarshal([]byte(get(t, newServer(f), target, http.StatusOK)), &answer); err != nil || len(answer.Items) != 1 {
		t.Fatal(err, answer)
	}
	item := answer.Items[0]
	for _, html := range []string{item.HTMLTitle, item.HTMLSnippet, item.HTMLFormattedURL} {
		if html = strings.NewReplacer("<b>", "", "</b>", "").Replace(html); strings.ContainsAny(html, `<>"`) {
			t.Error(html)
		}
	}
	a.Results[0].URL = "javascript:hit()"
	if body := get(t, newServer(f), target, http.StatusOK); strings.Contains(body, "javascript") {
		t.Error(body)
	}
}
