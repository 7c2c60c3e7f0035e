package crawler

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// A guard watches one fetch: its end in time, the time until the header, and the rate of the body.
// It is one timer, which a quick fetch stops before it ever rings.
type guard struct {
	o      *Options
	cancel context.CancelCauseFunc
	timer  *time.Timer
	begun  time.Time

	mu    sync.Mutex
	body  time.Time // when the header was here; zero before
	bytes int64     // of the body so far
}

// guard starts a watch; the context ends when the fetch is too slow, with the reason as its cause.
func (c *Crawler) guard(ctx context.Context) (context.Context, *guard) {
	g := &guard{o: &c.o, begun: time.Now()}
	ctx, g.cancel = context.WithCancelCause(ctx)
	g.mu.Lock() // the timer may ring before it is assigned
	g.timer = time.AfterFunc(min(c.o.HeaderTimeout, c.o.Grace, c.o.Timeout), g.ring)
	g.mu.Unlock()
	return ctx, g
}

// stop ends the watch; the response body has to be closed or done with by then.
func (g *guard) stop() {
	g.timer.Stop()
	g.cancel(nil)
}

// answered notes that the header is here.
func (g *guard) answered() {
	g.mu.Lock()
	g.body = time.Now()
	g.mu.Unlock()
}

// received notes bytes of the body.
func (g *guard) received(n int64) {
	g.mu.Lock()
	g.bytes += n
	g.mu.Unlock()
}

// ring looks at the fetch and ends it or rings again.
func (g *guard) ring() {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := time.Now()
	if err := g.late(now); err != nil {
		g.cancel(err)
		return
	}
	next := g.o.Timeout - now.Sub(g.begun)
	if g.body.IsZero() {
		next = min(next, g.o.HeaderTimeout-now.Sub(g.begun))
	} else {
		next = min(next, max(g.o.Grace-now.Sub(g.body), min(g.o.Grace, time.Second)))
	}
	g.timer.Reset(max(next, time.Millisecond))
}

// late says what the fetch is too slow in, or nil.
func (g *guard) late(now time.Time) error {
	if now.Sub(g.begun) >= g.o.Timeout {
		return fmt.Errorf("not done within %v", g.o.Timeout)
	}
	if g.body.IsZero() {
		if now.Sub(g.begun) >= g.o.HeaderTimeout {
			return fmt.Errorf("no answer within %v", g.o.HeaderTimeout)
		}
		return nil
	}
	age := now.Sub(g.body)
	if age >= g.o.Grace && float64(g.bytes) < float64(g.o.MinRate)*age.Seconds() {
		return fmt.Errorf("slower than %d bytes a second", g.o.MinRate)
	}
	return nil
}
