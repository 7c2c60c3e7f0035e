package engine_test

import (
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"anatomy/disk/datadir"
	"anatomy/engine"
	"anatomy/internal/test/testweb"
	"anatomy/upkeep"
	"anatomy/urlserver"
)

// A movingWeb changes between crawls. Its first page leads to all others, so that a crawl from nothing
// finds what is there.
type movingWeb struct {
	*testweb.Web
	t     testing.TB
	r     *rand.Rand
	words []string
	keys  []string

	mu        sync.Mutex
	pages     map[string]moving
	forbidden map[string]bool // by host: its folder /b/ is
}

// moving is what a page is at present.
type moving struct {
	status   int
	location string
	body     string
	noindex  bool // by a header field
	etag     bool // answers with 304
}

func newMovingWeb(t testing.TB, seed uint64, n int) *movingWeb {
	w := &movingWeb{Web: testweb.New(t), t: t, r: rand.New(rand.NewPCG(seed, 11)), words: testweb.WordsOf(80), pages: map[string]moving{}, forbidden: map[string]bool{}}
	hosts := []string{"one.test", "two.test"}
	for i := range n {
		w.keys = append(w.keys, fmt.Sprintf("%s/%s/page%d", hosts[i%2], []string{"a", "b"}[i/2%2], i))
	}
	var hub strings.Builder
	for _, key := range w.keys {
		fmt.Fprintf(&hub, "<a href=http://%s>%s</a>\n", key, w.sentence(2))
	}
	w.Page("one.test/", "<title>hub</title>"+hub.String())
	for _, host := range hosts {
		w.Handle(host+"/robots.txt", func(to http.ResponseWriter, _ *http.Request) {
			w.mu.Lock()
			defer w.mu.Unlock()
			if w.forbidden[host] {
				fmt.Fprint(to, "User-agent: *\nDisallow: /b/\n")
			}
		})
	}
	for _, key := range w.keys {
		w.pages[key] = w.fresh(key)
		w.Handle(key, func(to http.ResponseWriter, q *http.Request) { w.answer(key, to, q) })
	}
	return w
}

func (w *movingWeb) answer(key string, to http.ResponseWriter, q *http.Request) {
	w.mu.Lock()
	p := w.pages[key]
	w.mu.Unlock()
	if p.noindex {
		to.Header().Set("X-Robots-Tag", "noindex")
	}
	to.Header().Set("Content-Type", "text/html; charset=utf-8")
	if tag := fmt.Sprintf(`"%x"`, crc32.ChecksumIEEE([]byte(fmt.Sprint(p)))); p.etag && p.status == http.StatusOK {
		to.Header().Set("Etag", tag)
		if q.Header.Get("If-None-Match") == tag {
			to.WriteHeader(http.StatusNotModified)
			return
		}
	}
	if p.location != "" {
		to.Header().Set("Location", p.location)
	}
	to.WriteHeader(p.status)
	fmt.Fprint(to, p.body)
}

func (w *movingWeb) sentence(n int) string {
	all := make([]string, n)
	for i := range all {
		all[i] = w.words[w.r.IntN(len(w.words))]
	}
	return strings.Join(all, " ")
}

func (w *movingWeb) any() string { return w.keys[w.r.IntN(len(w.keys))] }

// fresh is a page with a new text and new links.
func (w *movingWeb) fresh(key string) moving {
	body := fmt.Sprintf("<!doctype html><title>%s</title><p>%s", w.sentence(2), w.sentence(20))
	for range 3 {
		body += fmt.Sprintf("<p><a href=http://%s>%s</a>", w.any(), w.sentence(2))
	}
	return moving{status: http.StatusOK, body: body, etag: w.r.IntN(2) == 0}
}

// move changes some pages, in every way that pages change.
func (w *movingWeb) move() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for range 1 + w.r.IntN(len(w.keys)/2) {
		key := w.any()
		p := w.pages[key]
		switch w.r.IntN(9) {
		case 0, 1:
			p = w.fresh(key)
		case 2:
			p.status, p.location = http.StatusNotFound, ""
		case 3:
			p.status, p.location = http.StatusGone, ""
		case 4: // it comes back as it was
			p.status, p.location = http.StatusOK, ""
		case 5:
			p.status, p.location = http.StatusMovedPermanently, "http://"+w.any()
		case 6: // a duplicate, of the same site: the links of either are those of the other
			if of := w.any(); strings.HasPrefix(of, key[:3]) {
				p = w.pages[of]
			}
		case 7: // with its duplicates, for which of them counts is a matter of who came first
			p.noindex = !p.noindex
			for other, q := range w.pages {
				if q.body == p.body {
					q.noindex = p.noindex
					w.pages[other] = q
				}
			}
		case 8:
			host, _, _ := strings.Cut(key, "/")
			w.forbidden[host] = !w.forbidden[host]
		}
		w.pages[key] = p
	}
}

func (w *movingWeb) folder(name string) engine.Options {
	return w.Options(filepath.Join(w.t.TempDir(), name), "http://one.test/")
}

