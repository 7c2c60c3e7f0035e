package web

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"anatomy/collection"
	"anatomy/disk/datadir"
	"anatomy/searcher"
	"anatomy/upkeep"
	"anatomy/vocab"
	"anatomy/warc"
	"anatomy/web/admin"
)

// answerOf returns all bytes of an answer.
func answerOf(s *Server, method, target string, header ...string) string {
	r := httptest.NewRequest(method, "http://localhost"+target, nil)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	if r.Header.Get("Authorization") == "Bearer "+testToken {
		r.RemoteAddr = "198.51.100.7:1" // a client that sends no wrong tokens
	}
	w := httptest.NewRecorder()
	s.Handler().ServeHTTP(w, r)
	var b bytes.Buffer
	w.Result().Write(&b) // into memory: cannot fail
	return b.String()
}

// privateOptions are those of a server whose collection is private.
func privateOptions(of Collection) Options {
	now := time.Unix(1_800_000_000, 0)
	return Options{
		Collection: of, Bot: fakeBot, Private: func() bool { return true }, LoginHeader: "X-Remote-User",
		Proxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")},
		Admin:   admin.Options{Crawl: busyCrawl(), Jobs: newFakeJobs(), Token: testToken},
		Limits:  Limits{Rate: -1}, Now: func() time.Time { return now },
	}
}

// TestPrivateNeedsLogin: without a login no answer of any route depends on a private collection by
// one byte, whatever is sent in its place; with one, all routes answer.
func TestPrivateNeedsLogin(t *testing.T) {
	full := New(privateOptions(newFake()))
	other := newFake()
	other.answers, other.pages = map[string]*searcher.Response{}, map[vocab.DocID]*vocab.Page{}
	other.complete = func(string, int) []string { return []string{"other"} }
	other.stats = func() (any, error) { return 1, nil }
	o := privateOptions(other)
	o.Admin.Crawl = &fakeCrawl{}
	empty := New(o)
	requests := everyRegistered(t, full)
	for _, target := range everyRoute {
		requests = append(requests, routed{http.MethodGet, target, ""})
	}
	open, closed := 0, 0
	for _, r := range requests {
		if r.method == http.MethodConnect || r.method == http.MethodOptions {
			continue
		}
		for _, header := range [][]string{
			nil, {"Authorization", "Bearer wrong"}, {"Cookie", "anatomy_session=1900000000.00"},
			{"X-Remote-User", "ada"}, {"X-API-Key", "x"}, {"Accept-Encoding", "gzip"}, {"X-Forwarded-For", "127.0.0.1"},
		} {
			a, b := answerOf(full, r.method, r.path, header...), answerOf(empty, r.method, r.path, header...)
			if a != b {
				t.Errorf("%s %s %v differ:\n%s\n%s", r.method, r.path, header, a, b)
			}
			if strings.Contains(a, "docs.test/anatomy") {
				t.Errorf("%s %s %v: %s", r.method, r.path, header, a)
			}
			waits := slices.Contains(header, "Bearer wrong") && strings.HasPrefix(a, "HTTP/1.1 429") // after some wrong tokens
			if strings.HasPrefix(a, "HTTP/1.1 401") || waits {
				closed++
			} else if open++; !loginFree[r.route] && !loginFree[r.path] && r.path != "/static/none" {
				t.Errorf("%s %s is open: %.100s", r.method, r.path, a)
			}
		}
		if a := answerOf(full, r.method, r.path, "Authorization", "Bearer "+testToken); strings.HasPrefix(a, "HTTP/1.1 401") && !strings.Contains(r.path, "/login") { // which looks at the form
			t.Errorf("%s %s is closed with the token: %s", r.method, r.path, a)
		}
	}
	if open == 0 || closed == 0 {
		t.Errorf("%d answers are open, %d closed", open, closed)
	}
	if a := answerOf(full, "GET", "/search?q=inverted+index", "Authorization", "Bearer "+testToken); !strings.Contains(a, "docs.test/anatomy") {
		t.Errorf("nothing is shown with the token: %s", a)
	}
}

