package engine

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"anatomy/disk/datadir"
	"anatomy/disk/repository"
	"anatomy/storeserver"
	"anatomy/vocab"
	"anatomy/weburl"
)

// traceOf is what Trace says of a URL.
func traceOf(t testing.TB, dir, url string) string {
	t.Helper()
	u, err := weburl.Parse(url)
	must(t, err)
	var out strings.Builder
	told, err := OpenTrace(t.Context(), dir, u)
	must(t, err)
	PrintTrace(&out, told)
	return out.String()
}

func endless(to http.ResponseWriter, piece string) {
	for {
		if _, err := to.Write(bytes.Repeat([]byte(piece), 1000)); err != nil {
			return
		}
	}
}

// TestBadInput: whatever a page links to, each has its outcome with a reason, and the good page that
// comes last in the queue is stored and found.
func TestBadInput(t *testing.T) {
	web := newWeb(t)
	secure := httptest.NewUnstartedServer(http.NotFoundHandler()) // nobody knows its authority
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.StartTLS()
	defer secure.Close()
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	_, refused, err := net.SplitHostPort(closed.Addr().String())
	must(t, err)
	must(t, closed.Close())

	cases := []struct{ url, trace string }{
		{"http://nowhere.test/", "no such name"},
		{"http://refused.test:" + refused + "/", "connection refused"},
		{"https://secure.test/", "TLS with secure.test"},
		{"http://bad.test/huge", "too large"},
		{"http://bad.test/endless", "too large"},
		{"http://bad.test/bomb", "too large"},
		{"http://bad.test/binary", "unsupported"},
		{"http://bad.test/broken", "there, "},
		{"http://bad.test/loop1", "redirected"},
		{"http://bad.test/self", "redirects to itself"},
		{"http://bad.test/based", "there, "},
		{"http://elsewhere.test/target", "there, "},
		{"http://robots.test/", "there, "},
		{"http://10.0.0.1.bad.test/", "no such name"},
		{"http://bad.test/cut", "failed"},
		{"http://bad.test/last", "there, "},
	}
	var links strings.Builder
	for _, c := range cases {
		if c.url != "http://elsewhere.test/target" {
			fmt.Fprintf(&links, "<a href=%q>x</a> ", c.url)
		}
	}
	web.page("bad.test/", "<title>start</title>"+links.String())
	web.page("refused.test/", "not here")
	web.page("secure.test/", "not here")
	web.handle("bad.test/huge", func(to http.ResponseWriter, _ *http.Request) {
		to.Header().Set("Content-Type", "text/html")
		to.Header().Set("Content-Length", fmt.Sprint(200<<20))
		endless(to, "<p>huge ")
	})
	web.handle("bad.test/endless", func(to http.ResponseWriter, _ *http.Request) {
		to.Header().Set("Content-Type", "text/html")
		endless(to, "<p>endless ")
	})
	var bomb bytes.Buffer
	zip, err := gzip.NewWriterLevel(&bomb, gzip.BestSpeed)
	must(t, err)
	for range 32 { // MB
		zip.Write(bytes.Repeat([]byte("<p>bomb "), 1<<17))
	}
	zip.Close()
	web.handle("bad.test/bomb", func(to http.ResponseWriter, _ *http.Request) {
		to.Header().Set("Content-Type", "text/html")
		to.Header().Set("Content-Encoding", "gzip")
		to.Write(bomb.Bytes())
	})
	web.body("bad.test/binary", "text/html", "\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x03\x00\x3e\x00")
	web.body("bad.test/broken", "text/html; charset=utf-8", "<title>broken\xff\xfe</title><p>gr\xc3\xbcn \xe2\x82 brokenpage \xc3(\xa0 tail")
	web.redirect("bad.test/loop1", "/loop2")
	web.redirect("bad.test/loop2", "/loop3")
	web.redirect("bad.test/loop3", "/loop1")
	web.redirect("bad.test/self", "/self")
	web.page("bad.test/based", `<base href="http://elsewhere.test/dir/"><title>based</title><a href="../target">to the target</a>`)
	web.page("elsewhere.test/target", "<title>target</title><p>basetarget")
	web.page("robots.test/", "<title>robots</title><p>robotspage")
	web.handle("robots.test/robots.txt", func(to http.ResponseWriter, _ *http.Request) {
		to.Write([]byte("User-agent: *\nDisallow: /private/\n"))
		line := bytes.Repeat([]byte("# "+strings.Repeat("x", 98)+"\n"), 1000)
		for range 1000 { // 100 MB
			if _, err := to.Write(line); err != nil {
				return
			}
		}
	})
	web.handle("bad.test/cut", func(to http.ResponseWriter, _ *http.Request) {
		to.Header().Set("Content-Type", "text/html")
		to.Header().Set("Content-Length", "1000")
		to.Write([]byte("<p>cut off"))
	})
	web.page("bad.test/last", "<title>last</title><p>lastpage")

	dir := filepath.Join(t.TempDir(), "data")
	o := web.options(dir, "http://bad.test/")
	o.Crawler.HTTPSPort = secure.Listener.Addr().(*net.TCPAddr).Port
	crawl(t, o)
	for _, c := range cases {
		if got := traceOf(t, dir, c.url); !strings.Contains(got, c.trace) {
			t.Errorf("trace of %s has no %q:\n%s", c.url, c.trace, got)
		}
	}
	s := openSearcher(t, dir)
	for query, url := range map[string]string{
		"brokenpage": "http://bad.test/broken", "grün tail": "http://bad.test/broken", "basetarget": "http://elsewhere.test/target",
		"inanchor:\"to the target\"": "http://elsewhere.test/target", "robotspage": "http://robots.test/", "lastpage": "http://bad.test/last",
	} {
		if urls := urlsOf(results(t, s, query)); len(urls) != 1 || urls[0] != url {
			t.Errorf("%s finds %v, want %s", query, urls, url)
		}
	}
	for _, query := range []string{"huge", "endless", "ELF intext:ELF", "intext:cut"} {
		for _, r := range results(t, s, query) {
			if r.Crawled {
				t.Errorf("%s finds %s", query, r.URL)
			}
		}
	}
	if size, err := folderSize(datadir.Repository(dir)); err != nil || size > 1<<20 {
		t.Errorf("the repository has %d bytes, %v", size, err)
	}
	broken := records(t, dir)
	for doc, page := range bodies(t, dir, broken) {
		if strings.HasSuffix(page.URL, "/broken") && !bytes.Contains(page.Body, []byte("\xc3(\xa0")) {
			t.Errorf("document %d was not stored as it came: %q", doc, page.Body)
		}
	}
	checked(t, dir)
}

