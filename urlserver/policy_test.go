package urlserver

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

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
	if _, err := ParsePolicy("depth-first"); err == nil || len(PolicyNames()) != int(policies) {
		t.Error("depth-first is none of the policies")
	}
	if s, err := Open("data", Options{Policy: policies}); err == nil {
		s.Close()
		t.Error("a policy that there is not")
	}
}

// visited takes a lease, finishes it, and gives it back with a report.
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
	b.visited(vocab.HostReport{Answer: time.Second, Connect: time.Second}, "http://slow.test/1")
	b.link("http://fast.test/1")
	b.visited(vocab.HostReport{Answer: 10 * time.Millisecond, Connect: time.Second}, "http://fast.test/1")
	b.link("http://new.test/1")
	b.visited(vocab.HostReport{Answer: 10 * time.Millisecond, Connect: time.Second}, "http://new.test/1")
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

// TestCrawlAbility: a slow host with the best page yields to a fast one with many good ones; without
// the difference in speed it would not.
func TestCrawlAbility(t *testing.T) {
	for _, slow := range []bool{true, false} {
		b := newBench(t, Options{Policy: CrawlAbility, Delay: -1, Scope: weburl.AnyScope})
		b.link("http://best.test/1", "http://good.test/1")
		answer := 20 * time.Millisecond
		good := b.take("http://best.test/1")
		b.release(good, vocab.HostReport{Answer: map[bool]time.Duration{true: time.Second, false: answer}[slow]})
		other := b.take("http://good.test/1")
		b.release(other, vocab.HostReport{Answer: answer})
		b.add(Found{URL: mustParse(t, "http://best.test/2"), Quality: 10})
		for i := range 5 {
			b.add(Found{URL: mustParse(t, fmt.Sprintf("http://good.test/%d", i+2)), Quality: 3})
		}
		if l, _, ok := b.s.Take(b.now); !ok || (l.Host == "good.test") != slow {
			t.Errorf("slow %v: lease of %s", slow, l.Host)
		}
	}
}

// TestLearn: smoothing 0.8; requests per connection are 50 at first, then what earlier connections took.
func TestLearn(t *testing.T) {
	h := &host{}
	if h.perConnection() != 50 {
		t.Errorf("%d requests a connection at first", h.perConnection())
	}
	for _, step := range []struct {
		report        vocab.HostReport
		connect       time.Duration
		answer        time.Duration
		perConnection uint32
	}{
		{vocab.HostReport{}, 0, 0, 50},
		{vocab.HostReport{Connect: 10 * time.Millisecond, Answer: 100 * time.Millisecond, Requests: 32}, 10 * time.Millisecond, 100 * time.Millisecond, 50},
		{vocab.HostReport{Connect: 20 * time.Millisecond, Answer: 200 * time.Millisecond, Requests: 80}, 12 * time.Millisecond, 120 * time.Millisecond, 80},
		{vocab.HostReport{Requests: 30, Closed: 3}, 12 * time.Millisecond, 120 * time.Millisecond, 10},
		{vocab.HostReport{Requests: 1, Closed: 2}, 12 * time.Millisecond, 120 * time.Millisecond, 1},
		{vocab.HostReport{Connect: -1, Answer: -1, Requests: -1, Closed: -1}, 12 * time.Millisecond, 120 * time.Millisecond, 1},
	} {
		h.learn(&step.report)
		if h.Connect != step.connect || h.Answer != step.answer || h.perConnection() != step.perConnection {
			t.Errorf("after %+v: %v %v %d", step.report, h.Connect, h.Answer, h.perConnection())
		}
	}
}

