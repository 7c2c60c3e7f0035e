package crawler

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/zstd"
	"github.com/miekg/dns"
	"pgregory.net/rapid"

	"anatomy/crawler/dnsclient"
	"anatomy/crawler/signin"
	"anatomy/vocab"
	"anatomy/weburl"
)

// A world is a web on loopback: one handler serves every name under .test, over http and https.
type world struct {
	*Crawler
	plain, secure *httptest.Server

	mu       sync.Mutex
	requests []string
	sleeps   []time.Duration
	now      time.Time // moves only by sleeping
}

// newWorld serves h. A handler that does not know a path answers 404, robots.txt included.
func newWorld(t testing.TB, h http.HandlerFunc, change func(*Options)) *world {
	t.Helper()
	w := &world{now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	logged := http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		w.mu.Lock()
		w.requests = append(w.requests, r.Host+r.RequestURI)
		w.mu.Unlock()
		h(rw, r)
	})
	w.plain = httptest.NewServer(logged)
	t.Cleanup(w.plain.Close)
	w.secure = httptest.NewUnstartedServer(logged)
	w.secure.EnableHTTP2 = true
	w.secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	w.secure.StartTLS()
	t.Cleanup(w.secure.Close)
	o := Options{
		AllowPrivate: true, HTTPPort: portOf(t, w.plain.URL), HTTPSPort: portOf(t, w.secure.URL),
		DNS: dnsclient.Options{Servers: []string{nameServer(t)}},
		Now: func() time.Time { w.mu.Lock(); defer w.mu.Unlock(); return w.now },
		Sleep: func(ctx context.Context, d time.Duration) error {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.now = w.now.Add(d)
			w.sleeps = append(w.sleeps, d)
			return ctx.Err()
		},
	}
	if change != nil {
		change(&o)
	}
	c, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	w.Crawler = c
	return w
}

func portOf(t testing.TB, raw string) int {
	u, err := url.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	port, _ := strconv.Atoi(u.Port())
	return port
}

// nameServer resolves every name but those that begin with "no". Names that begin with "two" have a
// first address without a server.
func nameServer(t testing.TB) string {
	conn, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &dns.Server{PacketConn: conn, Handler: dns.HandlerFunc(func(w dns.ResponseWriter, r *dns.Msg) {
		m := new(dns.Msg).SetReply(r)
		name := r.Question[0].Name
		switch small := strings.ToLower(name); {
		case strings.HasPrefix(small, "no"):
			m.Rcode = dns.RcodeNameError
		case r.Question[0].Qtype == dns.TypeA:
			h := dns.RR_Header{Name: name, Rrtype: dns.TypeA, Class: dns.ClassINET, Ttl: 60}
			if strings.HasPrefix(small, "two") {
				m.Answer = append(m.Answer, &dns.A{Hdr: h, A: net.IPv4(127, 0, 0, 9)})
			}
			m.Answer = append(m.Answer, &dns.A{Hdr: h, A: net.IPv4(127, 0, 0, 1)})
		}
		_ = w.WriteMsg(m)
	})}
	up := make(chan struct{})
	s.NotifyStartedFunc = func() { close(up) }
	go func() { _ = s.ActivateAndServe() }()
	<-up
	t.Cleanup(func() { _ = s.Shutdown() })
	return conn.LocalAddr().String()
}

// visit fetches URLs in one lease and checks that each is handled once, in order.
func (w *world) visit(t testing.TB, urls ...string) ([]vocab.Fetch, vocab.HostReport) {
	t.Helper()
	lease := vocab.Lease{ID: 7, Host: "www.test", Site: "www.test"}
	for i, u := range urls {
		lease.URLs = append(lease.URLs, vocab.Target{Doc: vocab.DocID(i + 1), URL: u})
	}
	return w.work(t, context.Background(), lease)
}

func (w *world) work(t testing.TB, ctx context.Context, lease vocab.Lease) ([]vocab.Fetch, vocab.HostReport) {
	t.Helper()
	var got []vocab.Fetch
	report := w.Visit(ctx, lease, func(f vocab.Fetch) { got = append(got, f) })
	if len(got) != len(lease.URLs) || report.Lease != lease.ID {
		t.Fatalf("%d targets handled of %d, lease %d", len(got), len(lease.URLs), report.Lease)
	}
	for i, f := range got {
		if f.Target != lease.URLs[i] {
			t.Fatalf("target %d is %v", i, f.Target)
		}
		if (f.Outcome == vocab.Fetched && f.Kind == vocab.PageTarget) != (f.Page != nil) {
			t.Errorf("%s: %s, page %v", f.URL, f.Outcome, f.Page)
		}
		if f.Reason == "" && f.Outcome != vocab.Fetched && f.Outcome != vocab.Redirected && f.Outcome != vocab.Unmodified {
			t.Errorf("%s: %s without a reason", f.URL, f.Outcome)
		}
	}
	return got, report
}

func page(rw http.ResponseWriter, text string) {
	rw.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = io.WriteString(rw, text)
}