// TestPrivateAddress: without leave nothing is asked of loopback, and the trace says what to do.
func TestPrivateAddress(t *testing.T) {
	web := newWeb(t)
	web.page("one.test/", "secret")
	dir := filepath.Join(t.TempDir(), "data")
	o := web.options(dir, "http://one.test/", "http://127.0.0.1/")
	o.Crawler.AllowPrivate = false
	stats := crawl(t, o)
	if n := len(web.requests()); n > 0 || stats.Pages != 0 {
		t.Errorf("%d requests, %d pages", n, stats.Pages)
	}
	for _, url := range o.Seeds {
		if got := traceOf(t, dir, url); !strings.Contains(got, "refused") || !strings.Contains(got, "--allow-private") {
			t.Errorf("trace of %s:\n%s", url, got)
		}
	}
	checked(t, dir)

	o.Crawler.AllowPrivate = true // and with leave, the seeds are asked for after all
	if stats := crawl(t, o); stats.Pages != 1 {
		t.Errorf("with leave %d pages, want 1; %s", stats.Pages, traceOf(t, dir, "http://one.test/"))
	}
}

func TestOtherVersion(t *testing.T) {
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "VERSION"), []byte("anatomy 99\n"), 0o644))
	var version *datadir.VersionError
	for name, use := range map[string]func() error{
		"Open":          func() error { _, err := Open(t.Context(), Options{Dir: dir}); return err },
		"Rebuild":       func() error { _, err := Rebuild(t.Context(), dir, RebuildOptions{}); return err },
		"Rank":          func() error { _, err := Rank(t.Context(), dir, RankOptions{}); return err },
		"Check":         func() error { return Check(t.Context(), dir, CheckReport{}) },
		"TakeInventory": func() error { _, err := TakeInventory(dir); return err },
		"Trace": func() error {
			u, _ := weburl.Parse("http://a.test/")
			_, err := OpenTrace(t.Context(), dir, u)
			return err
		},
	} {
		if err := use(); !errors.As(err, &version) || !strings.Contains(err.Error(), "anatomy 99") || !strings.Contains(err.Error(), dir) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("the folder was written to: %v, %v", entries, err)
	}
}

