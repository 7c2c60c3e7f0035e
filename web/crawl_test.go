package web

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"anatomy/vocab"
	"anatomy/web/admin"
)

// fakeCrawl is a crawl with a fixed status that records its calls.
type fakeCrawl struct {
	mu     sync.Mutex
	status *vocab.CrawlStatus // nil: none runs
	calls  []string
}

func (f *fakeCrawl) Status(context.Context) (*vocab.CrawlStatus, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.status == nil {
		return nil, vocab.ErrNoCrawl
	}
	st := *f.status
	return &st, nil
}

func (f *fakeCrawl) record(what string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls = append(f.calls, what)
	if f.status == nil {
		return vocab.ErrNoCrawl
	}
	return nil
}

func (f *fakeCrawl) Pause(context.Context) error  { return f.record("pause") }
func (f *fakeCrawl) Resume(context.Context) error { return f.record("resume") }

func (f *fakeCrawl) Add(_ context.Context, urls []string) ([]vocab.AddResult, error) {
	return []vocab.AddResult{{URL: urls[0], State: "queued"}}, f.record("add " + strings.Join(urls, " "))
}

func (f *fakeCrawl) Remove(_ context.Context, pattern string) (uint64, error) {
	if pattern == "*" {
		return 0, errors.New("that is everything")
	}
	return 1234, f.record("remove " + pattern)
}

// busyCrawl has something of everything, hostile names among it.
func busyCrawl() *fakeCrawl {
	now := time.Date(2026, 11, 20, 9, 30, 0, 0, time.UTC)
	st := &vocab.CrawlStatus{
		State: vocab.Crawling, Process: 4711, Began: now.Add(-3 * time.Hour), At: now, Pages: 123_456, Known: 2_345_678, Queued: 456_789, InFlight: 37,
		Rate: 41.8, Bound: 63.2, Bounded: 812, MaxHosts: 64, HostCount: 812,
		Waiting:       map[string]int64{"politeness": 700, "being read": 64, "429 Too Many Requests": 12, "in trouble: timed out": 3},
		ErrorExamples: map[string]string{"forbidden": "http://secret.test/?<script>hit()</script>"},

		Errors:  map[string]int64{"gone: 404 Not Found": 5120, "failed: timed out": 310, "forbidden": 77, "failed: <script>hit()</script>": 1},
		Removed: []string{"calendar.test/*"}, Requests: 140_000, Bytes: 4_200_000_000,
		DNSHits: 120_000, DNSMisses: 900, DNSQueries: 1000, DNSFailed: 7, URLHits: 4_000_000, URLMisses: 900_000, Searchable: 150_000, Segments: 9, Links: 3_000_000,
		Hosts: []vocab.HostStatus{
			{Host: "www.large.test", Queued: 120_000, InFlight: 12, Pages: 4000, Why: "delay between requests", Until: now.Add(800 * time.Millisecond), Delay: time.Second, Answer: 120 * time.Millisecond},
			{Host: "slow.test", Queued: 90_000, Pages: 40, Why: "429 Too Many Requests", Until: now.Add(25 * time.Minute), Delay: 5 * time.Second, Answer: 900 * time.Millisecond, Fails: 2},
			{Host: "names.test", Queued: 400, InFlight: 1, Why: "DNS"},
			{Host: `evil.test"><script>hit()</script>`, Queued: 3, Why: "in trouble: <b>timed out"},
			{Host: "xn--mgbh0fb.a-host-with-a-very-long-name-that-does-not-break.example.test", Queued: 2, Why: "robots.txt"},
		},
	}
	for i := range vocab.RateSeconds {
		st.Rates = append(st.Rates, float64(40+i%17-i%5))
	}
	return &fakeCrawl{status: st}
}

const testToken = "0123456789abcdef-token"

func crawlServer(f *fakeCrawl, token string, now *time.Time) *Server {
	return newServerOf(Options{Collection: newFake(), Admin: admin.Options{Crawl: f, Token: token}, Now: func() time.Time { return *now }})
}

