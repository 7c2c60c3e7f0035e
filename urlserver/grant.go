package urlserver

import (
	"fmt"
	"strings"
	"time"

	"anatomy/disk/docindex"
	"anatomy/urlserver/internal/frontier"
	"anatomy/urlserver/internal/trap"
	"anatomy/vocab"
	"anatomy/weburl"
)

// maxWoken bounds the waiting and due URLs that one Grant queues.
const maxWoken = 1000

// grant returns a lease of the best host that may be visited now, or false if there is none.
func (s *state) grant() (l vocab.Lease, ok bool, err error) {
	if err := s.queues.scan(); err != nil {
		return l, false, err
	}
	full := s.budget() <= 0
	s.frontier.AllowNew(!full)
	if full && s.o.Recrawl.Mode == NoRecrawl {
		return l, false, nil
	}
	if err := s.queueRetries(); err != nil {
		return l, false, err
	}
	if err := s.queueRevisits(); err != nil {
		return l, false, err
	}
	if s.learning() {
		return l, false, nil
	}
	for h := s.frontier.Next(s.now); h != nil; h = s.frontier.Next(s.now) {
		l, again, err := s.lease(h)
		if again {
			s.frontier.Requeue(h)
		} else {
			s.frontier.Pass(h)
		}
		if err != nil || len(l.URLs) > 0 {
			return l, err == nil, err
		}
	}
	return l, false, nil
}

// With TopicFirst, fetched pages determine which URL is next. So few leases are in flight while
// little is known: firstLeases, and one more per pagesPerLease pages.
const (
	firstLeases   = 8
	pagesPerLease = 64
)

// learning reports whether no lease is granted before another has ended.
func (s *state) learning() bool {
	most := firstLeases + s.counts.Pages/pagesPerLease
	return s.o.Policy == TopicFirst && uint64(len(s.flights.leases)) >= most
}

// queueRetries queues the waiting URLs whose time has come.
func (s *state) queueRetries() error {
	first := s.schedule.nextRetry
	if first.IsZero() || first.After(s.now) {
		return nil
	}
	c, last, n := s.begin(), first, 0
	err := s.db.EachWaiting(first, func(w docindex.Wait) (bool, error) {
		if w.Due.After(s.now) || n == maxWoken {
			return false, nil
		}
		n++
		last = w.Due
		c.b.DeleteWaiting(w)
		r, u, ok, err := s.load(w.Doc)
		if err != nil || !ok {
			return false, err
		}
		s.uncount(&r)
		r.State, r.Due = docindex.Queued, time.Time{}
		if s.scope.excludes(&u) {
			withdraw(&r)
		}
		known, _, err := s.seen.find(u.Fingerprint())
		if err != nil {
			return false, err
		}
		_, err = c.insert(&r, &u, w.Priority, &known)
		return err == nil, err
	})
	if err != nil {
		return err
	}
	if err := c.commit(); err != nil {
		return err
	}
	return s.schedule.findRetry(last)
}

// queueRevisits queues the documents that are due.
func (s *state) queueRevisits() error {
	first := s.schedule.nextVisit
	limit, ok := s.schedule.dueBy()
	if !ok || first.IsZero() || first.After(limit) {
		return nil
	}
	c, last, n := s.begin(), first, 0
	err := s.db.EachRevisit(first, func(due time.Time, doc vocab.DocID) (bool, error) {
		if due.After(limit) || n == maxWoken {
			return false, nil
		}
		n++
		last = due
		r, ok, err := s.db.Get(doc)
		if err != nil || !ok || !r.Due.Equal(due) || !isFinal(&r) {
			c.b.DeleteRevisit(due, doc)
			return true, err
		}
		return true, c.revisit(&r)
	})
	if err != nil {
		return err
	}
	if err := c.commit(); err != nil {
		return err
	}
	return s.schedule.findVisit(last)
}

// maxDoubtful bounds the doubtful URLs of a host in flight, so that a trap is recognized before
// many more of its pages are requested.
const maxDoubtful = 12

// lease grants a lease of the first URLs of a host's queue. It has no URLs if all were refused.
// again reports whether the host may be leased again; if not, maxDoubtful URLs are in flight.
func (s *state) lease(h *frontier.Host) (l vocab.Lease, again bool, err error) {
	g := granter{change: s.begin(), h: h}
	room := s.frontier.LeaseRoom(h)
	newRoom := int(min(s.budget(), int64(s.frontier.NewRoom(h))))
	for len(g.urls) < room && !g.full {
		before := len(g.urls)
		ok, err := h.LeaseNext(newRoom > 0, func(l *frontier.Level, most int) (int, error) {
			most = min(most, room-before)
			if !l.Again {
				most = min(most, newRoom)
			}
			err := g.fill(l, before+most)
			n := len(g.urls) - before
			if !l.Again {
				newRoom -= n
			}
			return n, err
		})
		if err != nil {
			return l, false, err
		}
		if !ok {
			break
		}
	}
	if err := g.commit(); err != nil {
		return l, false, err
	}
	if len(g.instead) > 0 {
		if _, err := s.discover(g.instead, len(g.instead), nil); err != nil {
			return l, false, err
		}
	}
	if len(g.urls) == 0 {
		return l, !g.full, nil
	}
	out, l := s.frontier.Start(h)
	s.flights.lastLease++
	s.flights.leases[s.flights.lastLease] = out
	l.ID, l.URLs = s.flights.lastLease, g.urls
	if !h.SitemapSought && !h.SitemapsAdded && !h.Seeking && s.scope.seeksSitemap(h.Name) {
		l.FindSitemap, h.Seeking = true, true
	}
	return l, !g.full, nil
}

