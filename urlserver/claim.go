package urlserver

import (
	"time"

	"anatomy/disk/docindex"
	"anatomy/vocab"
	"anatomy/weburl"
)

// A Claim says what became of a call of [Server.Claim].
type Claim int

// The answers of Claim.
const (
	Claimed Claim = iota // the document is in flight, and Done wants its outcome
	Known                // what is known of the document is as new
	Busy                 // the document is in flight already: ask again after the next Done
)

// Claim puts a document in flight that no lease led to, since the answer is at hand: one that came from
// u at a time. A document with an outcome that is not older keeps it, unless that is no answer.
func (s *Server) Claim(doc vocab.DocID, u *weburl.URL, at time.Time) (Claim, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return Known, s.err
	}
	if s.inFlight[doc] != nil {
		return Busy, nil
	}
	r, ok, err := s.db.Get(doc)
	if err != nil {
		return Known, s.fail(err)
	}
	if !ok || r.Kind != vocab.PageTarget || answered(&r) && !r.Fetch.Fetched.Before(at) {
		return Known, nil
	}
	if err := s.claim(&r, u); err != nil {
		return Known, s.fail(err)
	}
	return Claimed, nil
}

// answered says whether the outcome of a document is what its server said, and not how we failed to ask.
func answered(r *docindex.Record) bool {
	if r.Fetch == nil {
		return false
	}
	switch r.Fetch.Outcome {
	case vocab.Forbidden, vocab.Refused, vocab.NoName, vocab.Failed:
		return false
	}
	return true
}

func (s *Server) claim(r *docindex.Record, u *weburl.URL) error {
	h, err := s.frontier.host(u.Host(), u.Hostname(), s.db.Host)
	if err != nil {
		return err
	}
	f := &flight{record: *r, host: h, url: u.String()}
	if r.State == docindex.Waiting {
		if err := s.unwait(r); err != nil {
			return err
		}
		f.record = *r
	}
	if r.State == docindex.Queued {
		if f.key, err = s.placeOf(r); err != nil {
			return err
		}
		if queue := s.frontier.hosts[f.key.Host]; queue != nil {
			queue.pull(f.key.Priority, f.key.Number)
			f.host = queue
		}
	}
	s.inFlight[r.Doc] = f
	if f.countsAsNew() {
		s.pages++
		f.host.leased++
	}
	return nil
}

// unwait takes a document that waits for another try out of the list of those. It keeps the fate that it
// had before; where it had none, it is as one out of scope.
func (s *Server) unwait(r *docindex.Record) error {
	b := s.db.NewBatch()
	b.DeleteWaiting(docindex.Wait{Due: r.Due, Doc: r.Doc})
	s.uncount(r)
	r.State, r.Due, r.Tries = docindex.Finished, time.Time{}, 0
	if !answered(r) {
		r.State, r.Fetch = docindex.OutOfScope, nil
	}
	s.count(r)
	b.PutRecord(r)
	b.PutCounts(&s.counts)
	return b.Commit()
}

// placeOf finds the place of a queued document. Where the order is not by quality nobody wrote it down,
// and the queue of its host is searched.
func (s *Server) placeOf(r *docindex.Record) (key docindex.QueueKey, err error) {
	u, err := weburl.Parse(r.URL)
	if err != nil {
		return key, err
	}
	known, _, err := s.db.URL(u.Fingerprint())
	if err != nil {
		return key, err
	}
	key = docindex.QueueKey{Host: u.Host(), Priority: known.Priority, Number: known.Number}
	if doc, err := s.db.Queued(key); err != nil || doc == r.Doc {
		return key, err
	}
	err = s.db.EachQueued(docindex.QueueKey{Host: u.Host()}, func(k docindex.QueueKey, doc vocab.DocID) (bool, error) {
		key = k
		return doc != r.Doc, nil
	})
	return key, err
}
