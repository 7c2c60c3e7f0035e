package crawler

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"

	"anatomy/crawler/signin"
	"anatomy/indexer"
	"anatomy/render"
	"anatomy/vocab"
)

// A fakeRenderer loads the URLs that a page lists, one on a line after the first, and returns what
// came of them. It fails if the first line says so.
type fakeRenderer struct{ agent string }

func (*fakeRenderer) Needs(p *vocab.Page) bool { return bytes.HasPrefix(p.Body, []byte("scripts")) }

func (r *fakeRenderer) Render(
	ctx context.Context, p *vocab.Page, agent string, load func(context.Context, string) (*vocab.Resource, error),
) ([]byte, error) {
	r.agent = agent
	lines := strings.Split(string(p.Body), "\n")
	if lines[0] == "scripts that fail" {
		return nil, errors.New("too slow")
	}
	made := ""
	for _, url := range lines[1:] {
		if got, err := load(ctx, url); err != nil {
			made += fmt.Sprintf("<p>%v", err)
		} else {
			made += fmt.Sprintf("<p>%d %s %s", got.Status, got.Header.Get("Content-Type"), got.Body)
		}
	}
	return []byte(made), nil
}

// TestRender: what scripts load is fetched as pages are: from the site alone, as robots.txt allows,
// after the delay, once in a visit; and the page is marked and has no validators.
func TestRender(t *testing.T) {
	r := &fakeRenderer{}
	w := newWorld(t, func(rw http.ResponseWriter, q *http.Request) {
		switch q.URL.Path {
		case "/robots.txt":
			io.WriteString(rw, "User-agent: *\nDisallow: /secret")
		case "/data":
			rw.Header().Set("Content-Type", "application/json")
			io.WriteString(rw, "{}")
		case "/plain", "/fails", "/again", "/busy":
			rw.Header().Set("Etag", `"1"`)
			page(rw, map[string]string{
				"/plain": "text\nhttp://www.test/data", "/fails": "scripts that fail",
				"/again": "scripts\nhttp://www.test/data\nhttp://api.www.test/data#part",
				"/busy":  "scripts\nhttp://www.test/overload\nhttp://www.test/data2",
			}[q.URL.Path])
		case "/overload":
			rw.WriteHeader(http.StatusTooManyRequests)
		case "/":
			page(rw, "scripts\nhttp://www.test/data\nhttp://www.test/secret\nhttp://other.test/data\nhttp://www.test/data\nftp://x")
		default:
			http.NotFound(rw, q)
		}
	}, func(o *Options) { o.Renderer, o.UserAgent = r, "ant" })
	lease := vocab.Lease{ID: 1, Host: "www.test", Site: "www.test", Delay: time.Second}
	for i, path := range []string{"", "plain", "fails", "fails", "again", "busy", "plain"} {
		target := vocab.Target{Doc: vocab.DocID(i + 1), URL: "http://www.test/" + path, Revisit: i == 3}
		lease.URLs = append(lease.URLs, target)
	}
	got, report := w.work(t, t.Context(), lease)
	const data = "<p>200 application/json {}"
	for i, want := range []struct {
		body   string
		reason string
		etag   string
	}{
		{data + "<p>robots.txt forbids it<p>another site" + data + "<p>", "rendered with its scripts (requests: 5)", ""},
		{"text\nhttp://www.test/data", "", `"1"`},
		{"scripts that fail", "not rendered: too slow", ""},
		{"", "not rendered: too slow", ""},
		{data + data, "rendered with its scripts (requests: 2)", ""},
		{"<p>429 ", "rendered with", ""},
	} {
		f := got[i]
		rendered := strings.HasPrefix(f.Reason, "rendered")
		switch {
		case want.body == "":
			if f.Outcome != vocab.Failed || f.Reason != want.reason {
				t.Errorf("%s again: %s, %s", f.URL, f.Outcome, f.Reason)
			}
		case !strings.HasPrefix(string(f.Page.Body), want.body) || !strings.HasPrefix(f.Reason, want.reason),
			f.Page.Rendered() != rendered || f.Validators.ETag != want.etag:
			t.Errorf("%s: %q, %s, %v, %q", f.URL, f.Page.Body, f.Reason, f.Page.Rendered(), f.Validators.ETag)
		}
	}
	if got[6].Outcome != vocab.Skipped || report.HoldFor == 0 {
		t.Errorf("after 429 for a resource: %s, hold for %v", got[6].Outcome, report.HoldFor)
	}
	wanted := []string{
		"www.test/robots.txt", "www.test/", "www.test/data", "www.test/plain", "www.test/fails", "www.test/fails",
		"www.test/again", "api.www.test/robots.txt", "api.www.test/data", "www.test/busy", "www.test/overload",
	}
	if !slices.Equal(w.requests, wanted) || len(w.sleeps) != len(wanted)-1 || r.agent != "ant" {
		t.Errorf("requests %q, %d sleeps", w.requests, len(w.sleeps))
	}
}

