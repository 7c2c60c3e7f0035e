package urlserver

import (
	"fmt"
	"time"

	"anatomy/disk/docindex"
	"anatomy/urlserver/internal/frontier"
	"anatomy/vocab"
)

// A schedule has the documents that are fetched later: those waiting for a retry, and those due for
// a revisit. Both tables are in the document index, by time.
//
// nextRetry and nextVisit are never later than the first entry of their table; zero means that the
// table is empty.
type schedule struct {
	*ledger
	*clock
	o         *Options
	nextRetry time.Time
	nextVisit time.Time
}

// findRetry sets nextRetry if no entry is before from.
func (s *schedule) findRetry(from time.Time) error {
	s.nextRetry = time.Time{}
	return s.db.EachWaiting(from, func(w docindex.Wait) (bool, error) {
		s.nextRetry = w.Due
		return false, nil
	})
}

// findVisit sets nextVisit if no entry is before from.
func (s *schedule) findVisit(from time.Time) error {
	s.nextVisit = time.Time{}
	return s.db.EachRevisit(from, func(due time.Time, _ vocab.DocID) (bool, error) {
		s.nextVisit = due
		return false, nil
	})
}

// retry schedules the retry of a failed document, at the earliest after the server's Retry-After.
func (s *schedule) retry(
	b *docindex.Batch, r *docindex.Record, priority uint8, atLeast time.Duration,
) {
	wait := max(s.o.Retry[r.Tries-1], min(atLeast, s.o.MaxHold), time.Millisecond)
	r.State, r.Due = docindex.Waiting, s.now.Add(wait).Truncate(time.Millisecond)
	b.PutWaiting(docindex.Wait{Due: r.Due, Doc: r.Doc, Priority: priority})
	if s.nextRetry.IsZero() || r.Due.Before(s.nextRetry) {
		s.nextRetry = r.Due
	}
}

// firstDue is the earliest time of a revisit: earlier ones would be stored as none. A seed that was given
// up before a time was stated has no FirstSeen, from which its revisit is counted.
var firstDue = time.UnixMilli(1).UTC()

// revisitAt schedules a document for a revisit.
func (s *schedule) revisitAt(b *docindex.Batch, r *docindex.Record, due time.Time) {
	r.Due = time.Time{}
	if s.o.Recrawl.Mode == NoRecrawl {
		if s.o.KeepScope { // Open kept the table of revisits, which is incomplete now
			b.PutMeta(metaRecrawl, "")
		}
		return
	}
	r.Due = due.UTC().Truncate(time.Millisecond)
	if r.Due.Before(firstDue) {
		r.Due = firstDue
	}
	if !r.Due.After(s.horizon()) { // at most once per run
		r.Due = s.horizon().UTC().Truncate(time.Millisecond).Add(time.Millisecond)
	}
	b.PutRevisit(r.Due, r.Doc)
	if s.nextVisit.IsZero() || r.Due.Before(s.nextVisit) {
		s.nextVisit = r.Due
	}
}

// revisit schedules a document by its history.
func (s *schedule) revisit(b *docindex.Batch, r *docindex.Record) {
	due, _ := s.o.Recrawl.next(r)
	s.revisitAt(b, r, due)
}

// revisitLater schedules a document whose host is given up.
func (s *schedule) revisitLater(b *docindex.Batch, r *docindex.Record) {
	s.revisitAt(b, r, s.now.Add(s.o.Recrawl.within(firstInterval)))
}

// unschedule cancels the revisit of a document.
func unschedule(b *docindex.Batch, r *docindex.Record) {
	if !r.Due.IsZero() && r.State != docindex.Waiting {
		b.DeleteRevisit(r.Due, r.Doc)
		r.Due = time.Time{}
	}
}

// abandon ends a visit that failed because of the host. A page that was visited before keeps its
// last outcome, see keep; other documents are given up.
func (s *schedule) abandon(b *docindex.Batch, r *docindex.Record, loss *frontier.Loss) {
	if r.History.Visits > 0 {
		s.keep(b, r)
		return
	}
	giveUp(r, loss)
	s.revisitAt(b, r, s.now.Add(firstInterval))
}

// keep ends a visit without changes. It schedules the next visit after a wait as long as the time
// since the last visit that reached the document.
func (s *schedule) keep(b *docindex.Batch, r *docindex.Record) {
	r.State, r.Tries = docindex.Finished, 0
	s.revisitAt(b, r, s.now.Add(s.o.Recrawl.within(s.now.Sub(r.History.Visited))))
}

// isFinal reports whether the outcome of a document is final until its next revisit.
func isFinal(r *docindex.Record) bool {
	return (r.State == docindex.Finished || r.State == docindex.GivenUp) && !isBlocked(r)
}

func isBlocked(r *docindex.Record) bool {
	return r.Fetch != nil && r.Fetch.Outcome == vocab.Blocked
}

// dueBy returns the time up to which documents are revisited now; ok is false if none are.
func (s *schedule) dueBy() (limit time.Time, ok bool) {
	switch s.o.Recrawl.Mode {
	case RecrawlDue:
		return s.horizon(), true
	case Watch:
		return s.now, true
	}
	return s.now, false
}

// visitWait returns the time until a document is due, or false if this run waits for none.
func (s *schedule) visitWait() (wait time.Duration, ok bool) {
	switch s.o.Recrawl.Mode {
	case Watch:
		if s.nextVisit.IsZero() {
			return maxWait, true
		}
		return max(0, min(s.nextVisit.Sub(s.now), maxWait)), true
	case RecrawlDue:
		return 0, !s.nextVisit.IsZero() && !s.nextVisit.After(s.horizon())
	}
	return 0, false
}

// horizon returns the time up to which a page counts as due when a run begins.
func (s *schedule) horizon() time.Time { return s.begun.Add(s.o.Recrawl.Ahead) }

const metaRecrawl = "recrawl"

// revisitsVersion is the version of the table of revisits. A table of another version is made again: in
// version 1 a revisit before 1970 kept all others from being found.
const revisitsVersion = 2

// rebuild rebuilds the table of revisits from the records if the last run had none, other bounds or
// another scope. That is a pass over all records; a crawl without revisits never does it.
func (s *schedule) rebuild(scope string) error {
	text := ""
	if p := s.o.Recrawl; p.Mode != NoRecrawl {
		text = fmt.Sprintf("%s to %s\n%s\n%d", p.MinAge, p.MaxAge, scope, revisitsVersion)
	}
	before, err := s.db.Meta(metaRecrawl)
	if err != nil {
		return err
	}
	if before == text {
		return s.findVisit(time.Time{})
	}
	b := s.db.NewBatch()
	b.DeleteRevisits()
	b.PutMeta(metaRecrawl, "") // until the table is complete
	if err := b.Commit(); err != nil {
		return err
	}
	b = s.db.NewBatch()
	if s.o.Recrawl.Mode != NoRecrawl {
		err = s.db.Each(1, func(r docindex.Record) (err error) {
			if isFinal(&r) {
				s.revisit(b, &r)
				b.PutRecord(&r)
				b, err = s.flush(b, batchBytes)
			}
			return err
		})
	}
	if err != nil {
		return err
	}
	b.PutMeta(metaRecrawl, text)
	if err := b.Commit(); err != nil {
		return err
	}
	return s.findVisit(time.Time{})
}
