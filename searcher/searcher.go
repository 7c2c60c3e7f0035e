// Package searcher answers queries over the segments of a data folder (BP98 §4.5).
//
// A query is parsed ([query.Parse]) and walked through each segment in turn. The score of the first
// phase is a sum of integers: idf × impact of the query's words, from the lists alone, and the points
// that no query changes, of PageRank and URL. The best candidates are kept, and pages passed over that
// cannot be among them once enough are counted: by bounds on the impacts of blocks of the lists, for
// any of several words (disjunction, MaxScore of Turtle and Flood 1995 with the block maxima of Ding
// and Suel 2011) and for all of them (conjunction). The second phase reads the hits of the candidates and
// scores them exactly ([Weights]): type weights and count weights for every word, proximity of
// neighbouring words, PageRank, URL. Each term of the sum can be shown.
//
// The order of results is total, and that of looking at every page: first those of the best
// [Options].Candidates of the first phase that may come among the first ten ([Weights].Promising), by exact score, ties by
// DocID; then all other pages in the
// order of the first phase, ties in the order of the index, which is that of the URLs' keys. Which
// page of results is asked for plays no part in it, so that pages of results never overlap.
package searcher

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"anatomy/disk/segment"
)

// Options of a Searcher. The zero value works.
type Options struct {
	Weights    Weights       // default DefaultWeights
	Candidates int           // pages of the first phase that may be scored exactly, see Weights.Promising; default 60
	CountTo    int           // matches that are counted exactly, default 1,000; past them, as far as the search for the best goes
	CacheBytes int64         // memory for lists, default 64 MB, and half as much for titles and addresses
	Links      Links         // for link: and related:; default none
	Poll       time.Duration // between two looks for news of the data folder, default 250ms

	AnswerBytes int64 // memory for responses, for those who ask the same again; default 0: none are kept
}

func (o Options) withDefaults() Options {
	if o.Weights == (Weights{}) {
		o.Weights = DefaultWeights
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
	dir   string
	o     Options
	cache *segment.Cache

	answers    answers
	workspaces sync.Pool // of *workspace

	snapshots atomic.Uint64 // that were made so far

	refreshing sync.Mutex // one Refresh at a time
	life       int        // how often the data folder was made anew; guarded by refreshing

	mu      sync.Mutex // guards what follows, and the counts of snapshots and handles
	current *snapshot  // replaced by Refresh alone
	handles map[handleKey]*handle
	lastErr error

	ranking sync.Mutex
	named   map[string]*namedRanks // guarded by ranking

	news     chan struct{} // holds one when a snapshot was taken over that nothing was learnt from
	learning sync.Mutex    // one Learn at a time
	learnt   atomic.Pointer[knowledge]
}

// Open opens a data folder, which may be empty still.
func Open(dir string, o Options) (*Searcher, error) {
	o = o.withDefaults()
	cache, err := segment.NewCache(segment.CacheOptions{Blocks: o.CacheBytes, Docs: o.CacheBytes / 2})
	if err != nil {
		return nil, fmt.Errorf("searcher: %w", err)
	}
	s := &Searcher{dir: dir, o: o, cache: cache, handles: map[handleKey]*handle{}, named: map[string]*namedRanks{}, news: make(chan struct{}, 1), answers: answers{limit: o.AnswerBytes}}
	if _, err := s.Refresh(); err != nil {
		s.cache.Close()
		return nil, err
	}
	return s, nil
}

// Close closes all segments. No query may be under way or begin.
func (s *Searcher) Close() error {
	s.refreshing.Lock()
	defer s.refreshing.Unlock()
	s.release(s.current)
	s.cache.Close()
	return nil
}

// Stats tell what a Searcher searches.
type Stats struct {
	Generation uint64
	Segments   int
	Documents  int
	Ranked     int // documents with a PageRank
	Answers    AnswerStats
	Err        error // why the last Refresh failed; nil if it did not
}

// Stats tells what is searched at the moment.
func (s *Searcher) Stats() Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.current
	return Stats{Generation: c.generation, Segments: len(c.parts), Documents: c.docs, Ranked: c.ranked(), Answers: s.answers.told(), Err: s.lastErr}
}
