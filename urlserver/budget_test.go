package urlserver

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"anatomy/disk/docindex"
	"anatomy/vocab"
	"anatomy/weburl"
)

// sitemaps adds n sitemaps of a host.
func (b *bench) sitemaps(host string, n int) []vocab.DocID {
	var found []Found
	for i := range n {
		u := mustParse(b.t, fmt.Sprintf("http://%s/sitemap%d.xml", host, i))
		found = append(found, Found{URL: u, Kind: vocab.SitemapTarget})
	}
	return b.add(found...)
}

// TestSitemapsShareTurns: of a site with thousands of sitemaps, four of five requests are for pages
// while pages are queued. Sitemaps go on alone when no page is.
func TestSitemapsShareTurns(t *testing.T) {
	for _, leaseSize := range []int{1, 7, 32} {
		b := newBench(t, Options{Scope: weburl.AnyScope, Delay: -1, LeaseSize: leaseSize})
		b.sitemaps("a.test", 900)
		b.links("http://a.test/%d", 400)
		order := ""
		for {
			l, wait, ok := b.s.Grant(b.now)
			if !ok && wait == 0 {
				break
			}
			for _, target := range l.URLs {
				order += string("ps"[target.Kind])
				b.done(Result{Doc: target.Doc, Outcome: vocab.Fetched, Status: 200})
			}
			b.release(l, vocab.HostReport{})
		}
		if want := strings.Repeat("spppp", 100) + strings.Repeat("s", 800); order != want {
			t.Errorf("leases of %d: %s", leaseSize, order)
		}
		b.check()
	}
}

// TestPagesEndCrawlWithSitemaps: a crawl that has its pages ends, however many sitemaps wait.
func TestPagesEndCrawlWithSitemaps(t *testing.T) {
	b := newBench(t, Options{Scope: weburl.AnyScope, Delay: -1, MaxPages: 8})
	b.sitemaps("a.test", 900)
	b.links("http://a.test/%d", 400)
	page := func(url string) shownPage { return shownPage{text: lines(uint32(len(url)))} }
	if n := len(b.walk(page)); n > 8+3 {
		t.Errorf("%d URLs were fetched", n)
	}
}

// TestSitemapBounds: a site has at most maxSitemaps sitemaps, of at most maxSitemapBytes.
func TestSitemapBounds(t *testing.T) {
	b := newBench(t, Options{Scope: weburl.AnyScope, Delay: -1})
	docs := b.sitemaps("a.test", 1001)
	b.record(docs[999], docindex.Queued)
	if r := b.record(docs[1000], docindex.Trapped); r.Trap != docindex.OverSitemaps {
		t.Errorf("%s", r.Trap)
	}
	l, _, _ := b.s.Grant(b.now)
	b.done(Result{Doc: l.URLs[0].Doc, Outcome: vocab.Fetched, Bytes: 1 << 30})
	for _, target := range l.URLs[1:] {
		b.done(Result{Doc: target.Doc, Outcome: vocab.Skipped})
	}
	b.release(l, vocab.HostReport{})
	b.reopen(Options{Scope: weburl.AnyScope, Delay: -1}) // it is on disk
	b.none(0)
	if st := b.s.Stats(); st.Traps[docindex.OverSitemaps] != 1000 || st.Queued != 0 {
		t.Errorf("%d refused, %d queued", st.Traps[docindex.OverSitemaps], st.Queued)
	}
	b.check()
}

// breed fetches everything that is queued. Each page takes some bytes and time, and leads to as
// many pages that were never seen before, until there are total pages.
func (b *bench) breed(links, total int) (fetched int) {
	b.t.Helper()
	known := 1
	for {
		l, wait, ok := b.s.Grant(b.now)
		if !ok && wait == 0 {
			return fetched
		}
		for _, target := range l.URLs {
			fetched++
			var found []Found
			for range min(links, total-known) {
				known++
				u := mustParse(b.t, fmt.Sprintf("http://a.test/%d", known))
				found = append(found, Found{URL: u, Depth: target.Depth + 1, On: target.Doc})
			}
			b.add(found...)
			b.done(Result{
				Doc: target.Doc, Outcome: vocab.Fetched, Status: 200, Address: 1,
				Content: vocab.ContentID{byte(target.Doc), byte(target.Doc >> 8), byte(target.Doc >> 16)},
				Bytes:   1000, Parsing: time.Millisecond,
			})
		}
		if ok {
			b.release(l, vocab.HostReport{})
		}
	}
}

