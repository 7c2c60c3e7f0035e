package crawler

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"anatomy/vocab"
)

// TestMissing: pages that say that nothing is there are not found where a made-up URL shows the same.
// True pages stay, whatever their titles, and each host is asked once at most.
func TestMissing(t *testing.T) {
	frame := "<title>%s</title><p>Home, products, imprint, contact, privacy, terms. %s"
	const question, answer = "Module not found: what to do", "Install it, or set the path on which modules are searched."
	w := newWorld(t, func(to http.ResponseWriter, r *http.Request) {
		isTrue := strings.HasPrefix(r.URL.Path, "/true")
		to.Header().Set("Content-Type", "text/html")
		switch host := r.Host; {
		case r.URL.Path == "/robots.txt" && host == "closed.test":
			fmt.Fprint(to, "User-agent: *\nDisallow: /no-such-page")
		case r.URL.Path == "/robots.txt":
			to.WriteHeader(http.StatusNotFound)
		case isTrue && host != "shell.test":
			fmt.Fprintf(to, frame, "The error 404 not found", "What it means, why servers send it, and how it is avoided: a guide.")
		case host == "parameter.test" && r.URL.Path == "/questions/1", host == "slug.test" && strings.HasPrefix(r.URL.Path, "/questions/1/"),
			host == "canonical.test" && r.URL.Path == "/questions/1/module-not-found":
			fmt.Fprintf(to, frame, question, answer)
		case host == "canonical.test" && strings.HasPrefix(r.URL.Path, "/questions/1/"):
			http.Redirect(to, r, "/questions/1/module-not-found", http.StatusMovedPermanently)
		case host == "honest.test", host == "parameter.test", host == "slug.test", host == "canonical.test":
			to.WriteHeader(http.StatusNotFound)
			fmt.Fprintf(to, frame, "404", "")
		case host == "moved.test" && r.URL.Path != "/missing.html":
			http.Redirect(to, r, "/missing.html", http.StatusFound)
		case host == "relative.test" && strings.Contains(r.URL.Path, "no-such-page"):
			to.Header().Set("Location", "missing.html")
			to.WriteHeader(http.StatusFound)
		case host == "busy.test" && strings.Contains(r.URL.Path, "no-such-page"):
			to.Header().Set("Retry-After", "60")
			to.WriteHeader(http.StatusServiceUnavailable)
		case host == "shell.test":
			fmt.Fprint(to, "<title>404</title><div id=root></div>")
		default:
			fmt.Fprintf(to, frame, "Page not found", "There is no "+r.URL.Path)
		}
	}, nil)
	w.client.http.TLSClientConfig.InsecureSkipVerify = true
	for _, c := range []struct {
		host  string
		paths []string
		want  string // outcomes
		asked int
	}{
		{"soft.test", []string{"/true-1", "/", "/gone", "/folder/other.html?x=1", "/true-2"}, "fetched fetched gone gone fetched", 1},
		{"home.test", []string{"/", "/true"}, "fetched fetched", 1},
		{"honest.test", []string{"/true", "/gone", "/true-2"}, "fetched gone fetched", 1},
		{"moved.test", []string{"/missing.html", "/true"}, "gone fetched", 1},
		{"relative.test", []string{"/folder/gone", "/missing.html"}, "fetched gone", 1},
		{"parameter.test", []string{"/questions/1?noredirect=1", "/questions/1"}, "fetched fetched", 1},
		{"canonical.test", []string{"/questions/1/module-not-found"}, "fetched", 1},
		{"slug.test", []string{"/questions/1/module-not-found", "/questions/1/install"}, "fetched fetched", 1},
		{"closed.test", []string{"/gone", "/true"}, "fetched fetched", 0},
		{"shell.test", []string{"/gone", "/true"}, "fetched fetched", 1},
		{"busy.test", []string{"/gone", "/true"}, "fetched skipped", 1},
	} {
		var urls []string
		for _, path := range c.paths {
			urls = append(urls, "http://"+c.host+path)
		}
		got, report := w.visit(t, urls...)
		var outcomes []string
		for _, f := range got {
			outcomes = append(outcomes, f.Outcome.String())
			if (f.Outcome == vocab.Fetched) != (f.Page != nil) || f.Outcome == vocab.NotFound && f.Status == 200 && f.Reason != missingReason {
				t.Errorf("%s: %s, %q", f.URL, f.Outcome, f.Reason)
			}
		}
		if strings.Join(outcomes, " ") != c.want {
			t.Errorf("%s: %q, want %q", c.host, outcomes, c.want)
		}
		asked := 0
		for _, r := range w.requests {
			if strings.HasPrefix(r, c.host) && strings.Contains(r, "no-such-page") {
				asked++
			}
		}
		if asked != c.asked || (report.HoldFor > 0) != (c.host == "busy.test") {
			t.Errorf("%s: asked for %d made-up URLs; %+v", c.host, asked, report)
		}
	}
	var visits sync.WaitGroup
	for i := range 8 { // together
		visits.Go(func() {
			url := fmt.Sprintf("http://crowd.test/gone-%d", i)
			w.Visit(t.Context(), vocab.Lease{Host: "crowd.test", URLs: []vocab.Target{{URL: url}}}, func(f vocab.Fetch) {
				if f.Outcome != vocab.NotFound {
					t.Errorf("%s: %s", f.URL, f.Outcome)
				}
			})
		})
	}
	visits.Wait()
	if asked := strings.Count(strings.Join(w.requests, " "), "crowd.test/no-such-page"); asked != 1 {
		t.Errorf("%d made-up URLs for visits at the same time", asked)
	}
}

