package crawler

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"anatomy/crawler/signin"
	"anatomy/vocab"
)

// guarded is a web of sites that require a sign-in. It records secrets that arrive anywhere else.
type guarded struct {
	mu     sync.Mutex
	logins int
	tokens int
	valid  string // session or token that lets in
	stolen []string
	never  bool // nobody is let in
}

func (g *guarded) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	g.mu.Lock()
	defer g.mu.Unlock()
	_ = r.ParseForm()
	switch r.Host {
	case "wiki.test":
		g.form(rw, r)
	case "api.test":
		switch {
		case r.URL.Path == "/robots.txt":
			http.NotFound(rw, r)
		case r.Header.Get("Authorization") != "Bearer "+g.valid || g.valid == "":
			rw.WriteHeader(http.StatusUnauthorized)
		case r.URL.Path == "/away":
			http.Redirect(rw, r, "http://thief.test/", http.StatusFound)
		default:
			page(rw, "api")
		}
	case "auth.test":
		if id, key, _ := r.BasicAuth(); g.never || r.URL.Path != "/token" || id != "client" || key != "s3cret-key" || r.Form.Get("grant_type") != "client_credentials" || r.Form.Get("scope") != "read all" {
			rw.WriteHeader(http.StatusUnauthorized)
			fmt.Fprint(rw, `{"error":"s3cret echoed"}`)
			return
		}
		g.tokens++
		g.valid = fmt.Sprintf("s3cret-token%d", g.tokens)
		rw.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(rw, `{"access_token":%q,"token_type":"bearer","expires_in":3600}`, g.valid)
	default:
		if text := fmt.Sprint(r.Header, r.Form); strings.Contains(text, "s3cret") || r.Header.Get("Cookie") != "" || r.Header.Get("Authorization") != "" {
			g.stolen = append(g.stolen, r.Host+" "+text)
		}
		page(rw, "open")
	}
}

func (g *guarded) form(rw http.ResponseWriter, r *http.Request) {
	cookie, _ := r.Cookie("session")
	in := cookie != nil && g.valid != "" && cookie.Value == g.valid
	const form = `<form action=/search><input name=q></form><form method=post action="/do-login?x=1"><input type=hidden name=csrf value="t&amp;1"><input name=user><input name=pass type=password><input type=submit name=go></form>`
	switch {
	case r.URL.Path == "/robots.txt":
		http.NotFound(rw, r)
	case r.URL.Path == "/login" && r.Method == http.MethodGet:
		http.SetCookie(rw, &http.Cookie{Name: "pre", Value: "1", Path: "/"})
		page(rw, form)
	case r.URL.Path == "/do-login":
		pre, _ := r.Cookie("pre")
		if g.never || pre == nil || r.Form.Get("csrf") != "t&1" || r.Form.Get("user") != "ada" || r.Form.Get("pass") != "s3cret word" || r.Form.Has("go") || r.Header.Get("Referer") != "http://wiki.test/login" {
			page(rw, "wrong"+form)
			return
		}
		g.logins++
		g.valid = fmt.Sprintf("s3cret-session%d", g.logins)
		http.SetCookie(rw, &http.Cookie{Name: "session", Value: g.valid, Path: "/", Domain: ""})
		http.Redirect(rw, r, "/home", http.StatusSeeOther)
	case !in:
		http.Redirect(rw, r, "/login?next="+r.URL.Path, http.StatusFound)
	case r.URL.Path == "/away":
		http.Redirect(rw, r, "http://thief.test/", http.StatusFound)
	default:
		page(rw, "Sign out")
	}
}

func signedWorld(t *testing.T, g *guarded, lines string) *world {
	t.Helper()
	credentials, err := signin.Parse(strings.NewReader(lines))
	if err != nil {
		t.Fatal(err)
	}
	return newWorld(t, g.ServeHTTP, func(o *Options) { o.Credentials = credentials })
}

const (
	formLine  = "http://wiki.test form /login user=ada&pass=s3cret+word Sign out\n"
	grantLine = "http://api.test oauth2 http://auth.test/token client s3cret-key read all\n"
)

