package web

import (
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"time"

	"anatomy/searcher"
	"anatomy/web/admin"
	"anatomy/web/internal/params"
	"anatomy/web/mcp"
)

// docsLens is a lens with rules of all kinds.
var docsLens = &params.Lens{
	Name: "Docs & <b>", Only: []string{"docs.test", "other.test/manual"}, Raise: []string{"ja.docs.test"}, Block: []string{"spam.test"},
	Lang: []string{"en", "de"}, Query: "-filetype:pdf",
}

// docsFilters are what results pass through docsLens.
const docsFilters = "(site:docs.test OR site:other.test/manual) (lang:en OR lang:de) -filetype:pdf"

func throughLens(target string, l *params.Lens) string {
	return target + "lens=" + url.QueryEscape(l.Encode())
}

// escaped returns a text as html/template writes it into an attribute.
func escaped(text string) string {
	return strings.ReplaceAll(html.EscapeString(text), "+", "&#43;")
}

// TestLensSearch: a search through a lens has its rules and the preferences of the cookie, of which
// the rules count more; the links of the page keep it; programs get the same.
func TestLensSearch(t *testing.T) {
	f := newFake()
	s := newServer(f)
	body := withCookie(s, throughLens("/search?q=inverted+index&", docsLens), "raise=spam.test,mine.test&block=ja.docs.test&lang=fr").Body.String()
	want := &searcher.Preferences{Raise: []string{"ja.docs.test", "mine.test"}, Lower: nil, Block: []string{"spam.test"}, Lang: "fr", Filters: docsFilters}
	if len(f.asked) != 1 || f.asked[0].Query != "inverted index" || !reflect.DeepEqual(f.asked[0].Preferences, want) {
		t.Fatalf("asked %+v %+v", f.asked, f.asked[0].Preferences)
	}
	carried := html.EscapeString("lens=" + url.QueryEscape(docsLens.Encode()))
	if n := strings.Count(body, "start=10&amp;"+carried); n < 2 {
		t.Errorf("%d links to the next page keep the lens", n)
	}
	for _, want := range []string{
		`<input type="hidden" name="lens" value="` + escaped(docsLens.Encode()) + `">`, `<summary>Lens: <bdi>Docs &amp; &lt;b&gt;</bdi></summary>`,
		"a lens that you have not kept", `<a href="/search?q=inverted&#43;index">Search without it</a>`, `<a href="/lens?lens=`,
	} {
		if !strings.Contains(body, want) {
			t.Errorf("the page lacks %q:\n%s", want, body)
		}
	}
	f.asked = nil
	answer := get(t, s, throughLens("/api/v1/search?q=inverted+index&raise=mine.test&", docsLens), http.StatusOK)
	if p := f.asked[0].Preferences; p == nil || p.Filters != docsFilters || !reflect.DeepEqual(p.Raise, []string{"ja.docs.test", "mine.test"}) {
		t.Errorf("asked %+v", p)
	}
	first := *f.asked[0].Preferences
	_, next, _ := strings.Cut(answer, `"next":"`)
	next, _, _ = strings.Cut(next, `"`)
	f.asked = nil
	get(t, s, next, http.StatusOK)
	if p := f.asked[0].Preferences; p == nil || !reflect.DeepEqual(*p, first) || f.asked[0].Offset != 10 {
		t.Errorf("the next page, %s, asks %+v, want %+v", next, p, first)
	}
	for _, target := range []string{"/search?q=a&lens=name%3Da%26love%3Db", "/search?q=a&lens=q%3Dwords", "/search?q=a&lens=only%3Dno!host", "/search?q=a&lens=lang%3D!!", "/search?q=a&lens=%25zz", "/search?q=a&lens=only%3Da.test%26only%3Db.test", "/search?q=a&lens=q%3D" + strings.Repeat("a", 8001), "/search?q=a&lens=name%3D" + strings.Repeat("a", 41), "/api/v1/search?q=a&lens=q%3Dwords", "/lens?lens=q%3Dwords"} {
		get(t, s, target, http.StatusBadRequest)
	}
}