// same compares a folder with one that a crawl of the web as it is now fills.
func (w *movingWeb) same(dir string) {
	w.t.Helper()
	o := w.folder("fresh")
	testweb.Crawl(w.t, o)
	testweb.Checked(w.t, dir)
	testweb.SameMaps(w.t, "pages", testweb.Fates(w.t, dir), testweb.Fates(w.t, o.Dir))
	testweb.SameLists(w.t, "index", testweb.Searchable(w.t, dir), testweb.Searchable(w.t, o.Dir))
	testweb.SameMaps(w.t, "ranks", testweb.Ranks(w.t, dir), testweb.Ranks(w.t, o.Dir))
}

// TestRecrawlEqualsCrawl: whatever changed, after a recrawl, and a second one that confirms what is gone,
// the index is that of a crawl of the web as it is now; so is one that is rebuilt from the repository.
func TestRecrawlEqualsCrawl(t *testing.T) {
	seed := seedOf(t)
	rounds := 5
	if testing.Short() {
		rounds = 3
	}
	w := newMovingWeb(t, seed, 16)
	o := w.folder("data")
	testweb.Crawl(t, o)
	for round := range rounds {
		for range 1 + w.r.IntN(2) {
			w.move()
			allCounted(t, testweb.Crawl(t, testweb.Recrawling(o)))
		}
		allCounted(t, testweb.Crawl(t, testweb.Recrawling(o)))
		if s := testweb.Crawl(t, testweb.Recrawling(o)).Revisits; s.Visited == 0 || s.Unchanged+s.Absent != s.Visited {
			t.Errorf("nothing moved: %+v", s)
		}
		if w.same(o.Dir); t.Failed() {
			t.Fatalf("in round %d", round)
		}
	}
	_, err := upkeep.Rebuild(t.Context(), o.Dir, upkeep.RebuildOptions{})
	testweb.Must(t, err)
	w.same(o.Dir)
	testweb.Must(t, os.RemoveAll(o.Dir))
}

// allCounted checks that each visit of a recrawl was counted by what it found.
func allCounted(t *testing.T, s engine.CrawlStats) {
	t.Helper()
	if r := s.Revisits; r.Visited == 0 || r.Visited != r.Unchanged+r.Changed+r.Left+r.Absent+r.Unconfirmed {
		t.Errorf("%+v", r)
	}
}

// TestIndexCatchesUp: after recrawls that were killed before their first batch, a recrawl of an
// unchanged web completes the index.
func TestIndexCatchesUp(t *testing.T) {
	seed := seedOf(t)
	rounds := 8
	if testing.Short() {
		rounds = 4
	}
	w := newMovingWeb(t, seed, 40)
	o := w.folder("data")
	testweb.Crawl(t, o)
	unheard := testweb.Recrawling(o)
	unheard.NoIndex = true
	for round := range rounds {
		for range 3 { // what is gone is confirmed
			testweb.Crawl(t, unheard)
		}
		testweb.Crawl(t, testweb.Recrawling(o))
		if w.same(o.Dir); t.Failed() {
			t.Fatalf("in round %d", round)
		}
		w.move()
	}
}

// TestHomePageOfTwoNames: a change of a page that has two URLs, of which the other one is visited first,
// is no loss of a page; a third page that becomes a duplicate of them is one.
func TestHomePageOfTwoNames(t *testing.T) {
	w := testweb.New(t)
	pages := func(home, index string) {
		w.Page("one.test/", home)
		w.Page("one.test/index.html", index)
	}
	const links = `<a href="/index.html">home</a> <a href="/other">other</a>`
	const other = `<p>the text of another page <a href="/index.html">home</a> <a href="/third">third</a>`
	w.Page("one.test/other", other)
	w.Page("one.test/third", `<p>a third page <a href="/index.html">home</a>`)
	pages("<p>first text "+links, "<p>first text "+links)
	o := w.Options(t.TempDir(), "http://one.test/")
	testweb.Crawl(t, o)
	for _, c := range []struct {
		home, other string
		left        int64
	}{
		{"<p>second text " + links, other, 0},
		{"<p>third text " + links, other, 0},
		{"<p>third text " + links, "<p>third text " + links, 1},
	} {
		pages(c.home, c.home)
		w.Page("one.test/other", c.other)
		s := testweb.Crawl(t, testweb.Recrawling(o))
		allCounted(t, s)
		if s.Revisits.Left != c.left {
			t.Errorf("%s: %+v", c.home, s.Revisits)
		}
	}
}

