package crawler

import (
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"anatomy/vocab"
)

const secrets = `
# a remark
http://a.test            basic   ada:pass word
https://example.com:443  Bearer  s3cret-token
http://c.test:80         header  X-Key: s3cret-key
http://c.test            header	 cookie: s3cret-cookie
`

// TestCredentials: each origin gets its own and no other anything, not by a redirect of a page or of
// robots.txt, not over the other scheme, not at another port or below.
func TestCredentials(t *testing.T) {
	c, err := parseCredentials(strings.NewReader(secrets))
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

func TestCredentialLines(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{"http://a.test", "ORIGIN KIND SECRET"},
		{"http://a.test basic", "ORIGIN KIND SECRET"},
		{"a.test basic u:hidden", "begin with an origin"},
		{"ftp://a.test basic u:hidden", "begin with an origin"},
		{"http://u:hidden@a.test bearer hidden", "begin with an origin"},
		{"http://a.test/dir basic u:hidden", "has a path"},
		{"http://a.test/?hidden basic u:hidden", "has a path"},
		{"http://a.test basic hidden", "USER:PASSWORD"},
		{"http://a.test basic :hidden", "USER:PASSWORD"},
		{"http://a.test bearer hidden hidden", "without spaces"},
		{"http://a.test header hidden", "NAME: VALUE"},
		{"http://a.test header hid den: x", "NAME: VALUE"},
		{"http://a.test header X-Key:", "no value"},
		{"http://a.test header X-Key: hid\x00den", "no value"},
		{"http://a.test header user-agent: hidden", "User-Agent is the crawler's own"},
		{"http://a.test header Host: hidden", "Host is the crawler's own"},
		{"http://a.test form hidden", "form takes"},
		{"http://a.test form http://b.test/ user=hidden", "form takes"},
		{"http://a.test form /login %zz=hidden", "form takes"},
		{"http://a.test oauth2 hidden", "oauth2 takes"},
		{"http://a.test oauth2 ftp://x client hidden", "oauth2 takes"},
		{"http://a.test oauth2 http://u:hidden@x client hidden", "oauth2 takes"},
		{"https://a.test oauth2 http://b.test/token client hidden", "not https"},
		{"http://a.test form /login user=hidden\nhttp://a.test oauth2 http://b.test/ client hidden", "line 2: a second way"},
		{"http://a.test oauth2 http://b.test/ client hidden\nhttp://a.test bearer hidden", "line 2: a second way"},
		{"http://a.test bearer hidden\nhttp://a.test form /login user=hidden", "line 2: a second way"},
		{"http://a.test digest hidden", "none of basic, bearer, header"},
		{"http://a.test bearer hidden\nHTTP://A.test:80/ basic u:hidden", "line 2: a second Authorization"},
	} {
		_, err := parseCredentials(strings.NewReader(c.line))
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "hidden") {
			t.Errorf("%q: %v", c.line, err)
		}
	}
}

func TestCredentialFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "secrets")
	for _, c := range []struct {
		text    string
		mode    os.FileMode
		exposed bool
		want    string
	}{
		{secrets, 0o600, false, ""},
		{secrets, 0o400, false, ""},
		{secrets, 0o640, true, "mode 0640"},
		{secrets, 0o604, true, "mode 0604"},
		{secrets, 0o620, true, "mode 0620"},
		{"junk", 0o600, false, "line 1"},
		{strings.Repeat("#", maxCredentials+1), 0o600, false, "more than"},
	} {
		_ = os.Remove(name)
		if err := errors.Join(os.WriteFile(name, []byte(c.text), 0o600), os.Chmod(name, c.mode)); err != nil {
			t.Fatal(err)
		}
		got, err := ReadCredentials(name)
		if (err != nil) != (c.want != "") || errors.Is(err, ErrExposed) != c.exposed || err != nil && !strings.Contains(err.Error(), c.want) || (got != nil) != (err == nil) {
			t.Errorf("mode %o: %v", c.mode, err)
		}
	}
	if _, err := ReadCredentials(name + ".missing"); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	if _, err := ReadCredentials(t.TempDir()); err == nil {
		t.Error("a folder was read")
	}
}

func FuzzCredentials(f *testing.F) {
	f.Add(secrets)
	f.Add("http://a.test header a: b\nhttp://[::1]:8080 bearer x")
	f.Fuzz(func(t *testing.T, text string) {
		c, err := parseCredentials(strings.NewReader(text))
		if err != nil {
			return
		}
		for origin, h := range c.fields {
			if !strings.HasPrefix(origin, "http") || len(h) == 0 {
				t.Fatalf("%q", origin)
			}
		}
	})
}
