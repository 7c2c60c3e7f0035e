package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"anatomy/collection"
	"anatomy/web/admin"
)

// fakeJobs returns some of everything, with hostile names, and records its calls.
type fakeJobs struct {
	calls []string
	busy  bool
}

func newFakeJobs() *fakeJobs { return &fakeJobs{} }

func (f *fakeJobs) Holdings(context.Context) (*collection.Holdings, error) {
	return &collection.Holdings{Pages: 314_244, Uncrawled: 12_345, Words: 2_000_000, Postings: 90_000_000, Links: 7_000_000, Free: 90e9,
		Segments: []collection.SegmentHolding{{Name: "000007", Documents: 300_000, Bytes: 2_100_000_000}, {Name: "000009", Documents: 14_000, Bytes: 90_000_000}},
		Disk:     []collection.DiskHolding{{Name: "repository", Bytes: 1_900_000_000}, {Name: "inverted index", Bytes: 2_190_000_000}, {Name: "rank vector", Bytes: 0}},
		Ranks:    []collection.RankHolding{{Name: "default", About: "damping 0.85, 31 iterations, to <script>hit()</script>", Computed: fetched, Used: true}},
	}, nil
}

func (f *fakeJobs) Begin(o admin.JobOptions) error {
	if f.busy {
		return errors.New("Other work runs.")
	}
	f.calls = append(f.calls, fmt.Sprintf("%+v", o))
	return nil
}

func (f *fakeJobs) List() []admin.Job {
	return []admin.Job{
		{Number: 3, Name: "crawl of http://a.test/<script>hit()</script>", Began: fetched, Said: "12 pages"},
		{Number: 2, Name: "ranks", Began: fetched, Ended: fetched.Add(time.Minute), Said: "31 iterations", HasPage: true},
		{Number: 1, Name: "crawl", Began: fetched, Ended: fetched.Add(time.Second), Said: "disk full", Failed: true},
	}
}

func (f *fakeJobs) RankPage(n int) []byte {
	if n == 2 {
		return []byte("<!doctype html><style>b{color:red}</style>ranks")
	}
	return nil
}

func (f *fakeJobs) Remove(_ context.Context, targets []string) (string, error) {
	f.calls = append(f.calls, "remove "+strings.Join(targets, " "))
	return "3 documents removed.", nil
}

func (f *fakeJobs) Restore(_ context.Context, targets []string) (string, error) {
	f.calls = append(f.calls, "restore "+strings.Join(targets, " "))
	return "3 documents come back.", nil
}

func (f *fakeJobs) Removed(context.Context) ([]string, error) {
	return []string{"spam.test/*", "whole.test/*", "*.whole.test/*", "whole.test:*", "*.whole.test:*", `"><script>hit()</script>`}, nil
}

func adminServer(f *fakeJobs, c *fakeCrawl, token string) *Server {
	return newServerOf(Options{Collection: newFake(), Admin: admin.Options{Crawl: c, Jobs: f, Token: token, SlowQueries: time.Second}, Now: func() time.Time { return fetched.Add(time.Hour) }})
}

// loggedIn is a browser with a session, and the value that its forms must send.
func loggedIn(t *testing.T, s *Server) (*browse, string) {
	t.Helper()
	b := &browse{t: t, s: s, origin: "http://search.test"}
	if w := b.do("POST", "/dashboard/login", url.Values{"token": {testToken}}); w.Code != http.StatusSeeOther || w.Header().Get("Location") != "/crawl" {
		t.Fatalf("login: %d to %q", w.Code, w.Header().Get("Location"))
	}
	match := formValue.FindStringSubmatch(b.do("GET", "/crawl", nil).Body.String())
	if match == nil {
		t.Fatalf("no form in\n%s", b.do("GET", "/crawl", nil).Body)
	}
	return b, match[1]
}

