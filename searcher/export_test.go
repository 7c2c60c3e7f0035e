package searcher

import (
	"context"
	"time"

	"anatomy/searcher/query"
	"anatomy/searcher/suggest"
)

// Follow is Run with a clock of the test's.
func (s *Searcher) Follow(ctx context.Context, ticks <-chan time.Time) { s.follow(ctx, ticks) }

// Pin keeps the snapshot in force, as a query does, until unpin is called.
func (s *Searcher) Pin() (unpin func()) {
	snap := s.acquire()
	return func() { s.release(snap) }
}

// Again is how questions are asked.
func (s *Searcher) Again(read func() error) error {
	return s.again(func(*snapshot) error { return read() })
}

// Segments is the number of segments that are open.
func (s *Searcher) Segments() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.handles)
}

// SnippetOf is the snippet of a page's text for a query, all words of which are equally rare.
func SnippetOf(title, text, description, q string) []Fragment {
	root := query.Parse(q).Root
	t := newTerms(root, &workspace{})
	for i := range t.idf {
		t.idf[i] = million
	}
	return newSnippeter(root, t, &snippetRoom{}).snippet(title, text, description)
}

// Dictionary is what was learnt of words.
func (s *Searcher) Dictionary() *suggest.Dictionary { return s.learnt.Load().words }

// Phrases is how many completions were learnt from titles.
func (s *Searcher) Phrases() int { return s.learnt.Load().completions.Len() }
