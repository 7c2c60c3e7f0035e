package web

import (
	"encoding/csv"
	"encoding/xml"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"anatomy/searcher"
	"anatomy/web/api"
)

// readFeed is what a feed reader takes from Atom and RSS.
type readFeed struct {
	ID      string         `xml:"http://www.w3.org/2005/Atom id"`
	Updated string         `xml:"updated"`
	Links   []api.AtomLink `xml:"http://www.w3.org/2005/Atom link"`
	Total   string         `xml:"http://a9.com/-/spec/opensearch/1.1/ totalResults"`
	Start   string         `xml:"http://a9.com/-/spec/opensearch/1.1/ startIndex"`
	PerPage string         `xml:"http://a9.com/-/spec/opensearch/1.1/ itemsPerPage"`
	Entries []struct {
		ID      string       `xml:"id"`
		Title   string       `xml:"title"`
		Updated string       `xml:"updated"`
		Link    api.AtomLink `xml:"link"`
		Summary string       `xml:"summary"`
	} `xml:"http://www.w3.org/2005/Atom entry"`
	Items []api.RssItem `xml:"item"`
}

func (f *readFeed) link(rel string) string {
	for _, l := range f.Links {
		if l.Rel == rel {
			return l.Href
		}
	}
	return ""
}

func readAtom(t *testing.T, s *Server, target string) (f readFeed) {
	t.Helper()
	body := get(t, s, target, http.StatusOK)
	if err := xml.Unmarshal([]byte(body), &f); err != nil {
		t.Fatalf("%s: %v\n%s", target, err, body)
	}
	return f
}

// TestAtomReachesAll follows the next links of a feed forth and the previous ones back.
func TestAtomReachesAll(t *testing.T) {
	s := fullServer()
	const first = "http://example.com/search?num=40&q=inverted+index&format=atom"
	f := readAtom(t, s, first)
	if f.ID != first || f.link("self") != first || f.link("alternate") != "http://example.com/search?num=40&q=inverted+index" || f.link("previous") != "" {
		t.Errorf("%q %+v", f.ID, f.Links)
	}
	if f.Total != "95" || f.Start != "0" || f.PerPage != "40" || f.Updated != "2026-11-03T14:05:00Z" {
		t.Errorf("%+v", f)
	}
	e := f.Entries[0]
	if e.ID != e.Link.Href || e.Title != "The inverted index" || e.Updated != "2026-11-03T14:05:00Z" || !strings.HasPrefix(e.Summary, "For every word the inverted index lists") {
		t.Errorf("%+v", e)
	}
	n := len(f.Entries)
	for f.link("next") != "" {
		f = readAtom(t, s, f.link("next"))
		n += len(f.Entries)
	}
	for f.link("previous") != "" {
		f = readAtom(t, s, f.link("previous"))
	}
	if n != 95 || f.Start != "0" {
		t.Errorf("%d entries, back at %s", n, f.Start)
	}
}

func TestRSS(t *testing.T) {
	var f struct {
		Channel readFeed `xml:"channel"`
	}
	body := get(t, fullServer(), "/search?q=inverted+index&format=rss&pageno=2", http.StatusOK)
	if err := xml.Unmarshal([]byte(body), &f); err != nil {
		t.Fatal(err)
	}
	if c := f.Channel; len(c.Items) != 10 || c.Total != "95" || c.Start != "10" || c.Items[0].Link != "https://www.docs.test/pkg/number-10/" || c.Items[0].Published != "Tue, 03 Nov 2026 14:05:00 +0000" {
		t.Errorf("%+v", f)
	}
}