// TestLensPage: the page of a shared lens shows what it does, keeps nothing, and has a way to try and
// to keep it; kept, it is a choice on the page of results, and can be removed and brought back.
func TestLensPage(t *testing.T) {
	s := newServer(newFake())
	page := throughLens("/lens?", docsLens)
	w := withCookie(s, page, "")
	body := w.Body.String()
	encoded := escaped(docsLens.Encode())
	for _, want := range []string{
		"Lens <bdi>Docs &amp; &lt;b&gt;</bdi>", "does not keep the lens", "<dt>Only these sites</dt><dd><bdi>docs.test</bdi>, <bdi>other.test/manual</bdi></dd>", "<dt>Raised sites</dt><dd><bdi>ja.docs.test</bdi></dd>",
		"<dt>Blocked sites</dt><dd><bdi>spam.test</bdi></dd>", "<bdi>English</bdi>, <bdi>Deutsch</bdi>", "<bdi>-filetype:pdf</bdi>",
		`<input type="hidden" name="lens" value="` + encoded + `"><button>Search`, `<button name="lens" value="` + encoded + `">Save</button>`, `value="http://example.com/lens?lens=`,
	} {
		if !strings.Contains(body, want) {
			t.Errorf("the page lacks %q:\n%s", want, body)
		}
	}
	if len(w.Result().Cookies()) != 0 {
		t.Error("a look at a lens kept it")
	}
	kept := postForm(s, "/lens", url.Values{"lens": {docsLens.Encode()}}.Encode())
	if kept.Code != http.StatusSeeOther || kept.Header().Get("Location") != throughLens("/lens?", docsLens)+"&saved=1" || len(kept.Result().Cookies()) != 1 {
		t.Fatalf("%d, to %s, %v:\n%s", kept.Code, kept.Header().Get("Location"), kept.Result().Cookies(), kept.Body)
	}
	cookie := kept.Result().Cookies()[0]
	if cookie.Name != "anatomy_lenses" || cookie.Value != docsLens.Encode() || !cookie.HttpOnly || cookie.SameSite != http.SameSiteLaxMode || cookie.MaxAge <= 0 {
		t.Errorf("cookie %+v", cookie)
	}
	const dark = "anatomy_preferences=theme=dark; anatomy_lenses="
	for target, wants := range map[string][]string{
		page + "&saved=1":          {"Saved in this browser.", `name="was"`},
		page:                       {"This browser keeps the lens.", `<button name="remove" value="Docs &amp; &lt;b&gt;">`},
		"/search?q=inverted+index": {"<summary>Lens</summary>", `aria-current="true">No lens</a>`},
		"/search?q=nothing":        {"<summary>Lens</summary>"},
		"/search?q=fox&type=image": {"<summary>Lens</summary>"},
		throughLens("/search?q=inverted+index&", docsLens): {"<summary>Lens: <bdi>", `aria-current="true"><bdi>Docs &amp; &lt;b&gt;</bdi></a>`},
		"/preferences": {`aria-label="remove Docs &amp; &lt;b&gt;"`},
		throughLens("/lens?", &params.Lens{Name: docsLens.Name, Only: []string{"x.test"}}): {"Save replaces another one of this name."},
	} {
		r := httptest.NewRequest(http.MethodGet, target, nil)
		r.Header.Set("Cookie", dark+cookie.Value)
		answer := httptest.NewRecorder()
		s.Handler().ServeHTTP(answer, r)
		body := answer.Body.String()
		for _, want := range wants {
			if !strings.Contains(body, want) {
				t.Errorf("%s lacks %q:\n%s", target, want, body)
			}
		}
		if strings.Contains(body, "have not kept") || strings.Contains(body, "<b>") {
			t.Errorf("%s:\n%s", target, body)
		}
	}
	removed := postForm(s, "/lens", url.Values{"remove": {docsLens.Name}}.Encode(), "Cookie", dark+cookie.Value)
	if removed.Code != http.StatusSeeOther || removed.Result().Cookies()[0].Value != "" || removed.Header().Get("Location") != throughLens("/lens?", docsLens)+"&removed=1" {
		t.Errorf("%d, to %s, %v", removed.Code, removed.Header().Get("Location"), removed.Result().Cookies())
	}
}

