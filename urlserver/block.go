package urlserver

import (
	"errors"
	"slices"
	"strings"

	"anatomy/disk/docindex"
	"anatomy/vocab"
)

// The operator blocks pages for all runs: a URL that matches a blocked pattern is known, with the
// outcome [vocab.Blocked], and is not fetched or revisited until Unblock. Patterns are those of a
// weburl.Filter.
//
// The patterns are on disk before any record changes. The records are then changed one by one
// through Reserve and Complete, so that the index receives the changes in order. metaBlockPending
// is set while records may disagree with the patterns; after a crash the next run continues.
const (
	metaBlocked      = "banned"
	metaBlockPending = "ban pending"
)

// BlockedPatterns returns the blocked patterns of an index that no server has open.
func BlockedPatterns(db *docindex.DB) ([]string, error) {
	text, err := db.Meta(metaBlocked)
	return strings.Fields(text), err
}

// PutBlockedPatterns writes the blocked patterns of an index that no server has open.
func PutBlockedPatterns(b *docindex.Batch, patterns []string) {
	b.PutMeta(metaBlocked, strings.Join(patterns, "\n"))
}

// blocking changes which URLs are blocked.
type blocking struct{ *state }

// block adds patterns, and removes matching documents from their queues.
func (s blocking) block(patterns []string) error {
	all := slices.Clone(s.scope.blocked)
	for _, p := range patterns {
		if !slices.Contains(all, p) {
			all = append(all, p)
		}
	}
	if err := s.putBlocked(all); err != nil {
		return err
	}
	added := newPatternSet(patterns)
	_, err := s.withdrawMatches(added.matches)
	return err
}

// unblock deletes patterns, and returns those that existed.
func (s blocking) unblock(patterns []string) (deleted []string, err error) {
	var rest []string
	for _, p := range s.scope.blocked {
		if slices.Contains(patterns, p) {
			deleted = append(deleted, p)
		} else {
			rest = append(rest, p)
		}
	}
	if len(deleted) == 0 {
		return nil, nil
	}
	return deleted, s.putBlocked(rest)
}

// putBlocked replaces the patterns durably, and marks the records as pending.
func (s blocking) putBlocked(patterns []string) error {
	s.scope.setBlocked(patterns)
	b := s.db.NewBatch()
	PutBlockedPatterns(b, patterns)
	b.PutMeta(metaBlockPending, "yes")
	return errors.Join(b.Commit(), s.db.Sync())
}

// unmarkPending records that all records agree with the patterns.
func (s blocking) unmarkPending() error {
	b := s.db.NewBatch()
	b.PutMeta(metaBlockPending, "")
	return errors.Join(b.Commit(), s.db.Sync())
}

// restore resets a document that is no longer blocked to a newly found one.
func (s blocking) restore(doc vocab.DocID) error {
	r, u, ok, err := s.load(doc)
	if err != nil || !ok || !isBlocked(&r) || s.scope.blocks.matches(&u) {
		return err
	}
	c := s.begin()
	s.uncount(&r)
	r.Fetch, r.Tries, r.History = nil, 0, docindex.History{}
	if s.o.KeepScope {
		r.State = docindex.OutOfScope
		s.put(c.b, &r)
		LoseScope(c.b)
	} else {
		s.scope.decide(&u, &r, s.now)
		if err := c.reinsertFollowed(&r, &u); err != nil {
			return err
		}
	}
	return c.commit()
}
