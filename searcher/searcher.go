// Package searcher answers queries over the segments of a data folder (BP98 §4.5).
//
// # Stages
//
// Each stage of a query is a package that knows nothing of the later ones:
//
//	searcher/query                  parses the query language
//	searcher/internal/snapshot      opens segments and ranks
//	searcher/internal/retrieval     finds the best pages of a segment by impact: the first phase
//	searcher/scoring                scores pages exactly and explains scores: the second phase
//	searcher/internal/shard         the calls of the stages to one shard
//	searcher/internal/presentation  collapses near-duplicates and crowded hosts, cuts snippets
//	searcher/internal/suggest       corrects spellings and completes queries
//	searcher/internal/facets        counts pages by site, language, type and year
//	searcher/internal/images        ranks the images of pages
//
// This package opens segments and rank vectors as snapshots, and runs a request through the stages
// in a pipeline of steps (see answer in pipeline.go). A step is a function of a pass, which is one
// query in the pipeline. A spelling correction and a query with some terms dropped are passes of
// their own through the same pipeline.
//
// # Shards
//
// A collection may be in several data folders, its shards: see OpenShards. A view is a snapshot of
// each shard, with the statistics over all of them. A step calls every shard through the methods of
// [shard.Query], passes data of the other shards as arguments, and decides by their results. A single
// data folder is one shard, which is called directly.
//
// # Order of results
//
// The score of the first phase is a sum of integers: idf × impact of the query's terms, from
// posting lists alone, and query-independent points for PageRank and URL. The second phase reads
// the hits of the best Options.Candidates pages that may be among the first ten
// ([scoring.Weights].Promising).
//
// The order is total, and equals that of an exhaustive search: first the pages of the second phase
// by exact score, then all others in the order of the first phase. Pages of equal score are in the
// order of their URLs' keys (order.go). So the order depends neither on the order of discovery, nor
// on the segments of the pages, nor on the requested page of results: pages of results never
// overlap.
//
// With sort:date, the date of a page replaces its query-independent points, and terms score
// nothing, so that the first phase finds the newest pages by the same upper bounds. Home pages,
// preferences and collapsing of hosts are then ignored.
package searcher

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"sync"
	"sync/atomic"
	"time"

	"anatomy/disk/damage"
	"anatomy/disk/rankvector"
	"anatomy/disk/segment"
	"anatomy/disk/shards"
	"anatomy/disk/translations"
	"anatomy/searcher/internal/retrieval"
	"anatomy/searcher/internal/shard"
	"anatomy/searcher/internal/snapshot"
	"anatomy/searcher/labels"
	"anatomy/searcher/pins"
	"anatomy/searcher/query"
	"anatomy/searcher/scoring"
	"anatomy/searcher/synonyms"
)

// ErrNotIndexed is the error for a document that is not in the index.
var ErrNotIndexed = snapshot.ErrNotIndexed

// Options configure a Searcher. The zero value works.
type Options struct {
	Weights    Weights        // default scoring.Default
	Candidates int            // maximum of pages scored in the second phase, default 60
	CountTo    int            // number of matches that are counted exactly, default 1,000; beyond it, a lower bound
	CacheBytes int64          // memory for posting lists, default 64 MB; half as much for titles and URLs
	Links      Links          // for link: and related:; default none
	Poll       time.Duration  // interval between checks of the data folder, default 250ms
	Synonyms   *synonyms.File // reloaded when it changes; default none
	Pins       *pins.File     // reloaded when it changes; default none
	Tuned      *TunedWeights  // reloaded when they change, instead of Weights; default none
	Ranking    *Ranking       // reloaded when it changes; default rankvector.Default
	Languages  *Languages     // reloaded when it changes; default none
	Labels     *labels.File   // reloaded when it changes; default none: pages have the products and versions that they state
	Damage     *damage.Log    // receives the damage found; default none

	// OnNoRank is called by Open and Refresh if there is no vector of the name in Ranking, once until
	// there is one. Requests then use the default vector. Default none.
	OnNoRank func(*UnknownRankError)

	Now func() time.Time // clock for pages that expire from results; default time.Now

	// Remote sends a call about a shard, of which this machine has a light copy, to a machine that has
	// it whole, and returns the reply of its AnswerShard. Without it, and after an error, the shard is
	// missing: see Response.Missing.
	Remote shard.Caller

	AnswerBytes int64 // memory for caching responses; default 0: no cache
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
	if o.Now == nil {
		o.Now = time.Now
	}
	return o
}

