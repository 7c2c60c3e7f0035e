package web

import (
	"bytes"
	"fmt"
	"html"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"strings"
	"testing"

	"anatomy/searcher"
)

// postForm sends a form as a browser would, from our own page unless a header says otherwise.
func postForm(s *Server, target, body string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodPost, target, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	s.Handler().ServeHTTP(w, r)
	return w
}

func withCookie(s *Server, target, cookie string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, target, nil)
	r.AddCookie(&http.Cookie{Name: "anatomy_preferences", Value: cookie})
	w := httptest.NewRecorder()
	s.Handler().ServeHTTP(w, r)
	return w
}

// What is saved comes back, on the page of preferences and with each search.
func TestPreferencesAreKept(t *testing.T) {
	f := newFake()
	s := newServer(f)
	w := postForm(s, "/preferences", "raise=Example.org+docs.test/a&lower=low.test&pin=pin.test&block=*://*.spam.test/*%0Ahttps://ads.test/&lang=de&num=20&tab=1&theme=dark&instant=1")
	if w.Code != http.StatusSeeOther || w.Header().Get("Location") != "/preferences?saved=1" || len(w.Result().Cookies()) != 1 {
		t.Fatalf("%d %v: %s", w.Code, w.Header(), w.Body)
	}
	cookie := w.Result().Cookies()[0]
	if cookie.Name != "anatomy_preferences" || !cookie.HttpOnly || cookie.SameSite != http.SameSiteLaxMode || cookie.MaxAge <= 0 {
		t.Errorf("cookie %+v", cookie)
	}
	page := withCookie(s, "/preferences?saved=1", cookie.Value).Body.String()
	for _, want := range []string{`value="raise docs.test/a" aria-label="remove docs.test/a">`, `value="raise example.org"`, `value="lower low.test"`, `value="pin pin.test"`, `value="block ads.test"`, `<a href="/site/spam.test" dir="ltr">spam.test</a>`, `name="lang" value="de" checked><span lang="de">Deutsch<`, "<option selected>20", `value="dark" checked`, `name="tab" value="1" checked`, `data-theme="dark"`, "data-instant", "Saved"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q:\n%s", want, page)
		}
	}
	f.asked = nil
	results := withCookie(s, "/search?q=inverted+index", cookie.Value).Body.String()
	want := &searcher.Preferences{Raise: []string{"example.org", "docs.test/a"}, Lower: []string{"low.test"}, Pin: []string{"pin.test"}, Block: []string{"spam.test", "ads.test"}, Lang: "de"}
	if len(f.asked) != 1 || !reflect.DeepEqual(f.asked[0].Preferences, want) || f.asked[0].Limit != 20 {
		t.Errorf("asked %+v", f.asked)
	}
	outside := strings.Count(results, `rel="noreferrer"`)
	if strings.Count(results, `class="hit"`) != 20 || outside < 20 || strings.Count(results, `rel="noreferrer" target="_blank"`) != outside || !strings.Contains(results, `data-theme="dark"`) {
		t.Error("the results are not as preferred")
	}
	for _, program := range []string{"/api/v1/search?q=inverted+index", "/search?q=inverted+index&format=json"} {
		f.asked = nil
		withCookie(s, program, cookie.Value)
		if len(f.asked) != 1 || f.asked[0].Preferences != nil {
			t.Errorf("%s depends on a cookie: %+v", program, f.asked)
		}
	}
}