// TestLogin: the token of the form opens a session, which leads to the page that was asked for; a
// trusted proxy may name who logged in there; an API key opens the API.
func TestLogin(t *testing.T) {
	o := privateOptions(newFake())
	o.API.Keys = []string{"0123456789abcdef-key"}
	s := New(o)
	ask := func(remote string, r *http.Request) *httptest.ResponseRecorder {
		r.RemoteAddr, r.Host = remote, "localhost"
		w := httptest.NewRecorder()
		s.Handler().ServeHTTP(w, r)
		return w
	}
	asked := "/search?q=inverted+index&num=3"
	page := ask("192.0.2.1:1", httptest.NewRequest("GET", asked, nil))
	if page.Code != http.StatusUnauthorized || !strings.Contains(page.Body.String(), `name="next" value="/search?q=inverted&#43;index&amp;num=3"`) {
		t.Fatalf("%d %s", page.Code, page.Body)
	}
	for next, want := range map[string]string{asked: asked, "//evil.test/": "/", `/\evil.test`: "/", "https://evil.test": "/", "": "/"} {
		r := httptest.NewRequest("POST", "/login", strings.NewReader(url.Values{"token": {testToken}, "next": {next}}.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		in := ask("192.0.2.1:1", r)
		if in.Code != http.StatusSeeOther || in.Header().Get("Location") != want {
			t.Fatalf("%q: %d to %q", next, in.Code, in.Header().Get("Location"))
		}
		again := httptest.NewRequest("GET", asked, nil)
		again.AddCookie(in.Result().Cookies()[0])
		if w := ask("192.0.2.1:1", again); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), "docs.test") {
			t.Errorf("with a session: %d", w.Code)
		}
	}
	for remote, status := range map[string]int{"10.0.0.1:1": http.StatusOK, "192.0.2.1:1": http.StatusUnauthorized} {
		r := httptest.NewRequest("GET", asked, nil)
		r.Header.Set("X-Remote-User", "ada")
		if w := ask(remote, r); w.Code != status {
			t.Errorf("named by %s: %d", remote, w.Code)
		}
	}
	for target, status := range map[string]int{"/api/v1/stats?key=0123456789abcdef-key": http.StatusOK, "/crawl?key=0123456789abcdef-key": http.StatusUnauthorized} {
		if w := ask("192.0.2.1:1", httptest.NewRequest("GET", target, nil)); w.Code != status {
			t.Errorf("%s: %d", target, w.Code)
		}
	}
	o.PublicOnly = true
	if a := answerOf(New(o), "GET", asked, "Authorization", "Bearer "+testToken); !strings.HasPrefix(a, "HTTP/1.1 503") {
		t.Errorf("public only: %s", a)
	}
}

// A smallPage is a page of a made-up web.
type smallPage struct {
	url, body string
	at        time.Time
	signedIn  bool
}

// smallWeb makes pages that link to each other and share words, some of which only private pages
// have; some bodies are equal.
func smallWeb(seed uint64) (all []smallPage) {
	r := rand.New(rand.NewPCG(seed, 1))
	const n = 30
	words := strings.Fields("alpha beta gamma delta epsilon zeta eta theta iota kappa lambda")
	for i := range n {
		p := smallPage{url: fmt.Sprintf("http://h%d.test/p%d", i%4, i), signedIn: r.IntN(3) == 0}
		p.at = fetched.Add(time.Duration(i) * time.Minute)
		var b strings.Builder
		fmt.Fprintf(&b, "<title>%s %d</title>", words[r.IntN(len(words))], r.IntN(3))
		for range 1 + r.IntN(40) {
			b.WriteString(words[r.IntN(len(words))] + " ")
		}
		if p.signedIn {
			b.WriteString("secret" + words[r.IntN(4)])
		}
		for range r.IntN(5) {
			fmt.Fprintf(&b, `<p><a href="http://h%d.test/p%d">%s %s</a>`, r.IntN(4), r.IntN(n+10), words[r.IntN(len(words))], words[r.IntN(len(words))])
		}
		p.body = b.String()
		if i > 0 && r.IntN(4) == 0 {
			p.body = all[r.IntN(i)].body
		}
		all = append(all, p)
	}
	return all
}

// folderOf imports pages into a new data folder.
func folderOf(t *testing.T, all []smallPage) string {
	t.Helper()
	var archive bytes.Buffer
	w, err := warc.NewWriter(&archive, warc.Plain)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range all {
		fields := []warc.Field{{Name: "WARC-Target-URI", Value: p.url}, {Name: "Content-Type", Value: "application/http;msgtype=response"}}
		if p.signedIn {
			fields = append(fields, warc.Field{Name: "Anatomy-Signed-In", Value: "yes"})
		}
		block := "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n" + p.body
		if _, err := w.Write(warc.Response, p.at, fields, []byte(block)); err != nil {
			t.Fatal(err)
		}
	}
	dir := filepath.Join(t.TempDir(), "data")
	report, err := upkeep.Import(t.Context(), upkeep.ImportOptions{
		Dir: dir, Files: []string{"pages"}, InOrder: true, Log: slog.New(slog.DiscardHandler),
		Open: func(string) (io.ReadCloser, error) { return io.NopCloser(&archive), nil },
	})
	if err != nil || report.Pages+report.Duplicates != int64(len(all)) {
		t.Fatalf("%v: %+v", err, report)
	}
	return dir
}