// TestRenderSignedIn: every page that shows what a script loaded with credentials is marked, the second as well,
// for which nothing is fetched.
func TestRenderSignedIn(t *testing.T) {
	c, err := signin.Parse(strings.NewReader("http://api.www.test header x-key: secret"))
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, func(rw http.ResponseWriter, q *http.Request) {
		switch q.URL.Path {
		case "/robots.txt":
			http.NotFound(rw, q)
		case "/data":
			io.WriteString(rw, q.Header.Get("X-Key"))
		case "/public":
			page(rw, "text")
		default:
			page(rw, "scripts\nhttp://api.www.test/data")
		}
	}, func(o *Options) { o.Renderer, o.Credentials = &fakeRenderer{}, c })
	got, _ := w.visit(t, "http://www.test/", "http://www.test/again", "http://www.test/public")
	for i, f := range got {
		if f.Outcome != vocab.Fetched || f.SignedIn != strings.Contains(string(f.Page.Body), "secret") || f.SignedIn != (i < 2) {
			t.Errorf("%s: %s, marked: %v, %q", f.URL, f.Outcome, f.SignedIn, f.Page.Body)
		}
	}
}

// browserPages are the pages of www.test in TestBrowserRender.
var browserPages = map[string]string{
	"/shop": `<title>Shop</title><link rel=stylesheet href=/style.css><script src=/shop.js></script>
<noscript>Please enable scripts.</noscript><div id=app></div>`,
	"/endless": `<script>while (true);</script>`,
	"/memory":  `<script>const all = []; setInterval(() => all.push(new Uint8Array(2e7).fill(1)), 10)</script>`,
	"/many":    `<script>for (let i = 0; i < 10000; i++) fetch("/data/" + i).catch(() => 0); fetch("/done").then(r => r.text()).then(t => document.body.append(t))</script>`,
	"/away":    `<script>location = "/shop"</script><img src=/picture>`,
	"/internet": `<script>for (const u of ["http://127.0.0.1:PORT/past", "ws://127.0.0.1:PORT/past"]) try { new WebSocket(u) } catch (e) {}
navigator.sendBeacon("/beacon", "x"); new EventSource("/events"); new Worker("/worker.js"); alert(1); open("/window");
const f = document.createElement("iframe"); f.src = "/frame"; document.body.append(f, "All was tried, and nothing of it came.")</script>`,
}

const shopScript = `const show = (what, url) => fetch(url).then(r => r.text(), () => "no answer")
	.then(text => document.querySelector("#app").insertAdjacentHTML("beforeend", "<p>" + what + ": " + text));
show("goods", "/goods.json"); show("secret", "/secret.json"); show("inside", "http://inside.www.test/x"); show("others", "http://other.test/x");
document.title = navigator.userAgent;`

