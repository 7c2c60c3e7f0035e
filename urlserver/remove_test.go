package urlserver

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"anatomy/disk/docindex"
	"anatomy/vocab"
)

// Remove unqueues URLs that are queued or wait; those in flight follow if they are skipped. The totals
// and tables agree, also after the next run has queued all again.
func TestRemove(t *testing.T) {
	b := newBench(t, Options{Policy: BreadthFirst, Retry: []time.Duration{time.Hour}})
	docs := b.seed("http://a.test/1", "http://a.test/2", "http://a.test/3", "http://b.test/1")
	l := b.take("http://a.test/1", "http://a.test/2", "http://a.test/3")
	b.done(Result{Doc: docs[0], Outcome: vocab.Failed, Reason: "timed out", Status: 500})
	more := b.link("http://a.test/4", "http://a.test/5")
	if left, err := b.s.Remove("a.test/*"); err != nil || left != 3 {
		t.Fatalf("%d URLs left the queues, %v; want 3", left, err)
	}
	for _, doc := range []vocab.DocID{docs[0], more[0], more[1]} {
		b.record(doc, docindex.OutOfScope)
	}
	b.done(Result{Doc: docs[1], Outcome: vocab.Skipped}, Result{Doc: docs[2], Outcome: vocab.NotFound})
	b.record(docs[1], docindex.OutOfScope)
	b.record(docs[2], docindex.Finished)
	b.release(l, vocab.HostReport{})
	b.record(b.link("http://a.test/6")[0], docindex.OutOfScope)
	b.pass(2 * time.Hour)
	b.take("http://b.test/1")
	b.none(time.Second)
	b.check()
	w := b.s.Outlook(b.now, 10)
	if w.Count != 1 || w.Hosts[0].Host != "b.test" || w.Hosts[0].InFlight != 1 || len(w.Removed) != 1 || w.Rate.Delayed != 1 {
		t.Errorf("%+v", w)
	}

	b.done(Result{Doc: docs[3], Outcome: vocab.NotFound})
	b.reopen(Options{Policy: BreadthFirst})
	b.check()
	b.take("http://a.test/1", "http://a.test/2", "http://a.test/4", "http://a.test/5", "http://a.test/6")
}

// The rate is a page per delay and answer, for every site with URLs to fetch.
func TestOutlook(t *testing.T) {
	b := newBench(t, Options{LeaseSize: 1, AnswerFactor: 1})
	b.seed("http://a.test/1", "http://a.test/2", "http://www.a.test/1", "http://b.test/1", "http://b.test/2", "http://c.test/1", "http://c.test/2")
	a, bb := b.take("http://a.test/1"), b.take("http://b.test/1")
	b.release(a, vocab.HostReport{CrawlDelay: 4 * time.Second, AnswerTime: time.Second})
	b.release(bb, vocab.HostReport{HoldFor: time.Minute, Reason: "429 Too Many Requests"})
	w := b.s.Outlook(b.now, 3)
	if want := 1.0/5 + 1 + 1; w.Rate.Pages != want || w.Rate.Delayed != 3 || w.Rate.Undelayed != 0 || w.Count != 4 || len(w.Hosts) != 3 {
		t.Errorf("%+v, want a bound of %g", w, want)
	}
	for i, want := range []vocab.HostStatus{
		{Host: "c.test", Queued: 2, Why: "its turn", Delay: time.Second},
		{Host: "a.test", Queued: 1, InFlight: 1, Why: "politeness", Delay: 4 * time.Second, Answer: time.Second, Until: b.now.Add(4 * time.Second)},
		{Host: "b.test", Queued: 1, InFlight: 1, Why: "429 Too Many Requests", Delay: time.Second, Until: b.now.Add(time.Minute)},
	} {
		if w.Hosts[i] != want {
			t.Errorf("%+v, want %+v", w.Hosts[i], want)
		}
	}
}

// TestOutlookReadsWithoutLock: an Outlook reads the URLs to retry from disk while other calls run.
func TestOutlookReadsWithoutLock(t *testing.T) {
	b := newBench(t, Options{Delay: -1})
	b.seed("http://a.test/")
	l := b.take("http://a.test/")
	b.done(Result{Doc: 1, Outcome: vocab.Failed, Status: 500, Reason: "500"})
	b.release(l, vocab.HostReport{})
	if err := b.s.Close(); err != nil {
		t.Fatal(err)
	}
	var s atomic.Pointer[Server]
	var reads, locked atomic.Int64
	fs := errorfs.Wrap(b.fs, errorfs.InjectorFunc(func(op errorfs.Op) error {
		if s := s.Load(); s != nil && op.Kind.ReadOrWrite() == errorfs.OpIsRead {
			reads.Add(1)
			if !s.mu.TryLock() {
				locked.Add(1)
			} else {
				s.mu.Unlock()
			}
		}
		return nil
	}))
	var err error
	if b.s, err = Open("data", Options{Delay: -1, FS: fs, CacheBytes: 1}); err != nil {
		t.Fatal(err)
	}
	s.Store(b.s)
	b.s.Outlook(b.now, 3)
	s.Store(nil)
	if reads.Load() == 0 || locked.Load() > 0 {
		t.Errorf("%d of %d reads with the lock", locked.Load(), reads.Load())
	}
}

// TestOutlookAfterRestart: hosts that wait to be tried again are listed before they are in memory.
func TestOutlookAfterRestart(t *testing.T) {
	b := newBench(t, Options{Delay: -1})
	b.seed("http://a.test/1", "http://a.test/2")
	l := b.take("http://a.test/1", "http://a.test/2")
	b.done(
		Result{Doc: 1, Outcome: vocab.Failed, Status: 500, Reason: "500"},
		Result{Doc: 2, Outcome: vocab.Fetched, Status: 200, Fetched: b.now, Address: vocab.MakeAddress(1, 4000, 0)})
	b.release(l, vocab.HostReport{})
	b.reopen(Options{Delay: -1})
	w := b.s.Outlook(b.now, 3)
	want := vocab.HostStatus{Host: "a.test", Queued: 1, Pages: 1, Why: "in trouble: 500", Until: b.now.Add(time.Second)}
	if len(w.Hosts) != 1 || w.Retries["in trouble: 500"] != 1 || !w.Hosts[0].Until.Equal(want.Until) {
		t.Fatalf("%+v", w)
	}
	if want.Until = w.Hosts[0].Until; w.Hosts[0] != want {
		t.Errorf("%+v, want %+v", w.Hosts[0], want)
	}
}
