package urlserver

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"anatomy/disk/docindex"
	"anatomy/vocab"
	"anatomy/weburl"
)

// A bench is a server in memory with a clock of its own.
type bench struct {
	t   *testing.T
	s   *Server
	fs  *vfs.MemFS
	now time.Time
}

func newBench(t *testing.T, o Options) *bench {
	b := &bench{t: t, fs: vfs.NewMem(), now: epoch}
	b.open(o)
	t.Cleanup(func() { b.s.Close() })
	return b
}

func (b *bench) open(o Options) {
	b.t.Helper()
	o.FS = b.fs
	var err error
	if b.s, err = Open("data", o); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) reopen(o Options) {
	b.t.Helper()
	if err := b.s.Close(); err != nil {
		b.t.Fatal(err)
	}
	b.open(o)
}

func (b *bench) add(found ...Found) []vocab.DocID {
	b.t.Helper()
	docs, err := b.s.Add(found)
	if err != nil {
		b.t.Fatal(err)
	}
	return docs
}

func (b *bench) seed(urls ...string) []vocab.DocID {
	b.t.Helper()
	var found []Found
	for _, u := range urls {
		found = append(found, Found{URL: mustParse(b.t, u), Seed: true})
	}
	return b.add(found...)
}

func (b *bench) link(urls ...string) []vocab.DocID {
	b.t.Helper()
	var found []Found
	for _, u := range urls {
		found = append(found, Found{URL: mustParse(b.t, u), Depth: 1})
	}
	return b.add(found...)
}

// take expects a lease of just these URLs.
func (b *bench) take(urls ...string) vocab.Lease {
	b.t.Helper()
	l, wait, ok := b.s.Grant(b.now)
	var got []string
	for _, target := range l.URLs {
		got = append(got, target.URL)
	}
	if !ok || !slices.Equal(got, urls) {
		b.t.Fatalf("Grant: %q, %v, %v, %v; want %q", got, wait, ok, b.s.Err(), urls)
	}
	return l
}

// none expects no lease and this wait.
func (b *bench) none(want time.Duration) {
	b.t.Helper()
	if l, wait, ok := b.s.Grant(b.now); ok || wait != want {
		b.t.Fatalf("Grant: %+v, wait %v; want none, wait %v", l, wait, want)
	}
}

func (b *bench) done(results ...Result) {
	b.t.Helper()
	if err := b.s.Complete(b.now, results); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) release(l vocab.Lease, report vocab.HostReport) {
	b.t.Helper()
	report.Lease = l.ID
	if err := b.s.Release(b.now, report); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) pass(d time.Duration) { b.now = b.now.Add(d) }

// record expects a document to be in a state.
func (b *bench) record(doc vocab.DocID, want docindex.State) docindex.Record {
	b.t.Helper()
	r, ok, err := b.s.Get(doc)
	if !ok || err != nil || r.State != want {
		b.t.Fatalf("document %d: %v, %v, %v; want %v", doc, r.String(), ok, err, want)
	}
	return r
}

func (b *bench) check() {
	b.t.Helper()
	if err := b.s.Check(func(p string) { b.t.Error(p) }); err != nil {
		b.t.Error(err)
	}
}

func TestBreadthFirst(t *testing.T) {
	b := newBench(t, Options{Policy: BreadthFirst})
	b.seed("http://a.test/")
	b.add(Found{URL: mustParse(t, "http://a.test/2"), Depth: 2}, Found{URL: mustParse(t, "http://a.test/1"), Depth: 1},
		Found{URL: mustParse(t, "http://a.test/1b"), Depth: 1}, Found{URL: mustParse(t, "http://a.test/map.xml"), Kind: vocab.SitemapTarget, Depth: 9})
	b.take("http://a.test/map.xml", "http://a.test/", "http://a.test/1", "http://a.test/1b", "http://a.test/2")
	b.none(time.Second)
}

