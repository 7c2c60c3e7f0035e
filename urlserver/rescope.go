package urlserver

import (
	"time"

	"anatomy/disk/docindex"
	"anatomy/vocab"
	"anatomy/weburl"
)

// A crawl may go on with another scope, or get another seed. Both directions change a record, its
// place in a queue and the totals in one batch, so that a crash between batches leaves a smaller
// change, which the next Open completes: the new scope is written down last.

// batchBytes is where a long series of changes is cut.
const batchBytes = 1 << 20

// narrow takes URLs out of the queues that the scope no longer admits. It is called before the
// queues are in memory.
func (s *Server) narrow() error {
	b := s.db.NewBatch()
	leave := func(doc vocab.DocID, remove func()) (bool, error) {
		r, ok, err := s.db.Get(doc)
		if err != nil || !ok {
			return ok, err
		}
		u, err := weburl.Parse(r.URL)
		if err != nil {
			return false, err
		}
		before := r
		if r.Due = (time.Time{}); r.History.Visits == 0 {
			r.Fetch = nil
			s.place(&u, &r)
		} else if r.State = docindex.Queued; !s.filter.Admits(&u, r.Kind) {
			r.State = docindex.Finished // and as it was when it was visited last
		}
		if r.State != docindex.Queued {
			remove()
			s.uncount(&before)
			s.count(&r)
			b.PutRecord(&r)
			b, err = s.flush(b, batchBytes)
		}
		return true, err
	}
	err := s.db.EachQueue("", func(k docindex.QueueKey, doc vocab.DocID) (bool, error) {
		return leave(doc, func() { b.DeleteQueued(k) })
	})
	if err != nil {
		return err
	}
	err = s.db.EachWaiting(time.Time{}, func(w docindex.Wait) (bool, error) {
		return leave(w.Doc, func() { b.DeleteWaiting(w) })
	})
	if err != nil {
		return err
	}
	_, err = s.flush(b, 0)
	return err
}

// widen queues the URLs that are known and not queued, and that the scope now admits.
func (s *Server) widen() error {
	a := adder{s: s, b: s.db.NewBatch()}
	err := s.db.Each(1, func(r docindex.Record) error {
		if r.State != docindex.OutOfScope && r.State != docindex.Trapped {
			return nil
		}
		u, err := weburl.Parse(r.URL)
		if err != nil {
			return err
		}
		before := r
		s.place(&u, &r)
		if r.State == before.State {
			return nil
		}
		s.uncount(&before)
		if r.State == docindex.Queued {
			known, _, err := s.find(u.Fingerprint())
			if err != nil {
				return err
			}
			if known.Held {
				r.State = docindex.NoFollowed
			}
		}
		if err := a.requeue(&r, &u); err != nil {
			return err
		}
		a.b, err = s.flush(a.b, batchBytes)
		return err
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
	return nil
}

// requeue settles a known URL anew, and writes down its place.
func (a *adder) requeue(r *docindex.Record, u *weburl.URL) error {
	number, err := a.settle(r, u, a.s.o.Policy.newcomer(r))
	if err != nil || number == 0 || !a.s.o.Policy.byQuality() {
		return err
	}
	fp := u.Fingerprint()
	known, _, err := a.s.find(fp)
	if err == nil {
		known.Priority, known.Number = a.s.o.Policy.newcomer(r), number
		a.know(fp, known)
	}
	return err
}

// reorder gives every URL that is to be fetched a new place, where another policy sorted the queues.
// What was known of its quality is lost; it keeps its number. It is called before the queues are in
// memory.
func (s *Server) reorder() error {
	a := adder{s: s, b: s.db.NewBatch()}
	err := s.db.EachQueue("", func(k docindex.QueueKey, doc vocab.DocID) (bool, error) {
		r, ok, err := s.db.Get(doc)
		if err != nil || !ok {
			return ok, err
		}
		to := k
		to.Priority = s.o.Policy.newcomer(&r)
		a.b.DeleteQueued(k)
		a.b.PutQueued(to, doc)
		if err := a.replace(&r, to); err != nil {
			return false, err
		}
		a.b, err = s.flush(a.b, batchBytes)
		return true, err
	})
	if err != nil {
		return err
	}
	err = s.db.EachWaiting(time.Time{}, func(w docindex.Wait) (bool, error) {
		r, ok, err := s.db.Get(w.Doc)
		if err != nil || !ok {
			return ok, err
		}
		w.Priority = s.o.Policy.newcomer(&r)
		a.b.PutWaiting(w)
		a.b, err = s.flush(a.b, batchBytes)
		return true, err
	})
	if err != nil {
		return err
	}
	_, err = s.flush(a.b, 0)
	return err
}

// replace writes down that a URL has another place.
func (a *adder) replace(r *docindex.Record, k docindex.QueueKey) error {
	if !a.s.o.Policy.byQuality() || k.Number&again != 0 {
		return nil
	}
	u, err := weburl.Parse(r.URL)
	if err != nil {
		return err
	}
	known, ok, err := a.s.db.URL(u.Fingerprint())
	if err != nil || !ok {
		return err
	}
	known.Priority, known.Number = k.Priority, k.Number
	a.b.PutURL(u.Fingerprint(), known)
	return nil
}

// flush commits a batch that is not empty and has size bytes, with the totals, and gives one to go
// on with.
func (s *Server) flush(b *docindex.Batch, size int) (*docindex.Batch, error) {
	if b.Empty() || b.Len() < size {
		return b, nil
	}
	b.PutCounts(&s.counts)
	clear(s.met)
	return s.db.NewBatch(), b.Commit()
}
