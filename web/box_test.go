package web

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"anatomy/searcher"
	"anatomy/vocab"
)

// TestBoxScript: the script is small as served, has neither inline styles nor HTML, is not counted as
// a search, and browsers that have it are not sent it again.
func TestBoxScript(t *testing.T) {
	s := newServer(newFake())
	w := do(t, s, http.MethodGet, "/box.js")
	body := w.Body.String()
	if w.Code != http.StatusOK || len(body) > 20<<10 || !strings.Contains(body, ":host") {
		t.Errorf("%d, %d bytes of script", w.Code, len(body))
	}
	for lang, want := range map[string]string{
		"de": "Nichts gefunden", "fr": "Tous les résultats", "es": "Buscar en {host}", "pt-BR": "Limpar",
		"ja": "最近の検索", "zh-CN": "全部结果", "xx": "Recent searches", "": "Recent searches",
	} {
		if text := get(t, s, "/box.js?lang="+lang, http.StatusOK); !strings.Contains(text, want) || len(text) > 20<<10 {
			t.Errorf("%q: %d bytes of script, or no %q", lang, len(text), want)
		}
	}
	for _, banned := range []string{"innerHTML", "outerHTML", "insertAdjacent", "eval(", "Function(", ".style", "{{"} {
		if strings.Contains(body, banned) {
			t.Errorf("the script has %s", banned)
		}
	}
	if kind := w.Header().Get("Content-Type"); kind != "text/javascript; charset=utf-8" {
		t.Errorf("type %s", kind)
	}
	r := httptest.NewRequest(http.MethodGet, "/box.js", nil)
	r.Header.Set("If-None-Match", w.Header().Get("ETag"))
	again := httptest.NewRecorder()
	s.Handler().ServeHTTP(again, r)
	if again.Code != http.StatusNotModified || again.Body.Len() != 0 {
		t.Errorf("again: %d, %d bytes", again.Code, again.Body.Len())
	}
}

// fromPage sends a request of a script on a page of another origin.
func fromPage(s *Server, method, target, origin, body string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, "http://localhost"+target, strings.NewReader(body))
	r.Header.Set("Origin", origin)
	r.Header.Set("Sec-Fetch-Site", "cross-site")
	r.Header.Set("Sec-Fetch-Mode", "cors")
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	s.Handler().ServeHTTP(w, r)
	return w
}

// TestBoxOrigins: script and results are for origins that the operator allows, with API keys or
// without, and for none while the collection asks for a login.
func TestBoxOrigins(t *testing.T) {
	const site = "https://docs.test"
	private := false
	s := New(Options{
		Collection: newFake(), Origins: []string{site}, Limits: Limits{Rate: -1},
		API: APIOptions{Keys: []string{"0123456789abcdef-key"}}, Private: func() bool { return private },
	})
	for _, target := range []string{"/box.js", "/box/search?q=inverted+index", docSearchPath} {
		method := http.MethodGet
		if target == docSearchPath {
			method = http.MethodPost
		}
		for _, c := range []struct {
			private bool
			origin  string
			status  int
		}{
			{false, site, http.StatusOK},
			{false, "https://other.test", http.StatusForbidden},
			{false, "null", http.StatusForbidden},
			{true, site, http.StatusUnauthorized},
			{true, "https://other.test", http.StatusForbidden},
		} {
			private = c.private
			w := fromPage(s, method, target, c.origin, docSearchRequest)
			open := w.Header().Get("Access-Control-Allow-Origin")
			if w.Code != c.status || (open == site) != (c.origin == site) {
				t.Errorf("%s for %s, private %v: %d, open to %q", target, c.origin, c.private, w.Code, open)
			}
			if c.status != http.StatusOK && strings.Contains(w.Body.String(), "docs.test/") {
				t.Errorf("%s for %s, private %v: %s", target, c.origin, c.private, w.Body)
			}
		}
	}
}