// Preferences in the address count instead of the cookie, and stay in the addresses of the page.
func TestPreferencesInTheAddress(t *testing.T) {
	f := newFake()
	s := newServer(f)
	body := withCookie(s, "/search?q=inverted+index&block=papers.docs.test&theme=light", "raise=x.test&theme=dark&num=50").Body.String()
	if p := f.asked[0].Preferences; p == nil || len(p.Raise) != 0 || p.Block[0] != "papers.docs.test" || f.asked[0].Limit != 10 {
		t.Errorf("asked %+v", f.asked[0])
	}
	for _, want := range []string{`data-theme="light"`, `<input type="hidden" name="block" value="papers.docs.test">`, `<span class="tag">blocked</span>`} {
		if !strings.Contains(body, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if n := strings.Count(body, "start=10&amp;block=papers.docs.test&amp;theme=light"); n < 2 {
		t.Errorf("%d addresses of the next page carry the preferences", n)
	}
	f.asked = nil
	get(t, s, "/search?q=inverted+index&block=papers.docs.test&blocked=1", http.StatusOK)
	if f.asked[0].Preferences != nil {
		t.Errorf("what is blocked is to be shown: %+v", f.asked[0])
	}
	f.asked = nil
	answer := get(t, s, "/api/v1/search?q=inverted+index&raise=a.test,b.test&lang=de", http.StatusOK)
	if p := f.asked[0].Preferences; p == nil || len(p.Raise) != 2 || !strings.Contains(answer, `&lang=de&raise=a.test%2Cb.test"`) {
		t.Errorf("asked %+v, answered %s", f.asked[0], answer)
	}
}

// The menu of a result changes the cookie, or the address where that is what counts, and leads back.
func TestPreferSite(t *testing.T) {
	s := newServer(newFake())
	for _, c := range []struct{ cookie, set, back, want, location string }{
		{"", "block docs.test", "q=a", "block=docs.test", "/search?q=a"},
		{"block=docs.test&theme=dark", "raise docs.test", "q=a&start=10", "raise=docs.test&theme=dark", "/search?q=a&start=10"},
		{"block=docs.test", "none docs.test", "q=a", "", "/search?q=a"},
		{"block=x.test", "pin docs.test", "q=a&raise=docs.test", "-", "/search?pin=docs.test&q=a"},
		{"", "none docs.test", "q=a&raise=docs.test", "-", "/search?q=a&theme=auto"},
		{"", "block docs.test", "//evil.test/", "block=docs.test", "/search?%2F%2Fevil.test%2F="},
		{"%zz=;", "block docs.test", "q=a", "block=docs.test", "/search?q=a"},
	} {
		w := postForm(s, "/preferences/site", url.Values{"set": {c.set}, "back": {c.back}}.Encode(), "Cookie", "anatomy_preferences"+"="+c.cookie)
		if w.Code != http.StatusSeeOther || w.Header().Get("Location") != c.location {
			t.Errorf("%+v: %d, to %s", c, w.Code, w.Header().Get("Location"))
		}
		if cookies := w.Result().Cookies(); c.want == "-" && len(cookies) != 0 || c.want != "-" && (len(cookies) != 1 || cookies[0].Value != c.want) {
			t.Errorf("%+v: cookies %v", c, cookies)
		}
	}
}

// Other sites change nothing, and what is no preference is refused by name.
func TestPreferencesAreRefused(t *testing.T) {
	s := newServer(newFake())
	for _, path := range []string{"/preferences", "/preferences/site"} {
		for _, header := range [][]string{{"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Site", "same-site"}, {"Sec-Fetch-Site", "", "Origin", "https://evil.test"}} {
			w := postForm(s, path, "set=block+a.test&back=q%3Da&block=a.test", header...)
			if w.Code != http.StatusForbidden || len(w.Result().Cookies()) != 0 {
				t.Errorf("%s from %v: %d, cookies %v", path, header, w.Code, w.Result().Cookies())
			}
		}
	}
	var sites []string
	for i := range 60 {
		sites = append(sites, fmt.Sprintf("a%055d.test", i))
	}
	for body, want := range map[string]string{
		"block=no+host!": "is not a site", "block=" + url.QueryEscape(hostileQuery): "is not a site", "lang=" + url.QueryEscape(hostileQuery): "Parameter lang",
		"theme=pink": "Parameter theme", "num=0": "Parameter num", "num=-1": "Parameter num", "num=1000": "Parameter num", "num=x": "Parameter num", "tab=maybe": "Parameter tab", "tab=1&tab=0": "must not occur twice",
		"block=..": "is not a site", "raise=" + strings.Join(sites, ","): "this browser keeps 3,500", "block=" + strings.Repeat("x", 256<<10+1): "too long",
	} {
		w := postForm(s, "/preferences", body)
		if w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), want) || strings.Contains(w.Body.String(), "<script>hit") {
			t.Errorf("%.60s: %d: %s", body, w.Code, w.Body)
		}
	}
	for _, body := range []string{"", "set=block", "set=block+", "set=love+a.test&back=q", "set=block+a.test&back=%25zz", "set=block+a.test&set=block+b.test"} {
		if w := postForm(s, "/preferences/site", body); w.Code != http.StatusBadRequest {
			t.Errorf("%s: %d", body, w.Code)
		}
	}
	for _, target := range []string{"/search?q=a&block=!", "/search?q=a&theme=pink", "/search?q=a&raise=a&raise=b", "/api/v1/search?q=a&block=!", "/preferences?theme=pink", "/explain?q=a&url=http://a.test/&pin=!"} {
		get(t, s, target, http.StatusBadRequest)
	}
	if w := withCookie(s, "/search?q=a", "theme=pink&block=ok.test,!&num=x"); w.Code != http.StatusOK {
		t.Errorf("a bad cookie stops a search: %d", w.Code)
	}
}