// trickle sends a byte each 5 ms until the client leaves.
func trickle(rw http.ResponseWriter, r *http.Request) {
	for {
		if _, err := io.WriteString(rw, "x"); err != nil {
			return
		}
		_ = http.NewResponseController(rw).Flush()
		select {
		case <-r.Context().Done():
			return
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// TestReportOfConnections: the report has the figures of connections that scheduling uses.
func TestReportOfConnections(t *testing.T) {
	w := newWorld(t, func(rw http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/last" {
			rw.Header().Set("Connection", "close")
		}
		page(rw, "x")
	}, func(o *Options) {
		var ticks atomic.Int64 // each look at the clock finds it a second later
		o.Now = func() time.Time { return time.Unix(ticks.Add(1), 0) }
	})
	_, report := w.visit(t, "http://www.test/a", "http://www.test/last", "http://www.test/b")
	if report.Requests != 4 || report.Closed != 1 || report.ConnectTime < time.Second || w.Stats().Connections != 2 {
		t.Errorf("%d requests, %d connections closed of %d, opened in %v", report.Requests, report.Closed, w.Stats().Connections, report.ConnectTime)
	}
	if _, report = w.visit(t, "http://www.test/a", "http://www.test/b"); report.ConnectTime != 0 || report.Closed != 0 || report.Requests != 2 {
		t.Errorf("over a kept connection: %+v", report)
	}
}

// TestPage checks the request and the page made of the answer.
func TestPage(t *testing.T) {
	w := newWorld(t, func(rw http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/robots.txt":
			_, _ = io.WriteString(rw, "User-agent: anatomy\nDisallow: /private\nCrawl-delay: 2\nSitemap: /map.xml\nSitemap: ftp://x/\n")
		case "/a|b":
			h := rw.Header()
			h.Set("Content-Language", "de")
			h.Set("Last-Modified", "Thu, 01 Jan 2026 00:00:00 GMT")
			h.Set("ETag", `"x"`)
			h.Add("X-Robots-Tag", "noarchive")
			h.Add("X-Robots-Tag", "nosnippet")
			h.Add("Link", "</x.css>; rel=preload; as=style")
			h.Add("Link", `<b>; rel="next"`)
			h.Add("Link", "</c?a,b>; rel=canonical")
			h.Set("Refresh", `5; url="/d"`)
			page(rw, r.RequestURI+" "+r.Header.Get("User-Agent"))
		case "//two":
			page(rw, "double slash")
		default:
			http.NotFound(rw, r)
		}
	}, func(o *Options) { o.Contact = "me@example.org" })
	got, report := w.visit(t, "http://www.test/a|b?q=%C3%A4|&", "http://www.test/private/x", "http://www.test/missing", "http://www.test//two")
	p := got[0].Page
	want := vocab.Page{Doc: 1, URL: "http://www.test/a|b?q=%C3%A4|&", Fetched: p.Fetched, ContentType: "text/html; charset=utf-8", Language: "de",
		LastModified: "Thu, 01 Jan 2026 00:00:00 GMT", ETag: `"x"`, Robots: "noarchive\nnosnippet", Links: `<>; rel=refresh; content="5; url='/d'", <b>; rel="next", </c?a,b>; rel=canonical`, Body: p.Body}
	if fmt.Sprint(*p) != fmt.Sprint(want) || string(p.Body) != "/a|b?q=%C3%A4|& anatomy/0.1 (contact: me@example.org)" {
		t.Errorf("page %+v\n%s", p, p.Body)
	}
	if got[0].Status != 200 || got[1].Outcome != vocab.Forbidden || got[2].Outcome != vocab.NotFound || got[2].Reason != "404 Not Found" || got[3].Outcome != vocab.Fetched {
		t.Errorf("%+v", got[1:])
	}
	if report.CrawlDelay != 2*time.Second || len(report.Sitemaps) != 1 || report.Sitemaps[0] != "http://www.test/map.xml" || report.HoldFor != 0 {
		t.Errorf("report %+v", report)
	}
	// robots.txt first; no request for what it forbids; the Crawl-delay before each of the others.
	if fmt.Sprint(w.requests) != "[www.test/robots.txt www.test/a|b?q=%C3%A4|& www.test/missing www.test//two]" {
		t.Error(w.requests)
	}
	if fmt.Sprint(w.sleeps) != "[2s 2s 2s]" {
		t.Error(w.sleeps)
	}
	if got, _ := w.visit(t, "http://two.test/missing"); got[0].Status != 404 {
		t.Errorf("the second address was not tried: %+v", got[0])
	}
	w.visit(t, "http://www.test/missing")
	if st := w.Stats(); st.Robots != 2 || st.RobotsHits != 1 || st.Requests != 7 || st.Connections != 2 || st.Outcomes[vocab.NotFound] != 3 {
		t.Errorf("stats %+v", st)
	}
	w.mu.Lock()
	w.now = w.now.Add(25 * time.Hour)
	w.mu.Unlock()
	if w.visit(t, "http://www.test/missing"); w.Stats().Robots != 3 {
		t.Error("robots.txt was believed for more than a day")
	}
}

// TestKeepHeaders: the headers of a request and its answer are kept without secrets, those of the operator's
// own among them, and are cut between two fields if they are long.
func TestKeepHeaders(t *testing.T) {
	w := newWorld(t, func(rw http.ResponseWriter, r *http.Request) {
		h := rw.Header()
		h.Set("Set-Cookie", "session=secret")
		h["Server"] = []string{"one", "two"}
		h.Set("X-Key", r.Header.Get("X-Key"))
		if r.URL.Path == "/long" {
			for i := range 100 {
				h.Set(fmt.Sprintf("X-Long-%d", i), strings.Repeat("x", 1000))
			}
		}
		page(rw, "text")
	}, func(o *Options) {
		o.Contact, o.KeepHeaders = "me@example.org", true
		var err error
		if o.Credentials, err = signin.Parse(strings.NewReader("http://www.test header x-key: secret")); err != nil {
			t.Fatal(err)
		}
	})
	got, _ := w.visit(t, "http://www.test/a?b", "http://www.test/long")
	request, answer, ok := got[0].Page.CutHeaders()
	if strings.Contains(request, "secret") || !ok || !strings.HasPrefix(request, "GET /a?b HTTP/1.1\r\nHost: www.test\r\nAccept: ") ||
		!strings.HasSuffix(request, "User-Agent: anatomy/0.1 (contact: me@example.org)\r\n\r\n") {
		t.Errorf("request %q", request)
	}
	if !strings.HasPrefix(answer, "HTTP/1.1 200 OK\r\nContent-Length: ") || !strings.Contains(answer, "\r\nServer: one\r\nServer: two\r\n") ||
		strings.Contains(answer, "secret") {
		t.Errorf("answer %q", answer)
	}
	_, answer, ok = got[1].Page.CutHeaders()
	if n := len(got[1].Page.Headers); !ok || n > vocab.MaxHeaders || n < vocab.MaxHeaders-2000 || !strings.HasSuffix(answer, "xx\r\n\r\n") {
		t.Errorf("%d bytes of a long header, %v", n, ok)
	}
}

// TestStatus checks the outcome of each status.
func TestStatus(t *testing.T) {
	w := newWorld(t, func(rw http.ResponseWriter, r *http.Request) {
		if code, err := strconv.Atoi(strings.TrimPrefix(r.URL.Path, "/")); err == nil {
			if to := r.URL.RawQuery; to != "" {
				rw.Header().Set("Location", to)
			}
			rw.WriteHeader(code)
			return
		}
		http.NotFound(rw, r)
	}, nil)
	cases := []struct {
		path    string
		outcome vocab.Outcome
		tail    string // of Reason or Location
	}{
		{"/203", vocab.Fetched, ""},
		{"/204", vocab.NotFound, "204 No Content"},
		{"/206", vocab.NotFound, "206 Partial Content"},
		{"/301?/next", vocab.Redirected, "http://www.test/next"},
		{"/302?https://www.test/302?https://www.test/302", vocab.Redirected, "https://www.test/302?https://www.test/302"},
		{"/308?//Other.TEST:80/a/../b#c", vocab.Redirected, "http://other.test/b"},
		{"/307?/307?/307", vocab.Redirected, "http://www.test/307?/307"},
		{"/302?mailto:x@y", vocab.Refused, "neither http nor https"},
		{"/302", vocab.NotFound, "302 Found"},
		{"/304", vocab.Failed, "to an unconditional request"},
		{"/401", vocab.NotFound, "401 Unauthorized"},
		{"/403", vocab.NotFound, "403 Forbidden"},
		{"/410", vocab.NotFound, "410 Gone"},
		{"/451", vocab.NotFound, "451 Unavailable For Legal Reasons"},
		{"/408", vocab.Failed, "408 Request Timeout"},
		{"/425", vocab.Failed, "425 Too Early"},
		{"/500", vocab.Failed, "500 Internal Server Error"},
		{"/599", vocab.Failed, "599"},
	}
	for _, c := range cases {
		got, report := w.visit(t, "http://www.test"+c.path)
		if f := got[0]; f.Outcome != c.outcome || !strings.HasSuffix(f.Reason+f.Location, c.tail) || f.Status == 0 {
			t.Errorf("%s: %s %q %q", c.path, f.Outcome, f.Reason, f.Location)
		}
		if report.HTTPS || report.HoldFor != 0 {
			t.Errorf("%s: %+v", c.path, report)
		}
	}
}

// TestHTTPS: pages over TLS and HTTP/2, and a redirect to the same URL there.
func TestHTTPS(t *testing.T) {
	handler := func(rw http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/robots.txt":
			http.NotFound(rw, r)
		case r.TLS == nil:
			http.Redirect(rw, r, "https://"+r.Host+r.RequestURI, http.StatusMovedPermanently)
		default:
			page(rw, r.Proto)
		}
	}
	w := newWorld(t, handler, nil)
	pool := x509.NewCertPool()
	pool.AddCert(w.secure.Certificate())
	trusting := newWorld(t, handler, func(o *Options) {
		o.RootCAs, o.HTTPSPort, o.HTTPPort = pool, portOf(t, w.secure.URL), portOf(t, w.plain.URL)
	})
	got, report := trusting.visit(t, "http://example.com/x", "https://example.com/x")
	if !report.HTTPS || got[0].Outcome != vocab.Redirected || got[1].Outcome != vocab.Fetched || string(got[1].Page.Body) != "HTTP/2.0" {
		t.Errorf("%+v %+v", got, report)
	}
	for _, c := range []struct{ url, reason string }{
		{"https://wrong.test/", "https: TLS with wrong.test: "}, // the certificate is for example.com
	} {
		got, report := trusting.visit(t, c.url, c.url)
		if got[0].Outcome != vocab.Refused || got[1].Outcome != vocab.Refused || !strings.HasPrefix(got[0].Reason, c.reason) || report.HoldFor != 0 {
			t.Errorf("%+v %+v", got, report)
		}
	}
	if got, _ := w.visit(t, "https://example.com/"); got[0].Outcome != vocab.Refused || !strings.Contains(got[0].Reason, "unknown authority") {
		t.Errorf("%+v", got)
	}
	if got, _ := newWorld(t, handler, func(o *Options) { o.HTTPSPort = portOf(t, w.plain.URL) }).visit(t, "https://example.com/"); got[0].Outcome != vocab.Refused ||
		!strings.Contains(got[0].Reason, "TLS") {
		t.Errorf("%+v", got)
	}
	old := httptest.NewUnstartedServer(http.HandlerFunc(handler))
	old.TLS = &tls.Config{MaxVersion: tls.VersionTLS11, MinVersion: tls.VersionTLS10}
	old.Config.ErrorLog = log.New(io.Discard, "", 0)
	old.StartTLS()
	defer old.Close()
	if got, _ := newWorld(t, handler, func(o *Options) { o.HTTPSPort = portOf(t, old.URL) }).visit(t, "https://example.com/"); got[0].Outcome != vocab.Refused {
		t.Errorf("%+v", got)
	}
}

