package engine

import (
	"context"
	"fmt"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"anatomy/crawler"
	"anatomy/engine/internal/meter"
	"anatomy/vocab"
)

// A Visitor fetches the URLs of leases: a crawler.Crawler in this process, or crawlers on other
// machines. Its methods are safe for concurrent use.
type Visitor interface {
	// Visit fetches the URLs of a lease, as crawler.Crawler.Visit does: it calls handle exactly
	// once for each target, from the calling goroutine.
	Visit(ctx context.Context, lease vocab.Lease, handle func(vocab.Fetch)) vocab.HostReport

	Prefetch(hosts ...string)      // announces hosts that may be visited soon; never blocks
	Stats() crawler.Stats          // counts since the visitor was created
	Visits() []crawler.VisitStatus // status of each visit in progress
	Close() error                  // no visit may be in progress
}

// A fetcher passes the leases that the URL server grants to the visitor.
type fetcher struct {
	*stages
	intake      *intake
	connections int          // maximum of leases in flight
	rateLimit   int64        // bytes a second; 0 for none
	out         atomic.Int64 // leases in flight
	granted     atomic.Int64 // number of leases so far
	rate        meter.Rate
}

// run visits hosts until nothing is left to fetch, ctx ends or the disk is nearly full.
func (f *fetcher) run(ctx context.Context) error {
	leases := make(chan vocab.Lease)
	var visitors errgroup.Group
	for range f.connections {
		visitors.Go(func() error { f.visit(ctx, leases); return nil })
	}
	err := f.dispatch(ctx, leases)
	f.visits.finish()
	close(leases)
	visitors.Wait()
	return err
}

// dispatch sends leases until none is left or ctx ends. If a stage failed and thereby ended ctx, it
// returns that stage's error.
func (f *fetcher) dispatch(ctx context.Context, leases chan<- vocab.Lease) error {
	checked := time.Time{}
	for ctx.Err() == nil {
		now := f.now()
		if now.Sub(checked) >= time.Second {
			if err := f.checkSpace(); err != nil {
				return err
			}
			checked = now
			f.rate.Record(now, int64(f.visitor.Stats().Outcomes[vocab.Fetched]))
		}
		if f.visits.state() == vocab.Paused {
			f.sleep(ctx, idle)
			continue
		}
		activity := f.activity()
		select {
		case f.slots <- struct{}{}:
		case <-ctx.Done():
			return nil
		}
		lease, wait, ok := f.urls.Grant(now)
		if err := f.urls.Err(); err != nil {
			<-f.slots
			return err
		}
		if !ok {
			<-f.slots
			if wait == 0 {
				if ended, err := f.ended(activity); ended || err != nil {
					return err
				}
				f.sleep(ctx, othersIdle)
				continue
			}
			if f.out.Load() == 0 {
				f.store.Hurry() // everything in flight waits there for more input
			}
			f.sleep(ctx, min(wait, idle))
			continue
		}
		select {
		case leases <- lease:
		case <-ctx.Done():
			<-f.slots
		}
	}
	return nil
}

// othersIdle is the interval at which a shard with nothing to fetch checks whether the others
// continue.
const othersIdle = 20 * time.Millisecond

func (f *fetcher) activity() uint64 {
	if f.shard == nil {
		return 0
	}
	return f.shard.Activity()
}

// ended reports whether the crawl has ended when this shard has nothing left to fetch: the other
// shards must have received all links, and have nothing left either.
func (f *fetcher) ended(activity uint64) (ended bool, err error) {
	if f.shard == nil {
		return true, nil
	}
	f.inTurn(func(ctx context.Context) error {
		err = f.flushBatch(ctx)
		return err
	})
	return err == nil && f.shard.Ended(activity), err
}

// visit visits the hosts of leases, one after the other.
func (f *fetcher) visit(ctx context.Context, leases <-chan vocab.Lease) {
	for lease := range leases {
		f.out.Add(1)
		f.granted.Add(1)
		visiting := f.visits.begin(ctx, &lease)
		extended := f.icons.Extend(lease)
		report := f.visitor.Visit(visiting, extended, func(fetch vocab.Fetch) {
			if !f.icons.Handle(&fetch) {
				f.intake.handle(ctx, fetch)
				f.icons.Declared(&extended)
			}
		})
		f.visits.end(&lease)
		f.urls.Release(f.now(), report) // a failed URL server keeps its error, which dispatch returns
		f.out.Add(-1)
		<-f.slots
		f.wakeDispatcher()
	}
}

// checkSpace fails when the disk is nearly full, early enough for the fetched pages to be indexed.
// The error wraps syscall.ENOSPC.
func (s *stages) checkSpace() error {
	free, err := s.free(s.dir)
	if err != nil {
		return err
	}
	if free >= s.minFree {
		return s.checkDisks()
	}
	return fmt.Errorf("only %d MB are free on the disk of %s, and %d MB must stay free: %w",
		free>>20, s.dir, s.minFree>>20, syscall.ENOSPC)
}

// checkDisks is checkSpace for the pages of a folder spread over several disks.
func (s *stages) checkDisks() error {
	if !s.repo.IsSpread() {
		return nil
	}
	room, err := s.repo.Room()
	if err != nil || room >= s.minFree {
		return err
	}
	return fmt.Errorf("only %d MB are free for pages on any of the disks of %s, and %d MB must stay free: %w",
		room>>20, s.dir, s.minFree>>20, syscall.ENOSPC)
}
