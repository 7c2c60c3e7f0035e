package urlserver

import (
	"errors"
	"slices"
	"strings"

	"anatomy/disk/docindex"
	"anatomy/vocab"
	"anatomy/weburl"
)

// A ban keeps pages out for good, over all runs: what matches one of its patterns is known, with the outcome
// [vocab.Removed], and is neither fetched nor visited again until Unban. The patterns are those of a
// weburl.Filter. They are on disk before any record changes; the records follow through Seize and Done, in
// the order in which the index hears of them. Where a crash cuts that off, BanPending says so.

// The names of what is kept of bans.
const (
	metaBanned     = "banned"
	metaBanPending = "ban pending"
)

// bans are the patterns in force.
type bans struct {
	exact map[string]bool // host, path and query of URLs, for patterns without a star
	globs []string
}

func newBans(patterns []string) bans {
	b := bans{exact: map[string]bool{}}
	for _, p := range patterns {
		if strings.Contains(p, "*") || strings.Contains(p, "://") {
			b.globs = append(b.globs, p)
		} else {
			b.exact[p] = true
		}
	}
	return b
}

func (b *bans) has(u *weburl.URL) bool {
	if len(b.exact) > 0 {
		if _, rest, _ := strings.Cut(u.String(), "://"); b.exact[rest] {
			return true
		}
	}
	return slices.ContainsFunc(b.globs, func(p string) bool { return weburl.MatchPattern(p, u) })
}

// Banned are the patterns that are kept out for good, of an index that no server has open.
func Banned(db *docindex.DB) ([]string, error) {
	text, err := db.Meta(metaBanned)
	return strings.Fields(text), err
}

// PutBanned writes the patterns that are kept out for good, to an index that no server has open.
func PutBanned(b *docindex.Batch, patterns []string) {
	b.PutMeta(metaBanned, strings.Join(patterns, "\n"))
}

// recoverBans reads the patterns back.
func (s *Server) recoverBans() error {
	patterns, err := Banned(s.db)
	s.setBanned(patterns)
	return err
}

func (s *Server) setBanned(patterns []string) {
	s.banned, s.bans = patterns, newBans(patterns)
}

// Banned are the patterns of URLs that are kept out for good.
func (s *Server) Banned() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.banned)
}

// IsBanned says whether a URL is kept out for good.
func (s *Server) IsBanned(u *weburl.URL) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bans.has(u)
}

// Ban keeps out what matches the patterns, none of which has a space, and takes it out of the queues. What is
// in flight is Removed by its own Done, whatever came of it. The caller has the documents that were settled before
// follow: EachBanned names them, and Seize and Done with the outcome Removed settle each anew. Then BanDone ends
// what this begins.
func (s *Server) Ban(patterns []string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return s.err
	}
	all := slices.Clone(s.banned)
	for _, p := range patterns {
		if !slices.Contains(all, p) {
			all = append(all, p)
		}
	}
	if err := s.putBans(all); err != nil {
		return err
	}
	for _, p := range patterns {
		for _, remove := range []func(string) (uint64, error){s.removeQueued, s.removeWaiting} {
			if _, err := remove(p); err != nil {
				return s.fail(err)
			}
		}
	}
	return nil
}

// putBans makes other patterns those in force, durably, and notes that records do not agree with them yet.
func (s *Server) putBans(patterns []string) error {
	s.setBanned(patterns)
	b := s.db.NewBatch()
	PutBanned(b, patterns)
	b.PutMeta(metaBanPending, "yes")
	if err := errors.Join(b.Commit(), s.db.Sync()); err != nil {
		return s.fail(err)
	}
	return nil
}

// BanPending says whether records may not agree with the patterns: a Ban or Unban was cut off.
func (s *Server) BanPending() (bool, error) {
	text, err := s.db.Meta(metaBanPending)
	return text != "", err
}

// BanDone notes that all records agree with the patterns.
func (s *Server) BanDone() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.db.NewBatch()
	b.PutMeta(metaBanPending, "")
	if err := errors.Join(b.Commit(), s.db.Sync()); err != nil {
		return s.fail(err)
	}
	return nil
}

// EachBanned visits the documents whose record does not agree with the patterns: of a banned URL, and not
// Removed, or Removed, and of no banned URL.
func (s *Server) EachBanned(fn func(r docindex.Record, banned bool) error) error {
	return s.db.Each(1, func(r docindex.Record) error {
		u, err := weburl.Parse(r.URL)
		if err != nil {
			return err
		}
		if banned := s.IsBanned(&u); banned != isRemovedForGood(&r) {
			return fn(r, banned)
		}
		return nil
	})
}

func isRemovedForGood(r *docindex.Record) bool {
	return r.Fetch != nil && r.Fetch.Outcome == vocab.Removed
}

// Seize puts a document in flight that no lease led to, to give it an outcome that none of its server's answers
// changes. It gives false where the document is in flight already.
func (s *Server) Seize(doc vocab.DocID) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil || s.inFlight[doc] != nil {
		return false, s.err
	}
	r, ok, err := s.db.Get(doc)
	if err != nil || !ok {
		return false, err
	}
	u, err := weburl.Parse(r.URL)
	if err == nil {
		err = s.claim(&r, &u)
	}
	if err != nil {
		return false, s.fail(err)
	}
	return true, nil
}

// Unban lifts the ban of these patterns, and says which of them there were. As with Ban the documents follow:
// EachBanned names them, Restore gives each its first state back, and BanDone ends it.
func (s *Server) Unban(patterns []string) (lifted []string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return nil, s.err
	}
	var rest []string
	for _, p := range s.banned {
		if slices.Contains(patterns, p) {
			lifted = append(lifted, p)
		} else {
			rest = append(rest, p)
		}
	}
	if len(lifted) == 0 {
		return nil, nil
	}
	return lifted, s.putBans(rest)
}

// Restore makes a document that was banned as if it had just been found.
func (s *Server) Restore(doc vocab.DocID) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return s.err
	}
	r, ok, err := s.db.Get(doc)
	if err != nil || !ok || !isRemovedForGood(&r) {
		return err
	}
	u, err := weburl.Parse(r.URL)
	if err != nil {
		return err
	}
	if s.bans.has(&u) {
		return nil
	}
	a := adder{s: s, b: s.db.NewBatch()}
	s.uncount(&r)
	r.Fetch, r.Tries, r.History = nil, 0, docindex.History{}
	if s.o.KeepScope {
		r.State = docindex.OutOfScope
		a.b.PutMeta("scope", "") // which the next run's differs from: it widens
		a.b.PutRecord(&r)
		s.count(&r)
	} else {
		s.place(&u, &r)
		var known docindex.URLRecord
		if known, _, err = s.find(u.Fingerprint()); known.Held && r.State == docindex.Queued {
			r.State = docindex.NoFollowed
		}
		err = errors.Join(err, a.requeue(&r, &u))
	}
	if err == nil {
		_, err = s.flush(a.b, 0)
	}
	if err != nil {
		return s.fail(err)
	}
	for _, h := range a.hosts {
		s.frontier.offer(h)
	}
	return nil
}
