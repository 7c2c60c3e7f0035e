package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"anatomy/engine"
)

// A crawl that is interrupted keeps what it has, writes its counters and says how to go on; the same
// command goes on, and so does one without URLs.
func TestInterruptedCrawl(t *testing.T) {
	const pages = 30
	var asked atomic.Int64
	half := make(chan struct{})
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var n int
		if _, err := fmt.Sscanf(r.URL.Path, "/%d", &n); err != nil || n > pages {
			http.NotFound(w, r)
			return
		}
		if asked.Add(1) == pages/2 {
			close(half)
			<-r.Context().Done() // until the crawler is gone
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprintf(w, "<title>Page %d</title><p>This is page %d. <a href=/%d>the next</a>", n, n, n+1)
	}))
	defer site.Close()
	dir, stats := filepath.Join(t.TempDir(), "data"), filepath.Join(t.TempDir(), "stats.json")
	args := []string{"crawl", "--data", dir, "--stats", stats, "--allow-private", "--delay", "0"}

	var stderr bytes.Buffer
	c := exec.Command("anatomy", append(args, site.URL+"/1")...)
	c.Stderr = &stderr
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	<-half
	c.Process.Signal(os.Interrupt)
	c.Wait()
	if got := c.ProcessState.ExitCode(); got != statusInterrupted || !strings.Contains(stderr.String(), "Stopped. The same command resumes the crawl.") {
		t.Fatalf("status %d\n%s", got, &stderr)
	}
	if strings.Contains(stderr.String(), "error:") {
		t.Errorf("an interruption is no error:\n%s", &stderr)
	}
	if got := counters(t, stats); got.Pages != pages/2-1 || got.Queued == 0 {
		t.Errorf("%d pages and %d queued after an interruption at page %d", got.Pages, got.Queued, pages/2)
	}

	command(t, args...)
	if got := counters(t, stats); got.Pages != pages || got.Queued != 0 {
		t.Errorf("%d pages and %d queued in the end, want %d", got.Pages, got.Queued, pages)
	}
	if found := command(t, "search", "--data", dir, fmt.Sprintf(`"this is page %d"`, pages)); !strings.Contains(found, fmt.Sprintf("/%d\n", pages)) {
		t.Errorf("the last page is not found:\n%s", found)
	}
}

func counters(t *testing.T, path string) (s engine.CrawlStats) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &s); err != nil {
		t.Fatal(err)
	}
	return s
}

// A recrawl asks only whether pages changed, shows new versions, says what it did and when the next visit is due.
func TestRecrawl(t *testing.T) {
	var version atomic.Int64
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		switch r.URL.Path {
		case "/":
			if w.Header().Set("Etag", `"1"`); r.Header.Get("If-None-Match") == `"1"` {
				w.WriteHeader(http.StatusNotModified)
				return
			}
			fmt.Fprint(w, "<title>Start</title><a href=/news>news</a> <a href=/old>old</a>")
		case "/news":
			fmt.Fprintf(w, "<title>News</title><p>edition%d", version.Load())
		case "/old":
			if version.Load() > 0 {
				http.Redirect(w, r, "/news", http.StatusMovedPermanently)
				return
			}
			fmt.Fprint(w, "<title>Old</title><p>almanac")
		default:
			http.NotFound(w, r)
		}
	}))
	defer site.Close()
	dir := filepath.Join(t.TempDir(), "data")
	args := []string{"--data", dir, "--allow-private", "--delay", "0"}
	command(t, append([]string{"crawl", site.URL + "/"}, args...)...)
	crawl := func(flags ...string) string {
		out, err := exec.Command("anatomy", append(append([]string{"crawl"}, flags...), args...)...).CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return string(out)
	}
	if said := crawl("--recrawl"); !strings.Contains(said, "No page was due") {
		t.Errorf("a moment after the crawl:\n%s", said)
	}
	version.Store(1)
	if said := crawl("--recrawl", "--max-age", "0s"); !strings.Contains(said, "3 revisited: 1 unchanged (1 answered 304), 1 new version, 1 page left the results") {
		t.Errorf("recrawl:\n%s", said)
	}
	for query, want := range map[string]int{"edition0": 0, "edition1": 1, "almanac": 0} {
		if n := strings.Count(command(t, "search", "--data", dir, query), site.URL); n != want {
			t.Errorf("%s: %d results, want %d", query, n, want)
		}
	}
	if said := command(t, "trace", "--data", dir, site.URL+"/news"); !strings.Contains(said, "2 times") || !strings.Contains(said, "1 visit found a change") || !strings.Contains(said, "next visit") {
		t.Errorf("trace:\n%s", said)
	}
}