func TestPoliteness(t *testing.T) {
	for _, c := range []struct {
		name   string
		o      Options
		report vocab.HostReport
		want   time.Duration
	}{
		{"floor", Options{}, vocab.HostReport{}, time.Second},
		{"fast answer", Options{}, vocab.HostReport{AnswerTime: 100 * time.Millisecond}, time.Second},
		{"slow answer", Options{}, vocab.HostReport{AnswerTime: time.Second}, 5 * time.Second},
		{"very slow answer", Options{}, vocab.HostReport{AnswerTime: time.Minute}, time.Minute},
		{"crawl delay", Options{}, vocab.HostReport{CrawlDelay: 20 * time.Second}, 20 * time.Second},
		{"long crawl delay", Options{}, vocab.HostReport{CrawlDelay: time.Hour}, time.Minute},
		{"no floor", Options{Delay: -1}, vocab.HostReport{AnswerTime: time.Second}, 0},
		{"no floor, crawl delay", Options{Delay: -1}, vocab.HostReport{CrawlDelay: 3 * time.Second}, 3 * time.Second},
		{"held", Options{}, vocab.HostReport{HoldFor: 90 * time.Second, Reason: "429"}, 90 * time.Second},
		{"held long", Options{}, vocab.HostReport{HoldFor: 48 * time.Hour}, 24 * time.Hour},
	} {
		c.o.LeaseSize = 1
		b := newBench(t, c.o)
		b.seed("http://a.test/1", "http://www.a.test/2")
		l := b.take("http://a.test/1")
		b.none(maxWait) // the site is being read
		b.done(Result{Doc: 1, Outcome: vocab.Fetched})
		b.release(l, c.report)
		if c.want > 0 {
			b.none(c.want)
			b.pass(c.want - 1)
			b.none(time.Millisecond)
			b.pass(1)
		}
		l = b.take("http://www.a.test/2")
		b.done(Result{Doc: 2, Outcome: vocab.Fetched})
		b.release(l, vocab.HostReport{})
		b.none(0)
	}
}

func TestPerSiteConnections(t *testing.T) {
	b := newBench(t, Options{Delay: -1, PerSite: 2, LeaseSize: 1})
	b.seed("http://a.test/1", "http://a.test/2", "http://a.test/3")
	l := b.take("http://a.test/1")
	b.take("http://a.test/2")
	b.none(maxWait)
	b.release(l, vocab.HostReport{})
	l = b.take("http://a.test/3")
	b.link("http://a.test/4", "http://a.test/5")
	b.release(l, vocab.HostReport{}) // queues the site
	l = vocab.Lease{ID: 2}
	b.release(l, vocab.HostReport{HoldFor: time.Minute}) // and this holds it
	b.none(maxWait)
	b.pass(time.Minute)
	b.take("http://a.test/4")
}

// TestShares: the leases of a site share its queue.
func TestShares(t *testing.T) {
	b := newBench(t, Options{Delay: -1, PerSite: 2})
	b.seed("http://a.test/1", "http://a.test/2", "http://a.test/3", "http://a.test/4", "http://a.test/5")
	b.take("http://a.test/1", "http://a.test/2", "http://a.test/3")
	l := b.take("http://a.test/4")
	b.none(maxWait)
	b.release(l, vocab.HostReport{})
	l = b.take("http://a.test/5")
	b.release(l, vocab.HostReport{CrawlDelay: time.Second})
	b.link("http://a.test/6", "http://a.test/7")
	b.none(time.Second)
	b.pass(time.Second)
	b.none(maxWait) // with a delay there is one lease at a time
}

func TestRetry(t *testing.T) {
	b := newBench(t, Options{Delay: -1})
	b.seed("http://a.test/")
	for try, wait := range []time.Duration{time.Second, 10 * time.Second, time.Minute} {
		l := b.take("http://a.test/")
		if int(l.URLs[0].Tries) != try {
			t.Errorf("try %d is called %d", try, l.URLs[0].Tries)
		}
		b.done(Result{Doc: 1, Outcome: vocab.Failed, Status: 500, Reason: "500"})
		b.release(l, vocab.HostReport{})
		b.record(1, docindex.Waiting)
		b.none(wait)
		w := b.s.Outlook(b.now, 3)
		if len(w.Hosts) != 1 || w.Count != 1 || w.Hosts[0].Queued != 1 || !w.Hosts[0].Until.Equal(b.now.Add(wait)) || w.Retries["in trouble: 500"] != 1 ||
			!w.Next.Equal(b.now.Add(wait)) {
			t.Errorf("try %d: %+v", try, w)
		}
		b.pass(wait)
	}
	b.take("http://a.test/")
	b.done(Result{Doc: 1, Outcome: vocab.Failed, Status: 500, Reason: "500"})
	if r := b.record(1, docindex.GivenUp); r.Fetch.Reason != "500" || r.Fetch.Status != 500 {
		t.Errorf("%+v", r.Fetch)
	}
	if got := b.s.Stats().States[docindex.GivenUp]; got != 1 {
		t.Errorf("%d URLs lost", got)
	}
	b.check()
	b.seed("http://a.test/") // the same command again
	b.reopen(Options{Delay: -1})
	b.take("http://a.test/")
}

