package web

import (
	"fmt"
	"html"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"anatomy/searcher"
	"anatomy/web/admin"
	"anatomy/web/internal/params"
)

// serverOf has one answer, for some queries.
func serverOf(a *searcher.Response, also ...string) *Server {
	f := newFake()
	for _, query := range append(also, "asked", "big red fox") {
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
		`<a class="chip" href="/search?num=20&amp;q=big&#43;-%3Cb%3E" aria-label="without site:x.org"><bdi>site:x.org</bdi> <span aria-hidden="true">✕</span></a>`,
		`<a class="chip" href="/" aria-label="without -&lt;b&gt;">`, `<p class="note">only &lt;i&gt;so much&lt;/i&gt;</p>`,
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

// TestFacetsInJSON: the API counts by what a request asks for, and by nothing otherwise.
func TestFacetsInJSON(t *testing.T) {
	index := newFake()
	s := newServer(index)
	body := get(t, s, "/api/v1/search?q=inverted+index&facets=lang,site&num=2", http.StatusOK)
	for _, want := range []string{
		`"facets":[{"name":"site","relation":"eq","distinct":1234,"values":[{"value":"a-host-with-a-long-name-0.docs.test","count":1000,"selected":false,`,
		`{"value":"de","count":34,"selected":true,"filter":"lang:de","query":"inverted index"}`, `"name":"date","relation":"gte"`, `"next":"/api/v1/search?num=2&q=inverted+index&start=2"`,
	} {
		if !strings.Contains(body, want) {
			t.Errorf("no %s in %s", want, body)
		}
	}
	if body := get(t, s, "/api/v1/search?q=inverted+index", http.StatusOK); strings.Contains(body, "facets") {
		t.Error(body)
	}
	if body := get(t, s, "/api/v1/search?q=inverted+index&facets=colour", http.StatusBadRequest); !strings.Contains(body, "must be all, or some of site, section, product, version, lang, type, date") {
		t.Error(body)
	}
	for i, want := range []string{"site,lang", ""} {
		if got := index.asked[i].Facets; got != want {
			t.Errorf("asked for %q, want %q", got, want)
		}
	}
}

// TestFacetsOnPage: the page counts nothing until someone opens the filters, and its links keep them open.
func TestFacetsOnPage(t *testing.T) {
	index := newFake()
	s := newServer(index)
	closed := get(t, s, "/search?q=inverted+index&num=5&theme=dark", http.StatusOK)
	if index.asked[0].Facets != "" || strings.Contains(closed, `class="facets"`) {
		t.Error("a page without filters counts")
	}
	open := get(t, s, "/search?q=inverted+index&num=5&theme=dark&facets=all", http.StatusOK)
	for page, want := range map[string]string{
		closed: `<a href="/search?facets=site%2Csection%2Cproduct%2Cversion%2Clang%2Ctype%2Cdate&amp;num=5&amp;q=inverted+index&amp;theme=dark#filters" class="toggle">Filters</a>`,
		open:   `<a href="/search?num=5&amp;q=inverted+index&amp;theme=dark" class="toggle">Hide filters</a>`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("no %s in %s", want, page)
		}
	}
	const all = "facets=site%2Csection%2Cproduct%2Cversion%2Clang%2Ctype%2Cdate&amp;num=5&amp;q="
	for _, want := range []string{
		`<h2>Site</h2><details name="facet"><summary>Site</summary><ul><li><a href="/search?` + all + `inverted&#43;index&#43;site%3Aa-host-with-a-long-name-0.docs.test&amp;theme=dark"><bdi>a-host-with-a-long-name-0.docs.test</bdi> <span class="n">1,000</span></a></li>`,
		`<p class="of"><a href="/search?facets=site&amp;num=5&amp;q=inverted&#43;index&amp;theme=dark#filters">and 1,226 more</a></p></details>`, `<p class="of warn">Counting took too long.`,
		`<a href="/search?` + all + `inverted&#43;index&amp;theme=dark" aria-current="true" aria-label="without Deutsch 34"><bdi lang="de">Deutsch</bdi> <span aria-hidden="true">✕</span> <span class="n">34</span></a>`,
		`<a href="/search?` + all + `index&amp;theme=dark">best match first</a><span aria-current="true">newest first</span>`,
		`<a class="clear" href="/search?` + all + `index&amp;theme=dark">Clear all</a>`,
	} {
		if !strings.Contains(open, want) {
			t.Errorf("no %s in %s", want, open)
		}
	}
	alone := get(t, s, "/search?q=inverted+index&num=5&theme=dark&facets=site", http.StatusOK)
	for _, want := range []string{
		`<details name="facet" open>`, `<bdi>a-host-with-a-long-name-19.docs.test</bdi>`, `<p class="of">and 1,214 more</p><p class="of"><a href="/search?` + all + `inverted&#43;index&amp;theme=dark#filters">All filters</a></p>`,
	} {
		if !strings.Contains(alone, want) {
			t.Errorf("no %s in %s", want, alone)
		}
	}
	if strings.Contains(open, "<h2>Type</h2>") {
		t.Error("a filter narrows nothing")
	}
}

// TestLinksOfLongQueries: no link leads to a query that is refused as too long, and a page has at most
// shownFilters filters.
func TestLinksOfLongQueries(t *testing.T) {
	f := newFake()
	s := newServer(f)
	for _, length := range []int{params.MaxQuery - len("sort:date "), params.MaxQuery - len("sort:date ") + 1, params.MaxQuery} {
		query := strings.Repeat("q", length)
		f.answers[query] = &searcher.Response{Exact: true, Results: []searcher.Result{{URL: "http://a.test/", Title: "A"}}}
		for range 500 {
			f.answers[query].Filters = append(f.answers[query].Filters, searcher.Filter{Text: "-site:b.test", Without: "q"})
		}
		body := get(t, s, "/search?q="+query, http.StatusOK)
		if fits := length+len("sort:date ") <= params.MaxQuery; strings.Contains(body, ">newest first</a>") != fits {
			t.Errorf("%d bytes: a link to the other order: %v", length, !fits)
		}
		if n := strings.Count(body, `class="chip"`); n != 20 {
			t.Errorf("%d filters", n)
		}
	}
}

// TestFacetsWithoutResults: the filters that were opened stay when nothing is found, and lead to existing
// pages: the last filter to the home page, with the preferences.
func TestFacetsWithoutResults(t *testing.T) {
	f := newFake()
	f.answers["site:a.test"] = &searcher.Response{
		Interpreted: "site:a.test", Exact: true, Filters: []searcher.Filter{{Text: "site:a.test", Without: ""}},
		Facets: []searcher.Facet{{Kind: "site", Exact: true, Of: 1, Values: []searcher.FacetValue{{Value: "a.test", Filter: "site:a.test", Selected: true}}}},
	}
	s := newServer(f)
	shown := get(t, s, "/search?q=site:a.test&facets=all&theme=dark&blocked=1", http.StatusOK)
	for _, want := range []string{"Nothing found", `id="filters"`, ">Hide filters</a>", ">newest first</a>", "<bdi>a.test</bdi>"} {
		if !strings.Contains(shown, want) {
			t.Errorf("no %s in %s", want, shown)
		}
	}
	home := `href="/?theme=dark&amp;blocked=1"`
	if strings.Count(shown, home) != 2 {
		t.Errorf("not a chip and a facet value to %s: %s", home, shown)
	}
	get(t, s, "/?theme=dark&blocked=1", http.StatusOK)
	if closed := get(t, s, "/search?q=site:a.test", http.StatusOK); strings.Contains(closed, `id="filters"`) {
		t.Errorf("filters that were not opened: %s", closed)
	}
}

// TestEmptyIndex: the page of an index without pages says what to do, and not how to change the query.
func TestEmptyIndex(t *testing.T) {
	body := get(t, newServer(newFake()), "/search?q=unindexed&theme=dark", http.StatusOK)
	for _, want := range []string{
		"There is nothing to search yet.", "<code>anatomy crawl https://example.org/</code>", `<a href="/search?q=unindexed&amp;theme=dark">Search again</a>`,
	} {
		if !strings.Contains(body, want) {
			t.Errorf("no %s in %s", want, body)
		}
	}
	if strings.Contains(body, "What helps") || strings.Contains(body, "Nothing found") {
		t.Error(body)
	}
	f := newFake()
	f.answers["filetype:html OR filetype:txt OR filetype:md"] = &searcher.Response{Exact: true, NoPages: true}
	home := get(t, newServer(f), "/", http.StatusOK)
	if !strings.Contains(home, "There is nothing to search yet.") || !strings.Contains(home, `<a href="/crawl">`) || strings.Contains(home, "Search tips") || strings.Contains(home, "Search again") || strings.Contains(home, `id="q"`) {
		t.Error(home)
	}
}

// TestRunningCrawl: a search without results, and the page of an index without pages, lead to the crawl
// that runs, instead of to the command that starts one.
func TestRunningCrawl(t *testing.T) {
	const status = `A crawl is running, and more pages will follow: <a href="/crawl">what it does</a>`
	f := newFake()
	f.answers["filetype:html OR filetype:txt OR filetype:md"] = &searcher.Response{Exact: true, NoPages: true}
	now := time.Now()
	for path, command := range map[string]bool{"/": true, "/search?q=unindexed": true, "/search?q=nothing": false} {
		for running, crawl := range map[bool]*fakeCrawl{true: busyCrawl(), false: {}} {
			s := newServerOf(Options{Collection: f, Admin: admin.Options{Crawl: crawl}, Now: func() time.Time { return now }})
			body := get(t, s, path, http.StatusOK)
			if strings.Contains(body, status) != running || strings.Contains(body, "anatomy crawl https://") != (command && !running) {
				t.Errorf("%s, a crawl runs: %v: %s", path, running, body)
			}
		}
	}
}

// TestScope: the home page and a search without results say what is searched, and that the collection has no
// page of a site that the query names.
func TestScope(t *testing.T) {
	f := newFake()
	f.answers[everyPage] = &searcher.Response{Documents: 1234, Exact: true, Rank: searcher.RankUsed{Computed: time.Date(2026, 11, 3, 0, 0, 0, 0, time.UTC)},
		Results: []searcher.Result{{URL: "http://a.test/"}},
		Facets:  []searcher.Facet{{Kind: "site", Of: 5, Exact: true, Values: []searcher.FacetValue{{Value: "a.test"}, {Value: "b.test"}, {Value: "c.test"}, {Value: "d.test"}}}}}
	f.answers["nothing site:z.test"] = &searcher.Response{Exact: true, Documents: 1234, Why: "No page matches all of the query.", Filters: []searcher.Filter{{Text: "site:z.test", Without: "nothing"}}}
	f.answers["nothing site:late.test"] = &searcher.Response{Exact: true, Filters: []searcher.Filter{{Text: "site:late.test"}}}
	f.answers["site:late.test"] = &searcher.Response{Partial: true}
	many := &searcher.Response{Exact: true}
	for i := range 20 {
		many.Filters = append(many.Filters, searcher.Filter{Text: fmt.Sprintf("site:s%d.test", i)})
	}
	f.answers["many"] = many
	s := newServer(f)
	if body := get(t, s, "/search?q=nothing+site:late.test", http.StatusOK); strings.Contains(body, "No page of") {
		t.Error("a site that was not searched in time is called empty")
	}
	f.asked = nil
	if get(t, s, "/search?q=many", http.StatusOK); len(f.asked) > 6 {
		t.Errorf("%d searches for a query of many sites", len(f.asked))
	}
	const scope = `<p class="scope">1,234 pages · 5 sites: <a href="/site/a.test" dir="ltr">a.test</a>, <a href="/site/b.test" dir="ltr">b.test</a>, <a href="/site/c.test" dir="ltr">c.test</a>, … · as of 3 Nov 2026</p>`
	for path, want := range map[string]string{"/": scope, "/search?q=nothing": scope, "/search?q=nothing+site:z.test": `No page of <bdi>z.test</bdi> is in the index.`} {
		if body := get(t, s, path, http.StatusOK); !strings.Contains(body, want) {
			t.Errorf("%s has no %s: %s", path, want, body)
		}
	}
}

// TestNothingOnSite: a search of a site without results leads to the report of the site, not to that of a
// site that the search excludes.
func TestNothingOnSite(t *testing.T) {
	body := get(t, serverOf(&searcher.Response{Exact: true, Filters: []searcher.Filter{
		{Text: "site:blocked.test/docs"}, {Text: "-site:other.test"}, {Text: "lang:de"},
	}}), "/search?q=asked", http.StatusOK)
	const want = `<li>Report on the site: <a href="/site/blocked.test/docs"><bdi>blocked.test/docs</bdi></a></li>`
	if strings.Count(body, "Report on the site") != 1 || !strings.Contains(body, want) {
		t.Errorf("no %s in %s", want, body)
	}
}

// TestNothingOnBlockedSite: a search of a site that the operator blocked says so, and does not lead to the
// form that adds a page. An open quote is named, and pages are not counted where none is searched.
func TestNothingOnBlockedSite(t *testing.T) {
	const blocked, open, counted = "has blocked all known pages of <bdi>blocked.test</bdi>", "The quote is not closed", "9 pages were searched"
	for query, wants := range map[string][]string{
		"asked":            {blocked, counted},
		`asked "for a`:     {blocked, counted, open},
		`asked "for a"`:    {blocked, counted},
		"-asked -for":      {blocked},
		"-asked for -what": {blocked, counted},
	} {
		body := get(t, serverOf(&searcher.Response{Exact: true, Documents: 9, Filters: []searcher.Filter{{Text: "site:blocked.test"}}}, query),
			"/search?q="+url.QueryEscape(query), http.StatusOK)
		for _, text := range []string{blocked, open, counted} {
			if has := strings.Contains(body, text); has != slices.Contains(wants, text) {
				t.Errorf("%s: has %s: %v", query, text, has)
			}
		}
	}
	for _, site := range []string{"docs.test", "partly.test"} {
		if body := get(t, serverOf(&searcher.Response{Filters: []searcher.Filter{{Text: "site:" + site}}}), "/search?q=asked", http.StatusOK); strings.Contains(body, "has blocked") {
			t.Errorf("%s is blocked", site)
		}
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
	if strings.Count(body, "/page?url=") != 1 || !strings.Contains(body, `<a href="/page?url=http%3A%2F%2Fx.org%2Fa"><bdi>x.org/a</bdi></a>`) {
		t.Error(body)
	}
}
