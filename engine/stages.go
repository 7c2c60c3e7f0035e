package engine

import (
	"context"
	"errors"
	"log/slog"
	"runtime"
	"sync"
	"time"

	"anatomy/disk/damage"
	"anatomy/disk/docindex"
	"anatomy/disk/repository"
	"anatomy/engine/internal/favicon"
	"anatomy/engine/internal/meter"
	"anatomy/index"
	"anatomy/storeserver"
	"anatomy/topic"
	"anatomy/urlserver"
	"anatomy/vocab"
	"anatomy/weburl"
)

// stages has the rooms that a crawl joins, and the channels between them. Open sets all fields,
// which then do not change. The rooms are safe for concurrent use.
type stages struct {
	dir     string // data folder
	log     *slog.Logger
	damage  *damage.Log
	noIndex bool // there is no index to build
	recrawl urlserver.Recrawl
	minFree int64
	free    func(dir string) (int64, error)
	now     func() time.Time // of visits

	shard   Shard // nil if the data folder is the whole collection
	urls    *urlserver.Server
	focus   *topic.Focus // nil unless the crawl has a topic
	visitor Visitor
	icons   *favicon.Collector // nil: icons are not fetched
	slots   chan struct{}      // of the Pool
	parsers *parsers
	store   *storeserver.Server
	repo    *repository.Repository
	builder *index.Builder

	events chan event    // input of the committer
	wake   chan struct{} // wakes the dispatcher, see wakeDispatcher
	gate   gate
	visits visits
	ending meter.Phases
}

// A Shard connects the crawl of one shard of a collection with those of the others. Its methods are
// safe for concurrent use.
type Shard interface {
	Owns(u *weburl.URL) bool // reports whether the URL belongs to this shard

	// Send sends the other shards their part of a link run that is not current yet.
	Send(run string, docs Documents) error

	// Activity returns a number that grows when another shard sends this one work.
	Activity() uint64

	// Ended reports whether no shard has anything left to fetch. The caller had nothing to fetch,
	// and had sent everything that it had fetched, when Activity returned the argument.
	Ended(activity uint64) bool

	// AwaitLinks blocks until the links and anchor texts of all shards have arrived at their shards. It
	// returns false if another shard will not get that far. This shard must have nothing to flush.
	AwaitLinks(ctx context.Context) (bool, error)

	// Rank computes ranks over all shards, at the end or because the links of this one have grown.
	Rank(ctx context.Context, atEnd bool) error

	MarkPrivate() error // see datadir.MarkPrivate
}

// Documents are the records of a data folder.
type Documents interface {
	Get(doc vocab.DocID) (docindex.Record, bool, error)
	Find(fp vocab.Fingerprint) (doc vocab.DocID, noFollowed, ok bool, err error)
}

// A Pool has the resources that crawls of one process share: connections, processors, and bounds on
// all of them together.
type Pool struct {
	slots   chan struct{} // semaphore of the leases in flight
	parsers *parsers
	bounds  *urlserver.Shared
}

// NewPool returns a pool with a number of connections. pdf is that of the crawls' Options.
func NewPool(connections int, pdf func(body []byte) ([]byte, error)) *Pool {
	return &Pool{
		slots:   make(chan struct{}, connections),
		parsers: newParsers(runtime.GOMAXPROCS(0), pdf),
		bounds:  urlserver.NewShared(),
	}
}

// watches reports whether the crawl continues when nothing is left to fetch, to revisit pages.
func (s *stages) watches() bool { return s.recrawl.Mode == urlserver.Watch }

// isForeign reports whether a URL belongs to another shard.
func (s *stages) isForeign(u *weburl.URL) bool { return s.shard != nil && !s.shard.Owns(u) }

// wakeDispatcher makes the dispatcher look for a lease now.
func (s *stages) wakeDispatcher() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// sleep returns after a time, when the dispatcher is woken, or when ctx ends.
func (s *stages) sleep(ctx context.Context, wait time.Duration) {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-s.wake:
	case <-timer.C:
	case <-ctx.Done():
	}
}

// waitCommitted blocks until every URL in flight is committed. Nothing may be fetched meanwhile.
func (s *stages) waitCommitted(ctx context.Context) error {
	for s.urls.Stats().InFlight > 0 {
		s.store.Hurry()
		if s.sleep(ctx, idle); ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

// inTurn makes the committer call do after all earlier events, and blocks until do has returned. The
// gate must be open.
func (s *stages) inTurn(do func(context.Context) error) {
	done := make(chan struct{})
	s.events <- &barrier{do: do, then: func() { close(done) }}
	<-done
}

// finishing returns an error when nothing is left to fetch, to stop work that can wait for the next
// crawl.
func (s *stages) finishing() error {
	if s.visits.finished() {
		return context.Canceled
	}
	return nil
}

// flushBatch makes the builder's batch searchable. It occupies one of the parse buffers meanwhile,
// because the oldest pages wait for the flush, which would otherwise compete with all parsers for
// the processors.
func (s *stages) flushBatch(ctx context.Context) error {
	buf := s.parsers.acquire()
	defer s.parsers.release(buf)
	return s.builder.Flush(ctx)
}

// idle is the wait for a lease if Grant returned no time.
const idle = time.Second

// isContextError reports whether err is the end of a context.
func isContextError(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// A gate is open while the stages run. A sender of events outside the stages, such as an operator
// or background work, enters it first; the gate stays open until all have left. The zero value is
// closed.
type gate struct {
	mu   sync.RWMutex
	open bool
}

// enter reports whether the gate is open. If so, the caller must call leave.
func (g *gate) enter() bool {
	g.mu.RLock()
	if g.open {
		return true
	}
	g.mu.RUnlock()
	return false
}

func (g *gate) leave() { g.mu.RUnlock() }

// set opens or closes the gate. It blocks until all have left.
func (g *gate) set(open bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.open = open
}