func TestRetryAfter(t *testing.T) {
	b := newBench(t, Options{Delay: -1, Retry: []time.Duration{time.Second}})
	b.seed("http://a.test/")
	l := b.take("http://a.test/")
	b.done(Result{Doc: 1, Outcome: vocab.Failed, Status: 503, Reason: "503", RetryAfter: 2 * time.Minute})
	b.release(l, vocab.HostReport{})
	b.none(2 * time.Minute)
}

// Retry-After counts, shorter or longer than the back-off, up to a day.
func TestRetryAfterIsTheHosts(t *testing.T) {
	for asked, want := range map[time.Duration]time.Duration{time.Second: time.Second, time.Hour: time.Hour, 100 * time.Hour: 24 * time.Hour} {
		b := newBench(t, Options{Delay: -1, LeaseSize: 1, Backoff: 5 * time.Second})
		b.seed("http://a.test/1", "http://a.test/2")
		for _, url := range []string{"http://a.test/1", "http://a.test/2"} {
			l := b.take(url)
			b.done(Result{Doc: l.URLs[0].Doc, Outcome: vocab.Failed, Status: 503, Reason: "503", RetryAfter: asked})
			b.release(l, vocab.HostReport{})
			b.none(want)
			b.pass(want)
		}
		b.take("http://a.test/1")
	}
}

func TestSkippedGoesBack(t *testing.T) {
	b := newBench(t, Options{Delay: -1})
	b.seed("http://a.test/1", "http://a.test/2", "http://a.test/3")
	l := b.take("http://a.test/1", "http://a.test/2", "http://a.test/3")
	b.done(Result{Doc: 1, Outcome: vocab.Skipped}, Result{Doc: 2, Outcome: vocab.Fetched})
	b.release(l, vocab.HostReport{})
	b.seed("http://a.test/4")
	l = b.take("http://a.test/1", "http://a.test/4") // 3 is still in flight
	b.release(l, vocab.HostReport{})
	b.done(Result{Doc: 3, Outcome: vocab.Skipped})
	b.take("http://a.test/3")
	b.check()
}

func TestSilentHostIsGivenUp(t *testing.T) {
	b := newBench(t, Options{Delay: -1, LeaseSize: 2, HostTries: 3, Backoff: time.Second})
	var urls []string
	for i := range 20 {
		urls = append(urls, fmt.Sprintf("http://dead.test/%d", i))
	}
	b.seed(urls...)
	for round, hold := range []time.Duration{time.Second, 2 * time.Second, 4 * time.Second} {
		l, _, ok := b.s.Grant(b.now)
		if !ok || len(l.URLs) != 2 {
			t.Fatalf("round %d: %v", round, l)
		}
		b.done(Result{Doc: l.URLs[0].Doc, Outcome: vocab.Failed, Reason: "connection refused"},
			Result{Doc: l.URLs[1].Doc, Outcome: vocab.Failed, Reason: "connection refused"})
		if _, _, ok := b.s.Grant(b.now.Add(hold - 1)); ok {
			t.Fatalf("round %d: the host is not left alone", round)
		}
		b.release(l, vocab.HostReport{})
		b.pass(hold)
	}
	b.pass(time.Hour)
	b.none(0)
	const reason = "host gave no answer 3 times in a row: connection refused"
	if st := b.s.Stats(); st.States[docindex.GivenUp] != 20 {
		t.Errorf("%+v", st)
	}
	late := b.link("http://dead.test/late")
	if r := b.record(late[0], docindex.GivenUp); r.Fetch.Reason != reason {
		t.Errorf("%+v", r.Fetch)
	}
	b.check()
}

