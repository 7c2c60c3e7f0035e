package searcher

import (
	"context"
	"time"

	"anatomy/searcher/internal/suggest"
)

// Follow is Run with a clock of the test's.
func (s *Searcher) Follow(ctx context.Context, ticks <-chan time.Time) { s.follow(ctx, ticks) }

// Pin keeps the snapshot in force, as a query does, until unpin is called.
func (s *Searcher) Pin() (unpin func()) {
	snap := s.store.acquire()
	return func() { s.store.release(snap) }
}

// Read calls fn as queries are called: again if files vanish.
func (s *Searcher) Read(fn func() error) error {
	return s.store.read(func(*snapshot) error { return fn() })
}

// Segments returns the number of segments that are open.
func (s *Searcher) Segments() int {
	s.store.mu.Lock()
	defer s.store.mu.Unlock()
	return len(s.store.handles)
}

// Dictionary returns the words that were learnt.
func (s *Searcher) Dictionary() *suggest.Dictionary { return s.learnt.Load().speller.Words }

// Phrases returns how many completions were learnt from titles.
func (s *Searcher) Phrases() int { return s.learnt.Load().completions.Len() }
