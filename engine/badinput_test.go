package engine_test

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

	"anatomy/collection"
	"anatomy/disk/datadir"
	"anatomy/disk/repository"
	"anatomy/engine"
	"anatomy/internal/test/testweb"
	"anatomy/ranking"
	"anatomy/storeserver"
	"anatomy/upkeep"
	"anatomy/vocab"
	"anatomy/weburl"
)

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
	web := testweb.New(t)
	secure := httptest.NewUnstartedServer(http.NotFoundHandler()) // nobody knows its authority
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.StartTLS()
	defer secure.Close()
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	testweb.Must(t, err)
	_, refused, err := net.SplitHostPort(closed.Addr().String())
	testweb.Must(t, err)
	testweb.Must(t, closed.Close())

	cases := []struct{ url, trace string }{
		{"http://nowhere.test/", "no such name"},
		{"http://refused.test:" + refused + "/", "connection refused"},
		{"https://secure.test/", "TLS with secure.test"},
		{"http://bad.test/huge", "truncated  length"},
		{"http://bad.test/endless", "truncated  length"},
		{"http://bad.test/bomb", "too large"},
		{"http://bad.test/binary", "unsupported"},
		{"http://bad.test/broken", "there, "},
		{"http://bad.test/loop1", "redirected"},
		{"http://bad.test/self", "redirects to itself"},
		{"http://bad.test/based", "there, "},
		{"http://elsewhere.test/target", "there, "},
		{"http://robots.test/", "there, "},
		{"http://10.0.0.1.bad.test/", "no such name"},
		{"http://bad.test/cut", "truncated  disconnect"},
		{"http://bad.test/last", "there, "},
	}
	var links strings.Builder
	for _, c := range cases {
		if c.url != "http://elsewhere.test/target" {
			fmt.Fprintf(&links, "<a href=%q>x</a> ", c.url)
		}
	}
	web.Page("bad.test/", "<title>start</title>"+links.String())
	web.Page("refused.test/", "not here")
	web.Page("secure.test/", "not here")
	web.Handle("bad.test/huge", func(to http.ResponseWriter, _ *http.Request) {
		to.Header().Set("Content-Type", "text/html")
		to.Header().Set("Content-Length", fmt.Sprint(200<<20))
		endless(to, "<p>huge ")
	})
	web.Handle("bad.test/endless", func(to http.ResponseWriter, _ *http.Request) {
		to.Header().Set("Content-Type", "text/html")
		endless(to, "<p>endless ")
	})
	var bomb bytes.Buffer
	zip, err := gzip.NewWriterLevel(&bomb, gzip.BestSpeed)
	testweb.Must(t, err)
	for range 32 { // MB
		zip.Write(bytes.Repeat([]byte("<p>bomb "), 1<<17))
	}
	zip.Close()
	web.Handle("bad.test/bomb", func(to http.ResponseWriter, _ *http.Request) {
		to.Header().Set("Content-Type", "text/html")
		to.Header().Set("Content-Encoding", "gzip")
		to.Write(bomb.Bytes())
	})
	web.Body("bad.test/binary", "text/html", "\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x03\x00\x3e\x00")
	web.Body("bad.test/broken", "text/html; charset=utf-8", "<title>broken\xff\xfe</title><p>gr\xc3\xbcn \xe2\x82 brokenpage \xc3(\xa0 tail")
	web.Redirect("bad.test/loop1", "/loop2")
	web.Redirect("bad.test/loop2", "/loop3")
	web.Redirect("bad.test/loop3", "/loop1")
	web.Redirect("bad.test/self", "/self")
	web.Page("bad.test/based", `<base href="http://elsewhere.test/dir/"><title>based</title><a href="../target">to the target</a>`)
	web.Page("elsewhere.test/target", "<title>target</title><p>basetarget")
	web.Page("robots.test/", "<title>robots</title><p>robotspage")
	web.Handle("robots.test/robots.txt", func(to http.ResponseWriter, _ *http.Request) {
		to.Write([]byte("User-agent: *\nDisallow: /private/\n"))
		line := bytes.Repeat([]byte("# "+strings.Repeat("x", 98)+"\n"), 1000)
		for range 1000 { // 100 MB
			if _, err := to.Write(line); err != nil {
				return
			}
		}
	})
	web.Handle("bad.test/cut", func(to http.ResponseWriter, _ *http.Request) {
		to.Header().Set("Content-Type", "text/html")
		to.Header().Set("Content-Length", "1000")
		to.Write([]byte("<p>cut off"))
	})
	web.Page("bad.test/last", "<title>last</title><p>lastpage")

	dir := filepath.Join(t.TempDir(), "data")
	o := web.Options(dir, "http://bad.test/")
	o.Crawler.HTTPSPort = secure.Listener.Addr().(*net.TCPAddr).Port
	testweb.Crawl(t, o)
	for _, c := range cases {
		if got := testweb.TraceOf(t, dir, c.url); !strings.Contains(got, c.trace) {
			t.Errorf("trace of %s has no %q:\n%s", c.url, c.trace, got)
		}
	}
	s := testweb.OpenSearcher(t, dir)
	for query, url := range map[string]string{
		"brokenpage": "http://bad.test/broken", "grün tail": "http://bad.test/broken", "basetarget": "http://elsewhere.test/target",
		"inanchor:\"to the target\"": "http://elsewhere.test/target", "robotspage": "http://robots.test/", "lastpage": "http://bad.test/last",
		"huge": "http://bad.test/huge", "endless": "http://bad.test/endless", "intext:cut": "http://bad.test/cut",
	} {
		if urls := testweb.URLs(testweb.Results(t, s, query)); len(urls) != 1 || urls[0] != url {
			t.Errorf("%s finds %v, want %s", query, urls, url)
		}
	}
	for _, query := range []string{"bomb", "ELF intext:ELF"} {
		for _, r := range testweb.Results(t, s, query) {
			if r.Crawled {
				t.Errorf("%s finds %s", query, r.URL)
			}
		}
	}
	if size, err := datadir.FolderSize(datadir.Repository(dir)); err != nil || size > 1<<20 {
		t.Errorf("the repository has %d bytes, %v", size, err)
	}
	broken := testweb.Records(t, dir)
	for doc, page := range testweb.Bodies(t, dir, broken) {
		if strings.HasSuffix(page.URL, "/broken") && !bytes.Contains(page.Body, []byte("\xc3(\xa0")) {
			t.Errorf("document %d was not stored as it came: %q", doc, page.Body)
		}
	}
	testweb.Checked(t, dir)
}

