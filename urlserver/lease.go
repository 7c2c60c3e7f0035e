package urlserver

import (
	"fmt"
	"slices"
	"time"

	"anatomy/disk/docindex"
	"anatomy/vocab"
	"anatomy/weburl"
)

// Take gives out a lease of the host whose turn it is. Where there is none (ok is false), wait says
// when to ask again at the latest; the results and links that come in meanwhile may change the
// answer earlier. A wait of 0 is the end: nothing is queued, waiting or in flight, or the pages
// allowed are kept. Given the same calls before it, Take is a function of now.
func (s *Server) Take(now time.Time) (l vocab.Lease, wait time.Duration, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return l, maxWait, false
	}
	s.tell(now)
	if l, ok, err := s.take(now); err != nil {
		s.fail(err)
		return l, maxWait, false
	} else if ok {
		return l, 0, true
	}
	return l, s.wait(now), false
}

func (s *Server) take(now time.Time) (l vocab.Lease, ok bool, err error) {
	if err := s.walk(); err != nil {
		return l, false, err
	}
	if s.frontier.allow(s.budget() > 0); s.frontier.full && s.o.Recrawl.Mode == NoRecrawl {
		return l, false, nil
	}
	if err := s.wake(now); err != nil {
		return l, false, err
	}
	if err := s.ripen(now); err != nil {
		return l, false, err
	}
	for {
		h := s.frontier.nextHost(now)
		if h == nil {
			return l, false, nil
		}
		l, err := s.lease(h)
		s.frontier.offer(h)
		s.frontier.offerSite(h.site)
		if err != nil || len(l.URLs) > 0 {
			return l, err == nil, err
		}
	}
}

// budget is how many more new pages may be in flight.
func (s *Server) budget() int64 {
	if s.o.MaxPages == 0 {
		return 1 << 62
	}
	return int64(s.o.MaxPages) - int64(s.counts.Pages) - int64(s.pages)
}

// lease takes URLs off the front of a host's queue.
func (s *Server) lease(h *host) (vocab.Lease, error) {
	room, fresh := s.frontier.leaseOf(h), int(min(s.budget(), int64(s.frontier.roomForNew(h))))
	l := vocab.Lease{Host: h.name, Site: h.site.name, Delay: h.site.delay(&s.o), Fixed: h.site.pace.Delay != 0}
	for room > len(l.URLs) {
		i, most := h.first(fresh > 0), room
		if i < 0 {
			break
		}
		new, before := !h.levels[i].again, len(l.URLs)
		if new {
			most = min(room, before+fresh)
		}
		if err := s.drain(h, i, &l, most); err != nil {
			return l, err
		}
		if new {
			fresh -= len(l.URLs) - before
		}
	}
	if len(l.URLs) == 0 {
		return l, nil
	}
	s.lastID++
	l.ID = s.lastID
	out := &lease{host: h}
	out.enter(h.address)
	s.leases[l.ID] = out
	h.site.leases++
	return l, nil
}

// drain moves URLs of one of a host's levels into a lease. It never walks past the last URL that the
// level is known to hold, for behind that lie the tombstones of others.
func (s *Server) drain(h *host, i int, l *vocab.Lease, room int) error {
	first := &h.levels[i]
	refused := s.db.NewBatch()
	from := docindex.QueueKey{Host: h.name, Priority: first.priority, Number: first.next}
	err := s.db.EachQueued(from, func(k docindex.QueueKey, doc vocab.DocID) (bool, error) {
		if k.Priority != from.Priority || k.Number&again != from.Number&again {
			return false, nil
		}
		first.next = k.Number + 1
		if s.inFlight[doc] != nil {
			return true, nil
		}
		first.n--
		r, err := s.queued(h, doc)
		if err != nil {
			return false, err
		}
		trap, err := s.trapOf(h, &r)
		if err != nil {
			return false, err
		}
		if trap != 0 {
			s.refuse(refused, k, &r, trap)
			refused, err = s.flush(refused, batchBytes)
			return first.n > 0, err
		}
		target, err := s.fly(h, k, r)
		if err != nil {
			return false, err
		}
		l.URLs = append(l.URLs, target)
		return first.n > 0 && len(l.URLs) < room, nil
	})
	if err != nil {
		return err
	}
	if _, err := s.flush(refused, 0); err != nil {
		return err
	}
	if first.n > 0 && len(l.URLs) < room {
		return fmt.Errorf("urlserver: the queue of %s lacks %d URLs", h.name, first.n)
	}
	if first.n == 0 {
		h.levels = slices.Delete(h.levels, i, i+1)
	}
	return nil
}

// queued is the record of a document in the queue of a host.
func (s *Server) queued(h *host, doc vocab.DocID) (docindex.Record, error) {
	r, ok, err := s.db.Get(doc)
	if err == nil && (!ok || r.State != docindex.Queued) {
		err = fmt.Errorf("urlserver: document %d in the queue of %s is %s", doc, h.name, r.State)
	}
	return r, err
}

// trapOf says why a queued document is not to be fetched after all, or 0.
func (s *Server) trapOf(h *host, r *docindex.Record) (docindex.Trap, error) {
	if len(h.spent) == 0 || s.seeds[r.Doc] || r.History.Visits > 0 {
		return 0, nil
	}
	u, err := weburl.Parse(r.URL)
	if err != nil {
		return 0, err
	}
	return h.trap(&u), nil
}

// refuse takes a document out of its queue for good.
func (s *Server) refuse(b *docindex.Batch, k docindex.QueueKey, r *docindex.Record, trap docindex.Trap) {
	b.DeleteQueued(k)
	s.uncount(r)
	r.State, r.Trap, r.Fetch = docindex.Trapped, trap, nil
	s.count(r)
	b.PutRecord(r)
}