// A granter collects the URLs of one lease.
type granter struct {
	*change
	h       *frontier.Host
	urls    []vocab.Target
	instead []Found // to be used instead of refused URLs
	full    bool    // maxDoubtful URLs are in flight, and the next one is doubtful
}

// fill moves URLs from a level into the lease until it has as many as room. It does not scan
// past the last URL of the level, because deleted keys follow.
func (g *granter) fill(l *frontier.Level, room int) error {
	from := docindex.QueueKey{Host: g.h.Name, Priority: l.Priority, Number: l.Next}
	err := g.db.EachQueued(from, func(k docindex.QueueKey, doc vocab.DocID) (bool, error) {
		if k.Priority != l.Priority || k.Number&frontier.Again != from.Number&frontier.Again {
			return false, nil
		}
		l.Next = k.Number + 1
		if g.flights.inFlight[doc] != nil {
			return true, nil
		}
		r, ok, err := g.db.Get(doc)
		if err == nil && (!ok || r.State != docindex.Queued) {
			err = fmt.Errorf("document index: document %d in the queue of %s is %s", doc, g.h.Name, r.State)
		}
		if err != nil {
			return false, err
		}
		refused, doubtful, err := g.refuse(k, &r)
		if err != nil {
			return false, err
		}
		if doubtful && !refused && g.h.Doubtful >= maxDoubtful {
			l.Next, g.full = k.Number, true
			return false, nil
		}
		l.Count--
		if refused {
			return l.Count > 0, g.split()
		}
		err = g.add(k, r, doubtful)
		return l.Count > 0 && len(g.urls) < room, err
	})
	if err != nil {
		return err
	}
	if l.Count > 0 && len(g.urls) < room && !g.full {
		return fmt.Errorf("document index: the queue of %s lacks %d URLs", g.h.Name, l.Count)
	}
	return nil
}

// refuse removes a queued document from its queue if its shape is spent by now, or if it is a
// sitemap and the budget of sitemaps is used up. doubtful reports that it was found only on pages
// that repeat, or that URLs of its shape have led to nothing so far.
func (g *granter) refuse(
	k docindex.QueueKey, r *docindex.Record,
) (refused, doubtful bool, err error) {
	if r.Kind == vocab.SitemapTarget && r.History.Visits == 0 && g.h.Site().SitemapsSpent() {
		before := *r
		r.State, r.Trap, r.Fetch = docindex.Trapped, docindex.OverSitemaps, nil
		g.b.DeleteQueued(k)
		g.replace(g.b, &before, r)
		return true, false, nil
	}
	watched := len(g.h.Traps) > 0 || g.h.Watched || strings.IndexByte(r.URL, '?') >= 0
	if !watched || g.scope.seeds[r.Doc] || r.History.Visits > 0 {
		return false, false, nil
	}
	u, err := weburl.Parse(r.URL)
	if err != nil {
		return false, false, err
	}
	fp := u.Fingerprint()
	known, _, err := g.seen.find(fp)
	if err != nil {
		return false, false, err
	}
	sampled := known.Sampled
	refusal, err := g.refusal(g.h, r, &u, &known)
	if err != nil {
		return false, false, err
	}
	if known.Sampled && !sampled {
		g.putURL(fp, known)
	}
	if refusal.Trap == 0 {
		doubtful, err = g.yields.IsDoubtful(g.h.Name, &u)
		return false, doubtful || known.Bred, err
	}
	before := *r
	r.Fetch = nil
	g.trapped(g.h, r, refusal)
	g.b.DeleteQueued(k)
	g.replace(g.b, &before, r)
	if refusal.Trap == docindex.SpentParameter && !g.yields.HasShown(g.h.Name, &u, refusal.Shape) {
		rest, err := trap.Without(&u, refusal.Shape)
		if err == nil {
			g.instead = append(g.instead, Found{URL: rest, Depth: r.Depth})
		}
	}
	return true, false, nil
}

// spentShape returns the spent shape of a document that may be refused for it, or none.
func (s *state) spentShape(
	h *frontier.Host, r *docindex.Record, u *weburl.URL, known *docindex.URLRecord,
) (refusal trap.Verdict, err error) {
	if s.scope.seeds[r.Doc] || r.History.Visits > 0 || known.Sampled || r.Kind != vocab.PageTarget {
		return refusal, nil
	}
	refusal, err = s.yields.Find(h.Name, h.Traps, u, known.Bred)
	switch {
	case err != nil || refusal.Trap == 0:
		return refusal, err
	case known.Listed:
		return trap.Verdict{}, nil
	case refusal.Trap == docindex.SpentParameter && r.Hops > 0: // a redirect of the site has the parameter
		return trap.Verdict{}, nil
	}
	return refusal, nil
}

