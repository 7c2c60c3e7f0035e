package web

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"
)

// fakeDesk has something of everything, hostile names among it, and remembers what it was told.
type fakeDesk struct {
	told []string
	busy bool
}

func newFakeDesk() *fakeDesk { return &fakeDesk{} }

func (f *fakeDesk) Holdings(context.Context) (*Holdings, error) {
	return &Holdings{Pages: 314_244, Uncrawled: 12_345, Words: 2_000_000, Postings: 90_000_000, Links: 7_000_000, Free: 90e9,
		Segments: []SegmentHolding{{"000007", 300_000, 2_100_000_000}, {"000009", 14_000, 90_000_000}},
		Disk:     []DiskHolding{{"repository", 1_900_000_000}, {"inverted index", 2_190_000_000}, {"rank vector", 0}},
		Ranks:    []RankHolding{{"default", "damping 0.85, 31 iterations, to <script>hit()</script>", fetched, true}},
	}, nil
}

func (f *fakeDesk) Begin(o Order) error {
	if f.busy {
		return errors.New("Other work runs.")
	}
	f.told = append(f.told, fmt.Sprintf("%+v", o))
	return nil
}

func (f *fakeDesk) Tasks() []Task {
	return []Task{
		{Number: 3, Name: "crawl of http://a.test/<script>hit()</script>", Began: fetched, Said: "12 pages"},
		{Number: 2, Name: "ranks", Began: fetched, Ended: fetched.Add(time.Minute), Said: "31 iterations", HasPage: true},
		{Number: 1, Name: "crawl", Began: fetched, Ended: fetched.Add(time.Second), Said: "disk full", Failed: true},
	}
}

func (f *fakeDesk) RankPage(n int) []byte {
	if n == 2 {
		return []byte("<!doctype html><style>b{color:red}</style>ranks")
	}
	return nil
}

func (f *fakeDesk) Remove(_ context.Context, targets []string) (string, error) {
	f.told = append(f.told, "remove "+strings.Join(targets, " "))
	return "3 documents removed.", nil
}

func (f *fakeDesk) Restore(_ context.Context, targets []string) (string, error) {
	f.told = append(f.told, "restore "+strings.Join(targets, " "))
	return "3 documents come back.", nil
}

func (f *fakeDesk) Removed(context.Context) ([]string, error) {
	return []string{"spam.test/*", `"><script>hit()</script>`}, nil
}

func deskServer(f *fakeDesk, c *fakeCrawl, token string) *Server {
	return New(Options{Search: newFake(), Crawl: c, Desk: f, Token: token, Now: func() time.Time { return fetched.Add(time.Hour) }, SlowQueries: time.Second})
}

// loggedIn is a browser with a session, and the value that its forms must send.
func loggedIn(t *testing.T, s *Server) (*browse, string) {
	t.Helper()
	b := &browse{t: t, s: s, origin: "http://search.test"}
	if w := b.do("POST", "/dashboard/login", url.Values{"token": {testToken}}); w.Code != http.StatusSeeOther || w.Header().Get("Location") != "/dashboard" {
		t.Fatalf("login: %d to %q", w.Code, w.Header().Get("Location"))
	}
	match := formValue.FindStringSubmatch(b.do("GET", "/dashboard", nil).Body.String())
	if match == nil {
		t.Fatalf("no form in\n%s", b.do("GET", "/dashboard", nil).Body)
	}
	return b, match[1]
}

