package urlserver

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"anatomy/disk/docindex"
	"anatomy/vocab"
	"anatomy/weburl"
)

func TestPolicyNames(t *testing.T) {
	for _, name := range PolicyNames() {
		if p, err := ParsePolicy(name); err != nil || p.String() != name {
			t.Errorf("%s: %v, %v", name, p, err)
		}
	}
	if _, err := ParsePolicy("depth-first"); err == nil || len(PolicyNames()) != 4 {
		t.Error("depth-first is none of the policies")
	}
	if s, err := Open("data", Options{Policy: TopicFirst + 1, FS: vfs.NewMem()}); err == nil {
		s.Close()
		t.Error("a policy that there is not")
	}
}

// visited is granted a lease, completes its URLs, and releases it with a report.
func (b *bench) visited(report vocab.HostReport, urls ...string) {
	b.t.Helper()
	l := b.take(urls...)
	for _, target := range l.URLs {
		b.done(Result{Doc: target.Doc, Outcome: vocab.Fetched, Status: 200})
	}
	b.release(l, report)
}

// TestPerformanceFirst: "the rank of a server is P/T": of two hosts with equally many pages the one
// that answers sooner, and of two equally fast ones the one with more pages for a connection.
func TestPerformanceFirst(t *testing.T) {
	b := newBench(t, Options{Policy: PerformanceFirst, Delay: -1, Scope: weburl.AnyScope})
	b.link("http://slow.test/1")
	b.visited(vocab.HostReport{AnswerTime: time.Second, ConnectTime: time.Second}, "http://slow.test/1")
	b.link("http://fast.test/1")
	b.visited(vocab.HostReport{AnswerTime: 10 * time.Millisecond, ConnectTime: time.Second}, "http://fast.test/1")
	b.link("http://new.test/1")
	b.visited(vocab.HostReport{AnswerTime: 10 * time.Millisecond, ConnectTime: time.Second}, "http://new.test/1")
	b.link("http://slow.test/2", "http://fast.test/2", "http://new.test/2", "http://new.test/3")
	b.visited(vocab.HostReport{}, "http://new.test/2", "http://new.test/3")
	b.visited(vocab.HostReport{}, "http://fast.test/2")
	b.visited(vocab.HostReport{}, "http://slow.test/2")
	b.none(0)
}

// TestQualityFirst: "URLs by quality, a server by its best URL".
func TestQualityFirst(t *testing.T) {
	b := newBench(t, Options{Policy: QualityFirst, Delay: -1, Scope: weburl.AnyScope})
	for i, u := range []string{"http://a.test/1", "http://a.test/2", "http://b.test/1", "http://b.test/2"} {
		b.add(Found{URL: mustParse(t, u), Quality: []float64{1, 8, 0.1, 9}[i]})
	}
	b.take("http://b.test/2", "http://b.test/1")
	b.take("http://a.test/2", "http://a.test/1")
}

// TestTopicFirst: after the seeds come the URLs with the best odds, by the last score, one in a lease;
// URLs without a score come after those that are likely to be relevant.
func TestTopicFirst(t *testing.T) {
	b := newBench(t, Options{Policy: TopicFirst, Delay: -1, Scope: weburl.AnyScope})
	b.add(Found{URL: mustParse(t, "http://seed.test/1"), Seed: true})
	odds := map[string]float64{
		"http://a.test/1": 0.01, "http://a.test/2": 3, "http://b.test/1": 0.5, "http://b.test/2": 0, "http://b.test/3": 2,
	}
	for _, u := range slices.Sorted(maps.Keys(odds)) {
		b.add(Found{URL: mustParse(t, u), Depth: 1, Quality: odds[u]})
	}
	b.add(Found{URL: mustParse(t, "http://b.test/1"), Depth: 2, Quality: 9})
	b.add(Found{URL: mustParse(t, "http://b.test/3"), Quality: 0.1, Rescored: true})
	b.add(Found{URL: mustParse(t, "http://seed.test/1"), Quality: 0.001, Rescored: true}) // stays first
	b.add(Found{URL: mustParse(t, "http://unknown.test/"), Quality: 1, Rescored: true})   // stays so
	for _, want := range []string{
		"http://seed.test/1", "http://b.test/1", "http://a.test/2", "http://b.test/3", "http://b.test/2", "http://a.test/1",
	} {
		l := b.take(want)
		for _, target := range l.URLs {
			b.done(Result{Doc: target.Doc, Outcome: vocab.Fetched, Status: 200})
		}
		b.release(l, vocab.HostReport{})
	}
	b.none(0)
}

// TestFewLeases: by topic few leases are out at once while few pages are fetched.
func TestFewLeases(t *testing.T) {
	b := newBench(t, Options{Policy: TopicFirst, Delay: -1, PerAddress: -1, Scope: weburl.AnyScope})
	for i := range 2 * firstLeases {
		b.link(fmt.Sprintf("http://host%d.test/", i))
	}
	var first vocab.Lease
	for i := range firstLeases {
		l, _, ok := b.s.Grant(b.now)
		if !ok {
			t.Fatalf("only %d leases", i)
		}
		first = l
	}
	if _, wait, ok := b.s.Grant(b.now); ok || wait == 0 {
		t.Errorf("one more lease: %v, wait %v", ok, wait)
	}
	b.release(first, vocab.HostReport{})
	if _, _, ok := b.s.Grant(b.now); !ok {
		t.Error("no lease after one has ended")
	}
}