// TestBusyFolder: while one process writes to a folder, another that would is told which; reading
// goes on.
func TestBusyFolder(t *testing.T) {
	web := generate(t, 3, 20, 0)
	dir := filepath.Join(t.TempDir(), "data")
	crawl(t, web.options(dir, web.seed))
	other := startChild(t, childOrder{Dir: dir, Seed: web.seed, Resolver: web.resolver, Port: web.port, Hold: true})
	if !other.await(func(line string) bool { return line == "open" }) {
		t.Fatal("the other process did not open the folder")
	}
	var busy *datadir.BusyError
	for name, use := range map[string]func() error{
		"Open":    func() error { _, err := Open(t.Context(), web.options(dir, web.seed)); return err },
		"Rebuild": func() error { _, err := Rebuild(t.Context(), dir, RebuildOptions{}); return err },
		"Check":   func() error { return Check(t.Context(), dir, CheckReport{}) },
	} {
		if err := use(); !errors.As(err, &busy) || busy.PID != other.cmd.Process.Pid || !strings.Contains(err.Error(), fmt.Sprint(busy.PID)) {
			t.Errorf("%s: %v, want a BusyError that names process %d", name, err, other.cmd.Process.Pid)
		}
	}
	if n := len(results(t, openSearcher(t, dir), "intitle:t0")); n != 1 {
		t.Errorf("searching finds %d pages", n)
	}
	if _, err := TakeInventory(dir); err != nil {
		t.Error(err)
	}
	if _, err := Rank(t.Context(), dir, RankOptions{}); err != nil {
		t.Error(err)
	}
	must(t, other.stdin.Close())
	other.wait()
	crawl(t, web.options(dir, web.seed))
}

// TestNearlyFullDisk: the crawl stops while there is room enough to keep what it has, which can be
// searched, and goes on when there is room again.
func TestNearlyFullDisk(t *testing.T) {
	web := newWeb(t)
	full := make(chan struct{})
	web.page("one.test/", `<title>first</title><p>nightingale <a href=/slow>slow</a>`)
	web.handle("one.test/slow", func(to http.ResponseWriter, r *http.Request) {
		<-full
		to.Header().Set("Content-Type", "text/html")
		to.Write([]byte(`<title>second</title><p>blackbird <a href=/third>third</a>`))
	})
	web.page("one.test/third", "<title>third</title><p>sparrow")
	dir := filepath.Join(t.TempDir(), "data")
	o := web.options(dir, "http://one.test/")
	var looked atomic.Int32
	once := sync.OnceFunc(func() { close(full) })
	o.MinFree = 1 << 30
	o.Free = func(string) (int64, error) {
		if looked.Add(1) == 1 {
			return 1 << 40, nil
		}
		once()
		return 1<<30 - 1, nil
	}
	c, err := Open(t.Context(), o)
	must(t, err)
	err = c.Run(t.Context())
	if !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), dir) {
		t.Errorf("the crawl ended with %v", err)
	}
	must(t, c.Close())
	checked(t, dir)
	s := openSearcher(t, dir)
	if n := len(results(t, s, "nightingale")); n != 1 {
		t.Errorf("what was fetched is found %d times", n)
	}
	if n := len(results(t, s, "sparrow")); n != 0 {
		t.Error("the crawl went on")
	}
	o.Free = func(string) (int64, error) { return 1 << 40, nil }
	crawl(t, o)
	if _, err := s.Refresh(); err != nil {
		t.Error(err)
	}
	if n := len(results(t, s, "sparrow")); n != 1 {
		t.Errorf("with room again, the rest is found %d times", n)
	}
	if n := web.requests()["one.test/"]; n != 1 {
		t.Errorf("the first page was asked for %d times", n)
	}
}

