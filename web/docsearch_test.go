package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"anatomy/searcher"
)

// Requests of published clients, as they were recorded.
const (
	docSearchPath = "/1/indexes/*/queries?x-algolia-agent=Algolia%20for%20JavaScript%20(5.64.0)%3B%20Lite%20(5.64.0)%3B%20Browser"
	// @docsearch/js 5.2.0 with algoliasearch 5.64.0
	docSearchRequest = `{"requests":[{"query":"install","indexName":"docs","attributesToRetrieve":["hierarchy.lvl0","hierarchy.lvl1","hierarchy.lvl2","hierarchy.lvl3","hierarchy.lvl4","hierarchy.lvl5","hierarchy.lvl6","content","type","url"],"attributesToSnippet":["hierarchy.lvl1:15","hierarchy.lvl2:15","hierarchy.lvl3:15","hierarchy.lvl4:15","hierarchy.lvl5:15","hierarchy.lvl6:15","content:15"],"snippetEllipsisText":"…","highlightPreTag":"<mark>","highlightPostTag":"</mark>","hitsPerPage":20,"clickAnalytics":false}]}`
	// algoliasearch 4, which DocSearch 3 uses
	oldDocSearchRequest = `{"requests":[{"indexName":"docs","params":"query=install&hitsPerPage=20&highlightPreTag=%3Cmark%3E&highlightPostTag=%3C%2Fmark%3E"}]}`
)

type docSearchHit struct {
	ObjectID, Type, URL, Anchor, Content string
	Hierarchy                            map[string]*string
	Snippet                              struct {
		Hierarchy map[string]struct{ Value, MatchLevel string }
		Content   struct{ Value string }
	} `json:"_snippetResult"`
}

type docSearchAnswer struct {
	Hits                     []docSearchHit
	NbHits, NbPages, Page    int
	HitsPerPage              int
	Index, Query, QueryAfter string
}

// askDocSearch posts requests as a browser does, without a preflight request.
func askDocSearch(t *testing.T, s *Server, body string) []docSearchAnswer {
	t.Helper()
	r := httptest.NewRequest(http.MethodPost, "http://localhost"+docSearchPath, strings.NewReader(body))
	r.Header.Set("Content-Type", "text/plain")
	w := httptest.NewRecorder()
	s.Handler().ServeHTTP(w, r)
	var a struct{ Results []docSearchAnswer }
	if err := json.Unmarshal(w.Body.Bytes(), &a); err != nil || w.Code != http.StatusOK {
		t.Fatalf("%d %v: %s", w.Code, err, w.Body)
	}
	return a.Results
}

// installIndex has a page with sections and one without for the query "install".
func installIndex() *fakeIndex {
	f := newFake()
	f.answers["install"] = &searcher.Response{Total: 41, Exact: true, Words: []string{"install"}, Results: []searcher.Result{
		{
			Doc: 7, URL: "https://docs.test/guide", Title: "Install <it>", Snippet: mark("How to ", "install", " it & more."),
			Section:  searcher.Section{Heading: "Install on Linux", ID: "linux", Path: []string{"Install \u200b", "Systems \u200b"}},
			Sections: []searcher.Section{{Heading: "g", ID: "g", Path: []string{"a", "b", "c", "d", "e", "f"}}},
		},
		{Doc: 8, URL: "https://docs.test/other", Title: "Other", Snippet: mark("To ", "install", " others.")},
	}}
	return f
}

