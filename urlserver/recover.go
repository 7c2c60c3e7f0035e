package urlserver

import (
	"cmp"
	"time"

	"anatomy/disk/docindex"
)

const metaOrder = "order"

// openState returns the state of a document index. It loads into memory seeds, blocked patterns,
// and the queues of the first hosts. If the scope, the order or the recrawl options differ from the
// last run's, it changes the queues.
func openState(db *docindex.DB, o *Options) (*state, error) {
	s, err := newState(db, o)
	if err != nil {
		return nil, err
	}
	return s, recoverState(s)
}

// recoverState reads the seeds, the blocked patterns and the first queues of the index into s, and
// changes the queues to match the options.
func recoverState(s *state) error {
	docs, err := s.db.Seeds()
	if err != nil {
		return err
	}
	for _, doc := range docs {
		_, u, err := s.loadSeed(doc)
		if err != nil {
			return err
		}
		s.scope.addSeed(doc, u)
	}
	blocked, err := BlockedPatterns(s.db)
	if err != nil {
		return err
	}
	s.scope.setBlocked(blocked)
	if s.o.KeepScope {
		if err := s.queues.scan(); err != nil {
			return err
		}
		return s.schedule.findRetry(time.Time{})
	}
	if err := applyOptions(s); err != nil {
		return err
	}
	b := s.db.NewBatch()
	b.PutMeta(metaScope, s.scope.text())
	b.PutMeta(metaOrder, s.o.Policy.Order())
	if err := b.Commit(); err != nil {
		return err
	}
	return s.db.Sync()
}

// applyOptions changes the queues to match the options, and reads the first ones.
func applyOptions(s *state) error {
	scope, err := s.db.Meta(metaScope)
	if err != nil {
		return err
	}
	order, err := s.db.Meta(metaOrder)
	if err != nil {
		return err
	}
	rescope := scope != s.scope.text() && s.counts.Known > 0
	if rescope {
		if err := s.narrow(); err != nil {
			return err
		}
	}
	// Versions without a policy ordered the queues by depth.
	if cmp.Or(order, BreadthFirst.Order()) != s.o.Policy.Order() && s.counts.Known > 0 {
		if err := s.reorder(); err != nil {
			return err
		}
	}
	if err := s.queues.scan(); err != nil {
		return err
	}
	if rescope {
		if err := s.widen(); err != nil {
			return err
		}
	}
	if err := s.schedule.findRetry(time.Time{}); err != nil {
		return err
	}
	return s.schedule.rebuild(s.scope.text())
}
