package urlserver

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"anatomy/disk/docindex"
	"anatomy/vocab"
)

const day = 24 * time.Hour

func watching(min, max time.Duration) Options {
	return Options{Policy: BreadthFirst, Delay: -1, Recrawl: Recrawl{Mode: Watch, MinAge: min, MaxAge: max}}
}

// visit is granted a lease of one URL, and completes it with a result.
func (b *bench) visit(url string, r Result) vocab.Lease {
	b.t.Helper()
	l := b.take(url)
	r.Doc = l.URLs[0].Doc
	b.done(r)
	b.release(l, vocab.HostReport{})
	return l
}

// TestNextVisitReason: the reason for the time of the next visit names the bound that changed it.
func TestNextVisitReason(t *testing.T) {
	for want, p := range map[string]Recrawl{
		"nothing is known yet of how often it changes":                                                             {},
		"nothing is known yet of how often it changes; the interval of 1 day is raised to the minimum of 3 days":   {MinAge: 3 * day},
		"nothing is known yet of how often it changes; the interval of 1 day is lowered to the maximum of 6 hours": {MaxAge: day / 4},
	} {
		r := &docindex.Record{State: docindex.Finished, History: docindex.History{Visits: 1}}
		if _, why := p.NextVisit(r); why != want {
			t.Errorf("%+v: %q, want %q", p, why, want)
		}
	}
}

// TestIntervals: a page that does not change is visited at growing intervals, up to the longest; one that
// changes each time at shrinking ones, down to the shortest.
func TestIntervals(t *testing.T) {
	const url = "http://a.test/"
	b := newBench(t, watching(time.Hour, 20*day))
	doc := b.seed(url)[0]
	content := byte(1)
	page := func() Result {
		return Result{Outcome: vocab.Fetched, Content: vocab.ContentID{content}, Address: 1, Validators: vocab.Validators{ETag: fmt.Sprintf(`"%d"`, content)}}
	}
	b.visit(url, page())
	due := func() time.Duration {
		d := b.record(doc, docindex.Finished).Due.Sub(b.now)
		b.pass(d - time.Millisecond)
		b.none(time.Millisecond)
		b.pass(time.Millisecond)
		return d.Round(time.Minute)
	}
	var waits []time.Duration
	for range 5 {
		waits = append(waits, due())
		if l := b.visit(url, Result{Outcome: vocab.Unmodified, Status: 304}); l.URLs[0].Held.ETag != `"1"` || !l.URLs[0].Revisit {
			t.Errorf("%+v", l.URLs[0])
		}
	}
	if want := []time.Duration{day, 2 * day, 6 * day, 18 * day, 20 * day}; fmt.Sprint(waits) != fmt.Sprint(want) {
		t.Errorf("unchanged: %v, want %v", waits, want)
	}
	last := due()
	for range 100 {
		content++
		b.visit(url, page())
		last = due()
	}
	if last != time.Hour {
		t.Errorf("after 100 changes: %v", last)
	}
	h := b.record(doc, docindex.Finished).History
	if h.Visits != 106 || h.Changes != 100 || h.Recent.N > maxTrials || b.s.state.counts.Pages != 1 {
		t.Errorf("%+v, %d pages", h, b.s.state.counts.Pages)
	}
	b.check()
}

// TestRate: the estimator is right on average about pages that change at random, whatever the rate from a
// tenth of a change to one a visit, and finite where every visit finds one.
func TestRate(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, rate := range []float64{0.1, 0.5, 1} {
		sum, tries := 0.0, 2000
		for range tries {
			trials := docindex.Trials{N: maxTrials, Span: maxTrials * time.Hour}
			for range trials.N {
				if r.Float64() > math.Exp(-rate) {
					trials.Changed++
				}
			}
			sum += rateOf(trials) * 3600
		}
		if mean := sum / float64(tries); math.Abs(mean-rate) > 0.04*rate {
			t.Errorf("%g changes an hour are estimated as %.3f", rate, mean)
		}
	}
	if v := rateOf(docindex.Trials{N: 1, Changed: 1}); math.IsInf(v, 0) || v <= 0 {
		t.Errorf("one visit, one change: %g", v)
	}
}

func rateOf(t docindex.Trials) float64 { return changeRate(&t) }