// publicOf makes the public folder of a folder.
func publicOf(t *testing.T, dir string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "public")
	_, err := upkeep.Public(t.Context(), dir, upkeep.ImportOptions{Dir: to, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	return to
}

// serving returns a server over a data folder, as anatomy serve makes it.
func serving(t *testing.T, dir string, publicOnly bool) *Server {
	t.Helper()
	links := collection.NewSharedLinks(dir)
	s, err := searcher.Open(dir, searcher.Options{Links: links})
	if err != nil {
		t.Fatal(err)
	}
	site, err := collection.OpenSite(dir, s, links)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { site.Close(); s.Close(); links.Close() })
	return New(Options{
		Collection: site, PublicOnly: publicOnly, Private: func() bool { return datadir.IsPrivate(dir) },
		Limits: Limits{Rate: -1}, Now: func() time.Time { return fetched },
		Admin: admin.Options{Token: testToken},
	})
}

// volatile is what differs between two servers over one web: how long an answer took, and when the
// folders were made, which is in the state of a cursor and in varints of the document index, too.
var volatile = regexp.MustCompile(`"took_ms":[0-9.e-]+|[0-9.]+[ \x{a0}](?:ms|µs|s)\b|Content-Length: \d+|` +
	`"(?:searchTime|formattedSearchTime)":"?[0-9.e-]+"?|"next_cursor":"[^"]*"|` +
	`computed"?[: ]+"?20[0-9TZ: -]+|"name":"(?:document index, seen set, frontier|total)","bytes":\d+|` +
	`20\d\d-\d\d-\d\dT[\d:]+Z|\d+ [A-Z][a-z]+ 20\d\d, [\d:]+ UTC`)

// stable returns an answer without what is volatile. The times at which pages were fetched stay.
func stable(answer string) string {
	return volatile.ReplaceAllStringFunc(answer, func(s string) string {
		if strings.HasPrefix(s, "2026-11-03T") || strings.HasPrefix(s, "3 Nov") {
			return s
		}
		return ""
	})
}

// publicTargets returns requests for everything that a collection shows of public and private
// pages.
func publicTargets(all []smallPage) (targets []string) {
	words := strings.Fields("alpha beta gamma delta kappa secretalpha secretbeta secretgamma secretdelta alpah")
	for _, w := range words {
		for _, format := range []string{
			"/search?q=%s", "/api/v1/search?q=%s&explain=1&num=50", "/search?q=%s&format=json", "/search?q=%s&format=csv",
			"/search?q=%s&format=rss", "/search?q=%s&format=atom", "/customsearch/v1?q=%s", "/suggest?q=%s", "/api/v1/suggest?q=%s",
			"/api/v1/search?q=%s+alpha+beta", "/api/v1/export?q=%s", "/api/v1/search?q=%s&type=image", "/api/v1/search?q=%s+site:h1.test",
		} {
			targets = append(targets, fmt.Sprintf(format, w))
		}
		targets = append(targets, "/suggest?q="+w[:2])
	}
	for i, p := range all {
		for _, format := range []string{
			"/cached?url=%s", "/api/v1/page?url=%s", "/links?url=%s", "/api/v1/links?url=%s", "/page?url=%s", "/api/v1/trace?url=%s",
			"/api/v1/search?q=link:%s", "/api/v1/search?q=related:%s", "/api/v1/explain?q=alpha&url=%s", "/api/v1/search?q=cache:%s",
		} {
			targets = append(targets, fmt.Sprintf(format, url.QueryEscape(p.url)))
		}
		targets = append(targets, fmt.Sprintf("/cached/page?doc=%d", i+1), fmt.Sprintf("/versions?doc=%d", i+1),
			fmt.Sprintf("/api/v1/page?doc=%d", i+1), fmt.Sprintf("/api/v1/links?doc=%d", i+1), fmt.Sprintf("/image?doc=%d&id=x", i+1))
	}
	for host := range 4 {
		targets = append(targets, fmt.Sprintf("/site/h%d.test", host), fmt.Sprintf("/api/v1/site?site=h%d.test", host))
	}
	return append(targets, "/api/v1/stats", "/", "/help", "/api", "/readyz")
}

