package searcher

import (
	"context"
	"time"

	"anatomy/searcher/internal/shard"
	"anatomy/searcher/internal/suggest"
	"anatomy/vocab"
)

// Follow is Run with a clock of the test's.
func (s *Searcher) Follow(ctx context.Context, ticks <-chan time.Time) { s.follow(ctx, ticks) }

// LearnPause is the time between two calls of Learn.
func LearnPause(took time.Duration) time.Duration { return learnPause(took) }

// Pin keeps the current view, as a query does, until unpin is called.
func (s *Searcher) Pin() (unpin func()) {
	v := s.acquire()
	return func() { s.release(v) }
}

// Read calls fn as queries are called: again if files vanish.
func (s *Searcher) Read(fn func() error) error {
	return s.read(func(*view) error { return fn() })
}

// Segments returns the number of segments that are open.
func (s *Searcher) Segments() int {
	n := 0
	for _, store := range s.stores {
		n += store.Open()
	}
	return n
}

// HoldLearning keeps Learn from beginning until release is called.
func (s *Searcher) HoldLearning() (release func()) {
	s.learning.Lock()
	return s.learning.Unlock
}

// Runs reports whether Run has been called.
func (s *Searcher) Runs() bool { return s.runs.Load() }

// Dictionary returns the words that were learnt.
func (s *Searcher) Dictionary() *suggest.Dictionary { return s.learnt.Load().speller.Words }

// Phrases returns how many completions were learnt from titles.
func (s *Searcher) Phrases() int { return s.learnt.Load().completions.Len() }

// FirstDocs returns the first n documents of shards in the order of URLs. The hosts of a shard's
// documents are in that order, and its DocIDs count from 1.
func FirstDocs(hosts [][]string, n int) []vocab.DocID {
	all := make([][]shard.HostDoc, len(hosts))
	for of, names := range hosts {
		for i, host := range names[:min(n, len(names))] {
			all[of] = append(all[of], shard.HostDoc{Doc: vocab.Outer(of, vocab.DocID(i+1)), Host: host})
		}
	}
	return shard.FirstDocs(all, n)
}

// change sets a variable until the test ends.
func change[T any](t interface{ Cleanup(func()) }, to *T, value T) {
	before := *to
	*to = value
	t.Cleanup(func() { *to = before })
}

// SetGuessShare sets the share of the time for corrections until the test ends.
func SetGuessShare(t interface{ Cleanup(func()) }, share float64) { change(t, &guessShare, share) }

// SetCompleteTime sets the time for a completion until the test ends.
func SetCompleteTime(t interface{ Cleanup(func()) }, d time.Duration) { change(t, &completeTime, d) }