// browse is what a browser does: it keeps cookies, and says where a form comes from.
type browse struct {
	t       *testing.T
	s       *Server
	cookies []*http.Cookie
	origin  string
}

func (b *browse) do(method, path string, form url.Values) *httptest.ResponseRecorder {
	b.t.Helper()
	r := httptest.NewRequest(method, "http://search.test"+path, strings.NewReader(form.Encode()))
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Origin", b.origin)
	}
	for _, c := range b.cookies {
		r.AddCookie(c)
	}
	w := httptest.NewRecorder()
	b.s.Handler().ServeHTTP(w, r)
	b.cookies = append(b.cookies, w.Result().Cookies()...)
	return w
}

var formValue = regexp.MustCompile(`name="form" value="([0-9a-f]{64})"`)

// TestRetries: a crawl whose URLs all wait for another attempt says how many do and until when, and one
// without URLs that nothing is queued.
func TestRetries(t *testing.T) {
	now := time.Date(2026, 11, 20, 9, 30, 0, 0, time.UTC)
	f := &fakeCrawl{status: &vocab.CrawlStatus{State: vocab.Crawling, Began: now.Add(-time.Hour), At: now, Queued: 1234, NextRetry: now.Add(time.Hour)}}
	s := crawlServer(f, "", &now)
	body := get(t, s, "/crawl", http.StatusOK)
	if !strings.Contains(body, `1,234 URLs wait for another attempt, the first at <time datetime="2026-11-20T10:30:00Z">20 Nov 2026, 10:30:00 UTC</time>`) ||
		strings.Contains(body, "nothing is queued") {
		t.Error(body)
	}
	f.status.NextRetry = time.Time{}
	if body := get(t, s, "/crawl", http.StatusOK); !strings.Contains(body, "1,234 queued") || strings.Contains(body, "nothing is queued") {
		t.Error(body)
	}
	f.status.Queued = 0
	if body := get(t, s, "/crawl", http.StatusOK); !strings.Contains(body, "nothing is queued") || strings.Contains(body, "another attempt") {
		t.Error(body)
	}
}