// saved returns the cookie that an answer sets, read as a query string.
func saved(t *testing.T, w *httptest.ResponseRecorder) string {
	t.Helper()
	cookies := w.Result().Cookies()
	if len(cookies) != 1 {
		t.Fatalf("%d, cookies %v:\n%s", w.Code, cookies, w.Body)
	}
	value, err := url.QueryUnescape(cookies[0].Value)
	if err != nil {
		t.Fatal(err)
	}
	return value
}

// TestPreferencesForm: the form adds and removes sites of the cookie's lists, or of those that it has
// itself, saves the settings with them, and its answer leads to the page with an Undo.
func TestPreferencesForm(t *testing.T) {
	s := newServer(newFake())
	const cookie = "anatomy_preferences=block=a.test%2Cb.test&raise=c.test"
	for _, c := range []struct{ form, want, location string }{
		{"theme=dark", "block=a.test,b.test&raise=c.test&theme=dark", "/preferences?saved=1"},
		{"site=D.test+https://e.test/docs/&kind=lower&lang=de&lang=fr", "block=a.test,b.test&lang=de,fr&lower=d.test,e.test/docs&raise=c.test", "/preferences?saved=1"},
		{"site=a.test&kind=raise", "block=b.test&raise=c.test,a.test", "/preferences?saved=1"},
		{"remove=block+a.test&match=.te", "block=b.test&raise=c.test", "/preferences?match=.te&undo=block+a.test"},
		{"remove=raise+c.test&num=10", "block=a.test,b.test", "/preferences?undo=raise+c.test"},
		{"raise=x.test&site=y.test&kind=raise", "raise=x.test,y.test", "/preferences?saved=1"},
		{"raise=x.test&remove=raise+x.test", "", "/preferences?undo=raise+x.test"},
	} {
		w := postForm(s, "/preferences", c.form, "Cookie", cookie)
		if got := saved(t, w); w.Code != http.StatusSeeOther || got != c.want || w.Header().Get("Location") != c.location {
			t.Errorf("%s: %d %q, to %s", c.form, w.Code, got, w.Header().Get("Location"))
		}
	}
	page := withCookie(s, "/preferences?undo=block+a.test", "block=b.test").Body.String()
	if !strings.Contains(page, "Removed: <bdi>a.test</bdi>") || !strings.Contains(page, `<button name="set" value="block a.test" autofocus>Undo`) {
		t.Errorf("no way back:\n%s", page)
	}
	w := postForm(s, "/preferences/site", "set=block+a.test", "Cookie", "anatomy_preferences=block=b.test")
	if got := saved(t, w); got != "block=b.test,a.test" || w.Header().Get("Location") != "/preferences?saved=1" {
		t.Errorf("undone: %q, to %s", got, w.Header().Get("Location"))
	}
	given := get(t, s, "/preferences?raise=x.test&theme=dark", http.StatusOK)
	_, form, _ := strings.Cut(given, `<form class="settings"`)
	if strings.Count(form, `<input type="hidden" name="raise" value="x.test">`) != 1 || strings.Contains(form, `<input type="hidden" name="theme"`) {
		t.Errorf("the lists of the address are not those of the form:\n%s", given)
	}
}

