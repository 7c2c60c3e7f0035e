package crawler

import (
	"context"
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"anatomy/vocab"
)

// A testProxy is a proxy on loopback that leads to one world, whatever host is named.
type testProxy struct {
	mu     sync.Mutex
	asked  []string // "GET http://…", "CONNECT host:port", or the target of SOCKS
	plain  string   // address of the world over http
	secure string   // and over https
}

func (p *testProxy) record(what string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked = append(p.asked, what)
}

func (p *testProxy) target(hostPort string) string {
	_, secure, _ := net.SplitHostPort(p.secure)
	if strings.HasSuffix(hostPort, ":443") || strings.HasSuffix(hostPort, ":"+secure) {
		return p.secure
	}
	return p.plain
}

// ServeHTTP is an HTTP proxy for the user "ant" with the password "hill".
func (p *testProxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Proxy-Authorization") != "Basic "+base64.StdEncoding.EncodeToString([]byte("ant:hill")) {
		w.Header().Set("Proxy-Authenticate", "Basic")
		w.WriteHeader(http.StatusProxyAuthRequired)
		return
	}
	p.record(r.Method + " " + r.RequestURI)
	if r.Method == http.MethodConnect {
		to, err := net.Dial("tcp", p.target(r.Host))
		if err != nil {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		from, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			to.Close()
			return
		}
		io.WriteString(from, "HTTP/1.1 200 OK\r\n\r\n") // the client sends nothing before it
		join(from, to)
		return
	}
	q := r.Clone(r.Context())
	q.RequestURI, q.URL.Host = "", p.plain
	q.Header.Del("Proxy-Authorization")
	resp, err := http.DefaultTransport.RoundTrip(q)
	if err != nil {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	defer resp.Body.Close()
	for name, values := range resp.Header {
		w.Header()[name] = values
	}
	w.WriteHeader(resp.StatusCode)
	io.Copy(w, resp.Body)
}

// join copies between two connections until one ends.
func join(a, b net.Conn) {
	go func() { io.Copy(a, b); a.Close() }()
	go func() { io.Copy(b, a); b.Close() }()
}

// serveSOCKS is a SOCKS5 proxy for the same user, until the listener is closed.
func (p *testProxy) serveSOCKS(l net.Listener) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		go func() {
			if err := p.socks(c); err != nil {
				c.Close()
			}
		}()
	}
}

func (p *testProxy) socks(c net.Conn) error {
	read := func(n int) []byte {
		b := make([]byte, n)
		if _, err := io.ReadFull(c, b); err != nil {
			return make([]byte, n)
		}
		return b
	}
	read(int(read(2)[1])) // methods
	c.Write([]byte{5, 2})
	user := string(read(int(read(2)[1])))
	password := string(read(int(read(1)[0])))
	if user != "ant" || password != "hill" {
		c.Write([]byte{1, 1})
		return io.EOF
	}
	c.Write([]byte{1, 0})
	var host string
	switch read(4)[3] {
	case 1:
		host = net.IP(read(4)).String()
	case 3:
		host = string(read(int(read(1)[0])))
	}
	port := read(2)
	at := fmt.Sprintf("%s:%d", host, int(port[0])<<8|int(port[1]))
	p.record(at)
	to, err := net.Dial("tcp", p.target(at))
	if err != nil {
		return err
	}
	c.Write([]byte{5, 0, 0, 1, 127, 0, 0, 1, 0, 0})
	join(c, to)
	return nil
}

