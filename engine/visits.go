package engine

import (
	"context"
	"sync"

	"anatomy/vocab"
)

// visits has the visits in progress, which a pause cancels. The zero value has none.
type visits struct {
	mu     sync.Mutex // guards what follows
	paused bool
	ended  bool             // nothing is left to fetch
	active map[uint64]visit // by ID of the lease
}

type visit struct {
	host   string
	cancel context.CancelFunc
}

// state returns the state of the crawl, as vocab.CrawlStatus names it.
func (v *visits) state() string {
	v.mu.Lock()
	defer v.mu.Unlock()
	switch {
	case v.ended:
		return vocab.Finishing
	case v.paused:
		return vocab.Paused
	}
	return vocab.Crawling
}

// finished reports whether nothing is left to fetch.
func (v *visits) finished() bool { return v.state() == vocab.Finishing }

// begin returns the context of a visit. It is already cancelled if the crawl is paused.
func (v *visits) begin(ctx context.Context, lease *vocab.Lease) context.Context {
	ctx, cancel := context.WithCancel(ctx)
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.active == nil {
		v.active = map[uint64]visit{}
	}
	v.active[lease.ID] = visit{lease.Host, cancel}
	if v.paused {
		cancel()
	}
	return ctx
}

func (v *visits) end(lease *vocab.Lease) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.active[lease.ID].cancel()
	delete(v.active, lease.ID)
}

// pause cancels all visits. Interrupted URLs are fetched again later.
func (v *visits) pause() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.paused = true
	for _, one := range v.active {
		one.cancel()
	}
}

func (v *visits) resume() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.paused = false
}

// cancel cancels the visits to some hosts.
func (v *visits) cancel(of func(host string) bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, one := range v.active {
		if of(one.host) {
			one.cancel()
		}
	}
}

// finish records that nothing is left to fetch.
func (v *visits) finish() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.ended = true
}