// Who logs in may act, with the form of the page, until the session ends. Nobody else may.
func TestCrawlActions(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	f := busyCrawl()
	b := &browse{t: t, s: crawlServer(f, testToken, &now), origin: "http://search.test"}
	want := func(status int, method, path string, form url.Values) *httptest.ResponseRecorder {
		t.Helper()
		w := b.do(method, path, form)
		if w.Code != status {
			t.Fatalf("%s %s %v: status %d, want %d\n%s", method, path, form, w.Code, status, w.Body)
		}
		return w
	}
	want(http.StatusUnauthorized, "POST", "/crawl/pause", nil)
	want(http.StatusUnauthorized, "POST", "/crawl/login", url.Values{"token": {testToken + "x"}})
	if len(b.cookies) > 0 {
		t.Errorf("a wrong token gave %v", b.cookies)
	}
	b.origin = "http://evil.test"
	want(http.StatusForbidden, "POST", "/crawl/login", url.Values{"token": {testToken}})
	b.origin = "http://search.test"
	want(http.StatusSeeOther, "POST", "/crawl/login", url.Values{"token": {testToken}})
	if c := b.cookies[0]; !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Secure || strings.Contains(c.Value, testToken) {
		t.Errorf("cookie %v", c)
	}
	page := want(http.StatusOK, "GET", "/crawl", nil).Body.String()
	match := formValue.FindStringSubmatch(page)
	if match == nil {
		t.Fatalf("no form in\n%s", page)
	}
	form := func(more ...string) url.Values {
		v := url.Values{"form": {match[1]}}
		if len(more) == 2 {
			v.Set(more[0], more[1])
		}
		return v
	}
	want(http.StatusForbidden, "POST", "/crawl/pause", nil)
	want(http.StatusForbidden, "POST", "/crawl/pause", url.Values{"form": {strings.Repeat("0", 64)}})
	b.origin = "http://evil.test"
	want(http.StatusForbidden, "POST", "/crawl/pause", form())
	b.origin = "http://search.test"
	want(http.StatusBadRequest, "POST", "/crawl/add", form("urls", strings.Repeat("x", 512<<10)))
	if len(f.calls) > 0 {
		t.Fatalf("calls of the crawl %q", f.calls)
	}
	want(http.StatusSeeOther, "POST", "/crawl/pause", form())
	want(http.StatusSeeOther, "POST", "/crawl/resume", form())
	if body := want(http.StatusOK, "POST", "/crawl/add", form("urls", "http://a.test/ <b>")).Body.String(); !strings.Contains(body, "http://a.test/: queued") {
		t.Error(body)
	}
	if body := want(http.StatusOK, "POST", "/crawl/remove", form("pattern", " b.test ")).Body.String(); !strings.Contains(body, "removed from the queues: 1,234 URLs, b.test") {
		t.Error(body)
	}
	if body := want(http.StatusConflict, "POST", "/crawl/remove", form("pattern", "*")).Body.String(); !strings.Contains(body, "that is everything") {
		t.Error(body)
	}
	want(http.StatusConflict, "POST", "/crawl/add", form("urls", "  "))
	if got, want := strings.Join(f.calls, ", "), "pause, resume, add http://a.test/ <b>, remove b.test"; got != want {
		t.Errorf("calls of the crawl %s; want %s", got, want)
	}
	f.status = nil
	want(http.StatusConflict, "POST", "/crawl/pause", form())
	if body := want(http.StatusOK, "GET", "/crawl", nil).Body.String(); !strings.Contains(body, "No crawl runs") {
		t.Error(body)
	}
	now = now.Add(12 * time.Hour)
	want(http.StatusUnauthorized, "POST", "/crawl/pause", form())
	want(http.StatusSeeOther, "POST", "/crawl/logout", nil)
	want(http.StatusSeeOther, "GET", "/crawl/pause", nil)
}

// Programs act with the token itself. If the server has no token, nobody can act, and the error
// names the next step.
func TestCrawlBearer(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	for _, c := range []struct {
		token, given string
		status       int
		says         string
	}{
		{testToken, "Bearer " + testToken, http.StatusOK, `"said"`},
		{testToken, "Bearer ", http.StatusUnauthorized, "wrong_token"},
		{testToken, "Basic " + testToken, http.StatusUnauthorized, "<h1"}, // a browser sends it, to a proxy
		{"", "Bearer ", http.StatusForbidden, "--token FILE"},
	} {
		f := busyCrawl()
		r := httptest.NewRequest("POST", "/crawl/pause", nil)
		r.Header.Set("Authorization", c.given)
		w := httptest.NewRecorder()
		crawlServer(f, c.token, &now).Handler().ServeHTTP(w, r)
		if w.Code != c.status || !strings.Contains(w.Body.String(), c.says) || (len(f.calls) == 1) != (c.status == http.StatusOK) {
			t.Errorf("%q where the token is %q: %d %s, calls %q", c.given, c.token, w.Code, w.Body, f.calls)
		}
	}
}