// Without the token the dashboard says nothing, whatever is tried: no token, a wrong one, one in the
// address, a cookie made up.
func TestAdminPageIsClosed(t *testing.T) {
	const secret = "314,244"
	for name, ask := range map[string]func(r *http.Request){
		"nothing":              func(*http.Request) {},
		"a wrong token":        func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+testToken+"x") },
		"half a token":         func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+testToken[:16]) },
		"a token in the URL":   func(r *http.Request) { r.URL.RawQuery += "&token=" + testToken + "&key=" + testToken },
		"a token in X-API-Key": func(r *http.Request) { r.Header.Set("X-API-Key", testToken) },
		"a cookie made up":     func(r *http.Request) { r.AddCookie(&http.Cookie{Name: "anatomy_session", Value: "9999999999.00"}) },
	} {
		for _, path := range []string{"/crawl", "/crawl?part=live", "/crawl/rank/2", "/dashboard/rank/2"} {
			f := newFakeJobs()
			r := httptest.NewRequest("GET", path, nil)
			ask(r)
			w := httptest.NewRecorder()
			adminServer(f, busyCrawl(), testToken).Handler().ServeHTTP(w, r)
			if body := w.Body.String(); strings.Contains(body, secret) || strings.Contains(body, "<style>") || path == "/crawl" && !strings.Contains(body, "Token of this server") || strings.Contains(path, "rank") && w.Code != http.StatusUnauthorized {
				t.Errorf("%s, %s: %d\n%s", name, path, w.Code, body)
			}
		}
		for _, action := range []string{"crawl", "rank", "remove", "restore", "pause"} {
			f, c := newFakeJobs(), busyCrawl()
			r := httptest.NewRequest("POST", "/dashboard/"+action, strings.NewReader("targets=a.test&urls=http://a.test/"))
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			ask(r)
			w := httptest.NewRecorder()
			adminServer(f, c, testToken).Handler().ServeHTTP(w, r)
			if w.Code != http.StatusUnauthorized || len(f.calls)+len(c.calls) > 0 {
				t.Errorf("%s, %s: %d, calls %q %q", name, action, w.Code, f.calls, c.calls)
			}
		}
	}
	if body := get(t, adminServer(newFakeJobs(), busyCrawl(), ""), "/crawl", http.StatusOK); !strings.Contains(body, "--token FILE") || strings.Contains(body, secret) {
		t.Error(body)
	}
	get(t, newServer(newFake()), "/crawl", http.StatusNotFound)
	for _, old := range []string{"/dashboard", "/dashboard?part=live", "/dashboard/crawl"} {
		if w := do(t, adminServer(newFakeJobs(), busyCrawl(), testToken), "GET", old); w.Code != http.StatusSeeOther || w.Header().Get("Location") != "/crawl" {
			t.Errorf("%s: %d to %q", old, w.Code, w.Header().Get("Location"))
		}
	}
}

// Another site cannot have a browser act that is logged in here.
func TestAdminPageRefusesOtherSites(t *testing.T) {
	f := newFakeJobs()
	s := adminServer(f, busyCrawl(), testToken)
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
			if w.Code != http.StatusForbidden || len(f.calls) > 0 || len(w.Result().Cookies()) > 0 {
				t.Errorf("%s, %s: %d, calls %q", name, action, w.Code, f.calls)
			}
		}
	}
	for _, form := range []string{"", strings.Repeat("0", 64)} { // of our own pages, but not of this session
		if w := b.do("POST", "/dashboard/remove", url.Values{"form": {form}, "targets": {"a.test"}}); w.Code != http.StatusForbidden || len(f.calls) > 0 {
			t.Errorf("form %q: %d, calls %q", form, w.Code, f.calls)
		}
	}
}