// TestFeedsOfAnything: whatever titles, snippets and queries hold, feeds are well-formed and link
// to the web alone.
func TestFeedsOfAnything(t *testing.T) {
	nasty := "\x00\x01\x1b]]>&<b>\ufffe\uffff\xff\U0001F600"
	f := newFake()
	f.answers["x"+nasty] = &searcher.Response{}
	f.answers["nasty"] = &searcher.Response{Results: []searcher.Result{
		{URL: "https://a.test/?a&b", Title: nasty, Snippet: mark(nasty, nasty)}, {URL: "javascript:1", Title: "script"}, {URL: "https://b.test/"},
	}, Total: 3}
	s := newServer(f)
	a := readAtom(t, s, "/search?q=nasty&format=atom")
	if len(a.Entries) != 2 || a.Entries[0].Title != "]]>&<b>\U0001F600" || a.Entries[1].Title != "https://b.test/" || a.Updated != "1970-01-01T00:00:00Z" {
		t.Errorf("%+v", a)
	}
	readAtom(t, s, "/search?format=atom&q="+url.QueryEscape(nasty))
	for _, format := range []string{"atom", "rss"} {
		if body := get(t, s, "/search?q=nasty&format="+format, http.StatusOK); strings.Contains(body, "javascript") {
			t.Errorf("%s links to a script:\n%s", format, body)
		}
	}
}

func TestCSV(t *testing.T) {
	f := newFake()
	f.answers["formula"] = &searcher.Response{Results: []searcher.Result{
		{URL: "https://a.test/", Title: `=HYPERLINK("x")`, Score: 1_500_000, Snippet: mark(" @a\n\"b", "c, d")}, {URL: "javascript:1", Title: "-1"},
	}}
	body := get(t, newServer(f), "/search?q=formula&format=csv", http.StatusOK)
	records, err := csv.NewReader(strings.NewReader(body)).ReadAll()
	if err != nil || len(records) != 3 {
		t.Fatal(err, body)
	}
	for i, want := range []string{"title|url|content|host|engine|score|type", `'=HYPERLINK("x")|https://a.test/|'@a "bc, d|a.test|anatomy|1.5|result`, "'-1|javascript:1|||anatomy|0|result"} {
		if got := strings.Join(records[i], "|"); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// TestFeedsNeedAHost: their addresses are absolute.
func TestFeedsNeedAHost(t *testing.T) {
	s := newServerOf(Options{Collection: newFake(), PublicURL: "https://find.test/"})
	if self := readAtom(t, s, "http://search.test/search?q=a&format=atom"); self.link("self") != "https://find.test/search?q=a&format=atom" {
		t.Error(self)
	}
}

// TestSiteAddressAlone: clients of SearXNG may ask the root of the site.
func TestSiteAddressAlone(t *testing.T) {
	w := do(t, fullServer(), http.MethodGet, "/?q=a+b&format=json")
	if w.Code != http.StatusPermanentRedirect || w.Header().Get("Location") != "/search?q=a+b&format=json" {
		t.Errorf("%d %v", w.Code, w.Header())
	}
}

// A form that is posted to /search is answered as the same query string is, with the same keys.
func TestPostedSearch(t *testing.T) {
	const form = "application/x-www-form-urlencoded"
	s := newServer(newFake())
	for _, query := range []string{"q=inverted+index&format=json&pageno=2&language=en", "q=inverted+index&format=csv", "q=inverted+index", "q=nothing"} {
		want := get(t, s, "/search?"+query, http.StatusOK)
		if w := post(s, "/search", form, query); w.Code != http.StatusOK || w.Body.String() != want {
			t.Errorf("%s: %d, another answer", query, w.Code)
		}
	}
	for name, w := range map[string]*httptest.ResponseRecorder{
		"no form":   post(s, "/search", "text/plain", "q=a"),
		"too long":  post(s, "/search", form, "q="+strings.Repeat("a", maxHeader)),
		"malformed": post(s, "/search", form, "q=%zz"),
		"twice":     post(s, "/search?q=a", form, "q=b"),
	} {
		if w.Code != http.StatusBadRequest {
			t.Errorf("%s: %d", name, w.Code)
		}
	}
	s = newServerOf(Options{Collection: newFake(), API: APIOptions{Keys: []string{"0123456789abcdef"}}})
	if w := post(s, "/search", form, "q=a&format=json"); w.Code != http.StatusUnauthorized {
		t.Errorf("without a key: %d", w.Code)
	}
	if w := post(s, "/search", form, "q=a&format=json&key=0123456789abcdef"); w.Code != http.StatusOK {
		t.Errorf("with a key: %d", w.Code)
	}
}