// TestNoAnswer: unknown names, refused ports, silent hosts.
func TestNoAnswer(t *testing.T) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	silent := l.Addr().String() // accepts and never answers
	defer l.Close()
	closed := "127.0.0.1:9"
	w := newWorld(t, http.NotFound, nil)
	got, report := w.visit(t, "http://nosuch.test/", "http://nosuch.test/b")
	if got[0].Outcome != vocab.NoName || got[1].Outcome != vocab.NoName || got[0].Reason != "nosuch.test: no such name" || report.HoldFor != 0 {
		t.Errorf("%+v %+v", got, report)
	}
	got, report = w.visit(t, "http://"+closed+"/a", "http://"+closed+"/b", "https://"+closed+"/c", "https://"+closed+"/d", "http://www.test/")
	if fmt.Sprint(outcomes(got)) != "[failed skipped failed skipped gone]" || !strings.Contains(got[0].Reason, "connect to 127.0.0.1 at 127.0.0.1: connection refused") ||
		!strings.Contains(got[2].Reason, "https:") || report.HoldFor != 0 {
		t.Errorf("%+v %+v", got, report)
	}
	hasty := newWorld(t, http.NotFound, func(o *Options) { o.HeaderTimeout = 50 * time.Millisecond })
	got, report = hasty.visit(t, "http://"+silent+"/a", "http://"+silent+"/b")
	if fmt.Sprint(outcomes(got)) != "[failed skipped]" || !strings.Contains(got[0].Reason, "no answer within 50 milliseconds") || report.HoldFor != 0 {
		t.Errorf("%+v %+v", got, report)
	}
	if got, _ := w.visit(t, "ftp://x/", "http://[::1/"); got[0].Outcome != vocab.Refused || got[1].Outcome != vocab.Refused {
		t.Errorf("%+v", got)
	}
}

