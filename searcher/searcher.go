// Package searcher answers queries over the segments of a data folder (BP98 §4.5).
//
// # Stages
//
// Each stage of a query is a package that knows nothing of the later ones:
//
//	searcher/query                  parses the query language
//	searcher/internal/retrieval     finds the best pages of a segment by impact: the first phase
//	searcher/scoring                scores pages exactly and explains scores: the second phase
//	searcher/internal/presentation  collapses near-duplicates and crowded hosts, cuts snippets
//	searcher/internal/suggest       corrects spellings and completes queries
//	searcher/internal/images        ranks the images of pages
//
// This package opens segments and rank vectors as snapshots, and leads a request through the stages
// by a pipeline of steps (see answer in pipeline.go). A step is a function of a pass: one query on
// its way. A spelling correction and a query with some terms dropped are passes of their own, which
// enter the same pipeline again.
//
// # Order of results
//
// The score of the first phase is a sum of integers: idf × impact of the query's terms, from
// posting lists alone, and query-independent points for PageRank and URL. The second phase reads
// the hits of the best Options.Candidates pages that may be among the first ten
// ([scoring.Weights].Promising).
//
// The order is total, and equals that of looking at every page: first the pages of the second phase
// by exact score, then all others in the order of the first phase. Pages of equal score are in the
// order of their URLs' keys (order.go). So the order depends neither on the order of discovery nor
// on the segments that hold the pages, nor on the page of results that is asked for: pages of
// results never overlap.
//
// By sort:date, the date of a page takes the place of its query-independent points and terms bring
// nothing, so that the first phase finds the newest pages by the same upper bounds. Hosts,
// preferences and collapsing of hosts do not count then.
package searcher

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"anatomy/disk/damage"
	"anatomy/disk/segment"
	"anatomy/searcher/internal/retrieval"
	"anatomy/searcher/query"
	"anatomy/searcher/scoring"
)

// Options of a Searcher. The zero value works.
type Options struct {
	Weights    Weights       // default scoring.Default
	Candidates int           // pages of the first phase that may be scored in the second, default 60
	CountTo    int           // matches that are counted exactly, default 1,000; past them, a lower bound
	CacheBytes int64         // memory for posting lists, default 64 MB; half as much for titles and URLs
	Links      Links         // for link: and related:; default none
	Poll       time.Duration // interval between two looks at the data folder, default 250ms
	Damage     *damage.Log   // is told of what cannot be read; default none

	AnswerBytes int64 // memory for responses to requests that repeat; default 0: none are kept
}

func (o Options) withDefaults() Options {
	if o.Weights == (Weights{}) {
		o.Weights = scoring.Default
	}
	if o.Candidates <= 0 {
		o.Candidates = 60
	}
	if o.CountTo <= 0 {
		o.CountTo = 1000
	}
	if o.CacheBytes <= 0 {
		o.CacheBytes = 64 << 20
	}
	if o.Poll <= 0 {
		o.Poll = time.Second / 4
	}
	return o
}

// A Searcher answers queries over one data folder, from any number of goroutines.
type Searcher struct {
	o       Options
	store   store
	answers answerCache
	arenas  sync.Pool // of *queryArena

	changed  chan struct{} // holds one token after the snapshot was replaced, until Learn has read it
	learning sync.Mutex    // one Learn at a time
	learnt   atomic.Pointer[knowledge]
}

// Open opens a data folder, which may still be empty.
func Open(dir string, o Options) (*Searcher, error) {
	o = o.withDefaults()
	cache, err := segment.NewCache(segment.CacheOptions{Blocks: o.CacheBytes, Docs: o.CacheBytes / 2})
	if err != nil {
		return nil, fmt.Errorf("searcher: %w", err)
	}
	s := &Searcher{o: o, answers: answerCache{limit: o.AnswerBytes}, changed: make(chan struct{}, 1)}
	s.store.dir, s.store.weights, s.store.cache, s.store.onChange = dir, &s.o.Weights, cache, s.onChange
	s.store.damage = o.Damage
	s.store.handles, s.store.named = map[handleKey]*handle{}, map[string]*namedRanks{}
	if _, err := s.Refresh(); err != nil {
		cache.Close()
		return nil, err
	}
	return s, nil
}

func (s *Searcher) onChange() {
	s.answers.clear()
	select {
	case s.changed <- struct{}{}:
	default: // there is a token already
	}
}

// Close closes all segments. No query may be running or begin.
func (s *Searcher) Close() error {
	s.store.refreshing.Lock()
	defer s.store.refreshing.Unlock()
	s.store.release(s.store.current)
	s.store.cache.Close()
	return nil
}

// Refresh takes over what the data folder holds now, and reports whether that was new. Running
// queries end with the snapshot that they began with. On an error the searcher stays as it was.
func (s *Searcher) Refresh() (changed bool, err error) { return s.store.refresh() }

// Run refreshes the searcher every Options.Poll, and learns spellings and completions from what is
// new, until ctx ends. Stats has the error of the last refresh.
func (s *Searcher) Run(ctx context.Context) error {
	ticker := time.NewTicker(s.o.Poll)
	defer ticker.Stop()
	var learner sync.WaitGroup
	learner.Go(func() { s.keepLearning(ctx) })
	s.follow(ctx, ticker.C)
	learner.Wait()
	return nil
}

func (s *Searcher) follow(ctx context.Context, ticks <-chan time.Time) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticks:
			s.Refresh()
		}
	}
}

// Stats describe what a Searcher searches.
type Stats struct {
	Generation uint64
	Segments   int
	Documents  int
	Ranked     int // documents with a PageRank
	Answers    AnswerStats
	Err        error // of the last Refresh
}

// Stats returns what is searched now.
func (s *Searcher) Stats() Stats {
	s.store.mu.Lock()
	defer s.store.mu.Unlock()
	snap := s.store.current
	return Stats{
		Generation: snap.generation, Segments: len(snap.parts), Documents: snap.docs, Ranked: snap.ranked(),
		Answers: s.answers.Stats(), Err: s.store.lastErr,
	}
}

// newSearch returns a search of a snapshot in an arena.
func (s *Searcher) newSearch(
	snap *snapshot, req *Request, clock *retrieval.Clock, a *queryArena,
) *search {
	r := a.searches.New()
	*r = search{
		snap: snap, weights: &s.o.Weights, links: s.o.Links, req: req, clock: clock, arena: a,
		candidates: s.o.Candidates, countTo: s.o.CountTo, damaged: s.store.damaged,
	}
	return r
}

// newResponse returns the response to a request before any step.
func newResponse(snap *snapshot, req *Request, q query.Query) Response {
	resp := Response{Query: req.Query, Cut: q.Cut, Rank: snap.rankUsed(req.Rank), State: snap.state}
	resp.understood(q)
	return resp
}

// acquireArena returns an arena; it is given back only after a query that ended without an error.
func (s *Searcher) acquireArena() *queryArena {
	if a, ok := s.arenas.Get().(*queryArena); ok {
		return a
	}
	return &queryArena{}
}

func (s *Searcher) releaseArena(a *queryArena) {
	a.reset()
	s.arenas.Put(a)
}