// TestNewAndDueShareLeases: due documents queue behind the new URLs of their priority and before those
// of later ones, in the same lease.
func TestNewAndDueShareLeases(t *testing.T) {
	b := newBench(t, watching(0, day))
	b.seed("http://a.test/", "http://a.test/b")
	l := b.take("http://a.test/", "http://a.test/b")
	b.done(Result{Doc: l.URLs[0].Doc, Outcome: vocab.Fetched}, Result{Doc: l.URLs[1].Doc, Outcome: vocab.NotFound})
	b.release(l, vocab.HostReport{})
	b.pass(day)
	b.seed("http://a.test/c")
	b.link("http://a.test/deep")
	b.take("http://a.test/c", "http://a.test/", "http://a.test/b", "http://a.test/deep")
	b.none(maxWait)
	b.reopen(watching(0, day)) // what was queued is queued
	b.take("http://a.test/c", "http://a.test/", "http://a.test/b", "http://a.test/deep")
	b.check()
}

// TestFullAndDue: a crawl that has its pages visits them again, and no new ones.
func TestFullAndDue(t *testing.T) {
	o := watching(0, day)
	o.MaxPages, o.PagesPerHost = 1, 1
	b := newBench(t, o)
	b.seed("http://a.test/", "http://a.test/b", "http://c.test/")
	b.visit("http://a.test/", Result{Outcome: vocab.Fetched, Address: 1})
	for range 2 {
		b.none(maxWait)
		b.pass(day)
		b.visit("http://a.test/", Result{Outcome: vocab.NotFound, Status: 410})
	}
	b.take("http://c.test/")
	b.check()
}

// TestRecrawlEnds: a recrawl visits once what was due when it began, and ends; the next one visits what
// became due meanwhile. Other bounds than the last run's rebuild the table of revisits. A run without
// recrawl visits nothing again.
func TestRecrawlEnds(t *testing.T) {
	b := newBench(t, Options{Policy: BreadthFirst, Delay: -1})
	b.seed("http://a.test/")
	b.visit("http://a.test/", Result{Outcome: vocab.Fetched, Address: 1})
	b.pass(100 * day)
	b.none(0)
	o := Options{Policy: BreadthFirst, Delay: -1, Recrawl: Recrawl{Mode: RecrawlDue, MaxAge: -1}}
	b.reopen(o)
	for range 2 {
		b.visit("http://a.test/", Result{Outcome: vocab.Unmodified})
		b.none(0)
		b.pass(time.Second)
		b.none(0)
		b.reopen(o)
	}
	o.Recrawl.MaxAge = day
	b.reopen(o)
	b.none(0)
	b.pass(day)
	b.reopen(Options{Policy: BreadthFirst, Delay: -1})
	b.none(0)
	b.check()
	b.reopen(o)
	b.take("http://a.test/")
	b.check()
}

// TestRecrawlAfterSilentSeed: a seed whose host was given up before any time was stated, so that it has
// no FirstSeen, is due at once, and does not keep other pages from a recrawl.
func TestRecrawlAfterSilentSeed(t *testing.T) {
	silent := Result{Outcome: vocab.Failed, Reason: "connection refused"}
	o := Options{Policy: BreadthFirst, Delay: -1, HostTries: 1, Backoff: time.Second}
	b := newBench(t, o)
	docs := b.seed("http://a.test/", "http://silent.test/")
	b.visit("http://a.test/", Result{Outcome: vocab.Fetched, Address: 1})
	b.visit("http://silent.test/", silent)
	b.pass(time.Minute)
	b.none(0)
	if r := b.record(docs[1], docindex.GivenUp); !r.FirstSeen.IsZero() {
		t.Fatalf("the seed was first seen on %v", r.FirstSeen)
	}
	o.Recrawl = Recrawl{Mode: RecrawlDue, MaxAge: -1}
	for run := range 2 {
		b.reopen(o)
		b.check()
		if run == 0 { // then it is due after a day
			b.visit("http://silent.test/", silent)
		}
		b.visit("http://a.test/", Result{Outcome: vocab.Unmodified})
		b.pass(time.Minute)
		b.none(0)
		b.check()
	}
}

// TestRecrawlAhead: a page that changes each day is visited each night, though it is due minutes after
// the recrawl begins; one that does not change, in fewer nights. Each is visited at most once a night.
func TestRecrawlAhead(t *testing.T) {
	for _, test := range []struct {
		ahead   time.Duration
		changes bool
		want    string // nights
	}{
		{day / 2, true, "[1 2 3 4 5 6 7 8 9 10 11]"},
		{day / 2, false, "[1 3 9]"},
		{0, false, "[2 6]"},
	} {
		o := Options{Policy: BreadthFirst, Delay: -1, Recrawl: Recrawl{Mode: RecrawlDue, Ahead: test.ahead}}
		b := newBench(t, o)
		b.seed("http://a.test/")
		b.visit("http://a.test/", Result{Outcome: vocab.Fetched, Address: 1, Content: vocab.ContentID{1}})
		var nights []int
		for night := 1; night < 12; night++ {
			b.pass(day - time.Minute)
			b.reopen(o)
			if b.s.state.schedule.nextVisit.After(b.now.Add(test.ahead)) {
				b.none(0)
				continue
			}
			nights = append(nights, night)
			r := Result{Outcome: vocab.Unmodified}
			if test.changes {
				r = Result{Outcome: vocab.Fetched, Address: 1, Content: vocab.ContentID{byte(night + 1)}}
			}
			b.visit("http://a.test/", r)
			b.none(0)
			b.check()
		}
		if fmt.Sprint(nights) != test.want {
			t.Errorf("%+v: %v", test, nights)
		}
	}
}