// TestEstimatesPersist: what was learnt of a host is there after a restart, and bounds its leases.
func TestEstimatesPersist(t *testing.T) {
	b := newBench(t, Options{Delay: -1, Scope: weburl.AnyScope})
	b.link("http://a.test/1", "http://a.test/2", "http://a.test/3")
	l := b.take("http://a.test/1", "http://a.test/2", "http://a.test/3")
	b.release(l, vocab.HostReport{Answer: time.Second, Requests: 2, Closed: 2})
	b.done(Result{Doc: 1, Outcome: vocab.Fetched, Status: 200})
	b.reopen(Options{Delay: -1, Scope: weburl.AnyScope})
	b.take("http://a.test/2")
	if h, err := b.s.db.Host("a.test"); h != (docindex.HostRecord{Pages: 1, Answer: time.Second, PerConnection: 1}) || err != nil {
		t.Errorf("%+v, %v", h, err)
	}
}

// TestLinksRaise: each page that links to a URL raises it once, a restart keeps that, nofollow links
// count for nothing.
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

// TestRedirectGivesAll: the target of a redirect is as good as the page that was redirected.
func TestRedirectGivesAll(t *testing.T) {
	b := newBench(t, Options{Policy: QualityFirst, Delay: -1, PerSite: 2, Scope: weburl.AnyScope})
	b.add(Found{URL: mustParse(t, "http://a.test/old"), Quality: 50})
	b.take("http://a.test/old")
	b.add(Found{URL: mustParse(t, "http://a.test/new"), From: 1})
	b.take("http://a.test/new")
	if got := b.s.Quality(2); got < 40 || got > 60 {
		t.Errorf("quality %.1f", got)
	}
}

// TestRaisedOnAverage: the chance with which a priority rises makes its expectation right.
func TestRaisedOnAverage(t *testing.T) {
	dice := rand.New(rand.NewPCG(1, 1))
	for _, amount := range []float64{0.01, 0.3, 5} {
		sum := 0.0
		const runs, links = 2000, 20
		for range runs {
			p := priorityOf(1)
			for range links {
				p = raised(p, amount, dice)
			}
			sum += qualityOf(p)
		}
		if mean, want := sum/runs, 1+links*amount; math.Abs(mean/want-1) > 0.03 {
			t.Errorf("%d links of %v: %.3f on average, want %.3f", links, amount, mean, want)
		}
	}
	if raised(1, 1e30, dice) != 1 {
		t.Error("there is nothing above the best")
	}
}

func TestPriorities(t *testing.T) {
	for p := 1; p <= 255; p++ {
		if got := priorityOf(qualityOf(uint8(p))); got != uint8(p) {
			t.Errorf("priority %d comes back as %d", p, got)
		}
	}
	for quality, want := range map[float64]uint8{math.Inf(1): 1, 1e-300: 255, 0: 255, -1: 255, math.NaN(): 255} {
		if got := priorityOf(quality); got != want {
			t.Errorf("quality %v is priority %d, want %d", quality, got, want)
		}
	}
}

// TestOtherOrder goes on with a crawl by policies of the other order, there and back; nothing is lost,
// and what waits for another try is sorted too.
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

// An item of a ranking.
type item struct{ spot }

func (i *item) place() *spot { return &i.spot }

// TestRanking compares a ranking with a list that is sorted each time.
func TestRanking(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var r ranking[*item]
		var list []*item
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			switch rapid.IntRange(0, 3).Draw(t, "step") {
			case 0:
				got, ok := r.pop()
				if ok != (len(list) > 0) {
					t.Fatalf("pop: %v of %d", ok, len(list))
				}
				slices.SortFunc(list, func(a, b *item) int {
					return cmp.Or(cmp.Compare(b.rank, a.rank), a.at.Compare(b.at), cmp.Compare(a.turn, b.turn))
				})
				if ok && got != list[0] {
					t.Fatalf("%+v came before %+v", got, list[0])
				}
				list = list[min(1, len(list)):]
			case 1:
				if len(list) > 0 {
					x := rapid.SampledFrom(list).Draw(t, "which")
					x.rank = float64(rapid.IntRange(0, 3).Draw(t, "rank"))
					r.fix(x)
				}
			default:
				x := &item{spot{rank: float64(rapid.IntRange(0, 3).Draw(t, "rank")), at: epoch.Add(time.Duration(rapid.IntRange(0, 2).Draw(t, "at")))}}
				r.push(x)
				list = append(list, x)
			}
		}
	})
}
