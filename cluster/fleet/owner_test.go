package fleet

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"anatomy/crawler"
	"anatomy/vocab"
)

// A clock is set by the test.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

// grantTo lets a worker join an owner and grants it a lease of n targets.
func grantTo(t *testing.T, owner *Fleet, id string, n int) *visit {
	t.Helper()
	owner.Receive(id, encode(workerExamples[0]))
	lease := &vocab.Lease{ID: 5, Host: "a.test"}
	for range n {
		lease.URLs = append(lease.URLs, vocab.Target{Doc: 1, URL: "http://a.test/"})
	}
	v := &visit{lease: lease, lost: make(chan struct{}), results: make(chan delivery, n+1)}
	if !owner.assign(t.Context(), v) {
		t.Fatal("no worker for the lease")
	}
	return v
}

// TestWindow: a worker that sends more than it may before anything is acknowledged is dismissed.
func TestWindow(t *testing.T) {
	owner := New(Options{Bus: nowhere{}}, crawler.Options{MaxBody: 50 << 20})
	defer owner.Close()
	grantTo(t, owner, "w", 4)
	for i := range 4 {
		b := &batch{uint64(i + 1), []result{&fetched{target{5, i}, vocab.Fetch{
			Outcome: vocab.Fetched, Page: &vocab.Page{Body: make([]byte, 40<<20)},
		}}}}
		owner.Receive("w", encode(b))
		if stays := len(owner.Crawlers()) == 1; stays != (i < 3) {
			t.Errorf("after %d MB without an acknowledgement: stays: %v", 40*(i+1), stays)
		}
	}
}

// TestFalseStatus: a worker describes its own hosts alone, and in plain text.
func TestFalseStatus(t *testing.T) {
	owner := New(Options{Bus: nowhere{}}, crawler.Options{})
	defer owner.Close()
	grantTo(t, owner, "w", 1)
	owner.Receive("w", encode(&workerBeat{Leases: []uint64{5}, Visits: []crawler.VisitStatus{
		{Host: "b.test", Doing: "answer"}, {Host: "a.test", Doing: "\x1b]0;answer" + strings.Repeat("x", 1000)},
	}}))
	all := owner.Visits()
	if len(all) != 1 || all[0].Host != "a.test" || strings.Contains(all[0].Doing, "\x1b") || len(all[0].Doing) > 30 {
		t.Errorf("%+.200v", all)
	}
}

// A wire passes on what an owner sends to its workers.
type wire chan message

func (w wire) Send(_ string, b []byte) error {
	m, err := decode(b, newOfOwner)
	w <- m
	return err
}

func (w wire) Forget(string) {}

// await returns the next message of a kind, after a welcome and a grant.
func await[M message](t *testing.T, w wire) M {
	t.Helper()
	for {
		select {
		case m := <-w:
			if m, ok := m.(M); ok {
				return m
			}
		case <-time.After(time.Minute):
			t.Fatal("the owner does not answer")
		}
	}
}

// TestSlowCrawl: beats are answered while the crawl takes long to decide about the URLs and hosts of leases.
func TestSlowCrawl(t *testing.T) {
	sent, slow := make(wire, 10), make(chan struct{})
	owner := New(Options{Bus: sent}, crawler.Options{
		Confirm: func(vocab.DocID) bool { <-slow; return false },
		Admit:   func(uint64, []netip.Addr) bool { <-slow; return true },
	})
	v := grantTo(t, owner, "w", 2)
	go func() {
		for range 3 {
			owner.Receive("w", encode(&admission{Lease: 5}))
		}
		owner.Receive("w", encode(&batch{1, []result{&fetched{target{5, 0}, vocab.Fetch{Outcome: vocab.Skipped}}}}))
		go owner.handled((<-v.results).batch)
		owner.Receive("w", encode(&workerBeat{Sent: time.Second, Leases: []uint64{5}}))
	}()
	await[*ownerBeat](t, sent)
	close(slow)
	got := []message{<-sent, <-sent} // one answer to three equal admissions
	for _, m := range got {
		switch m := m.(type) {
		case *ack:
			if m.Number != 1 || !slices.Equal(m.Revoked, []target{{5, 1}}) {
				t.Errorf("acknowledged: %+v", m)
			}
		case *admitted:
			if m.Lease != 5 || !m.OK {
				t.Errorf("admitted: %+v", m)
			}
		default:
			t.Errorf("%T", m)
		}
	}
	if err := owner.Close(); err != nil {
		t.Error(err)
	}
	await[*finish](t, sent)
}

// TestManyItems: small items that are large in memory are refused before there are many.
func TestManyItems(t *testing.T) {
	skipped := &fetched{target{5, 0}, vocab.Fetch{Outcome: vocab.Skipped}}
	listed := &fetched{target{5, 0}, vocab.Fetch{Sitemaps: make([]string, maxItems/5)}}
	for _, c := range []struct {
		result result
		most   int
	}{{skipped, maxItems}, {listed, 4}} {
		w := newBatchWriter()
		for range c.most {
			w.add(c.result)
		}
		if _, err := decode(w.seal(1), newOfWorker); err != nil {
			t.Errorf("%d results: %v", c.most, err)
		}
		w.add(c.result)
		if _, err := decode(w.seal(1), newOfWorker); err == nil {
			t.Errorf("%d results are accepted", c.most+1)
		}
	}
}

// TestManySitemaps: a robots.txt that names very many sitemaps does not make its worker one that sends
// what no worker sends.
func TestManySitemaps(t *testing.T) {
	all := slices.Repeat([]string{"http://a.test/sitemap.xml"}, 50_000)
	m, err := decode(encode(&batch{1, []result{&report{vocab.HostReport{Lease: 5, Sitemaps: all}}}}), newOfWorker)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(m.(*batch).Results[0].(*report).Report.Sitemaps); n != maxRobots {
		t.Errorf("%d sitemaps, want %d", n, maxRobots)
	}
}