// TestFailingHostIsGivenUp: a host of many pages that answers each request with a failure, quickly or
// slowly, ends within hours and after few requests, and the reason says so. One page in time, and
// the host goes on to be asked. A host that answers is asked for an hour at least.
func TestFailingHostIsGivenUp(t *testing.T) {
	const pages = 5000
	slow := Result{Outcome: vocab.Failed, Status: 200, Reason: "slower than 100 bytes a second"}
	busy := Result{Outcome: vocab.Failed, Status: 503, Reason: "503"}
	day, quarter := busy, busy
	day.RetryAfter, quarter.RetryAfter = 24*time.Hour, 15*time.Minute
	for _, c := range []struct {
		name   string
		result Result
		took   time.Duration
		least  time.Duration // until it is given up
		most   time.Duration
	}{
		{"500", Result{Outcome: vocab.Failed, Status: 500, Reason: "500"}, 100 * time.Millisecond, time.Hour, 2 * time.Hour},
		{"slow bodies", slow, 10 * time.Second, time.Hour, 2 * time.Hour},
		{"slowest bodies", slow, time.Minute, time.Hour, 2 * time.Hour},
		{"503", busy, 100 * time.Millisecond, time.Hour, 2 * time.Hour},
		{"503 for minutes", quarter, 100 * time.Millisecond, time.Hour, 3 * time.Hour},
		{"503 for a day", day, 100 * time.Millisecond, 24 * time.Hour, 49 * time.Hour},
		{"no answer", Result{Outcome: vocab.Failed, Reason: "EOF"}, time.Minute, 0, time.Hour},
	} {
		for _, recovers := range []bool{false, true} {
			if recovers && c.least == 0 {
				continue
			}
			b := newBench(t, Options{})
			var urls []string
			for i := range pages {
				urls = append(urls, fmt.Sprintf("http://a.test/%d", i))
			}
			b.seed(urls...)
			requests := b.visitAll(func(target vocab.Target) (Result, time.Duration) {
				if recovers && b.now.Sub(epoch) >= c.least-time.Minute {
					return Result{Outcome: vocab.Fetched, Status: 200}, 100 * time.Millisecond
				}
				return c.result, c.took
			})
			took, lost := b.now.Sub(epoch), b.s.Stats().States[docindex.GivenUp]
			if recovers {
				if lost > pages/2 {
					t.Errorf("%s, recovered: %d URLs given up after %v", c.name, lost, took)
				}
				continue
			}
			if lost != pages || took < c.least || took > c.most || requests > 5000 {
				t.Errorf("%s: %d URLs given up after %v and %d requests", c.name, lost, took, requests)
			}
			b.check()
		}
	}
}

// visitAll visits URLs, one after the other, until the crawl ends, and returns their number. visit
// returns the result for one and how long it took.
func (b *bench) visitAll(visit func(vocab.Target) (Result, time.Duration)) (requests int) {
	b.t.Helper()
	for {
		l, wait, ok := b.s.Grant(b.now)
		if !ok && wait == 0 {
			return requests
		}
		if !ok {
			b.pass(wait)
			continue
		}
		report, paused := vocab.HostReport{}, false
		for _, target := range l.URLs {
			if paused {
				b.done(Result{Doc: target.Doc, Outcome: vocab.Skipped})
				continue
			}
			r, took := visit(target)
			r.Doc = target.Doc
			requests++
			b.pass(took)
			b.done(r)
			report.AnswerTime = took
			if paused = overloaded(r.Status); paused {
				report.HoldFor = max(r.RetryAfter, 30*time.Second)
			} else {
				b.pass(l.Delay)
			}
		}
		b.release(l, report)
	}
}