func outcomes(got []vocab.Fetch) (list []string) {
	for _, f := range got {
		list = append(list, f.Outcome.String())
	}
	return list
}

// TestHostGoesSilent: two requests in a row without answer end the lease.
func TestHostGoesSilent(t *testing.T) {
	w := newWorld(t, func(rw http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			return
		}
		panic(http.ErrAbortHandler)
	}, nil)
	got, report := w.visit(t, "http://www.test/a", "http://www.test/b", "http://www.test/c")
	if fmt.Sprint(outcomes(got)) != "[failed failed skipped]" || report.HoldFor != 0 || !strings.Contains(got[2].Reason, "does not answer") {
		t.Errorf("%+v %+v", got, report)
	}
}

// TestPrivate: loopback is not visited unless allowed, by name, address, or redirect of robots.txt.
func TestPrivate(t *testing.T) {
	w := newWorld(t, func(rw http.ResponseWriter, r *http.Request) { page(rw, "secret") }, func(o *Options) { o.AllowPrivate = false })
	for _, host := range []string{"www.test", "127.0.0.1", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0", "localhost", "2130706433", "0x7f.1"} {
		got, report := w.visit(t, "http://"+host+"/", "http://"+host+"/b")
		if fmt.Sprint(outcomes(got)) != "[refused refused]" || !strings.Contains(got[0].Reason, "--allow-private") || report.HoldFor != 0 {
			t.Errorf("%s: %+v %+v", host, got, report)
		}
	}
	if len(w.requests) != 0 {
		t.Errorf("requests: %v", w.requests)
	}
	got, _ := w.visit(t, "http://www.test/")
	if want := "www.test has the address 127.0.0.1 (loopback), which is only visited with --allow-private"; got[0].Reason != want {
		t.Error(got[0].Reason)
	}
}

// TestLocalAddr: pages and robots.txt are requested from the address that was chosen.
func TestLocalAddr(t *testing.T) {
	from := netip.MustParseAddr("127.0.2.7")
	if l, err := net.Listen("tcp", netip.AddrPortFrom(from, 0).String()); err != nil {
		t.Skip("this system has one loopback address:", err)
	} else {
		l.Close()
	}
	for _, c := range []struct {
		chosen netip.Addr
		want   string
	}{{from, "127.0.2.7"}, {netip.Addr{}, "127.0.0.1"}} {
		var mu sync.Mutex
		clients := map[string]int{}
		w := newWorld(t, func(rw http.ResponseWriter, r *http.Request) {
			client, _, _ := net.SplitHostPort(r.RemoteAddr)
			mu.Lock()
			defer mu.Unlock()
			clients[client]++
			page(rw, "a page")
		}, func(o *Options) { o.LocalAddr = c.chosen })
		got, _ := w.visit(t, "http://www.test/")
		if fmt.Sprint(outcomes(got)) != "[fetched]" || len(clients) != 1 || clients[c.want] != 2 {
			t.Errorf("from %v: %v, requests by client: %v", c.chosen, outcomes(got), clients)
		}
	}
}

func TestSpecialAddresses(t *testing.T) {
	for _, addr := range strings.Fields(`0.1.2.3 10.1.1.1 100.64.0.1 100.127.255.255 127.8.8.8 169.254.169.254 172.16.0.1 172.31.9.9 192.0.0.8 192.168.1.1
		198.19.0.1 224.0.0.1 239.1.1.1 240.0.0.1 255.255.255.255 :: ::1 ::7f00:1 ::ffff:10.0.0.1 ::ffff:169.254.169.254 64:ff9b::a00:1 64:ff9b:1::1 2002:7f00:1::1
		2001:0:1::1 fc00::1 fd12::1 fe80::1 fe80::1%eth0 fec0::1 ff02::1 100::1 2001:db8::1`) {
		if special(netip.MustParseAddr(addr)) == "" {
			t.Errorf("%s passes", addr)
		}
	}
	for _, addr := range strings.Fields("1.1.1.1 100.128.0.1 172.32.0.1 192.0.1.1 198.20.0.1 223.255.255.255 2606:4700::1 64:ff9b::101:101 2002:101:101::1 ::ffff:8.8.8.8 2a00::1") {
		if kind := special(netip.MustParseAddr(addr)); kind != "" {
			t.Errorf("%s is %s", addr, kind)
		}
	}
}

// TestRobotsTrouble: RFC 9309 §2.3.1, status by status.
func TestRobotsTrouble(t *testing.T) {
	var requests atomic.Int64
	w := newWorld(t, func(rw http.ResponseWriter, r *http.Request) {
		host, path := r.Host, r.URL.Path
		if path != "/robots.txt" && !strings.HasPrefix(path, "/hop") {
			requests.Add(1)
			page(rw, "page")
			return
		}
		switch host {
		case "gone.test":
			rw.WriteHeader(http.StatusForbidden)
		case "busy.test":
			rw.Header().Set("Retry-After", "120")
			rw.WriteHeader(http.StatusTooManyRequests)
		case "down.test":
			rw.WriteHeader(http.StatusServiceUnavailable)
		case "moved.test":
			http.Redirect(rw, r, "http://elsewhere.test/hop", http.StatusFound)
		case "elsewhere.test":
			_, _ = io.WriteString(rw, "User-agent: *\nDisallow: /x")
		case "loop.test":
			http.Redirect(rw, r, "/hop"+path, http.StatusFound)
		case "lost.test":
			http.Redirect(rw, r, "http://nosuch.test/robots.txt", http.StatusFound)
		case "huge.test":
			_, _ = io.WriteString(rw, "User-agent: *\nDisallow: /x\n")
			for line := []byte(strings.Repeat("# endless\n", 1000)); ; {
				if _, err := rw.Write(line); err != nil {
					return
				}
			}
		case "hundred.test":
			rw.Header().Set("Content-Length", "104857600")
			_, _ = io.WriteString(rw, "User-agent: *\nDisallow: /x\n"+strings.Repeat("#", 600<<10))
			panic(http.ErrAbortHandler)
		}
	}, nil)
	cases := []struct {
		host string
		want string
		hold time.Duration
	}{
		{"gone.test", "[fetched fetched]", 0},
		{"busy.test", "[failed skipped]", 2 * time.Minute},
		{"down.test", "[failed skipped]", 30 * time.Second},
		{"moved.test", "[forbidden fetched]", 0},
		{"loop.test", "[fetched fetched]", 0},
		{"lost.test", "[failed skipped]", 0},
		{"huge.test", "[forbidden fetched]", 0},
		{"hundred.test", "[forbidden fetched]", 0},
	}
	for _, c := range cases {
		before := requests.Load()
		got, report := w.visit(t, "http://"+c.host+"/x", "http://"+c.host+"/y")
		if fmt.Sprint(outcomes(got)) != c.want || report.HoldFor != c.hold || (report.Reason != "") != (c.hold > 0) {
			t.Errorf("%s: %+v\n%+v", c.host, got, report)
		}
		if want := int64(strings.Count(c.want, "fetched")); requests.Load()-before != want {
			t.Errorf("%s: %d pages were asked for", c.host, requests.Load()-before)
		}
	}
}