// TestMisses: a page counts as gone after the second visit that does not find it, a day or more
// after the first, be it 404 or 410. A failing host, a missing name and a bad certificate change
// nothing, and are retried later.
func TestMisses(t *testing.T) {
	b := newBench(t, watching(time.Hour, 30*day))
	doc := b.seed("http://a.test/")[0]
	page := Result{Outcome: vocab.Fetched, Address: 7, Content: vocab.ContentID{1}}
	b.visit("http://a.test/", page)
	kept := func(outcome vocab.Outcome) {
		t.Helper()
		if r := b.record(doc, docindex.Finished); r.Fetch.Outcome != outcome || (r.Fetch.Address != 0) != (outcome == vocab.Fetched) {
			t.Fatalf("%s, want %s", r.String(), outcome)
		}
		b.check()
	}
	again := func() { b.pass(b.record(doc, docindex.Finished).Due.Sub(b.now)) }
	for _, host := range []vocab.Outcome{vocab.Refused, vocab.NoName} {
		again()
		b.visit("http://a.test/", Result{Outcome: host})
		kept(vocab.Fetched)
		b.reopen(watching(time.Hour, 30*day)) // a missing name is not looked up again in a run
	}
	again()
	for range len(b.s.state.o.Retry) + 1 {
		b.visit("http://a.test/", Result{Outcome: vocab.Failed, Status: 500})
		b.check()
		b.pass(time.Minute)
	}
	kept(vocab.Fetched)
	again()
	b.visit("http://a.test/", Result{Outcome: vocab.NotFound, Status: 404})
	kept(vocab.Fetched)
	if due := b.record(doc, docindex.Finished).Due.Sub(b.now); due.Round(time.Minute) != day {
		t.Errorf("a miss is to be confirmed in %v", due)
	}
	b.pass(2 * time.Hour)
	b.none(maxWait)
	b.add(Found{URL: mustParse(t, "http://a.test/"), Modified: b.now}) // a sitemap names it meanwhile
	b.visit("http://a.test/", Result{Outcome: vocab.NotFound, Status: 404})
	kept(vocab.Fetched) // the same day says no more
	again()
	b.visit("http://a.test/", Result{Outcome: vocab.Unmodified})
	again()
	b.visit("http://a.test/", Result{Outcome: vocab.NotFound, Status: 404})
	kept(vocab.Fetched)
	again()
	b.visit("http://a.test/", Result{Outcome: vocab.NotFound, Status: 404})
	kept(vocab.NotFound)
	again()
	b.visit("http://a.test/", page)
	kept(vocab.Fetched)
	again()
	b.visit("http://a.test/", Result{Outcome: vocab.NotFound, Status: 410})
	kept(vocab.Fetched)
	again()
	b.visit("http://a.test/", Result{Outcome: vocab.NotFound, Status: 410})
	kept(vocab.NotFound)
}

// TestOrphans: when the body of a page changes, its duplicates are fetched whole at once, and the first
// becomes canonical, also if the duplicate's result is in the same batch.
func TestOrphans(t *testing.T) {
	b := newBench(t, watching(day, day))
	docs := b.seed("http://a.test/1", "http://a.test/2", "http://b.test/3")
	l, m := b.take("http://a.test/1", "http://a.test/2"), b.take("http://b.test/3")
	b.done(Result{Doc: docs[0], Outcome: vocab.Fetched, Address: 1, Content: vocab.ContentID{1}},
		Result{Doc: docs[1], Outcome: vocab.Fetched, Address: 2, Content: vocab.ContentID{1}, Alias: docs[0], Validators: vocab.Validators{ETag: "x"}},
		Result{Doc: docs[2], Outcome: vocab.Fetched, Address: 3, Content: vocab.ContentID{1}, Alias: docs[0]})
	b.release(l, vocab.HostReport{})
	b.release(m, vocab.HostReport{})
	b.check()
	b.pass(day)
	l = b.take("http://a.test/1", "http://a.test/2")
	b.done(Result{Doc: docs[0], Outcome: vocab.Fetched, Address: 4, Content: vocab.ContentID{2}}, Result{Doc: docs[1], Outcome: vocab.Unmodified})
	b.release(l, vocab.HostReport{})
	b.check()
	if doc, ok, err := b.s.ByContent(vocab.ContentID{1}); ok || err != nil {
		t.Errorf("the old content is still that of %d, %v", doc, err)
	}
	if known := b.visit("http://b.test/3", Result{Outcome: vocab.Fetched, Address: 5, Content: vocab.ContentID{1}}).URLs[0].Held; known != (vocab.Validators{}) {
		t.Errorf("asked with %+v", known)
	}
	b.visit("http://a.test/2", Result{Outcome: vocab.Fetched, Address: 6, Content: vocab.ContentID{1}, Alias: docs[2]})
	b.check()
	if doc, ok, err := b.s.ByContent(vocab.ContentID{1}); doc != docs[2] || !ok || err != nil {
		t.Errorf("the content is that of %d, %v", doc, err)
	}
	b.none(maxWait)
}