// Without the token the dashboard says nothing, whatever is tried: no token, a wrong one, one in the
// address, a cookie made up.
func TestDashboardIsClosed(t *testing.T) {
	const secret = "314,244"
	for name, ask := range map[string]func(r *http.Request){
		"nothing":              func(*http.Request) {},
		"a wrong token":        func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+testToken+"x") },
		"half a token":         func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+testToken[:16]) },
		"a token in the URL":   func(r *http.Request) { r.URL.RawQuery += "&token=" + testToken + "&key=" + testToken },
		"a token in X-API-Key": func(r *http.Request) { r.Header.Set("X-API-Key", testToken) },
		"a cookie made up":     func(r *http.Request) { r.AddCookie(&http.Cookie{Name: sessionCookie, Value: "9999999999.00"}) },
	} {
		for _, path := range []string{"/dashboard", "/dashboard?part=live", "/dashboard/rank/2"} {
			f := newFakeDesk()
			r := httptest.NewRequest("GET", path, nil)
			ask(r)
			w := httptest.NewRecorder()
			deskServer(f, busyCrawl(), testToken).Handler().ServeHTTP(w, r)
			if body := w.Body.String(); strings.Contains(body, secret) || strings.Contains(body, "<style>") || path == "/dashboard" && !strings.Contains(body, "Token of this server") || path != "/dashboard" && w.Code != http.StatusUnauthorized {
				t.Errorf("%s, %s: %d\n%s", name, path, w.Code, body)
			}
		}
		for _, action := range []string{"crawl", "rank", "remove", "restore", "pause"} {
			f, c := newFakeDesk(), busyCrawl()
			r := httptest.NewRequest("POST", "/dashboard/"+action, strings.NewReader("targets=a.test&urls=http://a.test/"))
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			ask(r)
			w := httptest.NewRecorder()
			deskServer(f, c, testToken).Handler().ServeHTTP(w, r)
			if w.Code != http.StatusUnauthorized || len(f.told)+len(c.told) > 0 {
				t.Errorf("%s, %s: %d, told %q %q", name, action, w.Code, f.told, c.told)
			}
		}
	}
	if body := get(t, deskServer(newFakeDesk(), busyCrawl(), ""), "/dashboard", http.StatusOK); !strings.Contains(body, "--token FILE") || strings.Contains(body, secret) {
		t.Error(body)
	}
	get(t, newServer(newFake()), "/dashboard", http.StatusNotFound)
}

// Another site cannot have a browser act that is logged in here.
func TestDashboardRefusesOtherSites(t *testing.T) {
	f := newFakeDesk()
	s := deskServer(f, busyCrawl(), testToken)
	b, form := loggedIn(t, s)
	for name, from := range map[string]map[string]string{
		"another origin":         {"Origin": "http://evil.test"},
		"an origin that is null": {"Origin": "null"},
		"a site of the same":     {"Sec-Fetch-Site": "same-site"},
		"another site":           {"Sec-Fetch-Site": "cross-site"},
	} {
		for _, action := range []string{"login", "logout", "crawl", "rank", "remove", "restore", "pause"} {
			r := httptest.NewRequest("POST", "http://search.test/dashboard/"+action, strings.NewReader(url.Values{"form": {form}, "targets": {"a.test"}, "urls": {"http://a.test/"}, "token": {testToken}}.Encode()))
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			for field, value := range from {
				r.Header.Set(field, value)
			}
			for _, c := range b.cookies {
				r.AddCookie(c)
			}
			w := httptest.NewRecorder()
			s.Handler().ServeHTTP(w, r)
			if w.Code != http.StatusForbidden || len(f.told) > 0 || len(w.Result().Cookies()) > 0 {
				t.Errorf("%s, %s: %d, told %q", name, action, w.Code, f.told)
			}
		}
	}
	for _, form := range []string{"", strings.Repeat("0", 64)} { // of our own pages, but not of this session
		if w := b.do("POST", "/dashboard/remove", url.Values{"form": {form}, "targets": {"a.test"}}); w.Code != http.StatusForbidden || len(f.told) > 0 {
			t.Errorf("form %q: %d, told %q", form, w.Code, f.told)
		}
	}
}