// TestLensFile: kept lenses are exported with the preferences; those of a file are added to them by Save.
func TestLensFile(t *testing.T) {
	s := newServer(newFake())
	other := (&params.Lens{Name: "Other", Block: []string{"a.test"}}).Encode()
	same := (&params.Lens{Name: docsLens.Name, Block: []string{"b.test"}}).Encode()
	r := httptest.NewRequest(http.MethodGet, "/preferences/export", nil)
	r.Header.Set("Cookie", "anatomy_lenses="+docsLens.Encode())
	exported := httptest.NewRecorder()
	s.Handler().ServeHTTP(exported, r)
	if !strings.Contains(exported.Body.String(), "[[lens]]\nname = 'Docs & <b>'\nonly = [\n  'docs.test',\n  'other.test/manual'\n]\n") {
		t.Errorf("exported is\n%s", exported.Body)
	}
	kept := "anatomy_lenses=" + other + "|" + same
	body := sendFile(s, exported.Body.String(), "Cookie", kept).Body.String()
	if !strings.Contains(body, `<input type="hidden" name="lenses" value="`+escaped(docsLens.Encode())+`">`) || !strings.Contains(body, "Its lenses are added to yours.") ||
		!strings.Contains(body, `aria-label="remove Other"`) {
		t.Errorf("imported:\n%s", body)
	}
	w := postForm(s, "/preferences", url.Values{"theme": {"dark"}, "lenses": {docsLens.Encode()}}.Encode(), "Cookie", kept)
	cookies := w.Result().Cookies()
	if len(cookies) != 2 || cookies[0].Value != "theme=dark" || cookies[1].Value != docsLens.Encode()+"|"+other {
		t.Errorf("%d, saved %v:\n%s", w.Code, cookies, w.Body)
	}
	long := ""
	for i := range 3 {
		long += "|" + (&params.Lens{Name: fmt.Sprint(i), Block: []string{"x.test/" + strings.Repeat("x", 250), "y.test/" + strings.Repeat("y", 250), "z.test/" + strings.Repeat("z", 250), "w.test/" + strings.Repeat("w", 250), "v.test/" + strings.Repeat("v", 250)}}).Encode()
	}
	w = postForm(s, "/preferences", url.Values{"theme": {"dark"}, "lenses": {long[1:]}}.Encode(), "Cookie", kept)
	if w.Code != http.StatusBadRequest || len(w.Result().Cookies()) != 0 || !strings.Contains(w.Body.String(), "Your lenses would take") {
		t.Errorf("%d, saved %v:\n%s", w.Code, w.Result().Cookies(), w.Body)
	}
}

