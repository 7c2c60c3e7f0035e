package crawler

import (
	"crypto/x509"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"anatomy/crawler/signin"
	"anatomy/vocab"
)

const secrets = `
# a remark
http://a.test            basic   ada:pass word
https://example.com:443  Bearer  s3cret-token
http://c.test:80         header  X-Key: s3cret-key
http://c.test            header	 cookie: s3cret-cookie
`

// TestCredentials: each origin gets its own credentials and no other gets any: not by a redirect of a
// page or robots.txt, not over the other scheme, not at another port or subdomain.
func TestCredentials(t *testing.T) {
	c, err := signin.Parse(strings.NewReader(secrets))
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	got := map[string]string{}
	handler := func(rw http.ResponseWriter, r *http.Request) {
		scheme := "http"
		if r.TLS != nil {
			scheme = "https"
		}
		mu.Lock()
		got[scheme+"://"+r.Host+r.URL.Path] = strings.Join([]string{r.Header.Get("Authorization"), r.Header.Get("X-Key"), r.Header.Get("Cookie")}, "|")
		mu.Unlock()
		switch {
		case r.Host == "a.test" && r.URL.Path == "/robots.txt":
			http.Redirect(rw, r, "http://thief.test/robots.txt", http.StatusFound)
		case r.URL.Path == "/robots.txt":
			http.NotFound(rw, r)
		case r.Host == "a.test" && r.URL.Path == "/away":
			rw.Header().Set("Set-Cookie", "tracked=1")
			http.Redirect(rw, r, "http://thief.test/page", http.StatusFound)
		case r.Host == "a.test":
			if user, password, _ := r.BasicAuth(); user != "ada" || password != "pass word" {
				rw.WriteHeader(http.StatusUnauthorized)
				return
			}
			page(rw, "inside")
		default:
			page(rw, "x")
		}
	}
	w := newWorld(t, handler, func(o *Options) { o.Credentials = c })
	pool := x509.NewCertPool()
	pool.AddCert(w.secure.Certificate())
	w = newWorld(t, handler, func(o *Options) {
		o.Credentials, o.RootCAs, o.HTTPPort, o.HTTPSPort = c, pool, portOf(t, w.plain.URL), portOf(t, w.secure.URL)
	})
	fetches, _ := w.visit(t, "http://a.test/in", "http://a.test/away", "http://thief.test/page", "https://example.com/", "http://example.com/", "http://c.test/",
		"http://sub.c.test/", fmt.Sprintf("http://c.test:%d/port", w.o.HTTPPort), "http://a.test/again")
	const basic = "Basic YWRhOnBhc3Mgd29yZA=="
	want := map[string]string{
		"http://a.test/robots.txt": basic + "||", "http://a.test/in": basic + "||", "http://a.test/away": basic + "||", "http://a.test/again": basic + "||",
		"https://example.com/": "Bearer s3cret-token||", "https://example.com/robots.txt": "Bearer s3cret-token||",
		"http://c.test/": "|s3cret-key|s3cret-cookie", "http://c.test/robots.txt": "|s3cret-key|s3cret-cookie",
	}
	if fetches[0].Outcome != vocab.Fetched || fetches[1].Location != "http://thief.test/page" || len(got) < 14 {
		t.Errorf("%d requests, %+v", len(got), fetches)
	}
	for _, f := range fetches {
		if f.SignedIn != (want[f.URL] != "") {
			t.Errorf("%s is marked: %v", f.URL, f.SignedIn)
		}
	}
	for url, fields := range got {
		if allowed := want[url]; fields != allowed && (allowed != "" || fields != "||") {
			t.Errorf("%s was asked with %q", url, fields)
		}
	}
	for url := range want {
		if _, ok := got[url]; !ok {
			t.Errorf("%s was not asked", url)
		}
	}
	shown := fmt.Sprintf("%v %+v %#v %s %q %+v %v", c, c, c, c, c, w.o, fetches)
	if strings.Contains(shown, "s3cret") || strings.Contains(shown, "YWRh") || !strings.Contains(shown, "credentials of 3 origins") {
		t.Error(shown)
	}
}
