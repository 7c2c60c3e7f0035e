package urlserver

import (
	"time"

	"anatomy/disk/docindex"
	"anatomy/vocab"
	"anatomy/weburl"
)

// A Claim is the result of [Server.Claim].
type Claim int

// The results of Claim.
const (
	Claimed Claim = iota // the document is in flight; the caller must call Complete
	Known                // the document has an outcome that is at least as new
	Busy                 // the document is in flight already; try again after the next Complete
)

// claimAnswer claims a document for an answer received at a time, unless it has an answer at least
// as new.
func (s *state) claimAnswer(doc vocab.DocID, u *weburl.URL, at time.Time) (Claim, error) {
	if s.flights.inFlight[doc] != nil {
		return Busy, nil
	}
	r, ok, err := s.db.Get(doc)
	if err != nil || !ok || r.Kind != vocab.PageTarget ||
		isAnswered(&r) && !r.Fetch.Fetched.Before(at) {
		return Known, err
	}
	return Claimed, s.claim(&r, u)
}

// isAnswered reports whether the outcome of a document comes from a response of its server.
func isAnswered(r *docindex.Record) bool {
	if r.Fetch == nil {
		return false
	}
	switch r.Fetch.Outcome {
	case vocab.Forbidden, vocab.Refused, vocab.NoName, vocab.Failed:
		return false
	}
	return true
}

// reserve claims a document that is not in flight, with any outcome.
func (s *state) reserve(doc vocab.DocID) (bool, error) {
	if s.flights.inFlight[doc] != nil {
		return false, nil
	}
	r, u, ok, err := s.load(doc)
	if err != nil || !ok {
		return false, err
	}
	return true, s.claim(&r, &u)
}

// claim puts a document in flight without a lease.
func (s *state) claim(r *docindex.Record, u *weburl.URL) error {
	h, err := s.queues.host(u)
	if err != nil {
		return err
	}
	if r.State == docindex.Waiting {
		if err := s.stopWaiting(r); err != nil {
			return err
		}
	}
	f := &flight{record: *r, host: h, url: u.String()}
	if r.State == docindex.Queued {
		if f.key, err = s.queues.keyOf(r); err != nil {
			return err
		}
		if queue := s.frontier.Lookup(f.key.Host); queue != nil {
			queue.Pull(f.key.Priority, f.key.Number)
			f.host = queue
		}
	}
	s.flights.start(f)
	return nil
}

// stopWaiting removes a document from the table of retries. It keeps the outcome of its last visit,
// or becomes out of scope.
func (s *state) stopWaiting(r *docindex.Record) error {
	b := s.db.NewBatch()
	b.DeleteWaiting(docindex.Wait{Due: r.Due, Doc: r.Doc})
	before := *r
	r.State, r.Due, r.Tries = docindex.Finished, time.Time{}, 0
	if !isAnswered(r) {
		r.State, r.Fetch = docindex.OutOfScope, nil
	}
	s.replace(b, &before, r)
	_, err := s.flush(b, 0)
	return err
}