// Who may act sees all, and the levers reach the desk and the crawl.
func TestDashboardActs(t *testing.T) {
	f, c := newFakeDesk(), busyCrawl()
	s := deskServer(f, c, testToken)
	b, form := loggedIn(t, s)
	do := func(status int, path string, more ...string) string {
		t.Helper()
		values := url.Values{"form": {form}}
		for i := 0; i < len(more); i += 2 {
			values.Set(more[i], more[i+1])
		}
		w := b.do("POST", path, values)
		if w.Code != status {
			t.Errorf("%s %v: %d, want %d\n%s", path, more, w.Code, status, w.Body)
		}
		return w.Body.String()
	}
	page := b.do("GET", "/dashboard", nil).Body.String()
	for _, want := range []string{"314,244", "000007", "2,190 MB", "damping 0.85", "/dashboard/rank/2", "disk full", "spam.test/*", "12 pages", "90 GB free", "None took 1.0 s yet"} {
		if !strings.Contains(page, want) {
			t.Errorf("%q is missing", want)
		}
	}
	if strings.Contains(page, "<script>hit") {
		t.Error("not escaped")
	}
	if live := b.do("GET", "/dashboard?part=live", nil).Body.String(); !strings.Contains(page, live) || strings.Contains(live, "<form") {
		t.Error("the live part is another, or has forms that it would take from under the hand")
	}
	do(http.StatusOK, "/dashboard/crawl", "urls", "http://a.test/")
	do(http.StatusOK, "/dashboard/remove", "targets", "spam.test  http://b.test/x")
	do(http.StatusOK, "/dashboard/restore", "targets", "spam.test/*")
	do(http.StatusConflict, "/dashboard/remove", "targets", "  ")
	do(http.StatusSeeOther, "/dashboard/rank", "damping", "0.9")
	do(http.StatusConflict, "/dashboard/rank", "damping", "NaN")
	do(http.StatusConflict, "/dashboard/rank", "damping", "2")
	do(http.StatusSeeOther, "/dashboard/pause")
	c.status = nil
	do(http.StatusSeeOther, "/dashboard/crawl", "urls", "http://c.test/ d.test", "scope", "host", "max", "100", "recrawl", "1")
	do(http.StatusConflict, "/dashboard/crawl", "max", "-1")
	f.busy = true
	if body := do(http.StatusConflict, "/dashboard/rank"); !strings.Contains(body, "Other work runs") {
		t.Error(body)
	}
	if got, want := strings.Join(f.told, "; "), "remove spam.test http://b.test/x; restore spam.test/*; {Rank:true Damping:0.9 URLs:[] Scope: MaxPages:0 Recrawl:false}; "+
		"{Rank:false Damping:0 URLs:[http://c.test/ d.test] Scope:host MaxPages:100 Recrawl:true}"; got != want {
		t.Errorf("the desk was told\n%s, want\n%s", got, want)
	}
	if got := strings.Join(c.told, ", "); got != "add http://a.test/, pause, add http://c.test/ d.test" { // the last was in vain
		t.Errorf("the crawl was told %s", got)
	}
	w := b.do("GET", "/dashboard/rank/2", nil)
	if w.Code != http.StatusOK || !strings.Contains(w.Header().Get("Content-Security-Policy"), "sandbox") || !strings.Contains(w.Header().Get("Content-Security-Policy"), "default-src 'none'") {
		t.Errorf("%d %v", w.Code, w.Header())
	}
	if w := b.do("GET", "/dashboard/rank/77", nil); w.Code != http.StatusNotFound {
		t.Errorf("a report that is not there: %d", w.Code)
	}
}

// What went wrong is told to those who may act; what people searched for is kept if asked for alone.
func TestDashboardRemembers(t *testing.T) {
	f := newFake()
	o := Options{Search: f, Desk: newFakeDesk(), Token: testToken, Log: slog.New(slog.DiscardHandler)}
	for _, keeps := range []bool{false, true} {
		o.SlowQueries = 0
		if keeps {
			o.SlowQueries = time.Millisecond
		}
		s := New(o)
		b, _ := loggedIn(t, s)
		get(t, s, "/search?q=inverted+index", http.StatusOK) // takes 1.28 ms
		get(t, s, "/search?q=nothing+else", http.StatusOK)   // 0.18 ms
		get(t, s, "/search?q=fail", http.StatusInternalServerError)
		page := b.do("GET", "/dashboard", nil).Body.String()
		if strings.Contains(page, "<bdi>inverted index</bdi>") != keeps || strings.Contains(page, "nothing else") || strings.Contains(page, "They are not kept") == keeps {
			t.Errorf("keeps: %v\n%s", keeps, page)
		}
		if !strings.Contains(page, "request failed") || !strings.Contains(page, "checksum") {
			t.Errorf("the error is not told\n%s", page)
		}
	}
}

func TestRing(t *testing.T) {
	var r ring[int]
	if len(r.newest()) != 0 {
		t.Error("not empty")
	}
	for i := range 3*ringSize + 7 {
		r.put(i)
		all := r.newest()
		if all[0] != i || len(all) != min(i+1, ringSize) || all[len(all)-1] != max(0, i+1-ringSize) {
			t.Fatalf("after %d: %v", i, all)
		}
	}
}