// A Searcher answers queries over the shards of a collection. It is safe for concurrent use.
type Searcher struct {
	o       Options
	cache   *segment.Cache
	stores  []*snapshot.Store // by shard
	answers answerCache
	arenas  sync.Pool // of *queryArena
	labels  labelCache

	versions *translations.Table // see view.versions

	serials     atomic.Uint64 // number of views made so far
	refreshing  sync.Mutex    // one Refresh at a time
	unknownRank string        // guarded by refreshing: the name that OnNoRank was called with last, see reportRank

	mu      sync.Mutex // guards current, and the references of views
	current *view      // replaced only by Refresh

	naming sync.Mutex
	named  map[string]*namedView // guarded by naming

	changed  chan struct{} // holds a token from a replacement of the view until Learn has read it
	learning sync.Mutex    // one Learn at a time
	learnt   atomic.Pointer[knowledge]
	runs     atomic.Bool // Run has been called
	served   served
	known    chan struct{} // closed when learnt is set for the first time
}

// Open opens a data folder, which may be empty, or a folder of shards, see shards.Copied.
func Open(dir string, o Options) (*Searcher, error) {
	dirs, _, err := shards.Copied(dir)
	if err != nil {
		return nil, err
	}
	return OpenShards(dirs, o)
}

// OpenShards opens data folders that make up a collection: each document is in one of them,
// with the anchor texts of links from all of them and its rank among all documents. Answers equal
// those of a single data folder with all documents. The DocID of a document is that in its folder,
// plus the folder's index shifted by 40 bits. A folder may be missing, and appear later: responses
// name it, see Response.Missing.
func OpenShards(dirs []string, o Options) (*Searcher, error) {
	o = o.withDefaults()
	cache, err := segment.NewCache(segment.CacheOptions{Blocks: o.CacheBytes, Docs: o.CacheBytes / 2})
	if err != nil {
		return nil, err
	}
	s := &Searcher{
		o: o, cache: cache, answers: answerCache{Limit: o.AnswerBytes},
		named: map[string]*namedView{}, changed: make(chan struct{}, 1), known: make(chan struct{}),
	}
	if len(dirs) > 1 {
		if s.versions, err = translations.ReadSplit(dirs); err != nil {
			o.Damage.Add(damage.Index, err) // without a table, each shard has versions of its own
		}
	}
	for i, dir := range dirs {
		s.stores = append(s.stores, snapshot.NewStore(dir, i, cache, o.Damage, o.Now))
	}
	if _, err := s.Refresh(); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// Close closes all segments. No query may be running or start.
func (s *Searcher) Close() error {
	s.refreshing.Lock()
	defer s.refreshing.Unlock()
	if s.current != nil {
		s.release(s.current)
	}
	s.served.drop(s, 0, 0) // all: no call is running
	for _, store := range s.stores {
		store.Close()
	}
	s.cache.Close()
	return nil
}

// Refresh opens the current state of the data folders, without the expired pages, and reports
// whether it has changed. Running queries finish with the view that they started with. If a shard
// has an error it keeps its snapshot.
func (s *Searcher) Refresh() (changed bool, err error) {
	s.refreshing.Lock()
	defer s.refreshing.Unlock()
	s.o.Synonyms.Reload()
	s.o.Pins.Reload()
	s.o.Tuned.Reload()
	s.o.Ranking.Reload()
	s.o.Languages.Reload()
	s.o.Labels.Reload()
	s.served.drop(s, keepFor, maxServed*len(s.stores))
	w := cmp.Or(s.o.Tuned.Content(), &s.o.Weights)
	ranking := cmp.Or(s.o.Ranking.Content(), rankvector.Default)
	for _, store := range s.stores {
		isNew, failed := store.Refresh()
		if changed = changed || isNew; err == nil {
			err = failed
		}
	}
	old := s.current
	changed = changed || old != nil && (old.weights != w || old.ranking != ranking)
	if !changed || err != nil && old == nil {
		return false, err
	}
	var snaps []*snapshot.Snapshot
	for _, store := range s.stores {
		snaps = append(snaps, store.Acquire())
	}
	shards, rank := withDefaultRank(s, snaps, old, ranking)
	v := newView(s.serials.Add(1), w, s.o.Remote, s.versions, shards, func(
		snap *snapshot.Snapshot, p *snapshot.Part, of shard.Statistics,
	) retrieval.StaticPoints {
		return snap.CachedStaticPoints(p, w, of.Ranked)
	})
	v.bases, v.rank, v.ranking = snaps, rank, ranking
	reportRank(s, v, ranking)
	s.mu.Lock()
	s.current = v
	s.mu.Unlock()
	s.onChange()
	if old != nil {
		forgetRanks(s, old)
		s.served.keep(s, old)
		s.release(old)
	}
	return true, err
}

func (s *Searcher) onChange() {
	s.answers.Clear()
	select {
	case s.changed <- struct{}{}:
	default: // there is already a token
	}
}

// acquire returns the current view. The caller releases it.
func (s *Searcher) acquire() *view {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.current.refs++
	return s.current
}

func (s *Searcher) release(v *view) {
	s.mu.Lock()
	v.refs--
	unused := v.refs == 0
	s.mu.Unlock()
	if unused {
		for i, snap := range v.bases {
			s.stores[i].Release(snap)
		}
	}
}

// maxRetries is the number of retries of a query whose files vanished.
const maxRetries = 5

// read is readAgain that also reports an error which means that a segment is damaged.
func (s *Searcher) read(fn func(*view) error) error {
	err := s.readAgain(fn)
	reportDamage(s.o.Damage, err)
	return err
}

// readAgain calls fn with the current view. It calls fn again with a newer view while files vanish
// because a merge in another process replaced their segment. Another query may have made the newer
// view.
func (s *Searcher) readAgain(fn func(*view) error) error {
	for tries := 0; ; tries++ {
		v, err := s.readOnce(fn)
		if !errors.Is(err, fs.ErrNotExist) || tries == maxRetries {
			return err
		}
		if _, failed := s.Refresh(); failed != nil || s.isCurrent(v) {
			return err
		}
	}
}

// readOnce calls fn with the current view, and returns the view.
func (s *Searcher) readOnce(fn func(*view) error) (*view, error) {
	v := s.acquire()
	defer s.release(v)
	return v, segment.Guard(func() error { return fn(v) })
}

func (s *Searcher) isCurrent(v *view) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.current == v
}