// TestBoxOnlyOrigins: of two origins each uses the box of the collection that names it, and nothing else of
// the server. No collection that asks for a login has a box, not even for a script with its token.
func TestBoxOnlyOrigins(t *testing.T) {
	const docs, wiki, token = "https://docs.test", "https://wiki.test:8443", "0123456789abcdef-token"
	private := map[string]bool{}
	one := func(path, origin string, beside *Collections) *Server {
		o := Options{
			Collection: newFake(), Path: path, Beside: beside, BoxOrigins: []string{origin}, Limits: Limits{Rate: -1},
			Private: func() bool { return private[path] },
		}
		o.Admin.Token = token
		return New(o)
	}
	beside := &Collections{}
	root, below := one("", docs, beside), one("/wiki", wiki, beside)
	if err := root.Mount(below); err != nil {
		t.Fatal(err)
	}
	own := map[string]string{"": docs, "/wiki": wiki}
	for _, isPrivate := range []bool{false, true} {
		for path := range own {
			private[path] = isPrivate
		}
		for path, allowed := range own {
			for _, origin := range []string{docs, wiki, "https://wiki.test", "null"} {
				for _, target := range []string{"/box.js", "/box/search?q=inverted+index", docSearchPath, "/api/v1/search?q=inverted+index", "/", "/metrics"} {
					method := http.MethodGet
					if target == docSearchPath {
						method = http.MethodPost
					}
					forBox := strings.HasPrefix(target, "/box") || target == docSearchPath
					w := fromPage(root, method, path+target, origin, docSearchRequest, "Authorization", "Bearer "+token)
					want, open := http.StatusForbidden, ""
					if forBox && origin == allowed && !isPrivate {
						want, open = http.StatusOK, origin
					}
					if got := w.Header().Get("Access-Control-Allow-Origin"); w.Code != want || got != open {
						t.Errorf("%s%s for %s, private %v: %d, open to %q, want %d", path, target, origin, isPrivate, w.Code, got, want)
					}
					if varies := w.Header().Values("Vary"); want == http.StatusOK && !slices.Contains(varies, "Origin") {
						t.Errorf("%s%s varies by %q", path, target, varies)
					}
					if want != http.StatusOK && strings.Contains(w.Body.String(), "docs.test/") {
						t.Errorf("%s%s for %s shows %s", path, target, origin, w.Body)
					}
				}
				w := fromPage(root, http.MethodOptions, path+"/box/search", origin, "", "Access-Control-Request-Method", "GET")
				if granted := w.Code == http.StatusNoContent; granted != (origin == allowed && !isPrivate) {
					t.Errorf("%s: leave for %s, private %v: %d", path, origin, isPrivate, w.Code)
				}
			}
		}
	}
}

// TestBoxSearch: the box searches within its site and completes a word that is being typed, if the
// query as typed finds nothing.
func TestBoxSearch(t *testing.T) {
	f := newFake()
	one := &searcher.Response{Total: 1, Exact: true, Results: []searcher.Result{{URL: "http://a.test/", Title: "A"}}}
	corrected := &searcher.Response{Total: 1, Corrected: "bred", Results: []searcher.Result{{URL: "http://b.test/", Title: "B"}}}
	f.answers = map[string]*searcher.Response{
		"rye": {Total: 2, Exact: true, Results: []searcher.Result{
			{URL: "http://a.test/", Medium: vocab.HTML, Snippet: mark("the ", "rye", " bread")},
			{URL: "http://b.test/", Medium: vocab.HTML, Snippet: mark("", "rye", ""), Section: searcher.Section{Heading: "Rye", ID: "r"}},
		}},
		"bread": one, "bread baking": one, "site:a.test/docs bread": one, "site:a.test/docs bread baking": one, "bre": corrected,
	}
	completions := map[string][]string{"bread ba": {"bread baking"}, "bre": {"bread"}, "brx": {"bry"}, "bread": {"bread baking"}}
	f.complete = func(typed string, limit int) []string { return completions[typed] }
	s := newServer(f)
	for target, want := range map[string][]string{
		"q=bread":                     {"bread"},
		"q=bread+ba":                  {"bread ba", "bread baking"},
		"q=bread+ba&site=a.test/docs": {"site:a.test/docs bread ba", "site:a.test/docs bread baking"},
		"q=bread&site=https%3A%2F%2Fa.test%2Fdocs/": {"site:a.test/docs bread"},
		"q=bread+ba+":      {"bread ba"},     // a whole word
		"q=bread+%22ba%22": {`bread "ba"`},   // not the end of a word
		"q=bre":            {"bre", "bread"}, // rather than a correction
		"q=brx":            {"brx", "bry"},
	} {
		f.asked = nil
		body := get(t, s, "/box/search?"+target, http.StatusOK)
		var asked []string
		for _, r := range f.asked {
			asked = append(asked, r.Query)
		}
		var a struct {
			Query   string
			Results []struct{ URL string }
		}
		if err := json.Unmarshal([]byte(body), &a); err != nil || !slices.Equal(asked, want) {
			t.Errorf("%s: asked %q, want %q: %v", target, asked, want, err)
		}
		last := want[len(want)-1]
		if f.answers[last] == nil {
			last = want[0]
		}
		if a.Query != last || len(a.Results) != len(f.results(last)) {
			t.Errorf("%s: %+v, want the answer to %q", target, a, last)
		}
	}
	body := get(t, s, "/box/search?q=rye", http.StatusOK)
	for _, passage := range []string{"http://a.test/#:~:text=the-,rye,-bread", "http://b.test/", "http://b.test/#r:~:text=rye"} {
		if !strings.Contains(body, `"url":"`+passage+`"`) {
			t.Errorf("no %s in %s", passage, body)
		}
	}
	for _, target := range []string{"", "q=", "q=a&num=0", "q=a&num=101", "q=a&q=b", "q=a&site=a%20b", "q=a&site=" + url.QueryEscape(hostileQuery)} {
		if code := errorCode(t, get(t, s, "/box/search?"+target, http.StatusBadRequest)); code != "bad_parameter" {
			t.Errorf("%s: %s", target, code)
		}
	}
}

// results returns those of a query.
func (f *fakeIndex) results(query string) []searcher.Result {
	if a := f.answers[query]; a != nil {
		return a.Results
	}
	return nil
}