// TestLensForm: the form makes a lens, or changes one, and names what is wrong.
func TestLensForm(t *testing.T) {
	s := newServer(newFake())
	other := (&params.Lens{Name: "Other", Block: []string{"a.test"}}).Encode()
	w := postForm(s, "/lens", "name=Docs&only=docs.test%0D%0AOther.test/manual/&lang=en&lang=de&query=-filetype:pdf&was=Other", "Cookie", "anatomy_lenses="+other)
	want := (&params.Lens{Name: "Docs", Only: []string{"docs.test", "other.test/manual"}, Lang: []string{"en", "de"}, Query: "-filetype:pdf"}).Encode()
	if w.Code != http.StatusSeeOther || len(w.Result().Cookies()) != 1 || w.Result().Cookies()[0].Value != want {
		t.Errorf("%d, %v:\n%s", w.Code, w.Result().Cookies(), w.Body)
	}
	if w = postForm(s, "/lens", "name=Docs&raise=b.test", "Cookie", "anatomy_lenses="+other+"|x=%zz|"+other); w.Result().Cookies()[0].Value != other+"|name=Docs&raise=b.test" {
		t.Errorf("cookie %v", w.Result().Cookies())
	}
	var full []string
	for _, name := range []string{"a", "b", "c", "d"} {
		full = append(full, (&params.Lens{Name: name, Raise: []string{strings.Repeat("x", 60) + "." + strings.Repeat("y", 60) + ".test/" + strings.Repeat("z", 150)}, Block: []string{strings.Repeat("v", 60) + ".test/" + strings.Repeat("w", 190)}}).Encode())
	}
	many := ""
	for i := range 400 {
		many += fmt.Sprintf("+s%d.test", i)
	}
	for form, want := range map[string]string{
		"only=a.test": "The lens needs a name of up to 40 characters.",
		"name=" + strings.Repeat("n", 41) + "&only=a.test": "The lens needs a name of up to 40 characters.",
		"name=N":                           "The lens has no rule.",
		"name=N&only=no!host&block=b.test": "“no!host” is not a site.",
		"name=N&query=some+words":          "Filters are up to 64 operators without words: site:",
		"name=N&query=" + url.QueryEscape(strings.Repeat("site:a.test OR ", 80)): "Filters are up to 64 operators without words: site:",
		"name=N&raise=" + many: "The lens has too many rules, or its filters are too long.",
		"name=N&block=" + strings.Repeat("k", 60) + ".test/" + strings.Repeat("k", 200) + "+" + strings.Repeat("m", 60) + ".test/" + strings.Repeat("m", 230) + "+" + strings.Repeat("o", 60) + ".test/" + strings.Repeat("p", 230) + "+" + strings.Repeat("q", 60) + ".test/" + strings.Repeat("q", 230) + "+" + strings.Repeat("r", 60) + ".test/" + strings.Repeat("s", 230) + "+" + strings.Repeat("t", 60) + ".test/" + strings.Repeat("u", 230): "this browser keeps 3,500.",
	} {
		w := postForm(s, "/lens", form, "Cookie", "anatomy_lenses="+strings.Join(full, "|"))
		body := w.Body.String()
		if w.Code != http.StatusBadRequest || len(w.Result().Cookies()) != 0 || !strings.Contains(body, `role="alert" id="failed">`) || !strings.Contains(body, want) {
			t.Errorf("%.80s: %d, cookies %v, want %s:\n%s", form, w.Code, w.Result().Cookies(), want, body)
		}
	}
	for _, form := range []string{"remove=Absent", "lens=love%3Da", "lens=%25zz", "name=a&name=b"} {
		if w := postForm(s, "/lens", form); w.Code != http.StatusBadRequest || len(w.Result().Cookies()) != 0 {
			t.Errorf("%s: %d", form, w.Code)
		}
	}
	for _, header := range [][]string{{"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Site", "same-site"}, {"Sec-Fetch-Site", "", "Origin", "https://evil.test"}} {
		if w := postForm(s, "/lens", "name=N&only=a.test", header...); w.Code != http.StatusForbidden || len(w.Result().Cookies()) != 0 {
			t.Errorf("from %v: %d", header, w.Code)
		}
	}
}

// TestLensEverywhere: searches for programs have the rules of a lens, and the links in their answers keep
// it. Preferences of addresses have no effect on what clients of SearXNG get.
func TestLensEverywhere(t *testing.T) {
	f := newFake()
	s := newServer(f)
	askedThrough := func(what string) {
		t.Helper()
		if len(f.asked) != 1 || f.asked[0].Preferences == nil || f.asked[0].Preferences.Filters != docsFilters ||
			!reflect.DeepEqual(f.asked[0].Preferences.Raise, docsLens.Raise) || !reflect.DeepEqual(f.asked[0].Preferences.Block, docsLens.Block) {
			t.Errorf("%s asks %+v", what, f.asked)
		}
		f.asked = nil
	}
	carried := "lens=" + url.QueryEscape(docsLens.Encode())
	for format, links := range map[string]int{"atom": 4, "rss": 2, "json": 0, "csv": 0} {
		body := get(t, s, throughLens("/search?q=inverted+index&raise=mine.test&format="+format+"&", docsLens), http.StatusOK)
		askedThrough(format)
		if n := strings.Count(html.UnescapeString(body), carried); n < links {
			t.Errorf("%s: %d links keep the lens\n%s", format, n, body)
		}
		get(t, s, "/search?q=inverted+index&lens=q%3Dwords&format="+format, http.StatusBadRequest)
		get(t, s, "/search?q=inverted+index&raise=mine.test&format="+format, http.StatusOK)
		if len(f.asked) != 1 || f.asked[0].Preferences != nil {
			t.Errorf("%s asks %+v without a lens", format, f.asked)
		}
		f.asked = nil
	}
	page := html.UnescapeString(get(t, s, throughLens("/search?q=inverted+index&", docsLens), http.StatusOK))
	if !strings.Contains(page, `/search?q=inverted+index&format=atom&`+carried+`"`) {
		t.Error("the feed of a page of results is without its lens")
	}
	f.asked = nil
	batch := func(lens string) string {
		body, err := json.Marshal(map[string]any{"searches": []any{map[string]any{"q": "inverted index", "lens": lens}}})
		if err != nil {
			t.Fatal(err)
		}
		r := httptest.NewRequest("POST", "/api/v1/batch", strings.NewReader(string(body)))
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		s.Handler().ServeHTTP(w, r)
		return w.Body.String()
	}
	batch(docsLens.Encode())
	askedThrough("a batch")
	if answer := batch("q=words"); !strings.Contains(answer, "Field lens is not a lens") || len(f.asked) > 0 {
		t.Errorf("a batch with no lens: %s", answer)
	}
	call(t, model(t, s), "search", map[string]any{"query": "inverted index", "lens": docsLens.Encode()}, &mcp.ToolSearchOutput{})
	askedThrough("MCP")
}