// reportDamage adds an error to log if it means that a segment is damaged: the segment's own
// error, which does not depend on the query.
func reportDamage(log *damage.Log, err error) {
	var of *segment.DamageError
	if errors.As(err, &of) && !errors.Is(err, fs.ErrNotExist) {
		log.Add(damage.Index, of)
	}
}

// damaged reports that a part of the index cannot be read, and marks resp as incomplete.
func (s *Searcher) damaged(resp *Response, err error) {
	switch reportDamage(s.o.Damage, err); {
	case errors.As(err, new(*segment.DamageError)):
	case errors.As(err, new(*shard.RemoteError)): // the other machine reports it
	default:
		s.o.Damage.Add(damage.Index, err)
	}
	resp.Partial, resp.Damaged, resp.Exact = true, true, false
	resp.Why = "Part of the index is damaged, so pages may be missing."
}

// Run refreshes the searcher every Options.Poll, and learns spellings and completions from changed
// views, until ctx ends. Stats has the error of the last refresh.
func (s *Searcher) Run(ctx context.Context) error {
	s.runs.Store(true)
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

// Stats describe the current state of a Searcher.
type Stats struct {
	Generation uint64 // sum over shards
	State      string // see Response.State
	Segments   int
	Documents  int
	Ranked     int    // documents with a PageRank
	Rank       string // name of the rank vector of requests that name none
	Missing    []int  // see Response.Missing
	Answers    AnswerStats
	Err        error // of the last Refresh
}

// Stats returns the current state.
func (s *Searcher) Stats() Stats {
	v := s.acquire()
	defer s.release(v)
	stats := Stats{State: v.state, Documents: v.Docs, Ranked: v.Ranked, Rank: v.rank, Missing: v.missing, Answers: s.answers.Stats()}
	for i, snap := range v.shards {
		stats.Generation += snap.Generation
		stats.Segments += len(snap.Parts)
		if err := s.stores[i].Failed(); stats.Err == nil {
			stats.Err = err
		}
	}
	return stats
}

// newSearch returns a search of a view in an arena.
func (s *Searcher) newSearch(v *view, req *Request, clock *retrieval.Clock, a *queryArena) *search {
	r := a.searches.New()
	*r = search{
		view: v, weights: v.weightsFor(req), links: s.o.Links, req: req, clock: clock, arena: a,
		candidates: s.o.Candidates, countTo: req.Count.to(s.o.CountTo), damaged: s.damaged,
		synonyms: s.o.Synonyms.Content(), pins: s.o.Pins.Content(), defaultLanguages: s.o.Languages.Content(),
		labelSites: func() labels.Sites { return labelSites(s, v) },
	}
	a.lost = a.lost[:0]
	r.remote = v.remote
	r.remote.Variant.NoOwn, r.remote.Variant.NoAnchors = req.without()
	if prefs := req.Preferences; prefs != nil && prefs.Filters != "" {
		filters, _ := query.ParseFilters(prefs.Filters)
		r.filters = r.withLabels(filters)
	}
	return r
}

// newResponse returns the response to a request before the first step.
func newResponse(v *view, req *Request, q query.Query) Response {
	resp := Response{Query: req.Query, Cut: q.Cut, Rank: v.rankUsed(req.Rank), State: v.state}
	resp.understood(q)
	return resp
}

// acquireArena returns an arena. It is released only after a query that ended without an error.
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
