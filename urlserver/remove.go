package urlserver

import (
	"slices"
	"time"

	"anatomy/disk/docindex"
	"anatomy/vocab"
	"anatomy/weburl"
)

// Remove takes the URLs that match a pattern of a weburl.Filter out of the crawl, seeds too, and
// keeps them out until the server is closed: the next run decides anew. URLs in flight are left to
// their fetch, and go where the others went if they are given back. It gives the number of URLs that
// left the queues, all of which it walks.
func (s *Server) Remove(pattern string) (left uint64, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return 0, s.err
	}
	if !slices.Contains(s.removed, pattern) {
		s.removed = append(s.removed, pattern)
	}
	// The scope on disk changes first: whatever of the rest a crash cuts off, the next Open sees that
	// the scope is another, and puts every URL where it belongs.
	b := s.db.NewBatch()
	b.PutMeta("scope", s.scopeText())
	if err := b.Commit(); err != nil {
		return 0, s.fail(err)
	}
	for _, remove := range []func(string) (uint64, error){s.removeQueued, s.removeWaiting} {
		n, err := remove(pattern)
		if err != nil {
			return left, s.fail(err)
		}
		left += n
	}
	return left, nil
}

func (s *Server) removeQueued(pattern string) (left uint64, err error) {
	b := s.db.NewBatch()
	err = s.db.EachQueue("", func(k docindex.QueueKey, doc vocab.DocID) (bool, error) {
		if s.inFlight[doc] != nil {
			return true, nil
		}
		r, err := s.leave(pattern, doc)
		if err != nil || r == nil {
			return err == nil, err
		}
		left++
		b.DeleteQueued(k)
		b.PutRecord(r)
		if h := s.frontier.hosts[k.Host]; h != nil { // or its queue is yet to be read
			h.pull(k.Priority, k.Number)
		}
		b, err = s.flush(b, batchBytes)
		return true, err
	})
	if err != nil {
		return left, err
	}
	_, err = s.flush(b, 0)
	return left, err
}

func (s *Server) removeWaiting(pattern string) (left uint64, err error) {
	b := s.db.NewBatch()
	err = s.db.EachWaiting(time.Time{}, func(w docindex.Wait) (bool, error) {
		r, err := s.leave(pattern, w.Doc)
		if err != nil || r == nil {
			return err == nil, err
		}
		left++
		b.DeleteWaiting(w)
		b.PutRecord(r)
		b, err = s.flush(b, batchBytes)
		return true, err
	})
	if err != nil {
		return left, err
	}
	_, err = s.flush(b, 0)
	return left, err
}

// leave gives the record of a document that matches, as it is out of scope and counted so; nil of any
// other.
func (s *Server) leave(pattern string, doc vocab.DocID) (*docindex.Record, error) {
	r, ok, err := s.db.Get(doc)
	if err != nil || !ok {
		return nil, err
	}
	u, err := weburl.Parse(r.URL)
	if err != nil || !weburl.MatchPattern(pattern, &u) {
		return nil, err
	}
	s.uncount(&r)
	takeOut(&r)
	s.count(&r)
	return &r, nil
}

// takeOut gives a record the state of what is not to be fetched. A page that was visited before is as
// it was then.
func takeOut(r *docindex.Record) {
	if r.Due = (time.Time{}); r.History.Visits > 0 {
		r.State = docindex.Finished
		return
	}
	r.State, r.Fetch = docindex.OutOfScope, nil
}

// isRemoved says whether a URL was taken out, of this run or for good.
func (s *Server) isRemoved(u *weburl.URL) bool {
	return s.bans.has(u) || slices.ContainsFunc(s.removed, func(pattern string) bool { return weburl.MatchPattern(pattern, u) })
}