// TestPreferencesFormFails: what cannot be saved is said on the page, which keeps what was typed.
func TestPreferencesFormFails(t *testing.T) {
	s := newServer(newFake())
	var many, long []string
	for i := range searcher.MaxPreferred {
		many = append(many, fmt.Sprintf("s%d.test", i))
		long = append(long, fmt.Sprintf("a-longer-name-of-a-site-%d.example.test", i))
	}
	full := url.Values{"block": {strings.Join(many, ",")}}.Encode()
	for _, c := range []struct{ cookie, form, want string }{
		{"block=a.test", "site=b.test+no!host&kind=raise&theme=dark", "“no!host” is not a site."},
		{"block=a.test", "site=" + url.QueryEscape(hostileQuery) + "&kind=block", "is not a site."},
		{full, "site=more.test&kind=block", "The lists would have 101 sites; the limit is 100."},
		{"", "site=" + url.QueryEscape(strings.Join(long, " ")) + "&kind=block", "this browser keeps 3,500."},
	} {
		w := postForm(s, "/preferences", c.form, "Cookie", "anatomy_preferences="+c.cookie)
		body := w.Body.String()
		typed, _ := url.ParseQuery(c.form)
		if w.Code != http.StatusBadRequest || len(w.Result().Cookies()) != 0 || !strings.Contains(body, `role="alert" id="failed">`) || !strings.Contains(body, c.want) ||
			!strings.Contains(body, `name="site" value="`+html.EscapeString(typed.Get("site"))+`"`) || strings.Contains(body, "<script>hit") {
			t.Errorf("%s: %d, cookies %v:\n%s", c.form, w.Code, w.Result().Cookies(), body)
		}
	}
	body := postForm(s, "/preferences", "site=!&kind=raise&theme=dark", "Cookie", "anatomy_preferences=block=a.test", "Accept-Language", "de").Body.String()
	for _, want := range []string{`value="block a.test"`, `<option value="raise" selected>`, `value="dark" checked`, "„!“ ist keine Website."} {
		if !strings.Contains(body, want) {
			t.Errorf("the page lacks %q:\n%s", want, body)
		}
	}
	for _, form := range []string{"remove=love+a.test", "remove=block", "site=a.test&kind=none", "site=a.test", "undo=x", "match=" + strings.Repeat("x", 201)} {
		if w := postForm(s, "/preferences", form); form != "undo=x" && (w.Code != http.StatusBadRequest || len(w.Result().Cookies()) != 0) {
			t.Errorf("%s: %d", form, w.Code)
		}
	}
	get(t, s, "/preferences?undo=love+a.test", http.StatusBadRequest)
}

// TestPreferencesLists: a long list has a filter, and the page offers the languages and hosts of the
// collection, which it finds once.
func TestPreferencesLists(t *testing.T) {
	f := newFake()
	s := newServer(f)
	short := withCookie(s, "/preferences", "lang=fr,de&block=a.test").Body.String()
	for _, want := range []string{
		`name="lang" value="en"><span lang="en">English<`, `name="lang" value="de" checked><span lang="de">Deutsch<`, `name="lang" value="fr" checked><span lang="fr">français<`,
		`<option value="a-host-with-a-long-name-0.docs.test">`,
	} {
		if !strings.Contains(short, want) {
			t.Errorf("the page lacks %q:\n%s", want, short)
		}
	}
	if strings.Contains(short, `id="match"`) {
		t.Error("a list of one site has a filter")
	}
	if len(f.asked) != 1 || f.asked[0].Facets != "site,lang" {
		t.Errorf("asked %+v", f.asked)
	}
	const nine = "block=a.test,b.test,c.test,d.test,e.test&raise=f.test,g.test,h.test,other.org"
	page := withCookie(s, "/preferences", nine).Body.String()
	if strings.Count(page, `name="remove"`) != 9 || !strings.Contains(page, `id="match"`) {
		t.Errorf("nine sites:\n%s", page)
	}
	page = withCookie(s, "/preferences?match=Other", nine).Body.String()
	if strings.Count(page, `name="remove"`) != 1 || !strings.Contains(page, `value="raise other.org"`) || !strings.Contains(page, `<input type="hidden" name="match" value="Other">`) {
		t.Errorf("filtered:\n%s", page)
	}
	if page = withCookie(s, "/preferences?match=zz", nine).Body.String(); !strings.Contains(page, "No site has this text.") {
		t.Errorf("nothing is found:\n%s", page)
	}
	if page = get(t, s, "/preferences", http.StatusOK); !strings.Contains(page, "No site is raised") {
		t.Errorf("without preferences:\n%s", page)
	}
	if len(f.asked) != 1 {
		t.Errorf("the offer was made %d times", len(f.asked))
	}
	empty := newFake()
	delete(empty.answers, everyPage)
	if page = get(t, newServer(empty), "/preferences", http.StatusOK); !strings.Contains(page, "no page whose language is known") {
		t.Errorf("an empty collection:\n%s", page)
	}
}

// sendFile posts a file to be imported.
func sendFile(s *Server, content string, header ...string) *httptest.ResponseRecorder {
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	part, _ := form.CreateFormFile("file", "preferences.toml") // into memory: cannot fail
	part.Write([]byte(content))
	form.Close()
	return postForm(s, "/preferences/import", body.String(), append([]string{"Content-Type", form.FormDataContentType()}, header...)...)
}