// TestRobotsOnce: visits of one origin at the same time share one request for robots.txt. If it fails,
// each sends its own.
func TestRobotsOnce(t *testing.T) {
	const visits = 8
	for _, c := range []struct{ status, requests int }{{http.StatusOK, 1}, {http.StatusServiceUnavailable, visits}} {
		started, goOn := make(chan struct{}, visits), make(chan struct{})
		w := newWorld(t, func(rw http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/robots.txt" {
				started <- struct{}{}
				<-goOn
				rw.WriteHeader(c.status)
				return
			}
			page(rw, "x")
		}, nil)
		var all sync.WaitGroup
		visit := func(n int) {
			all.Go(func() {
				w.Visit(t.Context(), vocab.Lease{URLs: []vocab.Target{{URL: fmt.Sprintf("http://www.test/%d", n)}}}, func(vocab.Fetch) {})
			})
		}
		visit(0)
		<-started
		for n := range visits - 1 {
			visit(n + 1)
		}
		other := func(v VisitStatus) bool { return v.Doing != "robots.txt" }
		for all := []VisitStatus(nil); len(all) < visits || slices.ContainsFunc(all, other); all = w.Visits() {
			time.Sleep(time.Millisecond)
		}
		close(goOn)
		all.Wait()
		requests := 0
		for _, r := range w.requests {
			if strings.HasSuffix(r, "/robots.txt") {
				requests++
			}
		}
		if requests != c.requests || c.status == http.StatusOK && len(w.requests) != 1+visits {
			t.Errorf("status %d: %d requests of robots.txt among %v", c.status, requests, w.requests)
		}
	}
}

// TestSlowDown: 429 and 503 end the lease and hold the site.
func TestSlowDown(t *testing.T) {
	var header string
	w := newWorld(t, func(rw http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			return
		}
		if header != "" {
			rw.Header().Set("Retry-After", header)
		}
		rw.WriteHeader(http.StatusTooManyRequests)
	}, nil)
	for _, c := range []struct {
		header      string
		after, hold time.Duration
	}{
		{"", 0, 30 * time.Second},
		{"90", 90 * time.Second, 90 * time.Second},
		{"0", time.Second, time.Second},
		{"junk", 0, 30 * time.Second},
		{"99999999", 24 * time.Hour, 24 * time.Hour},
		{w.now.Add(5 * time.Minute).Format(http.TimeFormat), 5 * time.Minute, 5 * time.Minute},
		{w.now.Add(-5 * time.Minute).Format(http.TimeFormat), time.Second, time.Second},
	} {
		header = c.header
		got, report := w.visit(t, "http://www.test/a", "http://www.test/b")
		if fmt.Sprint(outcomes(got)) != "[failed skipped]" || got[0].RetryAfter != c.after || report.HoldFor != c.hold || report.Reason != "429 Too Many Requests" {
			t.Errorf("%q: %+v %+v", c.header, got, report)
		}
	}
}

// TestCodings: content codings are undone, also two at once and wrong ones.
func TestCodings(t *testing.T) {
	text := strings.Repeat("<p>The anatomy of a large-scale hypertextual web search engine.</p>\n", 2000)
	packed := map[string][]byte{"/plain": []byte(text), "/liar": []byte(text)}
	pack := func(name string, open func(io.Writer) io.WriteCloser, in []byte) {
		var b bytes.Buffer
		w := open(&b)
		_, _ = w.Write(in)
		_ = w.Close()
		packed[name] = b.Bytes()
	}
	gz := func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) }
	br := func(w io.Writer) io.WriteCloser { return brotli.NewWriter(w) }
	pack("/gzip", gz, []byte(text))
	pack("/zlib", func(w io.Writer) io.WriteCloser { return zlib.NewWriter(w) }, []byte(text))
	pack("/deflate", func(w io.Writer) io.WriteCloser { f, _ := flate.NewWriter(w, 5); return f }, []byte(text))
	pack("/br", br, []byte(text))
	pack("/zstd", func(w io.Writer) io.WriteCloser { z, _ := zstd.NewWriter(w); return z }, []byte(text))
	pack("/twice", br, packed["/gzip"])
	packed["/junk"] = append(slices.Clone(packed["/gzip"]), "junk after the end"...)
	packed["/cut"] = packed["/gzip"][:len(packed["/gzip"])/2]
	pack("/bomb", gz, make([]byte, 9<<20))
	pack("/bombbr", br, make([]byte, 9<<20))
	pack("/bombzstd", func(w io.Writer) io.WriteCloser { z, _ := zstd.NewWriter(w); return z }, bytes.Repeat([]byte("a"), 9<<20))
	coding := map[string]string{"/gzip": "gzip", "/zlib": "deflate", "/deflate": "DEFLATE", "/br": "br", "/zstd": "zstd", "/twice": "gzip, br", "/junk": "x-gzip",
		"/cut": "gzip", "/bomb": "gzip", "/bombbr": "br", "/bombzstd": "zstd", "/liar": "gzip", "/plain": "identity"}
	w := newWorld(t, func(rw http.ResponseWriter, r *http.Request) {
		if c := coding[r.URL.Path]; c != "" {
			rw.Header().Set("Content-Encoding", c)
			rw.Header().Set("Content-Type", "text/plain")
			_, _ = rw.Write(packed[r.URL.Path])
			return
		}
		if r.URL.Path == "/odd" {
			rw.Header().Set("Content-Encoding", "compress")
			page(rw, "x")
			return
		}
		http.NotFound(rw, r)
	}, nil)
	n := 0
	for path := range coding {
		want := vocab.Fetched
		switch {
		case strings.HasPrefix(path, "/bomb"):
			want = vocab.TooLarge
		case path == "/cut":
			want = vocab.Failed
		}
		for range 2 { // decoders are used again
			n++
			f := one(w.visit(t, "http://www.test"+path))
			if path == "/bomb" && f.Outcome == vocab.Unsupported {
				f.Outcome = vocab.TooLarge // zero bytes are no text either
			}
			if path == "/bombbr" && f.Outcome == vocab.Unsupported {
				f.Outcome = vocab.TooLarge
			}
			if f.Outcome != want || want == vocab.Fetched && string(f.Page.Body) != text {
				t.Errorf("%s: %s %s", path, f.Outcome, f.Reason)
			}
		}
	}
	if n < 20 {
		t.Fatalf("%d cases", n)
	}
	if f := one(w.visit(t, "http://www.test/odd")); f.Outcome != vocab.Unsupported {
		t.Errorf("%+v", f)
	}
}

