package web

import (
	"crypto/x509"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"
)

// A routed request is one that a route of the server answers.
type routed struct{ method, path, route string }

// everyRegistered returns a request for each route that is registered, and some for none. A new
// route needs no entry here.
func everyRegistered(t *testing.T, s *Server) (all []routed) {
	t.Helper()
	engine := s.routes
	for _, r := range engine.Routes() {
		all = append(all, routed{r.Method, filled(r), r.Path})
	}
	if len(all) < 80 {
		t.Fatalf("only %d routes", len(all))
	}
	for _, path := range []string{"/none", "/api/v1/none", "/static/none"} {
		for _, method := range []string{"GET", "POST", "OPTIONS", "DELETE"} {
			all = append(all, routed{method, path, ""})
		}
	}
	return all
}

// filled returns the path of a route with its parameters filled in.
func filled(r gin.RouteInfo) string {
	parts := strings.Split(r.Path, "/")
	for i, part := range parts {
		if strings.HasPrefix(part, ":") || strings.HasPrefix(part, "*") {
			parts[i] = "x"
		}
	}
	return strings.Join(parts, "/") + "?q=inverted+index&doc=4711&url=https://www.docs.test/"
}

// allServer has every route.
func allServer(o Options) *Server {
	full := fullServer().o
	o.Collection, o.Bot, o.FetchImage = full.Collection, full.Bot, full.FetchImage
	o.Admin.Crawl, o.Admin.Jobs, o.Admin.Token = busyCrawl(), newFakeJobs(), testToken
	return New(o)
}

// TestEveryRouteChecksItsHost: under a name that is not the server's, as after DNS rebinding, no
// route answers, and the refusal names the flags that help.
func TestEveryRouteChecksItsHost(t *testing.T) {
	s := allServer(Options{})
	for _, r := range everyRegistered(t, s) {
		if r.method == http.MethodConnect {
			continue
		}
		for host, known := range map[string]bool{
			"evil.test": false, "evil.test:8080": false, "localhost.evil.test": false, "192.0.2.1": false,
			"localhost:8080": true, "127.0.0.1": true, "[::1]:9": true, "": true,
		} {
			q := httptest.NewRequest(r.method, r.path, nil)
			q.Host = host
			w := httptest.NewRecorder()
			s.Handler().ServeHTTP(w, q)
			if refused := w.Code == http.StatusMisdirectedRequest; refused == known {
				t.Errorf("%s %s as %q: status %d", r.method, r.path, host, w.Code)
			}
			body := w.Body.String()
			if !known && r.method != http.MethodHead &&
				(!strings.Contains(body, "--allow-host") || strings.Contains(body, "docs.test")) {
				t.Errorf("%s %s as %q: %s", r.method, r.path, host, body)
			}
		}
	}
}

func TestAllowedHosts(t *testing.T) {
	for _, c := range []struct {
		hosts   []string
		public  string
		allowed string
		refused string
	}{
		{
			nil, "", "localhost a.localhost LOCALHOST. 127.0.0.1 127.9.9.9:80 [::1] [::ffff:127.0.0.1]:80",
			"a.test localhost.a.test 10.0.0.1 [2001:db8::1] 127.0.0.1.a.test",
		},
		{nil, "https://find.test:8443/x", "find.test FIND.test:443 find.test.", "a.find.test afind.test"},
		{
			[]string{"a.test", "*.b.test", "10.0.0.1", "bücher.test"}, "",
			"a.test:1 x.b.test y.x.b.test 10.0.0.1:8080 xn--bcher-kva.test",
			"x.a.test b.test 10.0.0.2 xb.test",
		},
		{[]string{""}, "", "10.0.0.2:8080 [2001:db8::1]:1 [fe80::1%25eth0]", "a.test"},
		{[]string{"::"}, "", "10.0.0.2", "a.test"},
		{[]string{"0.0.0.0"}, "", "0.0.0.0:8080 10.0.0.2", "a.test"},
	} {
		s := New(Options{Collection: newFake(), Hosts: c.hosts, PublicURL: c.public})
		for i, hosts := range []string{c.allowed, c.refused} {
			for _, host := range strings.Fields(hosts) {
				if got := s.hosts.Allow(host); got != (i == 0) {
					t.Errorf("%q of %q, %q: %v", host, c.hosts, c.public, got)
				}
			}
		}
	}
	certificate := &x509.Certificate{DNSNames: []string{"a.test", "*.b.test", "*.", "", "a b"}}
	s := New(Options{
		Collection: newFake(), Certificate: func() *x509.Certificate { return certificate },
	})
	for host, want := range map[string]bool{
		"a.test:443": true, "A.test.": true, "x.b.test": true, "b.test": false, "y.x.b.test": false,
		".b.test": false, "xb.test": false, "c.test": false, "10.0.0.1": false, "localhost": true,
	} {
		if got := s.hosts.Allow(host); got != want {
			t.Errorf("%q of the certificate: %v", host, got)
		}
	}
	certificate = &x509.Certificate{DNSNames: []string{"c.test"}}
	for host, want := range map[string]bool{"c.test": true, "a.test": false, "x.b.test": false} {
		if got := s.hosts.Allow(host); got != want {
			t.Errorf("%q of the renewed certificate: %v", host, got)
		}
	}
	for _, bad := range []string{"a b", "http://a.test", "a.test/x", "*.", "a@b.test", "*.*.a.test"} {
		if err := CheckAccess([]string{bad}, nil); err == nil {
			t.Errorf("%q is a host", bad)
		}
	}
	for _, bad := range []string{
		"a.test", "https://", "https://a.test/x", "https://u@a.test", "https://a.test?x", "",
	} {
		if err := CheckAccess(nil, []string{bad}); err == nil {
			t.Errorf("%q is an origin", bad)
		}
	}
}