// TestModified: a sitemap's lastmod makes a page due if it is later than the last visit, unless that was
// just now.
func TestModified(t *testing.T) {
	b := newBench(t, watching(time.Hour, 30*day))
	b.seed("http://a.test/")
	b.visit("http://a.test/", Result{Outcome: vocab.Fetched, Address: 1})
	listed := func(at time.Time) { b.add(Found{URL: mustParse(t, "http://a.test/"), Depth: 1, Modified: at}) }
	listed(b.now.Add(time.Minute))
	b.none(maxWait)
	b.pass(2 * time.Hour)
	listed(b.now.Add(-3 * time.Hour))
	b.none(maxWait)
	listed(b.now)
	listed(b.now)
	b.visit("http://a.test/", Result{Outcome: vocab.Unmodified})
	b.none(maxWait)
	b.check()
}

// TestNameMissing: a host whose name does not exist keeps its pages, however many days that lasts,
// and its record says since when. With the name that ends.
func TestNameMissing(t *testing.T) {
	b := newBench(t, watching(time.Hour, day))
	docs := b.seed("http://a.test/1", "http://a.test/2")
	visitAll := func(result Result) {
		t.Helper()
		for range 4 {
			l, _, ok := b.s.Grant(b.now)
			if !ok {
				break
			}
			for _, target := range l.URLs {
				r := result
				r.Doc = target.Doc
				if r.Outcome == vocab.Fetched {
					r.Content, r.Address = vocab.ContentID{byte(r.Doc)}, vocab.Address(r.Doc)
				}
				b.done(r)
			}
			b.release(l, vocab.HostReport{})
		}
		for _, doc := range docs {
			if r := b.record(doc, docindex.Finished); r.Fetch.Outcome != vocab.Fetched || r.Fetch.Address == 0 {
				t.Fatalf("%s", r.String())
			}
		}
		b.check()
		b.pass(day + time.Minute)
	}
	down := func(want time.Time) {
		t.Helper()
		if h, err := b.s.Host("a.test"); !h.DownSince.Equal(want) || err != nil {
			t.Errorf("down since %v, %v, want %v", h.DownSince, err, want)
		}
	}
	found := Result{Outcome: vocab.Fetched, Status: 200}
	visitAll(found)
	down(time.Time{})
	since := b.now
	for range 10 {
		visitAll(Result{Outcome: vocab.NoName, Reason: "no such name"})
		b.reopen(watching(time.Hour, day))
		down(since)
	}
	visitAll(found)
	down(time.Time{})
}

// TestRetryOfGivenUpHost: a page that waits for another try when its host is given up is kept.
func TestRetryOfGivenUpHost(t *testing.T) {
	b := newBench(t, watching(time.Hour, day))
	docs := b.seed("http://a.test/1", "http://a.test/2")
	l := b.take("http://a.test/1", "http://a.test/2")
	for _, doc := range docs {
		b.done(Result{Doc: doc, Outcome: vocab.Fetched, Address: 1, Content: vocab.ContentID{byte(doc)}})
	}
	b.release(l, vocab.HostReport{})
	b.pass(day)
	l = b.take("http://a.test/1", "http://a.test/2")
	b.done(Result{Doc: docs[0], Outcome: vocab.Failed, Status: 500, Reason: "500"})
	b.record(docs[0], docindex.Waiting)
	b.done(Result{Doc: docs[1], Outcome: vocab.NoName, Reason: "no such name"})
	b.release(l, vocab.HostReport{})
	b.pass(time.Minute)
	b.none(maxWait)
	for _, doc := range docs {
		if r := b.record(doc, docindex.Finished); r.Fetch.Outcome != vocab.Fetched || r.Due.IsZero() {
			t.Errorf("%s, due %v", r.String(), r.Due)
		}
	}
	b.check()
}