func one(got []vocab.Fetch, _ vocab.HostReport) vocab.Fetch { return got[0] }

// TestBodies: pages over their bound, bodies without end, slow ones, and types that we do not index.
func TestBodies(t *testing.T) {
	w := newWorld(t, func(rw http.ResponseWriter, r *http.Request) {
		typ, path := r.URL.Query().Get("type"), r.URL.Path
		if typ != "" {
			rw.Header().Set("Content-Type", typ)
		} else {
			rw.Header()["Content-Type"] = nil // not even a sniffed one
		}
		switch path {
		case "/robots.txt":
			rw.WriteHeader(http.StatusNotFound)
		case "/200MB":
			rw.Header().Set("Content-Length", "209715200")
			_, _ = rw.Write(bytes.Repeat([]byte("x"), 1000))
		case "/endless":
			for line := []byte(strings.Repeat("text\n", 1000)); ; {
				if _, err := rw.Write(line); err != nil {
					return
				}
			}
		case "/slow":
			trickle(rw, r)
		case "/header":
			rw.Header().Set("X-Large", strings.Repeat("x", 20<<10))
		case "/cut":
			rw.Header().Set("Content-Length", "1000")
			_, _ = io.WriteString(rw, "only so much")
		case "/png":
			_, _ = io.WriteString(rw, "\x89PNG\x0D\x0A\x1A\x0A\x00\x00\x00\rIHDR")
		case "/pdf":
			_, _ = io.WriteString(rw, "%PDF-1.7\n1 0 obj")
		case "/zip", "/zip.docx", "/zip.exe":
			_, _ = io.WriteString(rw, "PK\x03\x04\x14\x00")
		case "/bmw", "/bmw.csv", "/bmw.tsv", "/bmw.dat":
			_, _ = io.WriteString(rw, "BMW and other cars")
		case "/utf16":
			_, _ = io.WriteString(rw, "<\x00p\x00>\x00x\x00")
		case "/html":
			_, _ = io.WriteString(rw, " <!doctype html><p>x")
		case "/empty":
		}
	}, func(o *Options) {
		o.MaxBody, o.MaxHeader, o.Grace, o.MinRate, o.Timeout = 1<<20, 10<<10, 60*time.Millisecond, 1000, 20*time.Second
	})
	const html = "?type=text/html"
	cases := []struct {
		path, want, reason string
	}{
		{"/200MB" + html, "failed", "unexpected EOF"},
		{"/endless" + html, "fetched", "larger than 1048576 bytes"},
		{"/slow" + html, "failed", "slower than 1000 bytes a second"},
		{"/header" + html, "too large", "header larger than 10240 bytes"},
		{"/cut" + html, "failed", "unexpected EOF"},
		{"/png" + html, "unsupported", `sent as "text/html", is image/png`},
		{"/pdf" + html, "unsupported", "application/pdf"},
		{"/zip?type=application/vnd.oasis.opendocument.text", "fetched", ""},
		{"/zip.docx?type=application/octet-stream", "fetched", ""},
		{"/zip.docx?type=application/msword", "fetched", ""},
		{"/zip.docx", "fetched", ""},
		{"/zip.exe?type=application/octet-stream", "unsupported", `media type "application/octet-stream"`},
		{"/bmw?type=text/csv", "fetched", ""},
		{"/bmw.csv?type=application/octet-stream", "fetched", ""},
		{"/bmw.tsv?type=application/vnd.ms-excel", "fetched", ""},
		{"/bmw.dat?type=application/octet-stream", "unsupported", `media type "application/octet-stream"`},
		{"/zip?type=text/csv", "unsupported", `sent as "text/csv", is application/zip`},
		{"/zip.docx" + html, "unsupported", `sent as "text/html", is application/zip`},
		{"/zip", "unsupported", "no media type, looks like application/zip"},
		{"/html?type=application/epub%2Bzip", "unsupported", `sent as "application/epub+zip", is text/html`},
		{"/bmw?type=text/plain", "fetched", ""},
		{"/utf16?type=text/html%3Bcharset=UTF-16LE", "fetched", ""},
		{"/html?type=application/xhtml%2bxml", "fetched", ""},
		{"/html?type=TEXT/HTML", "fetched", ""},
		{"/html", "fetched", ""},
		{"/png", "unsupported", "no media type, looks like image/png"},
		{"/endless?type=video/mp4", "unsupported", `media type "video/mp4"`},
		{"/empty" + html, "fetched", ""},
	}
	for _, c := range cases {
		got, report := w.visit(t, "http://www.test"+c.path)
		if f := got[0]; f.Outcome.String() != c.want || !strings.HasSuffix(f.Reason, c.reason) && !strings.Contains(f.Reason, c.reason) {
			t.Errorf("%s: %s %q", c.path, f.Outcome, f.Reason)
		}
		if c.path == "/html" && got[0].Page.ContentType != "text/html" {
			t.Errorf("media type %q", got[0].Page.ContentType)
		}
		if report.HoldFor != 0 {
			t.Errorf("%s: %+v", c.path, report)
		}
	}
}

