package web

import (
	"encoding/csv"
	"encoding/xml"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
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
		Dated   string       `xml:"published"`
		Lang    string       `xml:"http://www.w3.org/XML/1998/namespace lang,attr"`
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
	if c := f.Channel; len(c.Items) != 10 || c.Total != "95" || c.Start != "10" || c.Items[0].Link != "https://www.docs.test/pkg/number-10/" || c.Items[0].Published != "" {
		t.Errorf("%+v", f)
	}
}

// TestDateAndLanguage: every shape of a result has the date of the page, where it has one, not that
// of the fetch, and its language. The second result of the fake is of 6 May 2024, fetched in 2026.
func TestDateAndLanguage(t *testing.T) {
	s := fullServer()
	atom := readAtom(t, s, "/search?q=inverted+index&format=atom&num=3")
	if e := atom.Entries[1]; e.Updated != "2024-05-06T00:00:00Z" || e.Dated != e.Updated || e.Lang != "en" {
		t.Errorf("atom: %+v", e)
	}
	if e := atom.Entries[2]; e.Updated != "2026-11-03T14:05:00Z" || e.Dated != "" || e.Lang != "ja" {
		t.Errorf("atom without a date: %+v", e)
	}
	const day = "2024-05-06"
	for what, wants := range map[string][]string{
		"/search?q=inverted+index&num=3&format=rss":  {"<pubDate>Mon, 06 May 2024 00:00:00 +0000</pubDate>", "<dc:language>en</dc:language>", "<dc:language>ja</dc:language>"},
		"/search?q=inverted+index&num=3&format=csv":  {",result," + day + ",en\r\n", ",result,,ja\r\n"},
		"/search?q=inverted+index&num=3&format=json": {`"publishedDate":"2024-05-06T00:00:00"`, `"lang":"en"`, `"lang":"ja"`},
		"/api/v1/search?q=inverted+index&num=3":      {`"date":"` + day + `"`, `"lang":"en"`, `"lang":"ja"`},
		"/customsearch/v1?q=inverted+index&num=3":    {`"metatags":[{"date":"` + day + `","language":"en"}]`, `"metatags":[{"language":"ja"}]`},
		"/external/search":                           {`"date":"` + day + `","lang":"en"}`, `"lang":"ja"}`},
	} {
		w := do(t, s, http.MethodGet, what)
		if what == "/external/search" {
			w = post(s, what, "application/json", `{"query":"inverted index","count":3}`)
		}
		for _, want := range wants {
			if !strings.Contains(w.Body.String(), want) {
				t.Errorf("%s has no %s:\n%s", what, want, w.Body)
			}
		}
		if strings.Contains(what, "rss") && strings.Contains(w.Body.String(), "2026") {
			t.Errorf("%s is dated by the fetch:\n%s", what, w.Body)
		}
	}
}

// TestRSSIsValid: elements without a namespace are those of RSS 2.0, and none occurs twice that may
// not.
func TestRSSIsValid(t *testing.T) {
	body := get(t, fullServer(), "/search?q=inverted+index&format=rss", http.StatusOK)
	known := map[string]string{
		"rss": "channel", "channel": "title link description item", "item": "title link description pubDate guid",
	}
	var path []string
	seen := map[string]int{}
	items := 0
	for d := xml.NewDecoder(strings.NewReader(body)); ; {
		token, err := d.Token()
		if err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		switch e := token.(type) {
		case xml.StartElement:
			if n := len(path); n > 0 && e.Name.Space == "" && !slices.Contains(strings.Fields(known[path[n-1]]), e.Name.Local) {
				t.Fatalf("RSS has no element %s within %s", e.Name.Local, path[n-1])
			}
			if e.Name.Local == "item" {
				items++
				clear(seen)
			} else if seen[e.Name.Local]++; len(path) == 3 && seen[e.Name.Local] > 1 {
				t.Errorf("%s occurs twice", e.Name.Local)
			}
			path = append(path, e.Name.Local)
		case xml.EndElement:
			path = path[:len(path)-1]
		}
	}
	if items != 10 {
		t.Errorf("%d items", items)
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
	for i, want := range []string{"title|url|content|host|engine|score|type|publishedDate|lang", `'=HYPERLINK("x")|https://a.test/|'@a "bc, d|a.test|anatomy|1.5|result||`, "'-1|javascript:1|||anatomy|0|result||"} {
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
