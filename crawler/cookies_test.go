package crawler

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"anatomy/vocab"
)

// TestCookiesOfVisit: a redirect that only wants its cookie back is followed, once for all pages of a
// visit; the next visit begins without it. Any other redirect is reported, and costs at most the
// requests of one try.
func TestCookiesOfVisit(t *testing.T) {
	page := func(w http.ResponseWriter) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<p>page")
	}
	has := func(r *http.Request) bool { c, err := r.Cookie("node"); return err == nil && c.Value == "7" }
	set := func(w http.ResponseWriter) {
		http.SetCookie(w, &http.Cookie{Name: "node", Value: "7", Path: "/", HttpOnly: true})
	}
	cases := map[string]struct {
		serve   http.HandlerFunc
		outcome vocab.Outcome
		more    int // requests, beside robots.txt and one for each page
	}{
		"balancer": {func(w http.ResponseWriter, r *http.Request) {
			if has(r) {
				page(w)
				return
			}
			set(w)
			http.Redirect(w, r, r.URL.Path, http.StatusFound)
		}, vocab.Fetched, 1},
		"balancer with a parameter": {func(w http.ResponseWriter, r *http.Request) {
			switch {
			case r.URL.RawQuery != "":
				http.Redirect(w, r, r.URL.Path, http.StatusFound)
			case has(r):
				page(w)
			default:
				set(w)
				http.Redirect(w, r, r.URL.Path+"?check=1", http.StatusFound)
			}
		}, vocab.Fetched, 2},
		"consent wall": {func(w http.ResponseWriter, r *http.Request) {
			switch {
			case r.URL.Path == "/consent":
				set(w)
				http.Redirect(w, r, r.URL.Query().Get("to"), http.StatusFound)
			case has(r):
				page(w)
			default:
				http.Redirect(w, r, "/consent?to="+strings.ReplaceAll(r.URL.Path, "/", "%2F"), http.StatusFound)
			}
		}, vocab.Fetched, 2},
		"wall that robots.txt forbids": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/forbidden?to="+r.URL.Path, http.StatusFound)
		}, vocab.Redirected, 0},
		"never content": {func(w http.ResponseWriter, r *http.Request) {
			for i := range 500 {
				http.SetCookie(w, &http.Cookie{Name: fmt.Sprint("c", i), Value: strings.Repeat("x", 300), Path: "/"})
			}
			http.Redirect(w, r, r.URL.Path, http.StatusFound)
		}, vocab.Redirected, maxCookieHops},
		"sign-in": {func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/login" {
				page(w)
				return
			}
			http.Redirect(w, r, "/login?next="+r.URL.Path, http.StatusFound)
		}, vocab.Redirected, 1},
		"moved": {func(w http.ResponseWriter, r *http.Request) {
			set(w)
			http.Redirect(w, r, "/new"+r.URL.Path, http.StatusFound)
		}, vocab.Redirected, 0},
		"another host": {func(w http.ResponseWriter, r *http.Request) {
			set(w)
			http.Redirect(w, r, "http://consent.test/?to="+r.URL.Path, http.StatusFound)
		}, vocab.Redirected, 0},
		"no cookie": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, r.URL.Path, http.StatusFound)
		}, vocab.Redirected, 0},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			longest := 0
			w := newWorld(t, func(to http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/robots.txt" {
					fmt.Fprint(to, "User-agent: *\nDisallow: /forbidden\n")
					return
				}
				longest = max(longest, len(r.Header.Get("Cookie")))
				c.serve(to, r)
			}, nil)
			for round := range 2 {
				before := len(w.requests)
				got, _ := w.visit(t, "http://www.test/a", "http://www.test/b", "http://www.test/c")
				for _, f := range got {
					if f.Outcome != c.outcome {
						t.Errorf("%s: %s, %s", f.URL, f.Outcome, f.Reason)
					}
					if f.Page != nil && (f.Page.URL != f.URL || f.Page.Doc != f.Doc) {
						t.Errorf("%s: the page of %s", f.URL, f.Page.URL)
					}
				}
				if want := 3 + c.more + 1 - round; len(w.requests)-before != want {
					t.Errorf("round %d: %d requests, want %d: %q", round, len(w.requests)-before, want, w.requests[before:])
				}
			}
			if longest > maxCookieBytes+2*maxCookies {
				t.Errorf("%d bytes of cookies were sent", longest)
			}
		})
	}
}