// TestHostileWeb: hosts of many pages that only ever fail, or answer without end, do not keep a crawl
// open. It ends after a bounded number of requests to each, names those that it gave up, and has all
// pages of an honest host beside them.
func TestHostileWeb(t *testing.T) {
	const each = 200
	web := testweb.New(t)
	slow := func(to http.ResponseWriter, q *http.Request) {
		to.Header().Set("Content-Type", "text/html")
		to.Write([]byte("<p>slow"))
		http.NewResponseController(to).Flush()
		<-q.Context().Done()
	}
	hosts := []struct {
		name   string
		answer http.HandlerFunc
		most   int // requests
		down   string
	}{
		{"error.test", status(500), each / 2, "500"},
		{"busy.test", status(503), each / 2, "503"},
		{"pause.test", func(to http.ResponseWriter, q *http.Request) {
			to.Header().Set("Retry-After", "86400")
			status(429)(to, q)
		}, each / 2, "429"},
		{"slow.test", slow, each / 2, "slower than"},
		{"silent.test", silent, each / 2, "no answer"},
		{"lost.test", lost, each / 2, "EOF"},
		{"header.test", func(to http.ResponseWriter, _ *http.Request) {
			for i := range 1000 {
				to.Header().Add("X-Bomb", strings.Repeat("x", 100)+fmt.Sprint(i))
			}
		}, 2 * each, ""}, // a request that is cut off may be repeated
		{"bomb.test", func(to http.ResponseWriter, _ *http.Request) {
			to.Header().Set("Content-Type", "text/html")
			to.Header().Set("Content-Encoding", "gzip")
			zip := gzip.NewWriter(to)
			for range 100 {
				if _, err := zip.Write(bytes.Repeat([]byte("<p>bomb "), 1000)); err != nil {
					return
				}
			}
			zip.Close()
		}, 2 * each, ""}, // a request that is cut off may be repeated
		{"endless.test", func(to http.ResponseWriter, q *http.Request) {
			to.Header().Set("Content-Type", "text/html")
			endless(to, "<p>endless "+q.URL.Path)
		}, 2 * each, ""}, // a request that is cut off may be repeated
		{"loop.test", func(to http.ResponseWriter, q *http.Request) {
			n := 0
			fmt.Sscanf(q.URL.Path, "/%d", &n)
			http.Redirect(to, q, fmt.Sprintf("/%d", n+1), http.StatusFound)
		}, 2 * each, ""},
	}
	var links strings.Builder
	for i := range each {
		for _, h := range hosts {
			fmt.Fprintf(&links, "<a href=http://%s/%d>x</a> ", h.name, i)
		}
		fmt.Fprintf(&links, "<a href=/page%d>x</a> ", i)
		web.Page(fmt.Sprintf("honest.test/page%d", i), fmt.Sprintf("<title>t%d</title><p>honest w%d", i, i*i))
	}
	for _, h := range hosts {
		web.Handle(h.name, h.answer)
		web.Page(h.name+"/robots.txt", "")
	}
	web.Page("honest.test/", "<title>start</title>"+links.String())

	o := web.Options(filepath.Join(t.TempDir(), "data"), "http://honest.test/")
	o.URLs.HostFailing, o.URLs.MaxHold = time.Nanosecond, time.Millisecond
	o.Crawler.MaxBody, o.Crawler.MaxHeader = 128<<10, 16<<10
	o.Crawler.Grace, o.Crawler.HeaderTimeout = 200*time.Millisecond, 2*time.Second
	o.Connections = 32
	stats := testweb.Crawl(t, o)
	requests, down := map[string]int{}, map[string]string{}
	for key, n := range web.Requests() {
		host, _, _ := strings.Cut(key, "/")
		requests[host] += n
	}
	for _, h := range stats.DownHosts {
		down[h.Host] = h.Why
	}
	given := 0
	for _, h := range hosts {
		if n := requests[h.name]; n == 0 || n > h.most {
			t.Errorf("%s: %d requests, want at most %d", h.name, n, h.most)
		}
		if h.down != "" {
			given++
		}
		if why, ok := down[h.name]; ok && (h.down == "" || !strings.Contains(why, h.down)) {
			t.Errorf("%s: given up: %s, want %q", h.name, why, h.down)
		}
	}
	if stats.Down != int64(given) || len(down) != 5 {
		t.Errorf("%d hosts given up, want %d; named %v", stats.Down, given, down)
	}
	if requests["honest.test"] < each+1 {
		t.Errorf("%d requests to the honest host", requests["honest.test"])
	}
	fates := testweb.Fates(t, o.Dir)
	for i := range each {
		if url := fmt.Sprintf("http://honest.test/page%d", i); fates[url] == "" {
			t.Errorf("%s is not in the index: %q", url, fates[url])
		}
	}
	testweb.Checked(t, o.Dir)
}

