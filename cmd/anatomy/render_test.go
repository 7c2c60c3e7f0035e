package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"
	"time"
)

// TestBrowserCrawler: a crawler on another machine renders pages with the Chromium that
// ANATOMY_CHROMIUM names, run as root and as another user.
func TestBrowserCrawler(t *testing.T) {
	chromium := os.Getenv("ANATOMY_CHROMIUM")
	if chromium == "" {
		t.Skip("ANATOMY_CHROMIUM names no browser")
	}
	site := httptest.NewServer(http.FileServerFS(fstest.MapFS{
		"index.html": {Data: []byte("<title>Market</title><p>What the market sells. <a href=app.html>Stalls</a>")},
		"app.html":   {Data: []byte("<title>Pottery</title><body><script src=app.js></script>")},
		"app.js":     {Data: []byte(`document.body.insertAdjacentHTML("beforeend", "<p>Cups, plates, bowls and jugs of red clay, as the potters of the market make them")`)},
	}))
	defer site.Close()
	users := map[string]*syscall.Credential{"this user": nil}
	if os.Getuid() == 0 {
		users["another user"] = &syscall.Credential{Uid: 65533, Gid: 65533}
	}
	for name, user := range users {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			data := filepath.Join(dir, "data")
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			defer cancel()
			owner := exec.CommandContext(ctx, "anatomy", "crawl", "--data", data, "--crawlers", "127.0.0.1:0", "--delay", "0", site.URL+"/")
			stderr, err := owner.StderrPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := owner.Start(); err != nil {
				t.Fatal(err)
			}
			lines, join := bufio.NewScanner(stderr), ""
			for join == "" && lines.Scan() {
				_, join, _ = strings.Cut(lines.Text(), "anatomy crawler --join ")
			}
			var said bytes.Buffer
			crawler := crawlerOf(ctx, t, user, "--join", join, "--allow-private", "--render", "--chromium", chromium)
			crawler.Stdout, crawler.Stderr = &said, &said
			if err := crawler.Start(); err != nil {
				t.Fatal(err)
			}
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				if crawler.Wait() != nil {
					cancel() // so that the crawl does not wait for another
				}
			}()
			for lines.Scan() {
				t.Log(lines.Text())
			}
			if err := owner.Wait(); err != nil {
				t.Errorf("crawl: %v", err)
			}
			crawler.Process.Signal(os.Interrupt)
			<-ended
			if found := command(t, "search", "--data", data, "clay"); !strings.Contains(found, "/app.html") {
				t.Errorf("the rendered page is not found:\n%s\n%s", found, &said)
			}
			if trace := command(t, "trace", "--data", data, site.URL+"/app.html"); !strings.Contains(trace, "rendered with its scripts (requests: 1)") {
				t.Errorf("trace:\n%s", trace)
			}
		})
	}
}

// crawlerOf returns the command of a crawler that runs as a user, nil for the one of the test.
func crawlerOf(ctx context.Context, t *testing.T, user *syscall.Credential, args ...string) *exec.Cmd {
	t.Helper()
	path, err := exec.LookPath("anatomy")
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	home, err := os.MkdirTemp("/tmp", "crawler") // folders of tests are closed to others
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(home) })
	path = filepath.Join(home, "anatomy")
	if err := errors.Join(os.Chmod(home, 0o755), os.WriteFile(path, program, 0o755)); err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(ctx, path, append([]string{"crawler"}, args...)...)
	c.Env = append(os.Environ(), "HOME="+home, "TMPDIR="+home)
	if user != nil {
		if err := os.Chown(home, int(user.Uid), int(user.Gid)); err != nil {
			t.Fatal(err)
		}
		c.SysProcAttr = &syscall.SysProcAttr{Credential: user}
	}
	return c
}
