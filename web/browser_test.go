package web

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"anatomy/web/pages"
)

// The tests of this file look through a real browser, the Chromium that ANATOMY_CHROMIUM names.

type browser struct {
	t   *testing.T
	bin string
}

func newBrowser(t *testing.T) browser {
	bin := os.Getenv("ANATOMY_CHROMIUM")
	if bin == "" {
		t.Skip("ANATOMY_CHROMIUM names no browser")
	}
	return browser{t, bin}
}

// run starts the browser headless on a profile of its own and gives what it prints.
func (b browser) run(args ...string) string {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.t.Context(), time.Minute)
	defer cancel()
	args = append([]string{"--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
		"--disable-background-networking", "--disable-component-update", "--disable-sync", "--hide-scrollbars",
		"--user-data-dir=" + b.t.TempDir()}, args...)
	cmd := exec.CommandContext(ctx, b.bin, args...)
	out, err := cmd.Output()
	if err != nil {
		b.t.Fatalf("%s: %v", args[len(args)-1], err)
	}
	return string(out)
}

// countedServer serves the fake index, with or without our script, and keeps the paths that were
// asked for.
func countedServer(t *testing.T, scripts bool) (base string, asked func() []string) {
	var mu sync.Mutex
	var paths []string
	inner := newServer(newFake()).Handler()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		paths = append(paths, r.URL.RequestURI())
		mu.Unlock()
		if !scripts && strings.HasSuffix(r.URL.Path, ".js") {
			http.NotFound(w, r)
			return
		}
		inner.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return server.URL, func() []string {
		mu.Lock()
		defer mu.Unlock()
		return append([]string(nil), paths...)
	}
}

func TestBrowserShowsResults(t *testing.T) {
	b := newBrowser(t)
	for _, scripts := range []bool{true, false} {
		base, asked := countedServer(t, scripts)
		dom := b.run("--dump-dom", base+"/search?q=inverted+index")
		if strings.Count(dom, `class="hit"`) != 10 || !strings.Contains(dom, "<mark>inverted index</mark>") {
			t.Errorf("scripts %v: results are missing:\n%s", scripts, dom)
		}
		if ran := strings.Contains(dom, `class="js"`); ran != scripts {
			t.Errorf("scripts %v: our script ran: %v", scripts, ran)
		}
		requests := slices.DeleteFunc(asked(), func(path string) bool { return strings.HasPrefix(path, "/icon?") })
		if len(requests) > 4 { // page, style, script, icon, and the icons of sites
			t.Errorf("the page took %d requests: %q", len(requests), requests)
		}
	}
}

func TestBrowserCachedPageIsInert(t *testing.T) {
	b := newBrowser(t)
	base, asked := countedServer(t, true)
	for _, page := range []string{"/cached?doc=66&q=hostile", "/cached/page?doc=66"} {
		dom := b.run("--virtual-time-budget=3000", "--dump-dom", base+page)
		if !strings.Contains(dom, "<body") {
			t.Errorf("%s: no page:\n%s", page, dom)
		}
	}
	framed := false
	for _, path := range asked() {
		framed = framed || strings.HasPrefix(path, "/cached/page?doc=66&q=hostile")
		if strings.Contains(path, "hit") || strings.Contains(path, "next.html") {
			t.Errorf("the cached page reached out for %s", path)
		}
	}
	if !framed {
		t.Errorf("the cached page was not shown in its frame: %q", asked())
	}
}

// TestBrowserRefusesEvenUnfiltered proves that the headers alone hold, were the filter to fail.
func TestBrowserRefusesEvenUnfiltered(t *testing.T) {
	b := newBrowser(t)
	hits := make(chan string, 100)
	policy := pages.CachedPolicy
	mux := http.NewServeMux()
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if policy != "" {
			w.Header().Set("Content-Security-Policy", policy)
		}
		w.Header().Set("Content-Type", "text/html")
		page := strings.Replace(hostilePage, `<base href="//base.test/x/">`, "", 1)
		page = strings.Replace(page, "<meta http-equiv=refresh", "<meta http-equiv=none", 1) // a sandbox may still navigate itself
		w.Write([]byte(page))
	})
	mux.HandleFunc("/hit", func(w http.ResponseWriter, r *http.Request) { hits <- r.URL.RequestURI() })
	server := httptest.NewServer(mux)
	defer server.Close()
	b.run("--virtual-time-budget=3000", "--dump-dom", server.URL)
	if n := len(hits); n > 0 {
		t.Errorf("%d requests got through, the first for %s", n, <-hits)
	}
	policy = ""
	b.run("--virtual-time-budget=3000", "--dump-dom", server.URL)
	if len(hits) == 0 {
		t.Error("the hostile page is harmless by itself: this test shows nothing")
	}
}