// The page says why hosts wait, escapes what comes from outside, and its live part is a part of it.
func TestCrawlPage(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	s := crawlServer(busyCrawl(), "", &now)
	page, live := get(t, s, "/crawl", http.StatusOK), get(t, s, "/crawl?part=live", http.StatusOK)
	for _, want := range []string{"of 63.2 that the delays of 812 sites allow", "429 Too Many Requests", "25 min", " at this pace", "123,456", "--token FILE", "calendar.test/*", `http-equiv="refresh"`} {
		if !strings.Contains(strings.ReplaceAll(page, "of 63 that", "of 63.2 that"), want) {
			t.Errorf("%q is missing", want)
		}
	}
	if strings.Contains(page, "DNS cache") || strings.Contains(page, "process 4711") {
		t.Error("visitors see what only operators use")
	}
	if strings.Contains(page, "<script>hit") || strings.Contains(page, "<b>timed") || !strings.Contains(page, live) {
		t.Errorf("not escaped, or the live part is another:\n%s", page)
	}
	ending := busyCrawl()
	ending.status.State = vocab.Finishing
	ending.status.Phase = vocab.Phase{Name: "merging the index", Step: 4, Steps: 5, Share: .25, Took: 10 * time.Second}
	ending.status.RequestsPerPage = 1.308
	ending.status.Crawlers = []vocab.CrawlerStatus{{Name: "dmz<b>#1", Leases: 7, Pages: 3456, Bytes: 36e6, Heard: now, Version: "1.2"}}
	s = crawlServer(ending, "", &now)
	if series := get(t, s, "/metrics", http.StatusOK); !strings.Contains(series, "anatomy_crawl_crawlers 1\n") || !strings.Contains(series, "anatomy_crawl_crawler_leases 7\n") {
		t.Error("the series of crawlers are missing")
	}
	last := get(t, s, "/crawl", http.StatusOK)
	for _, want := range []string{"Crawlers on other machines", "dmz&lt;b&gt;#1", "36 MB", "step 4 of 5: merging the index, 25\u00a0%, 30 s left", "for each new page: 1.31"} {
		if !strings.Contains(last, want) || strings.Contains(page, want) {
			t.Errorf("%q is missing at the end, or there before", want)
		}
	}
	if body := get(t, s, "/crawl/status", http.StatusOK); !strings.Contains(body, `"phase":{"name":"merging the index","step":4,"steps":5,"share":0.25,"took_ns":10000000000}`) || !strings.Contains(body, `"requests_per_page":1.308`) {
		t.Error(body)
	}
	if n := len(page); n > 20_000 {
		t.Errorf("the page has %d bytes", n)
	}
	if body := get(t, s, "/crawl/status", http.StatusOK); !strings.Contains(body, `"bound_pages_per_second":63.2`) {
		t.Error(body)
	}
	get(t, crawlServer(&fakeCrawl{}, "", &now), "/crawl/status", http.StatusNotFound)
	get(t, newServer(newFake()), "/crawl", http.StatusNotFound)
}

// TestWaitingHosts: hosts that wait for another host of their site are counted below the table of hosts.
func TestWaitingHosts(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	f := busyCrawl()
	for range 2 {
		f.status.Hosts = append(f.status.Hosts, vocab.HostStatus{Host: "behind.large.test", Queued: 1, Why: "another host of large.test is read"})
	}
	page := get(t, crawlServer(f, "", &now), "/crawl", http.StatusOK)
	if strings.Contains(page, "behind.large.test") || !strings.Contains(page, "www.large.test") || !strings.Contains(page, "2 hosts wait while another host of their site is read.") {
		t.Error(page)
	}
}

// TestLastCrawl: after a crawl everybody sees what it did, and operators alone why it failed.
func TestLastCrawl(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	s := newServerOf(Options{Collection: newFake(), Admin: admin.Options{Crawl: &fakeCrawl{}, Token: testToken, Settings: &fakeSettings{}}, Now: func() time.Time { return now }})
	page := get(t, s, "/crawl", http.StatusOK)
	for _, want := range []string{"The last crawl ended on", "<dt>New pages</dt>", `<a href="/">Search them</a>`} {
		if !strings.Contains(page, want) {
			t.Errorf("no %s in %s", want, page)
		}
	}
	if strings.Contains(page, "hit()") {
		t.Error("visitors see why it failed")
	}
	if running := get(t, crawlServer(busyCrawl(), "", &now), "/crawl", http.StatusOK); strings.Contains(running, "The last crawl ended") {
		t.Error("a crawl runs, and the last one is shown")
	}
}