func TestUnknownNameIsGivenUp(t *testing.T) {
	b := newBench(t, Options{Delay: -1, LeaseSize: 2})
	b.seed("http://no.test/1", "http://no.test/2", "http://no.test/3")
	l := b.take("http://no.test/1", "http://no.test/2")
	b.done(Result{Doc: 1, Outcome: vocab.NoName, Reason: "no such host"}, Result{Doc: 2, Outcome: vocab.Skipped})
	b.release(l, vocab.HostReport{HoldFor: time.Hour})
	b.none(0)
	b.record(1, docindex.Finished)
	b.record(2, docindex.GivenUp)
	b.record(3, docindex.GivenUp)
	b.check()
}

// TestSeedsAreRetried: a seed that was refused, given up, had no name or needed a sign-in is queued again
// by the next run that names it, and by no other; one that was found, forbidden or gone is not.
func TestSeedsAreRetried(t *testing.T) {
	o := Options{Delay: -1, Retry: []time.Duration{}}
	b := newBench(t, o)
	seeds := []string{"http://a.test/", "http://b.test/", "http://c.test/", "http://d.test/", "http://e.test/", "http://f.test/", "http://g.test/"}
	b.seed(seeds...)
	for i, r := range []Result{{Outcome: vocab.Refused, Reason: "private"}, {Outcome: vocab.NoName}, {Outcome: vocab.Failed}, {Outcome: vocab.NotFound, Status: 401}, {Outcome: vocab.Fetched}, {Outcome: vocab.Forbidden}, {Outcome: vocab.NotFound}} {
		l := b.take(seeds[i])
		r.Doc = vocab.DocID(i + 1)
		b.done(r)
		b.release(l, vocab.HostReport{})
	}
	b.reopen(o)
	b.none(0)
	b.seed(append(seeds, seeds...)...) // as from a file of rules and from the command line
	for _, seed := range seeds[:4] {
		b.take(seed)
	}
	b.none(maxWait)
	b.done(Result{Doc: 1, Outcome: vocab.Fetched}, Result{Doc: 2, Outcome: vocab.Fetched}, Result{Doc: 3, Outcome: vocab.Fetched}, Result{Doc: 4, Outcome: vocab.Fetched})
	b.check()
}

func TestMaxPages(t *testing.T) {
	o := Options{Delay: -1, MaxPages: 3, LeaseSize: 2, Retry: []time.Duration{}}
	b := newBench(t, o)
	b.seed("http://a.test/1", "http://a.test/2", "http://a.test/3", "http://b.test/1", "http://b.test/2")
	l := b.take("http://a.test/1", "http://a.test/2")
	l2 := b.take("http://b.test/1")
	b.none(maxWait) // three are in flight
	b.done(Result{Doc: 1, Outcome: vocab.Fetched}, Result{Doc: 2, Outcome: vocab.NotFound, Status: 404}, Result{Doc: 4, Outcome: vocab.Fetched, Alias: 1})
	b.release(l, vocab.HostReport{})
	b.release(l2, vocab.HostReport{})
	b.reopen(o)
	b.take("http://a.test/3")
	b.take("http://b.test/2")
	b.done(Result{Doc: 3, Outcome: vocab.Fetched}, Result{Doc: 5, Outcome: vocab.Fetched})
	b.link("http://a.test/4")
	if b.s.Stats().Pages != 3 {
		t.Errorf("%d pages", b.s.Stats().Pages)
	}
	o.MaxPages = 4
	b.reopen(o)
	b.take("http://a.test/4")
	b.check()
}

func TestPagesPerHost(t *testing.T) {
	o := Options{Delay: -1, PagesPerHost: 2}
	b := newBench(t, o)
	b.seed("http://a.test/1", "http://a.test/2", "http://a.test/3", "http://b.test/")
	l := b.take("http://a.test/1", "http://a.test/2")
	b.done(Result{Doc: 1, Outcome: vocab.Fetched}, Result{Doc: 2, Outcome: vocab.NotFound})
	b.release(l, vocab.HostReport{})
	l = b.take("http://b.test/")
	b.done(Result{Doc: 4, Outcome: vocab.Fetched})
	b.release(l, vocab.HostReport{})
	b.reopen(o)
	l = b.take("http://a.test/3")
	b.done(Result{Doc: 3, Outcome: vocab.Fetched})
	b.release(l, vocab.HostReport{})
	b.link("http://a.test/4")
	b.none(0)
	if st := b.s.Stats(); st.Waiting["page limit of the host"] != 1 {
		t.Errorf("%+v", st)
	}
}