// TestMissingRetry: a host that fails to answer for a made-up URL is asked again after an hour, and
// after a visit that ended at once.
func TestMissingRetry(t *testing.T) {
	isDown := map[string]bool{}
	var end context.CancelFunc
	w := newWorld(t, func(to http.ResponseWriter, r *http.Request) {
		isMadeUp := strings.Contains(r.URL.Path, "no-such-page")
		to.Header().Set("Content-Type", "text/html")
		switch {
		case r.URL.Path == "/robots.txt":
			to.WriteHeader(http.StatusNotFound)
			return
		case isMadeUp && end != nil:
			end()
		case isMadeUp && isDown["error.test"]:
			to.WriteHeader(http.StatusInternalServerError)
		case isMadeUp && isDown["busy.test"]:
			to.WriteHeader(http.StatusServiceUnavailable)
		case isMadeUp && isDown["closing.test"]:
			panic(http.ErrAbortHandler)
		}
		fmt.Fprint(to, "<title>Page not found</title><p>Home, products, imprint, contact, privacy, terms.")
	}, nil)
	asked := func(host string) int { return strings.Count(strings.Join(w.requests, " "), host+"/no-such-page") }
	for _, host := range []string{"error.test", "busy.test", "closing.test"} {
		isDown[host] = true
		got, _ := w.visit(t, "http://"+host+"/1")
		before := asked(host)
		again, _ := w.visit(t, "http://"+host+"/1")
		if got[0].Outcome != vocab.Fetched || again[0].Outcome != vocab.Fetched || before == 0 || asked(host) != before {
			t.Errorf("%s: %s, %s, asked %d and %d times", host, got[0].Outcome, again[0].Outcome, before, asked(host))
		}
		delete(isDown, host)
		w.mu.Lock()
		w.now = w.now.Add(missingRetry)
		w.mu.Unlock()
		if got, _ := w.visit(t, "http://"+host+"/1"); got[0].Outcome != vocab.NotFound {
			t.Errorf("%s: %s after an hour", host, got[0].Outcome)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	end = cancel
	w.Visit(ctx, vocab.Lease{Host: "ended.test", URLs: []vocab.Target{{URL: "http://ended.test/1"}}}, func(vocab.Fetch) {})
	end = nil
	if got, _ := w.visit(t, "http://ended.test/1"); ctx.Err() == nil || got[0].Outcome != vocab.NotFound {
		t.Errorf("after a visit that ended: %s", got[0].Outcome)
	}
}
