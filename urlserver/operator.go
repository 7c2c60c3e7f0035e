package urlserver

import (
	"slices"
	"time"

	"anatomy/disk/docindex"
	"anatomy/vocab"
	"anatomy/weburl"
)

// Methods of Server for the operator and for upkeep.

// SiteOf returns the name of the unit of politeness that a host belongs to.
func (s *Server) SiteOf(hostname string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state.frontier.SiteOf(hostname)
}

// SetDelay sets the delay of a host's site until the server is closed, like SiteLimits.Delay; 0
// restores the general delay. It returns the name of the site. Leases granted earlier keep their
// delay.
func (s *Server) SetDelay(hostname string, d time.Duration) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state.frontier.SetDelay(s.state.now, hostname, d)
}

// Remove removes the URLs that match a pattern of a weburl.Filter from the crawl, including seeds,
// until the server is closed; the next run decides again. It scans all queues and returns the
// number of URLs removed from them. URLs in flight are fetched, but do not return to their queues.
func (s *Server) Remove(pattern string) (n uint64, err error) {
	err = s.do(func(st *state) (err error) {
		n, err = st.remove(pattern)
		return err
	})
	return n, err
}

// Block blocks the URLs that match patterns, which must not contain spaces, and removes them from
// the queues. URLs in flight become Blocked when they are completed. The caller then completes the
// other documents with the outcome Blocked, using EachBlockMismatch and Reserve, and calls
// BlockDone.
func (s *Server) Block(patterns []string) error {
	return s.do(func(st *state) error { return blocking{st}.block(patterns) })
}

// Unblock deletes patterns, and returns those that were blocked. The caller then calls Restore for
// each document of EachBlockMismatch, and BlockDone.
func (s *Server) Unblock(patterns []string) (deleted []string, err error) {
	err = s.do(func(st *state) (err error) {
		deleted, err = blocking{st}.unblock(patterns)
		return err
	})
	return deleted, err
}

// BlockPending reports whether records may disagree with the blocked patterns, because Block or
// Unblock was not followed by BlockDone.
func (s *Server) BlockPending() (bool, error) {
	text, err := s.db.Meta(metaBlockPending)
	return text != "", err
}

// BlockDone records that all records agree with the blocked patterns.
func (s *Server) BlockDone() error {
	return s.do(func(st *state) error { return blocking{st}.unmarkPending() })
}

// Blocked returns the blocked patterns.
func (s *Server) Blocked() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.state.scope.blocked)
}

// IsBlocked reports whether a URL is blocked.
func (s *Server) IsBlocked(u *weburl.URL) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state.scope.blocks.matches(u)
}

// EachBlockMismatch calls fn for the documents whose record disagrees with the blocked patterns.
func (s *Server) EachBlockMismatch(fn func(r docindex.Record, blocked bool) error) error {
	return s.db.Each(1, func(r docindex.Record) error {
		u, err := weburl.Parse(r.URL)
		if err != nil {
			return err
		}
		if blocked := s.IsBlocked(&u); blocked != isBlocked(&r) {
			return fn(r, blocked)
		}
		return nil
	})
}

// Reserve puts a document in flight without a lease, so that the caller can complete it, with any
// last outcome. It returns false if the document is in flight already.
func (s *Server) Reserve(doc vocab.DocID) (ok bool, err error) {
	err = s.do(func(st *state) (err error) {
		ok, err = st.reserve(doc)
		return err
	})
	return ok && err == nil, err
}

// Restore makes a document that was blocked one that was just found.
func (s *Server) Restore(doc vocab.DocID) error {
	return s.do(func(st *state) error { return blocking{st}.restore(doc) })
}

// Move durably changes the addresses of documents whose page is still at From. Documents with a
// newer page keep theirs.
func (s *Server) Move(moves []Move) error {
	return s.doDurably(func(st *state) (*docindex.Batch, error) { return st.begin().move(moves) })
}

// Elect durably makes duplicates the canonical documents of their clusters, as if they had been
// fetched first. For each election it returns the duplicates of Doc, or none if the cluster has
// changed meanwhile and stays as it is. No document may be in two of the clusters.
func (s *Server) Elect(elections []Election) (duplicates [][]vocab.DocID, err error) {
	err = s.doDurably(func(st *state) (b *docindex.Batch, err error) {
		b, duplicates, err = st.begin().elect(elections)
		return b, err
	})
	if err != nil {
		return nil, err
	}
	return duplicates, nil
}

// Forget deletes the recorded content of a document that cannot be read any more, and of its
// duplicates, and returns their URLs. The next crawl with a scope that admits them fetches them.
// The server must have been opened with KeepScope.
func (s *Server) Forget(doc vocab.DocID) (urls []string, err error) {
	err = s.do(func(st *state) (err error) {
		urls, err = st.begin().forget(doc)
		return err
	})
	if err != nil {
		return nil, err
	}
	return urls, s.db.Sync()
}