func TestScopeWidens(t *testing.T) {
	b := newBench(t, Options{Policy: BreadthFirst, Delay: -1, Scope: weburl.HostScope, Exclude: []string{"*/private/*"}})
	b.seed("http://a.test/")
	docs := b.link("http://www.a.test/", "http://b.test/", "http://a.test/private/x", "http://a.test/y")
	b.take("http://a.test/", "http://a.test/y")
	for _, doc := range docs[:3] {
		b.record(doc, docindex.OutOfScope)
	}
	b.check()
	b.reopen(Options{Delay: -1, Scope: weburl.DomainScope})
	b.record(docs[0], docindex.Queued)
	b.record(docs[1], docindex.OutOfScope)
	b.record(docs[2], docindex.Queued)
	b.check()
	b.seed("http://b.test/other") // its site comes into scope
	b.record(docs[1], docindex.Queued)
	b.check()
	b.reopen(Options{Delay: -1, Scope: weburl.PageScope})
	for _, doc := range docs {
		b.record(doc, docindex.OutOfScope)
	}
	b.check()
	b.take("http://a.test/")
	b.take("http://b.test/other")
}

func TestNoFollow(t *testing.T) {
	b := newBench(t, Options{Delay: -1})
	b.seed("http://a.test/")
	u := mustParse(t, "http://a.test/x")
	doc := b.add(Found{URL: u, Depth: 5, NoFollow: true})[0]
	b.record(doc, docindex.NoFollowed)
	b.add(Found{URL: u, Depth: 1, NoFollow: true})
	b.reopen(Options{Delay: -1})
	b.release(b.take("http://a.test/"), vocab.HostReport{})
	if again := b.link("http://a.test/x"); again[0] != doc {
		t.Errorf("document %d became %d", doc, again[0])
	}
	if r := b.record(doc, docindex.Queued); r.Depth != 1 {
		t.Errorf("depth %d", r.Depth)
	}
	b.take("http://a.test/x")
	b.check()
}

func TestTooDeep(t *testing.T) {
	b := newBench(t, Options{Delay: -1, MaxDepth: 3})
	b.seed("http://a.test/")
	deep := func(depth uint16) Found {
		return Found{URL: mustParse(t, fmt.Sprintf("http://a.test/%d", depth)), Depth: depth}
	}
	docs := b.add(deep(3), deep(4))
	b.record(docs[0], docindex.Queued)
	b.record(docs[1], docindex.Trapped)
	b.reopen(Options{Delay: -1, MaxDepth: 4})
	b.record(docs[1], docindex.Queued)
}

func TestHTTPSPreferred(t *testing.T) {
	b := newBench(t, Options{Delay: -1, LeaseSize: 1})
	b.seed("http://a.test/1", "http://a.test/2", "http://a.test:8080/3")
	l := b.take("http://a.test/1")
	b.release(l, vocab.HostReport{HTTPS: true})
	b.done(Result{Doc: 1, Outcome: vocab.Redirected, Status: 301, Alias: 1, Location: "https://a.test/1"})
	b.take("http://a.test:8080/3")
	b.done(Result{Doc: 3, Outcome: vocab.Skipped})
	b.reopen(Options{Delay: -1})
	b.take("https://a.test/2", "https://a.test/1")
	b.done(Result{Doc: 2, Outcome: vocab.Fetched}, Result{Doc: 1, Outcome: vocab.Fetched})
	if r := b.record(2, docindex.Finished); r.URL != "https://a.test/2" {
		t.Errorf("document 2 is %s", r.URL)
	}
	if r, ok, err := b.s.Lookup(mustParse(t, "http://a.test/1")); !ok || err != nil || r.URL != "https://a.test/1" {
		t.Errorf("%v %v %v", r.String(), ok, err)
	}
	b.check()
}