// TestPrivateAddress: without leave nothing is asked of loopback, and the trace says what to do.
func TestPrivateAddress(t *testing.T) {
	web := testweb.New(t)
	web.Page("one.test/", "secret")
	dir := filepath.Join(t.TempDir(), "data")
	o := web.Options(dir, "http://one.test/", "http://127.0.0.1/")
	o.Crawler.AllowPrivate = false
	stats := testweb.Crawl(t, o)
	if n := len(web.Requests()); n > 0 || stats.Pages != 0 {
		t.Errorf("%d requests, %d pages", n, stats.Pages)
	}
	for _, url := range o.Seeds {
		if got := testweb.TraceOf(t, dir, url); !strings.Contains(got, "refused") || !strings.Contains(got, "--allow-private") {
			t.Errorf("trace of %s:\n%s", url, got)
		}
	}
	testweb.Checked(t, dir)

	o.Crawler.AllowPrivate = true // and with leave, the seeds are asked for after all
	if stats := testweb.Crawl(t, o); stats.Pages != 1 {
		t.Errorf("with leave %d pages, want 1; %s", stats.Pages, testweb.TraceOf(t, dir, "http://one.test/"))
	}
}

func TestOtherVersion(t *testing.T) {
	dir := t.TempDir()
	testweb.Must(t, os.WriteFile(filepath.Join(dir, "VERSION"), []byte("anatomy 99\n"), 0o644))
	var version *datadir.VersionError
	for name, use := range map[string]func() error{
		"Open":          func() error { _, err := engine.Open(t.Context(), engine.Options{Dir: dir}); return err },
		"Rebuild":       func() error { _, err := upkeep.Rebuild(t.Context(), dir, upkeep.RebuildOptions{}); return err },
		"Rank":          func() error { _, err := ranking.Compute(t.Context(), dir, ranking.Options{}); return err },
		"Check":         func() error { return upkeep.Check(t.Context(), dir, upkeep.CheckReport{}) },
		"TakeInventory": func() error { _, err := collection.ReadInventory(dir); return err },
		"Trace": func() error {
			u, _ := weburl.Parse("http://a.test/")
			_, err := collection.OpenTrace(t.Context(), dir, u)
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

// TestBusyFolder checks that while one process writes to a folder, the error for a second writer
// names it, and that reading continues to work.
func TestBusyFolder(t *testing.T) {
	web := testweb.Generate(t, 3, 20, 0)
	dir := filepath.Join(t.TempDir(), "data")
	testweb.Crawl(t, web.Options(dir, web.Seed))
	other := startChild(t, childOrder{Dir: dir, Seed: web.Seed, Resolver: web.Resolver, Port: web.Port, Hold: true})
	if !other.await(func(line string) bool { return line == "open" }) {
		t.Fatal("the other process did not open the folder")
	}
	var busy *datadir.BusyError
	for name, use := range map[string]func() error{
		"Open":    func() error { _, err := engine.Open(t.Context(), web.Options(dir, web.Seed)); return err },
		"Rebuild": func() error { _, err := upkeep.Rebuild(t.Context(), dir, upkeep.RebuildOptions{}); return err },
		"Compact": func() error { _, err := upkeep.Compact(t.Context(), dir, engine.CompactOptions{}); return err },
	} {
		if err := use(); !errors.As(err, &busy) || busy.PID != other.cmd.Process.Pid || !strings.Contains(err.Error(), fmt.Sprint(busy.PID)) {
			t.Errorf("%s: %v, want a BusyError that names process %d", name, err, other.cmd.Process.Pid)
		}
	}
	if n := len(testweb.Results(t, testweb.OpenSearcher(t, dir), "intitle:t0")); n != 1 {
		t.Errorf("searching finds %d pages", n)
	}
	if _, err := collection.ReadInventory(dir); err != nil {
		t.Error(err)
	}
	if _, err := ranking.Compute(t.Context(), dir, ranking.Options{}); err != nil {
		t.Error(err)
	}
	testweb.Checked(t, dir)
	testweb.Must(t, other.stdin.Close())
	other.wait()
	testweb.Crawl(t, web.Options(dir, web.Seed))
}

// TestNearlyFullDisk: the crawl stops while there is room enough to keep what it has, which can be
// searched, and goes on when there is room again.
func TestNearlyFullDisk(t *testing.T) {
	web := testweb.New(t)
	full := make(chan struct{})
	web.Page("one.test/", `<title>first</title><p>nightingale <a href=/slow>slow</a>`)
	web.Handle("one.test/slow", func(to http.ResponseWriter, r *http.Request) {
		<-full
		to.Header().Set("Content-Type", "text/html")
		to.Write([]byte(`<title>second</title><p>blackbird <a href=/third>third</a>`))
	})
	web.Page("one.test/third", "<title>third</title><p>sparrow")
	dir := filepath.Join(t.TempDir(), "data")
	o := web.Options(dir, "http://one.test/")
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
	c, err := engine.Open(t.Context(), o)
	testweb.Must(t, err)
	err = c.Run(t.Context())
	if !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), dir) {
		t.Errorf("the crawl ended with %v", err)
	}
	testweb.Must(t, c.Close())
	testweb.Checked(t, dir)
	s := testweb.OpenSearcher(t, dir)
	if n := len(testweb.Results(t, s, "nightingale")); n != 1 {
		t.Errorf("what was fetched is found %d times", n)
	}
	if n := len(testweb.Results(t, s, "sparrow")); n != 0 {
		t.Error("the crawl went on")
	}
	o.Free = func(string) (int64, error) { return 1 << 40, nil }
	testweb.Crawl(t, o)
	if _, err := s.Refresh(); err != nil {
		t.Error(err)
	}
	if n := len(testweb.Results(t, s, "sparrow")); n != 1 {
		t.Errorf("with room again, the rest is found %d times", n)
	}
	if n := web.Requests()["one.test/"]; n != 1 {
		t.Errorf("the first page was asked for %d times", n)
	}
}

// A fullRepository fails to append what would make it hold more than room records, but for its first ones.
type fullRepository struct {
	storeserver.Repository
	room, held int
}

func (f *fullRepository) Append(records []repository.Record) ([]vocab.Address, error) {
	if f.held > 0 && f.held+len(records) > f.room {
		return nil, fmt.Errorf("repository: write 000001.repo: %w", syscall.ENOSPC)
	}
	f.held += len(records)
	return f.Repository.Append(records)
}

// TestFullRepository: where pages can no longer be stored the crawl ends with the reason instead of
// fetching them over and over, and what was stored is kept.
func TestFullRepository(t *testing.T) {
	web := testweb.Generate(t, 3, 60, 0)
	dir := filepath.Join(t.TempDir(), "data")
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	c, err := engine.Open(ctx, web.Options(dir, web.Seed))
	testweb.Must(t, err)
	c.SetStore(&fullRepository{Repository: c.Repository(), room: 20}, storeserver.Options{Age: time.Millisecond})
	err = c.Run(ctx)
	if !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "repo") {
		t.Errorf("the crawl ended with %v", err)
	}
	testweb.Must(t, c.Close())
	testweb.Checked(t, dir)
	for url, n := range web.Requests() {
		if n > 1 {
			t.Errorf("%s was asked for %d times", url, n)
		}
	}
	stored := len(testweb.Bodies(t, dir, testweb.Records(t, dir)))
	if stored == 0 || len(testweb.Searchable(t, dir)) < stored/2 {
		t.Errorf("%d pages are stored, %d documents can be found", stored, len(testweb.Searchable(t, dir)))
	}
	testweb.Crawl(t, web.Options(dir, web.Seed))
	other := filepath.Join(t.TempDir(), "other")
	testweb.Crawl(t, web.Options(other, web.Seed))
	testweb.SameMaps(t, "pages", testweb.Fates(t, dir), testweb.Fates(t, other))
	testweb.SameLists(t, "index", testweb.Searchable(t, dir), testweb.Searchable(t, other))
}