// TestStuck: a worker that lives and does nothing for its lease is dismissed.
func TestStuck(t *testing.T) {
	c := &clock{at: time.Now()}
	owner := New(Options{Bus: nowhere{}, Now: c.now}, crawler.Options{})
	defer owner.Close()
	v := grantTo(t, owner, "w", 1)
	beat := encode(&workerBeat{Leases: []uint64{5}})
	for range int(stuckAfter/workerSilence) + 30 {
		owner.mu.Lock()
		if r := owner.remotes["w"]; r != nil {
			if stuck := r.isStuck(c.now(), 0); stuck != (c.now().Sub(v.granted) > stuckAfter) {
				t.Fatalf("stuck after %v: %v", c.now().Sub(v.granted), stuck)
			}
		}
		owner.mu.Unlock()
		c.add(workerSilence)
		owner.Receive("w", beat)
	}
	<-v.lost
	if want := "a lease has made no progress for 15 minutes"; errStuck.Error() != want {
		t.Errorf("%q, want %q", errStuck, want)
	}
}

// TestFollowsAnotherOwner: the first visit of an owner that may follow another waits until the workers
// of that one have ended theirs.
func TestFollowsAnotherOwner(t *testing.T) {
	c := &clock{at: time.Now()}
	owner := New(Options{Bus: nowhere{}, Now: c.now, Again: true}, crawler.Options{})
	defer owner.Close()
	owner.Receive("w", encode(workerExamples[0]))
	choose := func() *remote {
		owner.mu.Lock()
		defer owner.mu.Unlock()
		return owner.choose("a.test")
	}
	if choose() != nil {
		t.Error("a visit begins at once")
	}
	c.add(ownerSilence + beatEvery)
	owner.Receive("w", encode(&workerBeat{}))
	grantTo(t, owner, "w", 1) // waits for the next look at the clock
	if choose() == nil {
		t.Error("no visit begins")
	}
}

// TestLostCancel: a cancel that was lost is sent again.
func TestLostCancel(t *testing.T) {
	sent := sentMessages{}
	owner := New(Options{Bus: sent}, crawler.Options{})
	defer owner.Close()
	v := grantTo(t, owner, "w", 1)
	beat := encode(&workerBeat{Leases: []uint64{5}})
	owner.Receive("w", beat)
	if sent['c'] != 0 {
		t.Error("a lease was cancelled")
	}
	v.cancelled = true
	owner.Receive("w", beat)
	if sent['c'] != 1 {
		t.Errorf("%d cancels, want 1", sent['c'])
	}
}

// sentMessages counts messages by kind.
type sentMessages map[byte]int

func (s sentMessages) Send(_ string, m []byte) error { s[m[0]]++; return nil }
func (s sentMessages) Forget(string)                 {}

// TestGivesBack: a host that a worker does not reach goes to another one, until all or maxSilent have
// tried. Then the outcome of the last one counts.
func TestGivesBack(t *testing.T) {
	for _, workers := range []int{1, 2, maxSilent, maxSilent + 5} {
		givesBack(t, workers, vocab.Failed)
		givesBack(t, workers, vocab.Refused)
	}
}

func givesBack(t *testing.T, workers int, outcome vocab.Outcome) {
	owner := New(Options{Bus: nowhere{}}, crawler.Options{})
	for i := range workers {
		owner.Receive(fmt.Sprint("w", i), encode(workerExamples[0]))
	}
	tried := map[*remote]bool{}
	for tries := 1; ; tries++ {
		v := &visit{lease: &vocab.Lease{Host: "a.test"}}
		owner.mu.Lock()
		v.remote = owner.choose("a.test")
		owner.mu.Unlock()
		tried[v.remote] = true
		s := &silence{}
		s.buffer(vocab.Fetch{Outcome: outcome})
		s.buffer(vocab.Fetch{Outcome: vocab.Skipped})
		owner.endSilence(v, s, 0)
		if s.held[0].Outcome == vocab.Skipped {
			continue
		}
		if s.held[0].Outcome != outcome {
			t.Errorf("%d workers: outcome %v, want %v", workers, s.held[0].Outcome, outcome)
		}
		if want := min(workers, maxSilent); tries != want || len(tried) != want {
			t.Errorf("%d workers: %d tries by %d of them", workers, tries, len(tried))
		}
		owner.endSilence(v, &silence{}, 1) // it answers now
		owner.mu.Lock()
		if workers <= maxSilent && owner.choose("a.test") != v.remote {
			t.Errorf("%d workers: the host goes to a worker that it does not answer", workers)
		}
		owner.mu.Unlock()
		break
	}
	owner.Close()
}

// TestSilenceEnds: results behind an answer are not held back, and those before it come first.
func TestSilenceEnds(t *testing.T) {
	s := &silence{}
	failed := vocab.Fetch{Outcome: vocab.Failed}
	if !s.buffer(failed) || !s.buffer(vocab.Fetch{Outcome: vocab.Skipped}) {
		t.Error("a result before the first answer is not held back")
	}
	for _, f := range []vocab.Fetch{{Outcome: vocab.Failed, Status: 503}, failed} {
		if s.buffer(f) {
			t.Errorf("%v %d is held back", f.Outcome, f.Status)
		}
	}
	n := 0
	s.release(func(vocab.Fetch) { n++ })
	if n != 2 {
		t.Errorf("%d results are released, want 2", n)
	}
}