// TestUnchanged: what has not changed costs no record, no segment and no link run.
func TestUnchanged(t *testing.T) {
	w := newMovingWeb(t, 1, 16)
	o := w.folder("data")
	testweb.Crawl(t, o)
	before, err := datadir.ReadManifest(o.Dir)
	testweb.Must(t, err)
	w.Requests()
	stats := testweb.Crawl(t, testweb.Recrawling(o))
	after, err := datadir.ReadManifest(o.Dir)
	testweb.Must(t, err)
	if !sameIndex(after, before) {
		t.Errorf("the manifest was %+v, is %+v", before, after)
	}
	if n := len(w.Requests()); n < 17 {
		t.Errorf("%d pages were asked for again", n)
	}
	if stats.Revisits.Visited != stats.Revisits.Unchanged || stats.Revisits.Visited < 17 || stats.Revisits.Changed+stats.Revisits.Left != 0 {
		t.Errorf("%+v", stats.Revisits)
	}
	if asked := w.Requests(); len(asked) > 0 {
		t.Errorf("%v", asked)
	}
}

// TestNotDue: a recrawl with the default bounds, a moment after the crawl, asks for nothing.
func TestNotDue(t *testing.T) {
	w := newMovingWeb(t, 1, 8)
	o := w.folder("data")
	testweb.Crawl(t, o)
	w.Requests()
	o.URLs.Recrawl.Mode = urlserver.RecrawlDue
	testweb.Crawl(t, o)
	if asked := w.Requests(); len(asked) > 0 {
		t.Errorf("asked for %v", asked)
	}
}

// TestHostDown: a recrawl while a host answers nothing, or its name is gone, takes no page from the results.
func TestHostDown(t *testing.T) {
	w := newMovingWeb(t, 1, 12)
	o := w.folder("data")
	testweb.Crawl(t, o)
	want, pages := testweb.Searchable(t, o.Dir), testweb.Fates(t, o.Dir)
	down := func(to http.ResponseWriter, _ *http.Request) { panic(http.ErrAbortHandler) }
	busy := func(to http.ResponseWriter, _ *http.Request) { to.WriteHeader(http.StatusServiceUnavailable) }
	for name, answer := range map[string]http.HandlerFunc{"connections break": down, "503": busy} {
		for _, key := range append([]string{"two.test/robots.txt"}, w.keys...) {
			if strings.HasPrefix(key, "two.test") {
				w.Handle(key, answer)
			}
		}
		for range 3 {
			testweb.Crawl(t, testweb.Recrawling(o))
		}
		testweb.SameLists(t, name, testweb.Searchable(t, o.Dir), want)
		testweb.SameMaps(t, name, testweb.Fates(t, o.Dir), pages)
		testweb.Checked(t, o.Dir)
	}
	w.Web.Mu.Lock()
	delete(w.Hosts, "two.test")
	w.Web.Mu.Unlock()
	for range 3 {
		testweb.Crawl(t, testweb.Recrawling(o))
	}
	testweb.SameLists(t, "no name", testweb.Searchable(t, o.Dir), want)
}

// TestConfirmGone: a page that is not found once stays, be it 404 or 410; twice, it leaves. When it
// comes back it is found again, with the links of pages that did not change.
func TestConfirmGone(t *testing.T) {
	w := testweb.New(t)
	w.Page("one.test/", "<a href=/lost>the lost heron</a> <a href=/gone>the gone heron</a>")
	lost := func() { w.Page("one.test/lost", "<title>l</title><p>kingfisher") }
	gone := func() { w.Page("one.test/gone", "<title>g</title><p>kingfisher too") }
	lost()
	gone()
	o := w.Options(filepath.Join(t.TempDir(), "data"), "http://one.test/")
	testweb.Crawl(t, o)
	s := testweb.OpenSearcher(t, o.Dir)
	found := func(query string, want ...string) {
		t.Helper()
		_, err := s.Refresh()
		testweb.Must(t, err)
		got := map[string]int{}
		for _, url := range testweb.URLs(testweb.Results(t, s, query)) {
			got[url]++
		}
		if len(got) != len(want) {
			t.Errorf("%s: %v, want %v", query, got, want)
		}
		for _, url := range want {
			if got["http://one.test/"+url] != 1 {
				t.Errorf("%s: %v, want %v", query, got, want)
			}
		}
	}
	found("kingfisher", "lost", "gone")
	w.Handle("one.test/lost", http.NotFound)
	w.Handle("one.test/gone", func(to http.ResponseWriter, _ *http.Request) { to.WriteHeader(http.StatusGone) })
	testweb.Crawl(t, testweb.Recrawling(o))
	found("kingfisher", "lost", "gone")
	if trace := testweb.TraceOf(t, o.Dir, "http://one.test/lost"); !strings.Contains(trace, "not found the last time") {
		t.Errorf("%s", trace)
	}
	testweb.Crawl(t, testweb.Recrawling(o))
	found("kingfisher")
	found("heron", "")
	if r := testweb.Crawl(t, testweb.Recrawling(o)).Revisits; r.Visited != 3 || r.Unchanged != 1 || r.Absent != 2 {
		t.Errorf("two dead links as before: %+v", r)
	}
	lost()
	gone()
	testweb.Crawl(t, testweb.Recrawling(o))
	found("kingfisher", "lost", "gone")
	found("heron kingfisher", "lost", "gone")
}