// TestFailedFlush: once a batch is lost none is published after it, for that would say that the lost
// pages are in. The next run reads them again.
func TestFailedFlush(t *testing.T) {
	web := testweb.Generate(t, 3, 40, 0)
	dir := filepath.Join(t.TempDir(), "data")
	o := web.Options(dir, web.Seed)
	o.NoIndex, o.BatchBytes = true, 100<<10
	testweb.Crawl(t, o)
	c, err := engine.Open(t.Context(), o)
	testweb.Must(t, err)
	blocked := datadir.Segment(dir, fmt.Sprintf("%06d", c.Builder().Manifest().Next+1))
	testweb.Must(t, os.WriteFile(blocked, nil, 0o644)) // in the way of the second segment
	first := c.RecoverPages(t.Context())
	if first == nil {
		t.Fatal("nothing failed")
	}
	m := c.Builder().Manifest()
	c.Builder().AddNotFound(1)
	c.Builder().Advance(c.Repository().End())
	if err := c.Builder().Flush(t.Context()); err == nil || c.Builder().Manifest().Indexed != m.Indexed {
		t.Errorf("after %v the next batch was published: %+v", err, c.Builder().Manifest())
	}
	testweb.Must(t, c.Close())
	testweb.Must(t, os.Remove(blocked))
	testweb.Crawl(t, web.Options(dir, web.Seed))
	other := filepath.Join(t.TempDir(), "other")
	testweb.Crawl(t, web.Options(other, web.Seed))
	testweb.SameLists(t, "index", testweb.Searchable(t, dir), testweb.Searchable(t, other))
}