// TestCrawlAbility: a slow host with the best page yields to a fast one with many good ones; without
// the difference in speed it would not.
func TestCrawlAbility(t *testing.T) {
	for _, slow := range []bool{true, false} {
		b := newBench(t, Options{Policy: CrawlAbility, Delay: -1, Scope: weburl.AnyScope})
		b.link("http://best.test/1", "http://good.test/1")
		answer := 20 * time.Millisecond
		good := b.take("http://best.test/1")
		b.release(good, vocab.HostReport{AnswerTime: map[bool]time.Duration{true: time.Second, false: answer}[slow]})
		other := b.take("http://good.test/1")
		b.release(other, vocab.HostReport{AnswerTime: answer})
		b.add(Found{URL: mustParse(t, "http://best.test/2"), Quality: 10})
		for i := range 5 {
			b.add(Found{URL: mustParse(t, fmt.Sprintf("http://good.test/%d", i+2)), Quality: 3})
		}
		if l, _, ok := b.s.Grant(b.now); !ok || (l.Host == "good.test") != slow {
			t.Errorf("slow %v: lease of %s", slow, l.Host)
		}
	}
}

// TestEstimatesPersist: the estimates of a host survive a restart, and bound its leases.
func TestEstimatesPersist(t *testing.T) {
	b := newBench(t, Options{Delay: -1, Scope: weburl.AnyScope})
	b.link("http://a.test/1", "http://a.test/2", "http://a.test/3")
	l := b.take("http://a.test/1", "http://a.test/2", "http://a.test/3")
	b.release(l, vocab.HostReport{AnswerTime: time.Second, Requests: 2, Closed: 2})
	b.done(Result{Doc: 1, Outcome: vocab.Fetched, Status: 200})
	b.reopen(Options{Delay: -1, Scope: weburl.AnyScope})
	b.take("http://a.test/2")
	if h, err := b.s.db.Host("a.test"); h != (docindex.HostRecord{Pages: 1, Answer: time.Second, PerConnection: 1}) || err != nil {
		t.Errorf("%+v, %v", h, err)
	}
}

// TestLinksRaise: each page that links to a URL raises it once; a restart keeps that; nofollow links do
// not count.
func TestLinksRaise(t *testing.T) {
	o := Options{Policy: QualityFirst, Delay: -1, LeaseSize: 2, Scope: weburl.AnyScope}
	b := newBench(t, o)
	b.link("http://a.test/1", "http://a.test/2", "http://a.test/3")
	for range 20 {
		b.link("http://a.test/3", "http://a.test/3")
		b.add(Found{URL: mustParse(t, "http://a.test/2"), NoFollow: true})
	}
	b.check()
	b.reopen(o)
	l := b.take("http://a.test/3", "http://a.test/1")
	want := math.Exp2(-0.25) + damping*(1.0/3+20.0/2)
	if got := b.s.Quality(3); got < want/2 || got > want*2 {
		t.Errorf("quality %.2f, expected about %.2f", got, want)
	}
	b.link("http://a.test/3") // in flight: nothing to raise
	b.release(l, vocab.HostReport{})
	b.done(Result{Doc: 1, Outcome: vocab.Skipped}, Result{Doc: 3, Outcome: vocab.Fetched})
	b.take("http://a.test/1", "http://a.test/2")
	b.check()
}

// TestRedirectQuality: the target of a redirect gets the quality of the redirected page.
func TestRedirectQuality(t *testing.T) {
	b := newBench(t, Options{Policy: QualityFirst, Delay: -1, PerSite: 2, Scope: weburl.AnyScope})
	b.add(Found{URL: mustParse(t, "http://a.test/old"), Quality: 50})
	b.take("http://a.test/old")
	b.add(Found{URL: mustParse(t, "http://a.test/new"), From: 1})
	b.take("http://a.test/new")
	if got := b.s.Quality(2); got < 40 || got > 60 {
		t.Errorf("quality %.1f", got)
	}
}

// TestOtherOrder continues a crawl with policies of the other order and back: nothing is lost, and
// URLs that wait for a retry are reordered too.
func TestOtherOrder(t *testing.T) {
	b := newBench(t, Options{Policy: BreadthFirst, Delay: -1, LeaseSize: 1, Scope: weburl.AnyScope})
	b.add(Found{URL: mustParse(t, "http://a.test/busy"), Depth: 0}, Found{URL: mustParse(t, "http://a.test/deep"), Depth: 9},
		Found{URL: mustParse(t, "http://a.test/2"), Depth: 1}, Found{URL: mustParse(t, "http://a.test/1"), Depth: 1})
	l := b.take("http://a.test/busy")
	b.done(Result{Doc: 1, Outcome: vocab.Failed, Status: 500})
	b.release(l, vocab.HostReport{})
	b.reopen(Options{Policy: CrawlAbility, Delay: -1, LeaseSize: 1, Scope: weburl.AnyScope})
	for range 50 {
		b.link("http://a.test/1")
	}
	b.check()
	b.take("http://a.test/1")
	b.reopen(Options{Policy: PerformanceFirst, Delay: -1, Scope: weburl.AnyScope})
	b.check()
	b.pass(time.Second)
	b.take("http://a.test/busy", "http://a.test/2", "http://a.test/1", "http://a.test/deep")
}