// A fullRepository fails to append what would make it hold more than room records, but for its first ones.
type fullRepository struct {
	storeserver.Repository
	room, held int
}

func (f *fullRepository) Append(records []repository.Record) ([]vocab.Place, error) {
	if f.held > 0 && f.held+len(records) > f.room {
		return nil, fmt.Errorf("repository: write 000001.repo: %w", syscall.ENOSPC)
	}
	f.held += len(records)
	return f.Repository.Append(records)
}

// TestFullRepository: where pages can no longer be stored the crawl ends with the reason instead of
// fetching them over and over, and what was stored is kept.
func TestFullRepository(t *testing.T) {
	web := generate(t, 3, 60, 0)
	dir := filepath.Join(t.TempDir(), "data")
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	c, err := Open(ctx, web.options(dir, web.seed))
	must(t, err)
	c.store = storeserver.New(&fullRepository{Repository: c.repo, room: 20}, c.urls.ByContent, storeserver.Options{Age: time.Millisecond})
	err = c.Run(ctx)
	if !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "repo") {
		t.Errorf("the crawl ended with %v", err)
	}
	must(t, c.Close())
	checked(t, dir)
	for url, n := range web.requests() {
		if n > 1 {
			t.Errorf("%s was asked for %d times", url, n)
		}
	}
	stored := len(bodies(t, dir, records(t, dir)))
	if stored == 0 || len(searchable(t, dir)) < stored/2 {
		t.Errorf("%d pages are stored, %d documents can be found", stored, len(searchable(t, dir)))
	}
	crawl(t, web.options(dir, web.seed))
	other := filepath.Join(t.TempDir(), "other")
	crawl(t, web.options(other, web.seed))
	sameMaps(t, "pages", fates(t, dir), fates(t, other))
	sameLists(t, "index", searchable(t, dir), searchable(t, other))
}

// TestFailedFlush: once a batch is lost none is published after it, for that would say that the lost
// pages are in. The next run reads them again.
func TestFailedFlush(t *testing.T) {
	web := generate(t, 3, 40, 0)
	dir := filepath.Join(t.TempDir(), "data")
	o := web.options(dir, web.seed)
	o.NoIndex = true
	crawl(t, o)
	c, err := Open(t.Context(), o)
	must(t, err)
	c.o.NoIndex, c.builder.bytes = false, 100<<10
	blocked := datadir.Segment(dir, number{n: c.builder.Manifest().Next + 1}.name())
	must(t, os.WriteFile(blocked, nil, 0o644)) // in the way of the second segment
	first := c.recover(t.Context())
	if first == nil {
		t.Fatal("nothing failed")
	}
	m := c.builder.Manifest()
	c.builder.Drop(1)
	c.builder.Advance(c.repo.End())
	if err := c.builder.Flush(t.Context()); err == nil || c.builder.Manifest().Indexed != m.Indexed {
		t.Errorf("after %v the next batch was published: %+v", err, c.builder.Manifest())
	}
	must(t, c.Close())
	must(t, os.Remove(blocked))
	crawl(t, web.options(dir, web.seed))
	other := filepath.Join(t.TempDir(), "other")
	crawl(t, web.options(other, web.seed))
	sameLists(t, "index", searchable(t, dir), searchable(t, other))
}