func TestRedirectToItself(t *testing.T) {
	b := newBench(t, Options{Delay: -1})
	b.seed("http://a.test/1", "http://a.test/2")
	l := b.take("http://a.test/1", "http://a.test/2")
	b.release(l, vocab.HostReport{})
	b.done(Result{Doc: 1, Outcome: vocab.Redirected, Alias: 1, Location: "https://a.test/1"},
		Result{Doc: 2, Outcome: vocab.Redirected, Alias: 2, Location: "http://a.test/2"})
	if r := b.record(2, docindex.Finished); r.Fetch.Outcome != vocab.NotFound || r.Fetch.Reason != redirectsToSelf {
		t.Errorf("%+v", r.Fetch)
	}
	b.release(b.take("https://a.test/1"), vocab.HostReport{})
	b.done(Result{Doc: 1, Outcome: vocab.Redirected, Alias: 1, Location: "http://a.test/1"})
	if r := b.record(1, docindex.Finished); r.Fetch.Outcome != vocab.NotFound {
		t.Errorf("%+v", r.Fetch)
	}
	b.none(0)
	b.check()
}

func TestRedirectChain(t *testing.T) {
	b := newBench(t, Options{Delay: -1})
	from := b.seed("http://a.test/0")[0]
	for i := 1; ; i++ {
		if _, _, ok := b.s.Grant(b.now); !ok {
			t.Fatal("no lease")
		}
		to := b.add(Found{URL: mustParse(t, fmt.Sprintf("http://a.test/%d", i)), From: from})[0]
		b.done(Result{Doc: from, Outcome: vocab.Redirected, Alias: to})
		r, _, _ := b.s.Get(from)
		b.release(vocab.Lease{ID: uint64(i)}, vocab.HostReport{})
		if r.Fetch.Outcome == vocab.NotFound {
			if i != maxRedirects+1 || r.Fetch.Reason != tooManyRedirects {
				t.Errorf("after %d redirects: %q", i, r.Fetch.Reason)
			}
			b.record(to, docindex.Finished)
			break
		}
		from = to
	}
	if c, err := b.s.Canonical(1); c != from || err != nil {
		t.Errorf("Canonical: %d, %v; want %d", c, err, from)
	}
	b.none(0)
	b.check()
}

func TestCanonicalOfRing(t *testing.T) {
	b := newBench(t, Options{Delay: -1})
	b.seed("http://a.test/1", "http://a.test/2", "http://a.test/3", "http://a.test/4")
	b.s.Grant(b.now)
	b.done(Result{Doc: 1, Outcome: vocab.Redirected, Alias: 4}, Result{Doc: 4, Outcome: vocab.Redirected, Alias: 3},
		Result{Doc: 3, Outcome: vocab.Redirected, Alias: 2}, Result{Doc: 2, Outcome: vocab.Redirected, Alias: 3})
	for _, doc := range []vocab.DocID{1, 2, 3, 4} {
		if c, err := b.s.Canonical(doc); c != 2 || err != nil {
			t.Errorf("Canonical(%d) = %d, %v", doc, c, err)
		}
	}
	if c, err := b.s.Canonical(99); c != 99 || err != nil {
		t.Errorf("Canonical of an unknown document: %d, %v", c, err)
	}
}

func TestContent(t *testing.T) {
	b := newBench(t, Options{Delay: -1})
	b.seed("http://a.test/1", "http://a.test/2")
	b.s.Grant(b.now)
	id := vocab.ContentID{7}
	b.done(Result{Doc: 2, Outcome: vocab.Fetched, Content: id})
	b.done(Result{Doc: 1, Outcome: vocab.Fetched, Content: id, Alias: 2})
	if doc, ok, err := b.s.ByContent(id); doc != 2 || !ok || err != nil {
		t.Errorf("%d %v %v", doc, ok, err)
	}
	b.check()
}

func TestSitemapsOfRobots(t *testing.T) {
	b := newBench(t, Options{Delay: -1, LeaseSize: 1})
	b.seed("http://a.test/1", "http://a.test/2")
	l := b.take("http://a.test/1")
	b.release(l, vocab.HostReport{Sitemaps: []string{"http://a.test/map.xml", "http://elsewhere.test/map.xml", "nonsense"}})
	b.take("http://a.test/map.xml")
}