// TestSiteBudgets: a site that breeds URLs ends by each of its budgets. Its URLs say which; a run
// with a larger budget goes on.
func TestSiteBudgets(t *testing.T) {
	urls := func(n int64) Budget { return Budget{URLs: n, Bytes: -1, Parsing: -1} }
	bytes := func(n int64) Budget { return Budget{URLs: -1, Bytes: n, Parsing: -1} }
	parsing := func(d time.Duration) Budget { return Budget{URLs: -1, Bytes: -1, Parsing: d} }
	for _, c := range []struct {
		name    string
		budget  Budget
		larger  Budget
		links   int // of each page
		fetched int // about
		spent   docindex.Budget
	}{
		{"URLs", urls(500), urls(900), 4, 501, docindex.URLBudget},
		{"URLs found", urls(500), urls(900), 20, 125, docindex.FoundBudget},
		{"bytes", bytes(300_000), bytes(400_000), 5, 300, docindex.ByteBudget},
		{"parsing", parsing(200 * time.Millisecond), parsing(time.Second), 5, 200, docindex.ParsingBudget},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := Options{Delay: -1, MaxDepth: 1 << 15, SiteBudget: c.budget}
			b := newBench(t, o)
			b.seed("http://a.test/")
			n := b.breed(c.links, 10_000)
			if n < c.fetched || n > c.fetched+32 { // a lease more
				t.Errorf("%d pages were fetched, want %d", n, c.fetched)
			}
			usage, err := b.s.Site("a.test")
			if err != nil || usage.Spent != c.spent {
				t.Errorf("%+v, %v", usage, err)
			}
			st := b.s.Stats()
			refused, waiting := st.Traps[docindex.OverURLs], st.Waiting[c.spent.String()]
			isURLs := c.budget.URLs > 0
			if (refused > 0) != isURLs || (waiting > 0) != c.spent.EndsSite() {
				t.Errorf("%d refused, waiting %v", refused, st.Waiting)
			}
			b.check()
			b.reopen(o)
			b.none(0)
			o.SiteBudget = c.larger
			b.reopen(o)
			if again := b.breed(0, 0); again < 50 {
				t.Errorf("with a larger budget %d more pages were fetched", again)
			}
			b.check()
		})
	}
}

// TestBudgetsOfSites: a budget is that of all hosts of a site and of no other site, and pages that
// are visited again do not count.
func TestBudgetsOfSites(t *testing.T) {
	o := watching(time.Hour, day)
	o.Scope, o.SiteBudget = weburl.AnyScope, Budget{URLs: 3, Bytes: 100}
	b := newBench(t, o)
	b.link("http://a.test/1", "http://www.a.test/1")
	third, fourth := b.link("http://shop.a.test/1")[0], b.link("http://a.test/2")[0]
	b.record(third, docindex.Queued)
	b.record(fourth, docindex.Trapped)
	b.record(b.link("http://c.test/")[0], docindex.Queued)
	b.record(b.seed("http://a.test/seed")[0], docindex.Queued)
	page := Result{Outcome: vocab.Fetched, Bytes: 60, Address: 1, Content: vocab.ContentID{1}}
	visits := 0
	for range 4 {
		for l, _, ok := b.s.Grant(b.now); ok; l, _, ok = b.s.Grant(b.now) {
			for _, target := range l.URLs {
				if l.Site == "a.test" {
					visits++
				}
				page.Doc, page.Content = target.Doc, vocab.ContentID{byte(target.Doc)}
				b.done(page)
			}
			b.release(l, vocab.HostReport{})
		}
		b.pass(2 * day)
	}
	if usage, err := b.s.Site("a.test"); err != nil || usage.Bytes > 240 || usage.URLs != 3 {
		t.Errorf("%+v, %v", usage, err)
	}
	if visits < 8 {
		t.Errorf("%d visits", visits)
	}
	b.check()
}