// Who may act sees all, and the levers reach the desk and the crawl.
func TestAdminPageActs(t *testing.T) {
	f, c := newFakeJobs(), busyCrawl()
	s := adminServer(f, c, testToken)
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
	page := b.do("GET", "/crawl", nil).Body.String()
	for _, want := range []string{"314,244", "000007", "2,190 MB", "damping 0.85", "/crawl/rank/2", "disk full", "spam.test/*", "12 pages", "90 GB free", "None took 1.0\u00a0s so far"} {
		if !strings.Contains(page, want) {
			t.Errorf("%q is missing", want)
		}
	}
	if strings.Contains(page, "<script>hit") {
		t.Error("not escaped")
	}
	if live := b.do("GET", "/crawl?part=live", nil).Body.String(); !strings.Contains(page, live) || strings.Contains(live, "<form") {
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
	if got, want := strings.Join(f.calls, "; "), "remove spam.test http://b.test/x; restore spam.test/*; {Learn:false Rank:true Damping:0.9 URLs:[] Scope: MaxPages:0 Recrawl:false}; "+
		"{Learn:false Rank:false Damping:0 URLs:[http://c.test/ d.test] Scope:host MaxPages:100 Recrawl:true}"; got != want {
		t.Errorf("calls of jobs\n%s, want\n%s", got, want)
	}
	if got := strings.Join(c.calls, ", "); got != "add http://a.test/, pause, add http://c.test/ d.test" { // the last failed
		t.Errorf("calls of the crawl %s", got)
	}
	w := b.do("GET", "/dashboard/rank/2", nil)
	if w.Code != http.StatusOK || !strings.Contains(w.Header().Get("Content-Security-Policy"), "sandbox") || !strings.Contains(w.Header().Get("Content-Security-Policy"), "default-src 'none'") {
		t.Errorf("%d %v", w.Code, w.Header())
	}
	if w := b.do("GET", "/dashboard/rank/77", nil); w.Code != http.StatusNotFound {
		t.Errorf("a report that is not there: %d", w.Code)
	}
}

// The page shows errors to those who may act; it records queries only if configured to.
func TestAdminPageRemembers(t *testing.T) {
	f := newFake()
	o := Options{Collection: f, Admin: admin.Options{Crawl: &fakeCrawl{}, Jobs: newFakeJobs(), Token: testToken}, Log: slog.New(slog.DiscardHandler)}
	for _, keeps := range []bool{false, true} {
		o.Admin.SlowQueries = 0
		if keeps {
			o.Admin.SlowQueries = time.Millisecond
		}
		s := newServerOf(o)
		b, _ := loggedIn(t, s)
		get(t, s, "/search?q=inverted+index", http.StatusOK) // takes 1.28 ms
		get(t, s, "/search?q=nothing+else", http.StatusOK)   // 0.18 ms
		get(t, s, "/search?q=fail", http.StatusInternalServerError)
		page := b.do("GET", "/crawl", nil).Body.String()
		if strings.Contains(page, "<bdi>inverted index</bdi>") != keeps || strings.Contains(page, "nothing else") || strings.Contains(page, "Not recorded") == keeps {
			t.Errorf("keeps: %v\n%s", keeps, page)
		}
		if !strings.Contains(page, "request failed") || !strings.Contains(page, "checksum") {
			t.Errorf("the error is not shown\n%s", page)
		}
	}
}

// fakeSettings are rules of which each line that has the word wrong is wrong.
type fakeSettings struct {
	text  string
	reads int // of past crawls
}

func (f *fakeSettings) Read() (string, string, error) {
	return f.text, fmt.Sprint("v", len(f.text)), nil
}

func (f *fakeSettings) Keys() (string, error) { return "# every key\ndelay = '1s'\n", nil }

func (f *fakeSettings) Replace(version, text string) (all []admin.SettingsProblem, err error) {
	if _, now, _ := f.Read(); version != now {
		return nil, errors.New("The file was changed in the meantime.")
	}
	for i, line := range strings.Split(text, "\n") {
		if strings.Contains(line, "wrong") {
			all = append(all, admin.SettingsProblem{Line: i + 1, Key: "<b>", Text: "a reason"})
		}
	}
	if len(all) == 0 {
		f.text = text
	}
	return all, nil
}

func (f *fakeSettings) Crawls() (all []admin.PastCrawl, next time.Time, err error) {
	f.reads++
	for i := range 7 {
		began := fetched.Add(-time.Duration(i) * 24 * time.Hour)
		all = append(all, admin.PastCrawl{Began: began, Ended: began.Add(90 * time.Minute), How: "recrawl", By: "schedule",
			Result: "failed", Reason: "<script>hit()</script>", Errors: map[string]int64{"gone": 3}, Visited: int64(1000 + i), Pages: 314_244})
	}
	return all, fetched.Add(3 * time.Hour), nil
}

func settingsServer(f *fakeSettings) *Server {
	return newServerOf(Options{
		Collection: newFake(), Damage: func() map[string]int { return map[string]int{"repository": 2, "links": 0} },
		Admin: admin.Options{Crawl: busyCrawl(), Jobs: newFakeJobs(), Token: testToken, Settings: f},
		Now:   func() time.Time { return fetched.Add(time.Hour) },
	})
}

// TestAdminCallsAreDocumented: every action of the admin page is a call that a document shows.
func TestAdminCallsAreDocumented(t *testing.T) {
	documents := ""
	for _, name := range []string{"operations", "evaluation"} {
		text, err := os.ReadFile("../doc/" + name + ".md")
		if err != nil {
			t.Fatal(err)
		}
		documents += string(text)
	}
	opposites := map[string]string{"/crawl/resume": "then: resume", "/crawl/unblock": "then: unblock"}
	s := newServerOf(Options{Collection: newFake(), Admin: admin.Options{
		Crawl: busyCrawl(), Jobs: newFakeJobs(), Token: testToken, Settings: &fakeSettings{}, Tuning: &fakeTuning{}, Searches: true,
	}})
	calls := 0
	for _, route := range s.routes.Routes() {
		if !strings.HasPrefix(route.Path, "/crawl/") || route.Method != "POST" || strings.HasPrefix(route.Path, "/crawl/log") {
			continue
		}
		calls++
		if call := cmp.Or(opposites[route.Path], "http://127.0.0.1:8080"+route.Path); !strings.Contains(documents, call) {
			t.Errorf("no document has %s", call)
		}
	}
	if calls < 15 {
		t.Errorf("only %d calls", calls)
	}
}

// TestSettings: visitors with the token see the rules and change them; errors are shown, and the
// typed text stays in the form. Others see and change nothing.
func TestSettings(t *testing.T) {
	f := &fakeSettings{text: "delay = '5s'\n</textarea><script>hit()</script>"}
	s := settingsServer(f)
	for _, path := range []string{"/crawl/config", "/crawl/history"} {
		if body := do(t, s, "GET", path).Body.String(); strings.Contains(body, "delay") || strings.Contains(body, "recrawl") {
			t.Errorf("%s without a login: %s", path, body)
		}
	}
	before := f.text
	if w := do(t, s, "POST", "/crawl/config"); w.Code != http.StatusUnauthorized && w.Code != http.StatusForbidden || f.text != before {
		t.Errorf("a change without a login: %d", w.Code)
	}
	b, form := loggedIn(t, s)
	body := b.do("GET", "/crawl/config", nil).Body.String()
	if !strings.Contains(body, "delay = &#39;5s&#39;") || strings.Contains(body, "<script>hit") || !strings.Contains(body, "# every key") ||
		!strings.Contains(body, "those of searches within a second") { // searcher's TestPoll
		t.Error(body)
	}
	version := fmt.Sprint("v", len(f.text))
	change := func(version, text string) (int, string) {
		w := b.do("POST", "/crawl/config", url.Values{"form": {form}, "version": {version}, "text": {text}})
		return w.Code, w.Body.String()
	}
	if code, body := change(version, "fine\nwrong\n"); code != http.StatusConflict || f.text != before ||
		!strings.Contains(body, "line 2, key <code>&lt;b&gt;</code>: a reason") || !strings.Contains(body, "fine\nwrong") {
		t.Errorf("%d\n%s", code, body)
	}
	if code, body := change("v0", "fine\n"); code != http.StatusConflict || f.text != before || !strings.Contains(body, "changed in the meantime") || !strings.Contains(body, "fine") {
		t.Errorf("%d\n%s", code, body)
	}
	if code, _ := change(version, "fine\n"); code != http.StatusSeeOther || f.text != "fine\n" {
		t.Errorf("%d, %q", code, f.text)
	}
	if body := b.do("GET", "/crawl/config?kept=1", nil).Body.String(); !strings.Contains(body, "The rules are saved.") {
		t.Error(body)
	}
	if w := b.do("POST", "/crawl/config", url.Values{"version": {"v5"}, "text": {"other"}}); w.Code != http.StatusForbidden || f.text != "fine\n" {
		t.Errorf("without the value of the form: %d, %q", w.Code, f.text)
	}
}

// TestRefusalsOfPrograms: a program that accepts JSON, or sends a token, gets refusals of the admin page as JSON;
// a browser gets a page.
func TestRefusalsOfPrograms(t *testing.T) {
	private := func() bool { return true }
	for _, c := range []struct {
		accept, authorization string
		json                  bool
	}{
		{"application/json", "", true}, {"application/json, */*", "", true}, {"*/*", "Bearer wrong", true},
		{"*/*", "", false}, {"text/html,application/json", "", false}, {"text/html", "Basic dXNlcjpwYXNz", false},
	} {
		for _, path := range []string{"/crawl/pause", "/crawl/login", "/crawl/config", "/login"} {
			for _, isPrivate := range []func() bool{nil, private} {
				s := newServerOf(Options{
					Collection: newFake(), Private: isPrivate,
					Admin: admin.Options{Crawl: busyCrawl(), Jobs: newFakeJobs(), Token: testToken, Settings: &fakeSettings{}},
				})
				r := httptest.NewRequest("POST", path, strings.NewReader("token=x"))
				r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
				r.Header.Set("Accept", c.accept)
				if c.authorization != "" {
					r.Header.Set("Authorization", c.authorization)
				}
				w := httptest.NewRecorder()
				s.Handler().ServeHTTP(w, r)
				body, kind := w.Body.String(), w.Header().Get("Content-Type")
				if isJSON := strings.HasPrefix(kind, "application/json") && strings.HasPrefix(body, `{"error":{"code":"`); w.Code != http.StatusUnauthorized || isJSON != c.json || isJSON == strings.Contains(body, "<!doctype html>") {
					t.Errorf("%s with %+v: %d, %s, %.100s", path, c, w.Code, kind, body)
				}
			}
		}
	}
}

// TestSettingsOfPrograms: a program with the token does the same, in JSON.
func TestSettingsOfPrograms(t *testing.T) {
	f := &fakeSettings{text: "delay = '5s'\n"}
	s := settingsServer(f)
	ask := func(method, path string, form url.Values) (int, string) {
		r := httptest.NewRequest(method, path, strings.NewReader(form.Encode()))
		r.Header.Set("Authorization", "Bearer "+testToken)
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		w := httptest.NewRecorder()
		s.Handler().ServeHTTP(w, r)
		return w.Code, w.Body.String()
	}
	if code, body := ask("GET", "/crawl/config", nil); code != 200 || !strings.Contains(body, `"version":"v13"`) {
		t.Errorf("%d %s", code, body)
	}
	if code, body := ask("POST", "/crawl/config", url.Values{"version": {"v13"}, "text": {"wrong"}}); code != http.StatusConflict ||
		!strings.Contains(body, `{"problems":[{"line":1,"key":"`) || !strings.Contains(body, "a reason") {
		t.Errorf("%d %s", code, body)
	}
	if code, body := ask("POST", "/crawl/config", url.Values{"version": {"v13"}, "text": {"fine"}}); code != 200 || f.text != "fine" {
		t.Errorf("%d %s", code, body)
	}
	if code, body := ask("GET", "/crawl/history", nil); code != 200 || strings.Count(body, `"how":"recrawl"`) != 7 {
		t.Errorf("%d %s", code, body)
	}
}

// TestAdminPageOfTheCollection: the page shows when the next recrawl begins, the newest past crawls, and
// the damage.
func TestAdminPageOfTheCollection(t *testing.T) {
	f := &fakeSettings{}
	s := settingsServer(f)
	b, _ := loggedIn(t, s)
	f.reads = 0
	body := b.do("GET", "/crawl", nil).Body.String()
	if f.reads != 1 {
		t.Errorf("past crawls are read %d times", f.reads)
	}
	for _, want := range []string{"The next recrawl begins at", "90 min", "Damage of the data folder", `href="/crawl/history"`, `href="/crawl/config"`} {
		if !strings.Contains(body, want) {
			t.Errorf("no %q", want)
		}
	}
	if n := strings.Count(body, "failed: &lt;script&gt;hit()&lt;/script&gt;<details>"); n != 5 || strings.Contains(body, "<script>hit") {
		t.Errorf("%d past crawls", n)
	}
	if shown := strings.Count(body, "http://secret.test/?&lt;script&gt;"); shown != 1 {
		t.Errorf("the example of an error is shown %d times", shown)
	}
	for _, path := range []string{"/crawl", "/crawl/status"} {
		if body := get(t, s, path, http.StatusOK); strings.Contains(body, "secret.test") {
			t.Errorf("%s shows a URL without a login", path)
		}
	}
	if all := b.do("GET", "/crawl/history", nil).Body.String(); strings.Count(all, `<td data-label="Crawl">recrawl</td>`) != 7 {
		t.Error(all)
	}
}