// fly puts a document in flight.
func (s *Server) fly(h *host, k docindex.QueueKey, r docindex.Record) (vocab.Target, error) {
	doc := r.Doc
	f := &flight{record: r, host: h, key: k, url: r.URL}
	if h.HTTPS && !r.Swapped {
		u, err := weburl.Parse(r.URL)
		if err != nil {
			return vocab.Target{}, err
		}
		u = u.HTTPS()
		f.url = u.String()
	}
	s.inFlight[doc] = f
	if f.countsAsNew() {
		s.pages++
		h.leased++
	}
	t := vocab.Target{Doc: doc, URL: f.url, Kind: r.Kind, Depth: r.Depth, Tries: r.Tries, Again: r.History.Visits > 0}
	if t.Again && f.url == r.URL {
		t.Known = r.History.Validators
	}
	return t, nil
}

// wakeMost bounds the waiting URLs that one Take queues again.
const wakeMost = 1000

// wake queues the waiting URLs that are due.
func (s *Server) wake(now time.Time) error {
	if s.nextDue.IsZero() || s.nextDue.After(now) {
		return nil
	}
	a := adder{s: s, b: s.db.NewBatch()}
	last := s.nextDue
	n := 0
	err := s.db.EachWaiting(s.nextDue, func(w docindex.Wait) (bool, error) {
		if w.Due.After(now) || n == wakeMost {
			return false, nil
		}
		n++
		last = w.Due
		a.b.DeleteWaiting(w)
		r, ok, err := s.db.Get(w.Doc)
		if err != nil || !ok {
			return ok, err
		}
		u, err := weburl.Parse(r.URL)
		if err != nil {
			return false, err
		}
		s.uncount(&r)
		r.State, r.Due = docindex.Queued, time.Time{}
		if s.isRemoved(&u) {
			takeOut(&r)
		}
		_, err = a.settle(&r, &u, w.Priority)
		return err == nil, err
	})
	if err != nil {
		return err
	}
	if _, err := s.flush(a.b, 0); err != nil {
		return err
	}
	for _, h := range a.hosts {
		s.frontier.offer(h)
	}
	return s.findDue(last)
}

// findDue finds the first waiting URL; there is none before from.
func (s *Server) findDue(from time.Time) error {
	s.nextDue = time.Time{}
	return s.db.EachWaiting(from, func(w docindex.Wait) (bool, error) {
		s.nextDue = w.Due
		return false, nil
	})
}

// wait is the answer of a Take that found nothing.
func (s *Server) wait(now time.Time) time.Duration {
	if !s.walked() {
		return time.Millisecond
	}
	out := len(s.inFlight) > 0 || len(s.leases) > 0
	wait, ok := s.frontier.wait(now)
	if !s.nextDue.IsZero() && (!ok || s.nextDue.Sub(now) < wait) {
		wait, ok = s.nextDue.Sub(now), true
	}
	until, revisits := s.visitWait(now)
	if revisits && (!ok || until < wait) {
		wait, ok = until, true
	}
	full := s.budget() <= 0 && !revisits && !s.revisiting()
	left := revisits || s.counts.States[docindex.Queued]+s.counts.States[docindex.Waiting] > 0
	switch {
	case !out && (!ok || !left || full):
		return 0
	case out && (!ok || wait > maxWait), full:
		return maxWait
	}
	return max(wait, time.Millisecond)
}

// maxSitemaps bounds the sitemaps taken from one robots.txt.
const maxSitemaps = 100

// Release ends a lease, and learns from it how to treat the host. Results may come before and
// after.
func (s *Server) Release(now time.Time, report vocab.HostReport) error {
	s.mu.Lock()
	h, err := s.release(now, report)
	s.mu.Unlock()
	if err != nil || h == nil {
		return err
	}
	_, err = s.Add(sitemaps(report.Sitemaps))
	return err
}

// release gives back the host if its sitemaps are yet to be added.
func (s *Server) release(now time.Time, report vocab.HostReport) (*host, error) {
	l := s.leases[report.Lease]
	if s.err != nil || l == nil {
		return nil, s.err
	}
	s.tell(now)
	delete(s.leases, report.Lease)
	h, site := l.host, l.host.site
	site.leases--
	site.learn(now, report, &s.o)
	h.learn(&report)
	s.frontier.leave(l, now)
	s.frontier.offer(h)
	s.frontier.offerSite(site)
	if report.HTTPS && !h.HTTPS {
		h.HTTPS = true
		b := s.db.NewBatch()
		b.PutHost(h.name, h.HostRecord)
		if err := b.Commit(); err != nil {
			return nil, s.fail(err)
		}
	}
	if h.asked || len(report.Sitemaps) == 0 {
		return nil, nil
	}
	h.asked = true
	return h, nil
}

// politeness is why a site waits that nothing is the matter with.
const politeness = "politeness"

// learn takes in what a lease showed, and sets when the site may be asked again.
func (s *site) learn(now time.Time, report vocab.HostReport, o *Options) {
	if report.Answer > 0 {
		s.answer = report.Answer
	}
	if report.Crawl > 0 {
		s.crawl = report.Crawl
	}
	at, why := now.Add(s.delay(o)), politeness
	if held := now.Add(min(report.HoldFor, o.MaxHold)); held.After(at) {
		at, why = held, report.Reason
	}
	if at.After(s.at) {
		s.at, s.why = at, why
	}
}

func sitemaps(urls []string) []Found {
	var found []Found
	for _, raw := range urls[:min(len(urls), maxSitemaps)] {
		if u, err := weburl.Parse(raw); err == nil {
			found = append(found, Found{URL: u, Kind: vocab.SitemapTarget})
		}
	}
	return found
}