// TestPublicOnly: of a folder with pages that were fetched with credentials, the folder that
// index --public-only makes answers every request, byte for byte, as that of the same web without
// these pages; and the folder itself answers nothing without a login.
func TestPublicOnly(t *testing.T) {
	for seed := range uint64(3) {
		all := smallWeb(seed)
		var public []smallPage
		for _, p := range all {
			if !p.signedIn {
				public = append(public, p)
			}
		}
		mixed, without := folderOf(t, all), folderOf(t, public)
		if !datadir.IsPrivate(mixed) || datadir.IsPrivate(without) || len(public) == len(all) {
			t.Fatal("the marks of the folders are wrong")
		}
		a, b := serving(t, publicOf(t, mixed), true), serving(t, publicOf(t, without), true)
		open, shut := serving(t, mixed, false), serving(t, mixed, true)
		shown, secrets := 0, 0
		for _, target := range publicTargets(all) {
			x := stable(answerOf(a, "GET", target))
			y := stable(answerOf(b, "GET", target))
			if x != y {
				t.Errorf("seed %d: %s differs:\n%s\n%s", seed, target, x, y)
			}
			if strings.HasPrefix(x, "HTTP/1.1 200") {
				shown++
			}
			if target == "/readyz" {
				continue
			}
			if got := answerOf(open, "GET", target); !strings.HasPrefix(got, "HTTP/1.1 401") {
				t.Errorf("%s is open: %s", target, got)
			}
			if got := answerOf(shut, "GET", target); !strings.HasPrefix(got, "HTTP/1.1 503") {
				t.Errorf("%s is open: %s", target, got)
			}
			in := answerOf(open, "GET", target, "Authorization", "Bearer "+testToken)
			if strings.HasPrefix(in, "HTTP/1.1 200") && strings.Contains(in, "secretalpha") {
				secrets++
			}
		}
		if shown < 100 || secrets == 0 {
			t.Errorf("%d answers are shown, %d have a secret for whoever is logged in", shown, secrets)
		}
	}
}

// TestReadToken: the token for reading opens private pages to people and programs, and no action:
// neither by itself, nor with the session that it opens, nor at the admin page.
func TestReadToken(t *testing.T) {
	const readToken = "fedcba9876543210"
	for _, token := range []string{testToken, ""} {
		o := privateOptions(newFake())
		o.Admin.Token, o.Admin.ReadToken = token, readToken
		jobs := newFakeJobs()
		o.Admin.Jobs = jobs
		s := New(o)
		ask := func(method, path string, form url.Values, set func(*http.Request)) *httptest.ResponseRecorder {
			r := httptest.NewRequest(method, "http://localhost"+path, strings.NewReader(form.Encode()))
			if form != nil {
				r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			}
			if set != nil {
				set(r)
			}
			w := httptest.NewRecorder()
			s.Handler().ServeHTTP(w, r)
			return w
		}
		bearer := func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+readToken) }
		in := ask("POST", "/login", url.Values{"token": {readToken}, "next": {"/"}}, nil)
		if in.Code != http.StatusSeeOther || len(in.Result().Cookies()) != 1 {
			t.Fatalf("login: %d %s", in.Code, in.Body)
		}
		session := func(r *http.Request) { r.AddCookie(in.Result().Cookies()[0]) }
		for _, set := range []func(*http.Request){bearer, session} {
			for _, path := range []string{"/search?q=inverted+index", "/api/v1/search?q=inverted+index"} {
				if w := ask("GET", path, nil, set); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), "docs.test") {
					t.Errorf("%s: %d", path, w.Code)
				}
			}
			if w := ask("GET", "/crawl", nil, set); w.Code != http.StatusOK || strings.Contains(w.Body.String(), `name="form"`) || strings.Contains(w.Body.String(), "Slow searches") {
				t.Errorf("/crawl shows what only actors see: %d", w.Code)
			}
			for _, action := range []string{"pause", "begin", "block", "unblock", "rank", "add"} {
				form := url.Values{"targets": {"docs.test"}, "urls": {"http://a.test/"}}
				if w := ask("POST", "/crawl/"+action, form, set); w.Code != http.StatusForbidden && w.Code != http.StatusUnauthorized {
					t.Errorf("%s: %d %s", action, w.Code, w.Body)
				}
			}
		}
		if w := ask("POST", "/crawl/login", url.Values{"token": {readToken}}, bearer); w.Code != http.StatusForbidden || len(w.Result().Cookies()) > 0 {
			t.Errorf("login at the admin page: %d %s", w.Code, w.Body)
		}
		if w := ask("GET", "/search?q=x", nil, nil); w.Code != http.StatusUnauthorized {
			t.Errorf("without a token: %d", w.Code)
		}
		if len(jobs.calls) > 0 {
			t.Errorf("jobs were started: %q", jobs.calls)
		}
	}
}