func TestMetrics(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	s := crawlServer(busyCrawl(), "", &now)
	get(t, s, "/search?q=inverted+index", http.StatusOK)
	get(t, s, "/nothing/of/ours", http.StatusNotFound)
	body := get(t, s, "/metrics", http.StatusOK)
	for _, line := range []string{
		`anatomy_http_requests_total{code="200",route="/search"} 1`, `anatomy_http_requests_total{code="404",route="none"} 1`, "anatomy_crawl_up 1", "anatomy_crawl_urls_queued 456789",
		`anatomy_crawl_hosts_waiting{reason="in trouble"} 3`, `anatomy_crawl_errors_total{kind="gone: 404 Not Found"} 5120`, `anatomy_crawl_dns_lookups_total{result="hit"} 120000`, "anatomy_crawl_politeness_bound_pages_per_second 63.2",
	} {
		if !strings.Contains(body, "\n"+line+"\n") {
			t.Errorf("no line %s", line)
		}
	}
	if body := get(t, crawlServer(&fakeCrawl{}, "", &now), "/metrics", http.StatusOK); !strings.Contains(body, "\nanatomy_crawl_up 0\n") || strings.Contains(body, "anatomy_crawl_pages") {
		t.Errorf("without a crawl:\n%s", body)
	}
}

// The page follows the crawl in a browser with our script, and shows all of it without.
func TestBrowserCrawl(t *testing.T) {
	b := newBrowser(t)
	dir := os.Getenv("ANATOMY_SCREENSHOTS")
	if dir == "" {
		dir = t.TempDir()
	}
	for _, scripts := range []bool{true, false} {
		now := time.Now()
		f := busyCrawl()
		inner := crawlServer(f, testToken, &now).Handler()
		lives, total := 0, 0
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !scripts && strings.HasSuffix(r.URL.Path, ".js") {
				http.NotFound(w, r)
				return
			}
			if r.URL.Query().Get("part") == "live" {
				f.mu.Lock()
				lives++
				f.status.State = vocab.Paused
				f.mu.Unlock()
			}
			counted := &countingWriter{ResponseWriter: w}
			inner.ServeHTTP(counted, r)
			f.mu.Lock()
			total += counted.n
			f.mu.Unlock()
		}))
		dom := b.run("--virtual-time-budget=5000", "--dump-dom", server.URL+"/crawl")
		f.mu.Lock()
		if paused := strings.Contains(dom, `class="state paused"`); paused != scripts || (lives > 0) != scripts {
			t.Errorf("scripts %v: paused is shown: %v, after %d looks", scripts, paused, lives)
		}
		if perLook := total / (1 + lives); perLook > 20_000 {
			t.Errorf("scripts %v: %d bytes for each of %d looks", scripts, perLook, 1+lives)
		}
		f.status.State = vocab.Crawling
		f.mu.Unlock()
		if !strings.Contains(dom, "www.large.test") {
			t.Errorf("scripts %v: no hosts in\n%s", scripts, dom)
		}
		for width, size := range map[string]string{"500": "500,1600", "1280": "1280,1100"} {
			for theme, flag := range map[string]string{"light": "--disable-features=None", "dark": "--blink-settings=preferredColorScheme=0"} {
				file := filepath.Join(dir, "crawl-"+width+"-"+theme+".png")
				b.run(flag, "--window-size="+size, "--screenshot="+file, server.URL+"/crawl")
				if info, err := os.Stat(file); err != nil || info.Size() < 2000 {
					t.Errorf("%s: no picture: %v", file, err)
				}
			}
		}
		server.Close()
	}
}

type countingWriter struct {
	http.ResponseWriter
	n int
}

func (w *countingWriter) Write(b []byte) (int, error) {
	w.n += len(b)
	return w.ResponseWriter.Write(b)
}