// TestPreferencesFile: what is exported can be imported, which shows it in the form, and saves nothing;
// a list of sites adds to the blocked ones; a bad file leaves all as it was.
func TestPreferencesFile(t *testing.T) {
	s := newServer(newFake())
	const cookie = "block=a.test,b.test&lang=de,fr&theme=dark"
	w := withCookie(s, "/preferences/export", cookie)
	file := w.Body.String()
	if h := w.Header(); w.Code != http.StatusOK || h.Get("Content-Type") != "application/toml; charset=utf-8" || !strings.Contains(h.Get("Content-Disposition"), `"preferences.toml"`) ||
		file != "version = 1\nblock = [\n  'a.test',\n  'b.test'\n]\nlang = ['de', 'fr']\ntheme = 'dark'\n" {
		t.Errorf("%v:\n%s", h, file)
	}
	w = sendFile(s, file, "Cookie", "anatomy_preferences=raise=c.test")
	body := w.Body.String()
	_, form, _ := strings.Cut(body, `<form class="settings"`)
	if w.Code != http.StatusOK || len(w.Result().Cookies()) != 0 || !strings.Contains(body, "They are not saved yet") || strings.Contains(form, "c.test") ||
		!strings.Contains(form, `<input type="hidden" name="block" value="a.test,b.test">`) || !strings.Contains(form, `value="fr" checked`) || !strings.Contains(form, `value="dark" checked`) {
		t.Errorf("%d, cookies %v:\n%s", w.Code, w.Result().Cookies(), body)
	}
	w = sendFile(s, "! spam\n*://*.c.test/*\n", "Cookie", "anatomy_preferences=raise=c.test,d.test&block=a.test")
	if body = w.Body.String(); w.Code != http.StatusOK || !strings.Contains(body, `<input type="hidden" name="block" value="a.test,c.test">`) || !strings.Contains(body, `<input type="hidden" name="raise" value="d.test">`) {
		t.Errorf("%d:\n%s", w.Code, body)
	}
	for content, want := range map[string]string{
		"version = 1\nblock = ['a.test',\n'no!host']": "<li>Line 3: <bdi>“no!host” is not a site.",
		"a.test\n" + hostileQuery:                     "<li>Line 2: <bdi>“&#34;&gt;&lt;script&gt;hit()&lt;/script&gt;” is not a site.",
		strings.Repeat("# a comment\n", 6000):         "<li><bdi>The file has more than 65,536 bytes.",
		"":                                            "<li>Line 1: <bdi>The line version = 1 is missing.",
	} {
		w = sendFile(s, content, "Cookie", "anatomy_preferences=raise=c.test")
		if body = w.Body.String(); w.Code != http.StatusBadRequest || len(w.Result().Cookies()) != 0 || !strings.Contains(body, want) || !strings.Contains(body, `value="raise c.test"`) || strings.Contains(body, "<script>hit") {
			t.Errorf("%.40q: %d, cookies %v:\n%s", content, w.Code, w.Result().Cookies(), body)
		}
	}
	if w = sendFile(s, file, "Sec-Fetch-Site", "cross-site"); w.Code != http.StatusForbidden {
		t.Errorf("from another site: %d", w.Code)
	}
	if w = sendFile(s, strings.Repeat("a", 256<<10)); w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), "too long") {
		t.Errorf("a long body: %d", w.Code)
	}
	for _, form := range []string{"", "file=version"} {
		if w = postForm(s, "/preferences/import", form); w.Code != http.StatusBadRequest {
			t.Errorf("%q: %d", form, w.Code)
		}
	}
}

// TestHiddenPages: the page counts hidden pages and links to them.
func TestHiddenPages(t *testing.T) {
	f := newFake()
	a := *f.answers["inverted index"]
	a.Hidden, a.HiddenExact = 2, true
	f.answers["some hidden"] = &a
	f.answers["all hidden"] = &searcher.Response{Hidden: 2, HiddenExact: true, Exact: true, Why: "All 2 pages that match are of sites that you blocked."}
	for _, q := range []string{"some+hidden", "all+hidden"} {
		body := withCookie(newServer(f), "/search?q="+q, "block=a.test").Body.String()
		if !strings.Contains(body, `2 pages of sites that you blocked are hidden. <a href="/search?q=`+strings.ReplaceAll(q, "+", "&#43;")+`&amp;blocked=1">show</a>`) {
			t.Errorf("%s: nothing is said of what is hidden:\n%s", q, body)
		}
	}
}