func TestDoneOfStrangers(t *testing.T) {
	b := newBench(t, Options{Delay: -1})
	b.seed("http://a.test/1")
	b.s.Grant(b.now)
	err := b.s.Complete(b.now, []Result{{Doc: 7}, {Doc: 1, Outcome: vocab.Fetched}})
	if err == nil || !strings.Contains(err.Error(), "document 7") {
		t.Errorf("%v", err)
	}
	b.record(1, docindex.Finished)
	b.none(maxWait) // the lease is out
}

// A queued document that is in no queue, as in a damaged index, is not claimed with the key of another.
func TestDocumentWithoutQueue(t *testing.T) {
	b := newBench(t, Options{})
	docs := b.seed("http://a.test/1", "http://a.test/2")
	batch := b.s.db.NewBatch()
	err := b.s.db.EachQueue("", func(k docindex.QueueKey, doc vocab.DocID) (bool, error) {
		if doc == docs[0] {
			batch.DeleteQueued(k)
		}
		return true, nil
	})
	if err == nil {
		err = batch.Commit()
	}
	if err != nil {
		t.Fatal(err)
	}
	if ok, err := b.s.Reserve(docs[0]); ok || err == nil {
		t.Errorf("reserved: %v, %v", ok, err)
	}
}

func TestSchemesAreOneDocument(t *testing.T) {
	b := newBench(t, Options{})
	b.seed("http://a.test/")
	docs := b.link("https://a.test/", "http://a.test/x", "https://a.test/x", "http://a.test:8080/x")
	if !slices.Equal(docs, []vocab.DocID{1, 2, 2, 3}) {
		t.Errorf("%v", docs)
	}
}

func TestSeenStats(t *testing.T) {
	b := newBench(t, Options{})
	b.seed("http://a.test/")
	b.link("http://a.test/", "http://a.test/x")
	b.reopen(Options{})
	b.link("http://a.test/x", "http://a.test/x")
	if got := b.s.Stats().Seen; got != (SeenStats{Cache: 1, Disk: 1}) {
		t.Errorf("%+v", got)
	}
}

func TestWaitingReasons(t *testing.T) {
	b := newBench(t, Options{LeaseSize: 1})
	b.seed("http://a.test/1", "http://a.test/2", "http://b.test/1", "http://b.test/2", "http://c.test/1", "http://c.test/2", "http://d.test/1")
	a, _, c := b.take("http://a.test/1"), b.take("http://b.test/1"), b.take("http://c.test/1")
	b.release(a, vocab.HostReport{HoldFor: time.Minute, Reason: "429 Too Many Requests"})
	b.done(Result{Doc: 5, Outcome: vocab.Failed, Reason: "timeout"})
	b.release(c, vocab.HostReport{})
	st := b.s.Stats()
	for _, reason := range []string{"429 Too Many Requests", "being read", "in trouble: timeout"} {
		if st.Waiting[reason] != 1 {
			t.Errorf("%q: %v", reason, st.Waiting)
		}
	}
	if len(st.Waiting) != 3 || st.Queued != 4 || st.InFlight != 2 || st.Retrying != 1 {
		t.Errorf("%+v", st)
	}
}

// TestOthersHaveTheirTurn: while the URLs of a large sitemap are added, other calls are answered.
func TestOthersHaveTheirTurn(t *testing.T) {
	b := newBench(t, Options{})
	b.seed("http://a.test/")
	found := make([]Found, 50*addBatch)
	for i := range found {
		found[i] = Found{URL: mustParse(t, fmt.Sprintf("http://a.test/%d", i)), Depth: 1, Listed: true}
	}
	added := make(chan error)
	go func() {
		_, err := b.s.Add(found)
		added <- err
	}()
	answered := 0
	for {
		select {
		case err := <-added:
			if err != nil || answered == 0 {
				t.Errorf("%d calls were answered meanwhile: %v", answered, err)
			}
			if n := b.s.Stats().Known; n != uint64(len(found)+1) {
				t.Errorf("%d URLs are known", n)
			}
			return
		default:
			if n := b.s.Stats().Known; n > 1 && n <= uint64(len(found)) {
				answered++
			}
		}
	}
}