// TestBodiesAreKept: a body stays as it was when its buffer is used again.
func TestBodiesAreKept(t *testing.T) {
	w := newWorld(t, func(rw http.ResponseWriter, r *http.Request) {
		page(rw, strings.Repeat(r.URL.Path, 3000))
	}, nil)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			var urls []string
			for j := range 10 {
				urls = append(urls, fmt.Sprintf("http://h%d.test/%d-%d", i, i, j))
			}
			got, _ := w.visit(t, urls...)
			for j, f := range got {
				if f.Page == nil || string(f.Page.Body) != strings.Repeat(fmt.Sprintf("/%d-%d", i, j), 3000) {
					t.Errorf("%s is not what it was: %s", f.URL, f.Reason)
				}
			}
		})
	}
	wg.Wait()
}

func TestSitemaps(t *testing.T) {
	w := newWorld(t, func(rw http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/map.xml":
			_, _ = io.WriteString(rw, "<urlset><url><loc>http://WWW.test/a#x</loc></url><url><loc>/b</loc></url><url><loc>mailto:x</loc></url></urlset>")
		case "/index.xml":
			_, _ = io.WriteString(rw, "<sitemapindex><sitemap><loc>http://www.test/map.xml</loc></sitemap></sitemapindex>")
		case "/map.txt.gz":
			z := gzip.NewWriter(rw)
			_, _ = io.WriteString(z, "http://www.test/c\n")
			_ = z.Close()
		case "/broken.xml":
			_, _ = io.WriteString(rw, "<a <<<")
		case "/cut.xml":
			rw.Header().Set("Content-Length", "1000")
			_, _ = io.WriteString(rw, "<urlset><url><loc>http://www.test/a</loc></url>")
		default:
			http.NotFound(rw, r)
		}
	}, nil)
	var lease vocab.Lease
	for _, path := range []string{"/map.xml", "/index.xml", "/map.txt.gz", "/broken.xml", "/cut.xml", "/missing.xml"} {
		lease.URLs = append(lease.URLs, vocab.Target{URL: "http://www.test" + path, Kind: vocab.SitemapTarget})
	}
	got, _ := w.work(t, context.Background(), lease)
	if fmt.Sprint(outcomes(got)) != "[fetched fetched fetched unsupported failed gone]" ||
		fmt.Sprint(listed(got[0]), got[1].Sitemaps, listed(got[2])) != "[http://www.test/a http://www.test/b] [http://www.test/map.xml] [http://www.test/c]" {
		t.Errorf("%+v", got)
	}
}

// TestInterrupted: of an interrupted lease, the request in progress may end if it does not take long, and
// the targets after it are skipped.
func TestInterrupted(t *testing.T) {
	for _, answers := range []bool{true, false} {
		ctx, cancel := context.WithCancel(context.Background())
		w := newWorld(t, func(rw http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/2" {
				cancel()
				wait := r.Context().Done()
				if answers {
					wait = ctx.Done()
				}
				<-wait
			}
			page(rw, "x")
		}, func(o *Options) {
			if !answers {
				o.StopWait = 20 * time.Millisecond
			}
		})
		lease := vocab.Lease{Delay: time.Second}
		for i := range 5 {
			lease.URLs = append(lease.URLs, vocab.Target{URL: fmt.Sprintf("http://www.test/%d", i)})
		}
		got, report := w.work(t, ctx, lease)
		want := "[fetched fetched skipped skipped skipped]"
		if answers {
			want = "[fetched fetched fetched skipped skipped]"
		}
		if fmt.Sprint(outcomes(got)) != want || report.HoldFor != 0 {
			t.Errorf("answers %v: %+v %+v", answers, got, report)
		}
		if n := len(w.requests); fmt.Sprint(w.sleeps) != "[1s 1s 1s]" || n != 4 {
			t.Errorf("answers %v: waits %v, %d requests with robots.txt", answers, w.sleeps, n)
		}
	}
}

// TestEveryTargetOnce draws leases over hosts with every kind of failure: each target is handled exactly
// once and in order (work checks), nothing forbidden is requested, and nothing after a 429 or 503.
func TestEveryTargetOnce(t *testing.T) {
	w := newWorld(t, func(rw http.ResponseWriter, r *http.Request) {
		switch code, _ := strconv.Atoi(r.URL.Path[1:]); {
		case r.URL.Path == "/robots.txt":
			_, _ = io.WriteString(rw, "User-agent: *\nDisallow: /private")
		case r.URL.Path == "/abort":
			panic(http.ErrAbortHandler)
		case code == 301:
			http.Redirect(rw, r, "/200", code)
		case code > 0:
			rw.WriteHeader(code)
		default:
			page(rw, "x")
		}
	}, nil)
	rapid.Check(t, func(rt *rapid.T) {
		host := rapid.SampledFrom([]string{"http://a.test", "http://b.test", "http://nosuch.test", "https://a.test", "http://127.0.0.1:9", "bad://x"})
		path := rapid.SampledFrom([]string{"/", "/200", "/301", "/404", "/500", "/503", "/429", "/abort", "/private"})
		lease := vocab.Lease{ID: 1, Host: "a.test"}
		for i := range rapid.IntRange(0, 8).Draw(rt, "targets") {
			lease.URLs = append(lease.URLs, vocab.Target{Doc: vocab.DocID(i), URL: host.Draw(rt, "host") + path.Draw(rt, "path")})
		}
		w.mu.Lock()
		w.requests = nil
		w.mu.Unlock()
		got, report := w.work(t, context.Background(), lease)
		paused := false
		for _, f := range got {
			if paused && f.Outcome != vocab.Skipped {
				rt.Fatalf("%s after the pause: %v", f.URL, outcomes(got))
			}
			paused = paused || f.Status == 503 || f.Status == 429
			if u, err := weburl.Parse(f.URL); err == nil && u.Path() == "/private" && f.Status != 0 {
				rt.Fatalf("forbidden and asked for: %+v", f)
			}
		}
		if paused && report.HoldFor == 0 {
			rt.Fatalf("no hold: %+v", report)
		}
		if slices.ContainsFunc(w.requests, func(r string) bool { return strings.HasSuffix(r, "/private") }) {
			rt.Fatalf("%v", w.requests)
		}
	})
}