// TestSignIn: a form and a token sign in once for many pages, and again if the session has ended; what
// they return is sent to no other origin.
func TestSignIn(t *testing.T) {
	for _, c := range []struct{ line, host string }{{formLine, "http://wiki.test"}, {grantLine, "http://api.test"}} {
		g := &guarded{}
		w := signedWorld(t, g, c.line)
		visit := func(want string, paths ...string) []vocab.Fetch {
			t.Helper()
			var urls []string
			for _, p := range paths {
				if !strings.HasPrefix(p, "http") {
					p = c.host + p
				}
				urls = append(urls, p)
			}
			got, _ := w.visit(t, urls...)
			if fmt.Sprint(outcomes(got)) != want {
				t.Errorf("%s: %v, want %s: %q", c.host, outcomes(got), want, got[0].Reason)
			}
			return got
		}
		got := visit("[fetched fetched redirected fetched fetched]", "/a", "/b", "/away", "http://thief.test/x", "http://sub."+c.host[len("http://"):]+"/")
		if got[2].Location != "http://thief.test/" || g.logins+g.tokens != 1 {
			t.Errorf("%s: %d sign-ins, %q", c.host, g.logins+g.tokens, got[2].Location)
		}
		g.valid = "" // the server forgot us, sooner than a minute after
		visit("[failed]", "/c")
		w.advance(2 * time.Minute)
		visit("[fetched fetched]", "/c", "/d")
		if g.logins+g.tokens != 2 {
			t.Errorf("%s: %d sign-ins", c.host, g.logins+g.tokens)
		}
		w.advance(2 * time.Hour) // a token expires by then
		visit("[fetched]", "/e")
		if len(g.stolen) > 0 {
			t.Errorf("%s: %v", c.host, g.stolen)
		}
		if shown := fmt.Sprintf("%v %+v %#v %v", w.o, w.o.Credentials, w.client.sessions, got); strings.Contains(shown, "s3cret") {
			t.Error(shown)
		}
	}
}

func (w *world) advance(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = w.now.Add(d)
}

// TestSignInRefused: after three failed sign-ins no further one is tried; the reasons show no secret.
func TestSignInRefused(t *testing.T) {
	for _, c := range []struct{ line, url string }{{formLine, "http://wiki.test/a"}, {grantLine, "http://api.test/a"}} {
		const maxSignIns = 3
		w := signedWorld(t, &guarded{never: true}, c.line)
		for n := range 6 {
			f := one(w.visit(t, c.url))
			want := vocab.Failed
			if n >= maxSignIns-1 {
				want = vocab.Refused
			}
			if f.Outcome != want || !strings.HasPrefix(f.Reason, "sign-in: ") || strings.Contains(f.Reason, "s3cret") {
				t.Errorf("%s, try %d: %s %q", c.url, n, f.Outcome, f.Reason)
			}
			w.advance(2 * time.Minute)
		}
		w.mu.Lock()
		if n := len(w.requests); n > 1+2*maxSignIns+maxSignIns {
			t.Errorf("%s: %d requests: %v", c.url, n, w.requests)
		}
		w.mu.Unlock()
	}
}

// TestSignInLeaves: nothing is sent to a form at another origin, or behind a redirect to one.
func TestSignInLeaves(t *testing.T) {
	stolen := false
	w := newWorld(t, func(rw http.ResponseWriter, r *http.Request) {
		_ = r.ParseForm()
		switch {
		case r.URL.Path == "/robots.txt":
			http.NotFound(rw, r)
		case r.Host == "thief.test":
			stolen = stolen || r.Header.Get("Cookie") != "" || r.Form.Has("user")
			page(rw, "x")
		case r.Host == "moved.test":
			http.Redirect(rw, r, "http://thief.test/login", http.StatusTemporaryRedirect)
		case r.Host == "loop.test":
			http.Redirect(rw, r, r.URL.Path+"x", http.StatusFound)
		case r.Host == "post.test" && r.Method == http.MethodPost:
			http.Redirect(rw, r, "http://thief.test/login", http.StatusTemporaryRedirect)
		case r.Host == "post.test":
			page(rw, `<form><input name=user></form>`)
		default:
			page(rw, `<form action=http://thief.test/login><input name=user></form>`)
		}
	}, func(o *Options) {
		var err error
		o.Credentials, err = signin.Parse(strings.NewReader("http://moved.test form /l user=x\nhttp://loop.test form /l user=x\nhttp://post.test form /l user=x\nhttp://form.test form /l user=x\n"))
		if err != nil {
			t.Fatal(err)
		}
	})
	for host, want := range map[string]string{"moved": "another origin", "loop": "redirects", "post": "another origin", "form": "another origin"} {
		f := one(w.work(t, context.Background(), vocab.Lease{ID: 1, URLs: []vocab.Target{{URL: "http://" + host + ".test/page"}}}))
		if f.Outcome != vocab.Failed || !strings.Contains(f.Reason, want) {
			t.Errorf("%s: %s %q", host, f.Outcome, f.Reason)
		}
	}
	if stolen {
		t.Error("the form was sent to another origin")
	}
}
