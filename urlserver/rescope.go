package urlserver

import (
	"slices"
	"time"

	"anatomy/disk/docindex"
	"anatomy/urlserver/internal/frontier"
	"anatomy/vocab"
	"anatomy/weburl"
)

// The scope of a crawl changes when it continues with other options, gets another seed, or when
// pages are removed or blocked. Each record changes together with its queue entry and the totals in
// one batch. A crash between batches leaves a part of the change, which the next Open completes:
// the text of the scope is written last when the scope is made wider, and first when pages are
// removed.

// An entry is the position of a document in its host's queue, or in the table of retries.
type entry struct {
	key  docindex.QueueKey // zero if it waits for a retry
	wait docindex.Wait
}

func (e *entry) delete(b *docindex.Batch) {
	if e.key.Host != "" {
		b.DeleteQueued(e.key)
	} else {
		b.DeleteWaiting(e.wait)
	}
}

// eachEntry calls fn for each document that is queued or waits for a retry, and commits what fn
// changed.
func (c *change) eachEntry(fn func(e *entry, r *docindex.Record, u *weburl.URL) error) error {
	visit := func(doc vocab.DocID, e entry) (bool, error) {
		r, u, ok, err := c.load(doc)
		if err != nil || !ok {
			return false, err
		}
		if err := fn(&e, &r, &u); err != nil {
			return false, err
		}
		return true, c.split()
	}
	err := c.db.EachQueue("", func(k docindex.QueueKey, doc vocab.DocID) (bool, error) {
		return visit(doc, entry{key: k})
	})
	if err != nil {
		return err
	}
	err = c.db.EachWaiting(time.Time{}, func(w docindex.Wait) (bool, error) {
		return visit(w.Doc, entry{wait: w})
	})
	if err != nil {
		return err
	}
	return c.commit()
}

// narrow removes URLs that are no longer in scope from the queues. The queues are not in memory
// yet.
func (s *state) narrow() error {
	c := s.begin()
	return c.eachEntry(func(e *entry, r *docindex.Record, u *weburl.URL) error {
		before := *r
		r.Due = time.Time{}
		if r.History.Visits == 0 {
			r.Fetch = nil
			s.scope.decide(u, r, s.now)
		} else if r.State = docindex.Queued; !s.scope.filter.Admits(u, r.Kind) {
			r.State = docindex.Finished // with the outcome of the last visit
		}
		if r.State != docindex.Queued {
			e.delete(c.b)
			c.replace(c.b, &before, r)
		}
		return nil
	})
}

// widen queues the known URLs that are now in scope.
func (s *state) widen() error {
	c := s.begin()
	err := s.db.Each(1, func(r docindex.Record) error {
		if r.State != docindex.OutOfScope && r.State != docindex.Trapped {
			return nil
		}
		u, err := weburl.Parse(r.URL)
		if err != nil {
			return err
		}
		before := r
		s.scope.decide(&u, &r, s.now)
		if r.State == before.State {
			return nil
		}
		s.uncount(&before)
		if err := c.reinsertFollowed(&r, &u); err != nil {
			return err
		}
		return c.split()
	})
	if err != nil {
		return err
	}
	return c.commit()
}

// reinsertFollowed inserts a known document, but does not queue it if only rel=nofollow links lead
// to it.
func (c *change) reinsertFollowed(r *docindex.Record, u *weburl.URL) error {
	if r.State == docindex.Queued {
		known, _, err := c.seen.find(u.Fingerprint())
		if err != nil {
			return err
		}
		if known.NoFollowed {
			r.State = docindex.NoFollowed
		}
	}
	return c.reinsert(r, u)
}

// reorder sets the priority of every queued or waiting URL, after a run whose policy ordered the
// queues differently. The estimated quality of the URL is lost; it keeps its number. The queues are
// not in memory yet.
func (s *state) reorder() error {
	c := s.begin()
	return c.eachEntry(func(e *entry, r *docindex.Record, u *weburl.URL) error {
		priority := s.o.Policy.FirstPriority(r.Kind, r.Depth)
		if e.key.Host == "" {
			e.wait.Priority = priority
			c.b.PutWaiting(e.wait)
			return nil
		}
		c.b.DeleteQueued(e.key)
		e.key.Priority = priority
		c.b.PutQueued(e.key, r.Doc)
		if !s.o.Policy.ByQuality() || e.key.Number&frontier.Again != 0 {
			return nil
		}
		fp := u.Fingerprint()
		known, ok, err := s.db.URL(fp)
		if err != nil || !ok {
			return err
		}
		known.Priority, known.Number = e.key.Priority, e.key.Number
		c.b.PutURL(fp, known)
		return nil
	})
}

// remove removes the URLs that match a pattern from this run, and returns the number removed from
// queues.
func (s *state) remove(pattern string) (n uint64, err error) {
	if !slices.Contains(s.scope.removed, pattern) {
		s.scope.removed = append(s.scope.removed, pattern)
	}
	c := s.begin()
	c.b.PutMeta(metaScope, s.scope.text())
	if err := c.b.Commit(); err != nil {
		return 0, err
	}
	return s.withdrawMatches(func(u *weburl.URL) bool { return weburl.MatchPattern(pattern, u) })
}

// withdrawMatches removes the documents that match and are not in flight from their queues, and
// returns their number.
func (s *state) withdrawMatches(match func(*weburl.URL) bool) (n uint64, err error) {
	c := s.begin()
	err = c.eachEntry(func(e *entry, r *docindex.Record, u *weburl.URL) error {
		if s.flights.inFlight[r.Doc] != nil || !match(u) {
			return nil
		}
		n++
		before := *r
		withdraw(r)
		c.replace(c.b, &before, r)
		e.delete(c.b)
		if h := s.frontier.Lookup(e.key.Host); h != nil { // otherwise its queue is not read yet
			h.Pull(e.key.Priority, e.key.Number)
		}
		return nil
	})
	return n, err
}