// TestEveryRouteIsClosedToOtherOrigins: without Origins no answer may be read by another site, and
// what its scripts and elements ask for is refused. With Origins the same holds for all but these.
func TestEveryRouteIsClosedToOtherOrigins(t *testing.T) {
	closed, open := allServer(Options{}), allServer(Options{Origins: []string{"https://app.test"}})
	all := allServer(Options{Origins: []string{"*"}})
	for _, r := range everyRegistered(t, closed) {
		if r.method == http.MethodConnect {
			continue
		}
		for _, c := range []struct {
			name           string
			s              *Server
			site, mode     string // Sec-Fetch-
			origin         string // or Referer, if it ends with a slash
			refused, shown bool
		}{
			{"nobody", closed, "", "", "", false, false},
			{"its own page", closed, "same-origin", "", "http://localhost", false, false},
			{"a link", closed, "cross-site", "navigate", "", false, false},
			{"a script", closed, "cross-site", "cors", "https://evil.test", true, false},
			{"another port", closed, "same-site", "cors", "http://localhost:1", true, false},
			{"an image", closed, "cross-site", "no-cors", "https://evil.test/", true, false},
			{"a script of nowhere", closed, "cross-site", "cors", "null", true, false},
			{"an allowed script", open, "cross-site", "cors", "https://app.test", false, true},
			{"an allowed image", open, "cross-site", "no-cors", "https://app.test/", false, true},
			{"another script", open, "cross-site", "cors", "https://evil.test", true, false},
			{"any script", all, "cross-site", "cors", "https://evil.test", false, true},
		} {
			q := httptest.NewRequest(r.method, "http://localhost"+r.path, nil)
			from := "Origin"
			if strings.HasSuffix(c.origin, "/") {
				from = "Referer"
			}
			for name, value := range map[string]string{
				"Sec-Fetch-Site": c.site, "Sec-Fetch-Mode": c.mode, from: c.origin,
			} {
				if value != "" {
					q.Header.Set(name, value)
				}
			}
			w := httptest.NewRecorder()
			c.s.Handler().ServeHTTP(w, q)
			h := w.Header()
			what := fmt.Sprintf("%s %s by %s: %d %v", r.method, r.path, c.name, w.Code, h)
			namesFlag := strings.Contains(w.Body.String(), "--cors")
			if c.refused && w.Code != http.StatusForbidden ||
				namesFlag != c.refused && r.method != http.MethodHead {
				t.Error(what, w.Body)
			}
			if allowed := h.Get("Access-Control-Allow-Origin"); (allowed != "") != c.shown ||
				h.Get("Access-Control-Allow-Credentials") != "" {
				t.Error(what)
			}
			if (h.Get("Vary") == "") && c.s != closed {
				t.Error(what)
			}
			image := r.route == "/image" && w.Code == http.StatusOK
			if h.Get("Cross-Origin-Resource-Policy") != "same-origin" && !c.shown && !image {
				t.Error(what)
			}
		}
	}
}

// TestPreflight: browsers may send what an allowed origin asks leave for, and nothing else.
func TestPreflight(t *testing.T) {
	open := allServer(Options{Origins: []string{"https://app.test"}})
	for _, r := range everyRegistered(t, open) {
		for origin, allowed := range map[string]bool{
			"https://app.test": true, "https://evil.test": false, "null": false,
		} {
			q := httptest.NewRequest(http.MethodOptions, "http://localhost"+r.path, nil)
			q.Header.Set("Origin", origin)
			q.Header.Set("Access-Control-Request-Method", "POST")
			w := httptest.NewRecorder()
			open.Handler().ServeHTTP(w, q)
			if allowed != (w.Code == http.StatusNoContent) || !allowed && w.Code != http.StatusForbidden ||
				allowed != (w.Header().Get("Access-Control-Allow-Methods") != "") {
				t.Errorf("%s for %s: %d %v", r.path, origin, w.Code, w.Header())
			}
		}
	}
}
