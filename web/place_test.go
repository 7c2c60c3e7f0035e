package web

import (
	"bytes"
	"encoding/json"
	"html"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"anatomy/web/internal/address"

	xhtml "golang.org/x/net/html"
)

// below is a full server that people reach below a path, with a crawl and someone logged in.
func below(t *testing.T, public string) (*Server, *http.Cookie) {
	s := fullServer()
	o := s.o
	o.PublicURL, o.Admin.Crawl, o.Admin.Token, o.Admin.Jobs = public, busyCrawl(), testToken, newFakeJobs()
	s = New(o)
	w := httptest.NewRecorder()
	r := httptest.NewRequest(http.MethodPost, s.site.Path("/crawl/login"), strings.NewReader(url.Values{"token": {testToken}}.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	s.Handler().ServeHTTP(w, r)
	if w.Code != http.StatusSeeOther || len(w.Result().Cookies()) != 1 {
		t.Fatalf("login: %d %s", w.Code, w.Body)
	}
	return s, w.Result().Cookies()[0]
}

// addresses are those in the attributes of a page that a browser follows, and in other answers all
// texts that look like one of ours.
func addresses(t *testing.T, kind string, body []byte) (found []string) {
	t.Helper()
	switch {
	case strings.HasPrefix(kind, "text/html"):
		form := ""
		for z := xhtml.NewTokenizer(bytes.NewReader(body)); z.Next() != xhtml.ErrorToken; {
			token := z.Token()
			at := map[string]string{}
			for _, a := range token.Attr {
				at[a.Key] = a.Val
				if token.Data != "form" && (attributesOfLinks[a.Key] || a.Key == "srcset") {
					found = append(found, a.Val)
				}
			}
			switch {
			case token.Type == xhtml.StartTagToken && token.Data == "form":
				form = at["action"]
			case token.Data == "input" && at["type"] == "hidden": // sent with the form
				separator := "?"
				if strings.Contains(form, "?") {
					separator = "&"
				}
				form += separator + url.Values{at["name"]: {at["value"]}}.Encode()
			case token.Type == xhtml.EndTagToken && token.Data == "form":
				found = append(found, form)
			}
		}
	case strings.Contains(kind, "json"):
		var v any
		if err := json.Unmarshal(body, &v); err != nil {
			t.Fatal(err)
		}
		walk(v, func(key, text string) {
			if key == "next" || key == "url" && strings.HasPrefix(text, "https://find.test") || key == "template" {
				found = append(found, text)
			}
		})
	default:
		for _, m := range regexp.MustCompile(`https://find\.test[^<"]*`).FindAll(body, -1) {
			found = append(found, html.UnescapeString(string(m)))
		}
	}
	return found
}

func walk(v any, see func(key, text string)) {
	switch v := v.(type) {
	case map[string]any:
		for key, value := range v {
			if text, ok := value.(string); ok {
				see(key, text)
			}
			walk(value, see)
		}
	case []any:
		for _, value := range v {
			walk(value, see)
		}
	}
}

// TestBelowAPath walks all pages from the first, and every other route: no address of ours leads out
// of the base path, and those that lead to us are answered.
func TestBelowAPath(t *testing.T) {
	const base = "/a/place"
	s, cookie := below(t, "https://find.test"+base+"/")
	if cookie.Path != base+"/" || !cookie.Secure {
		t.Errorf("the cookie is for %q, secure: %v", cookie.Path, cookie.Secure)
	}
	queue := []string{base, base + "/?q=inverted+index"}
	for _, path := range append(everyRoute, "/crawl", "/crawl/pause", "/dashboard", "/dashboard/rank/2", "/crawl/status", "/search", "/search?q=%22%3E%3C/a+href=%22/x") {
		queue = append(queue, base+path)
	}
	seen := map[string]bool{}
	links := 0
	for len(queue) > 0 && len(seen) < 2000 {
		path := queue[0]
		queue = queue[1:]
		if seen[path] {
			continue
		}
		seen[path] = true
		r := httptest.NewRequest(http.MethodGet, path, nil)
		r.AddCookie(cookie)
		w := httptest.NewRecorder()
		s.Handler().ServeHTTP(w, r)
		if strings.Contains(w.Body.String(), "There is nothing at this address") || w.Code == http.StatusBadRequest {
			t.Errorf("%s: status %d", path, w.Code) // a page that the fake index does not hold is no such thing
		}
		found := addresses(t, w.Header().Get("Content-Type"), w.Body.Bytes())
		if to := w.Header().Get("Location"); to != "" {
			found = append(found, to)
		}
		if strings.HasPrefix(path, base+"/cached/page") {
			continue // links of the page that was fetched
		}
		for _, to := range found {
			to, own := strings.CutPrefix(to, "https://find.test")
			if !own && !strings.HasPrefix(to, "/") {
				continue // of someone else, or within the page
			}
			links++
			if to != base && !strings.HasPrefix(to, base+"/") {
				t.Errorf("%s leads out of the base path, to %s", path, to)
			}
			if strings.HasPrefix(to, base+base) {
				t.Errorf("%s has the base path twice: %s", path, to)
			}
			if !strings.ContainsAny(to, "{") && !strings.Contains(to, "/crawl/") && !strings.Contains(to, "/dashboard/") && !strings.HasSuffix(to, "/api/v1/batch") {
				queue = append(queue, strings.Split(to, "#")[0])
			}
		}
	}
	if len(seen) < 100 || links < 1000 {
		t.Errorf("%d pages and %d links were seen", len(seen), links)
	}
	for _, path := range []string{"/healthz", "/search?q=a", "/"} { // without, as a proxy sends that takes it off
		get(t, s, path, http.StatusOK)
	}
	get(t, s, "/a/placeholder", http.StatusNotFound)
}

// TestRebase checks that text and values that look like links stay unchanged.
func TestRebase(t *testing.T) {
	s := newServerOf(Options{Collection: newFake(), PublicURL: "https://find.test/b"})
	for page, want := range map[string]string{
		`<a href="/x">`:                     `<a href="/b/x">`,
		`<form action="/x" method="get">`:   `<form action="/b/x" method="get">`,
		"<script\nsrc=\"/x\"></script>":     "<script\nsrc=\"/b/x\"></script>",
		`<input value="/x"><a href="/y">`:   `<input value="/x"><a href="/b/y">`,
		`<a href="//other.test/">`:          `<a href="//other.test/">`,
		`<a href="https://other.test/"> =/`: `<a href="https://other.test/"> =/`,
		`="/`:                               `="/`,
		``:                                  ``,
	} {
		if got := string(s.site.Rebase([]byte(page))); got != want {
			t.Errorf("%s became %s, want %s", page, got, want)
		}
	}
}

// TestProxies: what is said of the asker counts from a trusted proxy, and from no one else.
func TestProxies(t *testing.T) {
	f := newFake()
	for name, c := range map[string]struct {
		remote, forwarded, proto, host string
		from, base                     string
	}{
		"no proxy":             {"203.0.113.9:1", "", "", "", "203.0.113.9", "http://example.com"},
		"a liar":               {"203.0.113.9:1", "198.51.100.1", "https", "evil.test", "203.0.113.9", "http://example.com"},
		"a proxy":              {"10.0.0.1:1", "198.51.100.1", "https", "find.test", "198.51.100.1", "https://find.test"},
		"a liar before it":     {"10.0.0.1:1", "1.2.3.4, 198.51.100.1", "https", "find.test", "198.51.100.1", "https://find.test"},
		"two proxies":          {"10.0.0.1:1", "198.51.100.1, 10.0.0.2", "http", "find.test", "198.51.100.1", "http://find.test"},
		"a proxy that is mute": {"10.0.0.1:1", "", "", "", "10.0.0.1", "http://example.com"},
		"nonsense":             {"10.0.0.1:1", "<script>, 10.0.0.2", "gopher", "", "10.0.0.2", "http://example.com"},
		"over IPv6":            {"[::ffff:10.0.0.1]:1", "2001:db8::1", "https", "", "2001:db8::1", "https://example.com"},
	} {
		var log bytes.Buffer
		s := newServerOf(Options{Collection: f, Hosts: []string{"find.test"}, Proxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}, Log: slog.New(slog.NewTextHandler(&log, nil))})
		r := httptest.NewRequest(http.MethodGet, "/opensearch.xml", nil)
		r.RemoteAddr = c.remote
		for field, value := range map[string]string{"X-Forwarded-For": c.forwarded, "X-Forwarded-Proto": c.proto, "X-Forwarded-Host": c.host} {
			if value != "" {
				r.Header.Set(field, value)
			}
		}
		w := httptest.NewRecorder()
		s.Handler().ServeHTTP(w, r)
		if !strings.Contains(w.Body.String(), `template="`+c.base+`/search?`) {
			t.Errorf("%s: the base is not %s in\n%s", name, c.base, w.Body)
		}
		if !strings.Contains(log.String(), "from="+c.from+"\n") {
			t.Errorf("%s: not from %s: %s", name, c.from, log.String())
		}
	}
}

// TestForeignHost: with a public URL, the Host field of a request decides nothing.
func TestForeignHost(t *testing.T) {
	s, _ := below(t, "https://find.test")
	for _, path := range []string{"/opensearch.xml", "/search?q=inverted+index&format=atom", "/customsearch/v1?q=inverted+index", "/api", "/openapi.json"} {
		r := httptest.NewRequest(http.MethodGet, path, nil)
		r.Host = "search.test" // which is allowed
		w := httptest.NewRecorder()
		s.Handler().ServeHTTP(w, r)
		if w.Code != http.StatusOK || strings.Contains(w.Body.String(), "search.test") || !strings.Contains(w.Body.String(), "https://find.test") {
			t.Errorf("%s: %d\n%s", path, w.Code, w.Body)
		}
	}
}

func TestParsePublicURL(t *testing.T) {
	for raw, ok := range map[string]bool{
		"https://find.test": true, "https://find.test/": true, "http://find.test:8080/a/b": true,
		"find.test": false, "ftp://find.test": false, "https://": false, "https://find.test/?q=a": false, "https://u:p@find.test/": false,
		`https://find.test/"><script>`: false, "https://find.test/a%2Fb": false, "https://find.test//a": false, "": false,
	} {
		if _, err := address.ParsePublicURL(raw); (err == nil) != ok {
			t.Errorf("%s: %v", raw, err)
		}
	}
}

// attributesOfLinks hold an address.
var attributesOfLinks = map[string]bool{
	"href": true, "src": true, "action": true, "formaction": true, "poster": true, "data": true,
}