// TestLensOfCollections: a search of all collections goes through the lens, which its links keep, and which
// can be chosen there; it is counted where nothing was found at all.
func TestLensOfCollections(t *testing.T) {
	beside := &Collections{}
	docs, wiki := newFake(), newFake()
	at := func(f Collection, name, path string) *Server {
		return newServerOf(Options{
			Collection: f, Name: name, Path: path, Beside: beside, Now: func() time.Time { return fetched },
			Admin: admin.Options{Crawl: busyCrawl(), Token: testToken, Searches: true},
		})
	}
	s := at(docs, "Docs", "")
	if err := s.Mount(at(wiki, "Wiki", "/wiki")); err != nil {
		t.Fatal(err)
	}
	carried := "lens=" + url.QueryEscape(docsLens.Encode())
	for _, target := range []string{"/search?q=inverted+index&in=all&", "/api/v1/collections?q=inverted+index&"} {
		body := html.UnescapeString(get(t, s, throughLens(target, docsLens), http.StatusOK))
		for _, f := range []*fakeIndex{docs, wiki} {
			if len(f.asked) != 1 || f.asked[0].Preferences == nil || f.asked[0].Preferences.Filters != docsFilters {
				t.Errorf("%s asks %+v", target, f.asked)
			}
			f.asked = nil
		}
		if strings.HasPrefix(target, "/api/") {
			continue
		}
		for _, want := range []string{
			`<a href='/wiki/search?q=inverted+index&` + carried + `'>Wiki</a>`, `<summary>Lens: <bdi>`, `<a href="/search?in=all&q=inverted+index">Search without it</a>`,
			`&in=all&` + carried + `'`,
		} {
			if !strings.Contains(body, want) {
				t.Errorf("the page lacks %s:\n%s", want, body)
			}
		}
	}
	w := do(t, s, "GET", throughLens("/wiki/search?q=a&in=all&", docsLens))
	if to := w.Header().Get("Location"); w.Code != http.StatusSeeOther || to != "/search?in=all&q=a&"+carried {
		t.Errorf("%d to %q", w.Code, to)
	}
	wiki.answers["of the wiki"] = wiki.answers["inverted index"]
	for _, target := range []string{"/search?in=all&q=wlan", "/api/v1/collections?q=wlan", "/search?in=all&q=of+the+wiki", "/search?in=all&q=fail", throughLens("/search?in=all&q=wlan&", docsLens)} {
		get(t, s, target, http.StatusOK)
	}
	for _, path := range []string{"", "/wiki"} {
		if body := program(s, "GET", path+"/crawl/searches", "", testToken).Body.String(); !strings.HasPrefix(body, `{"fruitless":[{"query":"wlan","count":2}],`) {
			t.Errorf("%s/ counted %s", path, body)
		}
	}
}
