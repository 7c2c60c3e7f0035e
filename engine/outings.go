package engine

import (
	"context"
	"sync"

	"anatomy/vocab"
)

// outings are the visits under way, which a pause calls back. The zero value has none.
type outings struct {
	mu     sync.Mutex
	paused bool
	ended  bool // nothing is left to fetch
	out    map[uint64]outing
}

// An outing is one visit.
type outing struct {
	host string
	back context.CancelFunc
}

func (o *outings) state() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case o.ended:
		return vocab.Finishing
	case o.paused:
		return vocab.Paused
	}
	return vocab.Crawling
}

// begin gives the context of a visit, which ends when it is called back. A lease that was given out
// before a pause and comes after it is called back at once.
func (o *outings) begin(ctx context.Context, lease *vocab.Lease) context.Context {
	ctx, back := context.WithCancel(ctx)
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.out == nil {
		o.out = map[uint64]outing{}
	}
	o.out[lease.ID] = outing{lease.Host, back}
	if o.paused {
		back()
	}
	return ctx
}

func (o *outings) end(lease *vocab.Lease) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.out[lease.ID].back()
	delete(o.out, lease.ID)
}

// pause calls every visit back: what is being fetched is fetched again later.
func (o *outings) pause() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.paused = true
	for _, out := range o.out {
		out.back()
	}
}

func (o *outings) resume() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.paused = false
}

// recall calls the visits of some hosts back.
func (o *outings) recall(of func(host string) bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, out := range o.out {
		if of(out.host) {
			out.back()
		}
	}
}

// finish notes that nothing is left to fetch.
func (o *outings) finish() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.ended = true
}