// TestDocSearch: clients of every version read pages and sections with their headings; all texts are
// HTML, with the words of the query marked as the client wants.
func TestDocSearch(t *testing.T) {
	s := newServer(installIndex())
	for _, request := range []string{docSearchRequest, oldDocSearchRequest} {
		a := askDocSearch(t, s, request)
		if len(a) != 1 || a[0].NbHits != 41 || a[0].NbPages != 5 || a[0].HitsPerPage != 20 || a[0].Index != "docs" {
			t.Fatalf("%+v", a)
		}
		var got []string
		for _, h := range a[0].Hits {
			line := h.Type + " " + h.URL + " " + h.ObjectID
			for i := range 7 {
				if text := h.Hierarchy[fmt.Sprintf("lvl%d", i)]; text != nil {
					line += " | " + *text
				}
			}
			got = append(got, line+" = "+h.Content)
		}
		want := []string{
			"lvl1 https://docs.test/guide 7 | docs.test › guide | Install &lt;it&gt; = ",
			"content https://docs.test/guide#linux 7/text | docs.test › guide | Install &lt;it&gt; | Systems | Install on Linux = How to install it &amp; more.",
			"lvl6 https://docs.test/guide#g 7#g | docs.test › guide | Install &lt;it&gt; | c | d | e | f | g = ",
			"lvl1 https://docs.test/other 8 | docs.test › other | Other = ",
			"content https://docs.test/other 8/text | docs.test › other | Other = To install others.",
		}
		if !slices.Equal(got, want) {
			t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		first := a[0].Hits[1].Snippet
		if first.Content.Value != "How to <mark>install</mark> it &amp; more." || first.Hierarchy["lvl1"].Value != "<mark>Install</mark> &lt;it&gt;" ||
			first.Hierarchy["lvl0"].Value != "docs.test › guide" || first.Hierarchy["lvl1"].MatchLevel != "partial" {
			t.Errorf("%+v", first)
		}
	}
}

// TestDocSearchHostile: no text of a page is markup in an answer, and no hit leads to a script.
func TestDocSearchHostile(t *testing.T) {
	f := installIndex()
	evil := *f.answers[hostileQuery]
	bad := evil.Results[0]
	bad.URL = "https://evil.test/"
	evil.Results = append([]searcher.Result{bad}, evil.Results...)
	f.answers["evil"] = &evil
	hits := askDocSearch(t, newServer(f), `{"requests":[{"indexName":"x","query":"evil"}]}`)[0].Hits
	if len(hits) != 3 { // page, text, section
		t.Fatalf("%d hits", len(hits))
	}
	for _, h := range hits {
		texts := []string{h.Content, h.Snippet.Content.Value}
		for level, text := range h.Hierarchy {
			if text != nil {
				texts = append(texts, *text, h.Snippet.Hierarchy[level].Value)
			}
		}
		for _, text := range texts {
			for _, tag := range []string{"<em>", "</em>"} {
				text = strings.ReplaceAll(text, tag, "")
			}
			if strings.ContainsAny(text, `<>"`) {
				t.Errorf("%s %s: %s", h.Type, h.URL, text)
			}
		}
		if !strings.HasPrefix(h.URL, "https://") {
			t.Errorf("a hit leads to %s", h.URL)
		}
	}
}

// TestDocSearchPages: the pages of an answer have every result once, and no more hits than wanted.
func TestDocSearchPages(t *testing.T) {
	s := newServer(newFake())
	for _, most := range []int{1, 2, 5, 20, 100, 1000} {
		seen := map[string]bool{}
		pages := 1
		for page := 0; page < pages; page++ {
			a := askDocSearch(t, s, fmt.Sprintf(`{"requests":[{"indexName":"x","query":"inverted index","hitsPerPage":%d,"page":%d}]}`, most, page))[0]
			if pages = a.NbPages; len(a.Hits) > most || a.Page != page {
				t.Fatalf("%d hits of %d on page %d, %d", len(a.Hits), most, a.Page, page)
			}
			for _, h := range a.Hits {
				if h.Type == "lvl1" && seen[h.ObjectID] {
					t.Errorf("%s twice", h.ObjectID)
				}
				seen[h.ObjectID] = seen[h.ObjectID] || h.Type == "lvl1"
			}
		}
		results := 0
		for _, page := range seen {
			if page {
				results++
			}
		}
		if results != 95 {
			t.Errorf("%d hits a page: %d results, want 95", most, results)
		}
	}
}

// TestDocSearchRequests: an index may be a set of sites, an empty query asks nothing, and errors are
// Algolia's.
func TestDocSearchRequests(t *testing.T) {
	f := newFake()
	s := newServerOf(Options{Collection: f, API: APIOptions{
		Keys: []string{"0123456789abcdef-key"}, SiteSets: map[string][]string{"two": {"a.test", "b.test/x"}, "one": {"a.test"}},
	}})
	for request, want := range map[string][]string{
		`{"indexName":"one","query":"a","x":1}`:                       {"site:a.test a"},
		`{"indexName":"two","query":"a"}`:                             {"(site:a.test OR site:b.test/x) a"},
		`{"indexName":"none","query":"a"}`:                            {"a"},
		`{"indexName":"one","query":""},{"indexName":"","query":"b"}`: {"b"},
		`{"indexName":"one","query":"a","hitsPerPage":0}`:             nil,
	} {
		f.asked = nil
		askDocSearch(t, s, `{"requests":[`+request+`]}`)
		var asked []string
		for _, r := range f.asked {
			asked = append(asked, r.Query)
		}
		if !slices.Equal(asked, want) {
			t.Errorf("%s: asked %q, want %q", request, asked, want)
		}
	}
	for body, status := range map[string]int{
		`{"requests":[]}`: 400, `{`: 400, `{"requests":[{"query":"a","page":-1}]}`: 400, `{"requests":[{"query":"a","page":99999}]}`: 400,
		`{"requests":[{"params":"%zz"}]}`: 400, `{"requests":[` + strings.Repeat(`{},`, 20) + `{}]}`: 400,
		`{"requests":[{"query":"` + strings.Repeat("a", 3000) + `"}]}`: 400, strings.Repeat(" ", 70<<10): 413,
		`{"requests":[{"query":"fail"}]}`: 500,
	} {
		w := from(s, "127.0.0.1", http.MethodPost, docSearchPath, body)
		var problem struct {
			Message string
			Status  int
		}
		if err := json.Unmarshal(w.Body.Bytes(), &problem); err != nil || w.Code != status || problem.Status != status || problem.Message == "" {
			t.Errorf("%.60s: %d %s", body, w.Code, w.Body)
		}
	}
	if w := from(s, "127.0.0.1", http.MethodPost, "/1/indexes/docs/queries", docSearchRequest); w.Code != http.StatusNotFound {
		t.Errorf("another index: %d", w.Code)
	}
}

// TestBrowserDocSearch: the published client, whose script of the module @docsearch/js (dist/umd) is
// the file ANATOMY_DOCSEARCH, shows results in a page of another origin.
func TestBrowserDocSearch(t *testing.T) {
	newBrowser(t)
	file := os.Getenv("ANATOMY_DOCSEARCH")
	if file == "" {
		t.Skip("ANATOMY_DOCSEARCH names no script")
	}
	client, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var search string
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/docsearch.js" {
			w.Header().Set("Content-Type", "text/javascript")
			w.Write(client)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprintf(w, `<!doctype html><title>docs</title><div id="search"></div><script src="/docsearch.js"></script><script>
			docsearch({container: "#search", appId: "anatomy", apiKey: "none", indexName: "docs", indices: ["docs"],
				transformSearchClient(client) {
					client.transporter.hosts.splice(0, 9, {url: %q, protocol: "http", accept: "readWrite"});
					return client;
				}})</script>`, strings.TrimPrefix(search, "http://"))
	}))
	defer site.Close()
	server := httptest.NewServer(newServerOf(Options{Collection: installIndex(), Origins: []string{site.URL}}).Handler())
	defer server.Close()
	search = server.URL
	tab := newTab(t)
	act(t, tab, chromedp.Navigate(site.URL), until(`!!document.querySelector(".DocSearch-Button")`), ctrl("k"), until(`!!document.querySelector(".DocSearch-Input")`),
		chromedp.KeyEvent("install"), until(`document.querySelectorAll(".DocSearch-Hit").length == 5`))
	shown := evaluate[string](t, tab, `[...document.querySelectorAll(".DocSearch-Hit a")].map(a => a.getAttribute("href") + " " + a.innerText.replace(/\s+/g, " ").trim()).join("\n")`)
	for _, want := range []string{"https://docs.test/guide Install <it>", "https://docs.test/guide#linux How to install it & more.", "https://docs.test/guide#g g"} {
		if !strings.Contains("\n"+shown, "\n"+want) {
			t.Errorf("%s is missing:\n%s", want, shown)
		}
	}
	act(t, tab, chromedp.KeyEvent(kb.ArrowDown), chromedp.KeyEvent(kb.Enter), until(`!document.querySelector(".DocSearch-Modal") || location.host == "docs.test"`))
}