// BenchmarkFetch fetches small pages of one host over a kept connection, 20 to a lease. The server
// runs in the same process and its cost is in the figure.
func BenchmarkFetch(b *testing.B) {
	text := []byte(strings.Repeat("<p>The anatomy of a large-scale hypertextual web search engine.</p>\n", 100))
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("Content-Type", "text/html")
		_, _ = rw.Write(text)
	}))
	defer server.Close()
	cpu := func(b *testing.B, before time.Duration) {
		b.ReportMetric(float64((processCPU(b)-before).Microseconds())/float64(b.N)/20, "CPU-µs/page")
		b.ReportMetric(0, "ns/op") // wall time of 20 pages says nothing beside it
	}
	b.Run("visit", func(b *testing.B) {
		c, err := New(Options{AllowPrivate: true, HTTPPort: portOf(b, server.URL)})
		if err != nil {
			b.Fatal(err)
		}
		defer c.Close()
		lease := vocab.Lease{Host: "localhost"}
		for i := range 20 {
			lease.URLs = append(lease.URLs, vocab.Target{URL: fmt.Sprintf("http://localhost/page%d.html", i)})
		}
		b.ReportAllocs()
		before := processCPU(b)
		for b.Loop() {
			c.Visit(context.Background(), lease, func(f vocab.Fetch) {
				if f.Outcome != vocab.Fetched || len(f.Page.Body) != len(text) {
					b.Fatal(f)
				}
			})
		}
		cpu(b, before)
	})
	b.Run("http.Client", func(b *testing.B) {
		b.ReportAllocs()
		before := processCPU(b)
		for b.Loop() {
			for i := range 20 {
				resp, err := http.Get(fmt.Sprintf("%s/page%d.html", server.URL, i))
				if err != nil {
					b.Fatal(err)
				}
				if body, err := io.ReadAll(resp.Body); err != nil || len(body) != len(text) {
					b.Fatal(err)
				}
				resp.Body.Close()
			}
		}
		cpu(b, before)
	})
}

// processCPU is the processor time that the process has used.
func processCPU(tb testing.TB) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		tb.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func listed(f vocab.Fetch) (urls []string) {
	for _, l := range f.SitemapEntries {
		urls = append(urls, l.URL)
	}
	return urls
}

// TestFixedDelay: a lease with a fixed delay ignores Crawl-delay, and reports it.
func TestFixedDelay(t *testing.T) {
	w := newWorld(t, func(rw http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			_, _ = io.WriteString(rw, "User-agent: *\nCrawl-delay: 20\n")
			return
		}
		page(rw, "x")
	}, nil)
	lease := vocab.Lease{Delay: time.Second, FixedDelay: true, URLs: []vocab.Target{{URL: "http://www.test/1"}, {URL: "http://www.test/2"}}}
	if _, report := w.work(t, context.Background(), lease); report.CrawlDelay != 20*time.Second || fmt.Sprint(w.sleeps) != "[1s 1s]" {
		t.Error(report, w.sleeps)
	}
}

// TestReady: each fetch waits for Options.Ready, and is skipped if that fails.
func TestReady(t *testing.T) {
	pages, handled := 1, 0
	w := newWorld(t, func(rw http.ResponseWriter, r *http.Request) { page(rw, "x") }, func(o *Options) {
		o.Ready = func(context.Context) (func(), error) {
			if pages--; pages < 0 {
				return nil, context.Canceled
			}
			return func() { handled++ }, nil
		}
	})
	lease := vocab.Lease{URLs: []vocab.Target{{URL: "http://www.test/1"}, {URL: "http://www.test/2"}}}
	if got, _ := w.work(t, context.Background(), lease); fmt.Sprint(outcomes(got)) != "[fetched skipped]" || handled != 1 {
		t.Error(outcomes(got), handled)
	}
}

// TestConfirm: a URL that is not confirmed is skipped without a request.
func TestConfirm(t *testing.T) {
	w := newWorld(t, func(rw http.ResponseWriter, r *http.Request) { page(rw, "x") }, func(o *Options) {
		o.Confirm = func(doc vocab.DocID) bool { return doc != 2 }
	})
	lease := vocab.Lease{URLs: []vocab.Target{
		{Doc: 1, URL: "http://www.test/1"}, {Doc: 2, URL: "http://www.test/2"},
		{Doc: 3, URL: "http://www.test/3"},
	}}
	got, _ := w.work(t, context.Background(), lease)
	if fmt.Sprint(outcomes(got)) != "[fetched skipped fetched]" {
		t.Error(outcomes(got))
	}
	for _, r := range w.requests {
		if strings.Contains(fmt.Sprint(r), "/2") {
			t.Errorf("%v", w.requests)
		}
	}
}

// TestAdmit: a host that may not be visited at its addresses gets no request.
func TestAdmit(t *testing.T) {
	admit := false
	var admitted []netip.Addr
	w := newWorld(t, func(rw http.ResponseWriter, r *http.Request) { page(rw, "x") }, func(o *Options) {
		o.Admit = func(lease uint64, addrs []netip.Addr) bool { admitted = addrs; return admit && lease == 7 }
	})
	for _, want := range []string{"[skipped skipped]", "[fetched fetched]"} {
		lease := vocab.Lease{ID: 7, Host: "www.test", URLs: []vocab.Target{{URL: "http://www.test/1"}, {URL: "http://www.test/2"}}}
		if got, _ := w.work(t, context.Background(), lease); fmt.Sprint(outcomes(got)) != want || len(admitted) == 0 || !admit && len(w.requests) > 0 {
			t.Errorf("%v %v %v, want %s", outcomes(got), admitted, w.requests, want)
		}
		admit = true
	}
}