// TestProxy: through each kind of proxy pages come over http and https; socks5 gets addresses and the
// others names; nothing goes past the proxy; a wrong password is a failure, and in no reason.
func TestProxy(t *testing.T) {
	for _, scheme := range []string{"http", "https", "socks5", "socks5h"} {
		for _, password := range []string{"hill", "wrong-secret"} {
			t.Run(scheme+" "+password, func(t *testing.T) {
				p := &testProxy{}
				at, roots := "", x509.NewCertPool()
				switch scheme {
				case "http", "https":
					s := httptest.NewUnstartedServer(p)
					if scheme == "https" {
						s.StartTLS()
						roots.AddCert(s.Certificate())
					} else {
						s.Start()
					}
					t.Cleanup(s.Close)
					at = s.Listener.Addr().String()
				default:
					l, err := net.Listen("tcp", "127.0.0.1:0")
					if err != nil {
						t.Fatal(err)
					}
					t.Cleanup(func() { l.Close() })
					go p.serveSOCKS(l)
					at = l.Addr().String()
				}
				proxy, err := ParseProxy(scheme + "://ant@" + at)
				if err != nil {
					t.Fatal(err)
				}
				file := filepath.Join(t.TempDir(), "password")
				if err := os.WriteFile(file, []byte(password+"\n"), 0o600); err != nil {
					t.Fatal(err)
				}
				if err := proxy.ReadPassword(file); err != nil {
					t.Fatal(err)
				}
				w := newWorld(t, func(to http.ResponseWriter, r *http.Request) {
					if r.URL.Path == "/robots.txt" {
						http.NotFound(to, r)
						return
					}
					to.Header().Set("Content-Type", "text/html")
					fmt.Fprintf(to, "<p>%s %s", r.Host, r.RequestURI)
				}, func(o *Options) { o.Proxy, o.RootCAs = proxy, roots })
				roots.AddCert(w.secure.Certificate())
				p.plain, p.secure = w.plain.Listener.Addr().String(), w.secure.Listener.Addr().String()
				got, _ := w.visit(t, "http://example.com/a%2Fb?c=d", "https://example.com/e")
				if password == "wrong-secret" {
					for _, f := range got {
						if f.Outcome != vocab.Failed && f.Outcome != vocab.Skipped || strings.Contains(f.Reason, "wrong-secret") {
							t.Errorf("%s: %s %s", f.URL, f.Outcome, f.Reason)
						}
					}
					if len(w.requests) > 0 {
						t.Errorf("past the proxy: %q", w.requests)
					}
					return
				}
				for i, want := range []string{"<p>example.com /a%2Fb?c=d", "<p>example.com /e"} {
					if f := got[i]; f.Outcome != vocab.Fetched || string(f.Page.Body) != want {
						t.Errorf("%s: %s %s", f.URL, f.Outcome, f.Reason)
					}
				}
				all := strings.Join(p.asked, "\n")
				if names := strings.Contains(all, "example.com"); names != (scheme != "socks5") || len(p.asked) < 2 {
					t.Errorf("the proxy was asked for %q", p.asked)
				}
				if n := w.Stats().DNS.Queries; (n > 0) != (scheme == "socks5") {
					t.Errorf("%d names were looked up here", n)
				}
				w.Prefetch("another.example.com")
			})
		}
	}
}

// TestProxyPrivate: without --allow-private nothing is sent for a special address: through socks5 for
// none at all, through the others for none that a URL states.
func TestProxyPrivate(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	p := &testProxy{}
	go p.serveSOCKS(l)
	for scheme, hosts := range map[string][]string{
		"socks5":  {"127.0.0.1", "www.test", "10.0.0.1", "[::1]"}, // www.test has a loopback address
		"socks5h": {"127.0.0.1", "localhost", "a.localhost", "10.0.0.1", "[::1]", "[::ffff:10.0.0.1]"},
	} {
		proxy, err := ParseProxy(scheme + "://" + l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		w := newWorld(t, http.NotFound, func(o *Options) { o.AllowPrivate, o.Proxy = false, proxy })
		for _, host := range hosts {
			lease := vocab.Lease{ID: 1, Host: host, Site: host, URLs: []vocab.Target{{Doc: 1, URL: "http://" + host + "/"}}}
			for _, f := range first(w.work(t, context.Background(), lease)) {
				if f.Outcome != vocab.Refused && f.Outcome != vocab.NoName || len(p.asked) > 0 {
					t.Errorf("%s %s: %s, %s; asked %q", scheme, host, f.Outcome, f.Reason, p.asked)
				}
			}
		}
	}
}

// TestProxyDown: the reason of a failure names the proxy that gives no answer, and no password.
func TestProxyDown(t *testing.T) {
	for _, scheme := range []string{"http", "socks5", "socks5h"} {
		proxy, err := ParseProxy(scheme + "://ant@127.0.0.9:1")
		if err != nil {
			t.Fatal(err)
		}
		w := newWorld(t, http.NotFound, func(o *Options) { o.Proxy = proxy })
		got, _ := w.visit(t, "http://www.test/")
		if f := got[0]; f.Outcome != vocab.Failed || !strings.Contains(f.Reason, "proxy 127.0.0.9:1: connection refused") {
			t.Errorf("%s: %s, %s", scheme, f.Outcome, f.Reason)
		}
	}
}

func first(all []vocab.Fetch, _ vocab.HostReport) []vocab.Fetch { return all }

// TestParseProxy: what is no proxy is refused without a word of a password.
func TestParseProxy(t *testing.T) {
	for text, host := range map[string]string{
		"http://proxy.test": "proxy.test:80", "https://proxy.test/": "proxy.test:443", "socks5://[::1]:9": "[::1]:9", "socks5h://u@p": "p:1080",
		"": "", "proxy.test:3128": "", "ftp://proxy.test": "", "http://": "", "http://p/path": "", "http://p?q": "",
		"http://u:secret@p": "", "http://u:secret@p:port": "", "http://u:sec ret@p": "",
	} {
		p, err := ParseProxy(text)
		switch {
		case host == "" && (err == nil || strings.Contains(err.Error(), "sec")):
			t.Errorf("%q: %v, %v", text, p, err)
		case host != "" && (err != nil || p.url.Host != host):
			t.Errorf("%q: %v, %v", text, p, err)
		}
	}
	p, _ := ParseProxy("http://u@p")
	exposed := filepath.Join(t.TempDir(), "exposed")
	if err := os.WriteFile(exposed, []byte("secret"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := p.ReadPassword(exposed); err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("a file that others read: %v", err)
	}
}