// confirm reports whether a document in flight would still be leased. It decides again only if the
// host has got new evidence since the last decision about the document.
func (s *state) confirm(doc vocab.DocID) (bool, error) {
	f := s.flights.inFlight[doc]
	if f == nil || !f.wasQueued() || f.evidence == f.host.Evidence || f.recorded {
		return true, nil
	}
	f.evidence = f.host.Evidence
	if s.scope.seeds[doc] || f.record.History.Visits > 0 {
		return true, nil
	}
	u, err := weburl.Parse(f.record.URL)
	if err != nil {
		return false, err
	}
	known, _, err := s.seen.find(u.Fingerprint())
	if err != nil {
		return false, err
	}
	refusal, err := s.spentShape(f.host, &f.record, &u, &known)
	if err != nil || refusal.Trap != 0 {
		return false, err
	}
	if f.doubtful {
		return true, nil
	}
	suspect, err := s.yields.IsSuspect(f.host.Name, &u)
	if err != nil || !suspect {
		return err == nil, err
	}
	if f.host.Doubtful >= maxDoubtful {
		return false, nil
	}
	f.doubtful = true
	f.host.Doubtful++
	return true, nil
}

// add puts a document in flight, with the scheme that its host answers.
func (g *granter) add(k docindex.QueueKey, r docindex.Record, doubtful bool) error {
	f := &flight{record: r, host: g.h, key: k, url: r.URL, doubtful: doubtful, evidence: g.h.Evidence}
	is := isHTTPS(r.URL)
	https := is || g.h.HTTPS && !g.h.HasPort && !r.Swapped
	if f.hasOtherScheme() && g.h.Elsewhere(g.now, https) {
		https = !https
	}
	if https != is {
		f.url = otherScheme(r.URL)
	}
	g.flights.start(f)
	t := vocab.Target{
		Doc: r.Doc, URL: f.url, Kind: r.Kind, Depth: r.Depth, Tries: r.Tries,
		Revisit: r.History.Visits > 0, LastTry: int(r.Tries) >= len(g.o.Retry),
	}
	if t.Revisit && f.url == r.URL {
		t.Held = r.History.Validators
	}
	g.urls = append(g.urls, t)
	return nil
}

// wait returns the time after which Grant may grant a lease, if it grants none now, or 0 if the crawl
// has ended.
func (s *state) wait() time.Duration {
	if !s.queues.complete() {
		return time.Millisecond
	}
	out := len(s.flights.inFlight) > 0 || len(s.flights.leases) > 0
	wait, ok := s.frontier.Wait(s.now)
	if next := s.schedule.nextRetry; !next.IsZero() && (!ok || next.Sub(s.now) < wait) {
		wait, ok = next.Sub(s.now), true
	}
	visit, revisits := s.schedule.visitWait()
	if revisits && (!ok || visit < wait) {
		wait, ok = visit, true
	}
	full := s.budget() <= 0 && !revisits && !s.frontier.HasRevisits()
	left := revisits || s.counts.States[docindex.Queued]+s.counts.States[docindex.Waiting] > 0
	switch {
	case !out && (!ok || !left || full):
		return 0
	case out && (!ok || wait > maxWait), full, s.learning():
		return maxWait
	}
	return max(wait, time.Millisecond)
}

// maxSitemaps bounds the sitemaps taken from one robots.txt.
const maxSitemaps = 100

// release ends a lease. The first time, it returns the sitemaps that the host's robots.txt names.
func (s *state) release(report *vocab.HostReport) (sitemaps []Found, err error) {
	l := s.flights.leases[report.Lease]
	if l == nil {
		return nil, nil
	}
	delete(s.flights.leases, report.Lease)
	h := l.Host
	s.frontier.Release(s.now, l, report)
	h.Seeking = false
	https, sought := report.HTTPS && !h.HTTPS, report.SitemapSought && !h.SitemapSought
	if https || sought {
		h.HTTPS, h.SitemapSought = h.HTTPS || https, h.SitemapSought || sought
		b := s.db.NewBatch()
		b.PutHost(h.Name, h.HostRecord)
		if err := b.Commit(); err != nil {
			return nil, err
		}
	}
	if h.SitemapsAdded || len(report.Sitemaps) == 0 {
		return nil, nil
	}
	h.SitemapsAdded = true
	for _, raw := range report.Sitemaps[:min(len(report.Sitemaps), maxSitemaps)] {
		if u, err := weburl.Parse(raw); err == nil {
			sitemaps = append(sitemaps, Found{URL: u, Kind: vocab.SitemapTarget})
		}
	}
	return sitemaps, nil
}