// TestBrowserRender renders the pages of a made-up site with the Chromium that ANATOMY_CHROMIUM
// names. Its names have public addresses, and one a private one; a SOCKS proxy leads all of them to
// the site's server.
func TestBrowserRender(t *testing.T) {
	path := os.Getenv("ANATOMY_CHROMIUM")
	if path == "" {
		t.Skip("ANATOMY_CHROMIUM names no browser")
	}
	browser, err := render.Open(t.Context(), render.Options{
		Path: path, Needs: indexer.IsScripted, Script: 8 * time.Second,
	})
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	p := &testProxy{}
	go p.serveSOCKS(l)
	proxy, err := ParseProxy("socks5://ant@" + l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(file, []byte("hill"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := proxy.ReadPassword(file); err != nil {
		t.Fatal(err)
	}
	port := ""
	w := newWorld(t, func(rw http.ResponseWriter, q *http.Request) {
		switch path := q.URL.Path; {
		case path == "/robots.txt":
			io.WriteString(rw, "User-agent: *\nDisallow: /secret")
		case browserPages[path] != "":
			page(rw, strings.ReplaceAll(browserPages[path], "PORT", port))
		case path == "/shop.js":
			rw.Header().Set("Content-Type", "text/javascript")
			io.WriteString(rw, shopScript)
		case path == "/goods.json":
			io.WriteString(rw, "cups, plates and bowls of red clay")
		case strings.HasPrefix(path, "/data/"):
			io.WriteString(rw, "x")
		default:
			http.NotFound(rw, q)
		}
	}, func(o *Options) {
		o.Renderer, o.UserAgent, o.AllowPrivate, o.Proxy = browser, "ant", false, proxy
		o.DNS.Servers = []string{publicNames(t)}
	})
	p.plain = w.plain.Listener.Addr().String()
	_, port, _ = net.SplitHostPort(p.plain)
	pages := []string{"/shop", "/endless", "/memory", "/many", "/away", "/internet"}
	lease := vocab.Lease{ID: 1, Host: "www.test", Site: "www.test"}
	for i, path := range pages {
		lease.URLs = append(lease.URLs, vocab.Target{Doc: vocab.DocID(i + 1), URL: "http://www.test" + path})
	}
	got, _ := w.work(t, t.Context(), lease)
	for i, want := range []string{
		"rendered", "not rendered: scripts run for more than 8 seconds", "not rendered: more than 1024 MB of memory",
		"not rendered: more than ", "rendered", "rendered",
	} {
		f := got[i]
		if f.Outcome != vocab.Fetched || !strings.HasPrefix(f.Reason, want) {
			t.Errorf("%s: %s, %s", f.URL, f.Outcome, f.Reason)
		}
	}
	if shop := string(got[0].Page.Body); !strings.Contains(shop, "goods: cups, plates and bowls") ||
		strings.Count(shop, "no answer") != 3 || strings.Contains(shop, "Please enable") || !strings.Contains(shop, "<title>ant</title>") {
		t.Errorf("the shop is %s", shop)
	}
	if all := string(got[5].Page.Body); !strings.Contains(all, "nothing of it came") {
		t.Errorf("the last page is %s", all)
	}
	asked := map[string]int{}
	for _, r := range w.requests {
		if strings.HasPrefix(r, "www.test/data/") {
			r = "data"
		}
		asked[r]++
	}
	if asked["data"] > 64 {
		t.Errorf("%d requests of one page", asked["data"])
	}
	delete(asked, "data")
	wanted := map[string]int{"www.test/robots.txt": 1, "www.test/shop.js": 1, "www.test/goods.json": 1}
	for _, path := range pages {
		wanted["www.test"+path] = 1
	}
	if fmt.Sprint(asked) != fmt.Sprint(wanted) {
		t.Errorf("requests %v, want %v", asked, wanted)
	}
	if slices.ContainsFunc(p.asked, func(at string) bool { return strings.HasPrefix(at, "10.") }) {
		t.Errorf("the proxy was asked for %q", p.asked)
	}
	if left, _ := filepath.Glob(filepath.Join(os.TempDir(), "anatomy-render-*")); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

// publicNames is a name server with a private address for inside.www.test alone.
func publicNames(t *testing.T) string {
	conn, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &dns.Server{PacketConn: conn, Handler: dns.HandlerFunc(func(w dns.ResponseWriter, r *dns.Msg) {
		m, address := new(dns.Msg).SetReply(r), net.IPv4(93, 184, 216, 34)
		if strings.HasPrefix(strings.ToLower(r.Question[0].Name), "inside.") {
			address = net.IPv4(10, 0, 0, 1)
		}
		if r.Question[0].Qtype == dns.TypeA {
			h := dns.RR_Header{Name: r.Question[0].Name, Rrtype: dns.TypeA, Class: dns.ClassINET, Ttl: 60}
			m.Answer = []dns.RR{&dns.A{Hdr: h, A: address}}
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
