package crawler

import (
	"context"
	"fmt"
	"sync"
	"time"

	"anatomy/internal/plural"
)

// A guard ends a fetch that takes too long in total or until its header, or whose body arrives too
// slowly. It is one timer, which a quick fetch stops before it expires. Time for which the RateLimit
// delays the fetch does not count. When the crawl stops, a request in progress has some time to end, so
// that the next crawl need not repeat it.
type guard struct {
	o       *Options
	cancel  context.CancelCauseFunc
	timer   *time.Timer
	begun   time.Time
	held    heldBack
	release func()      // of the RateLimit
	forget  func() bool // the end of the crawl

	mu      sync.Mutex
	body    time.Time // when the header was read; zero before
	bytes   int64     // of the body so far
	stopped time.Time // when the crawl stopped; zero before
}

// A slowError is the reason why a guard ended a fetch.
type slowError string

func (e slowError) Error() string { return string(e) }

func slowf(format string, args ...any) error { return slowError(fmt.Sprintf(format, args...)) }

// newGuard starts a guard, when the RateLimit lets a fetch begin or ctx has ended. The context that it
// returns ends when the fetch is too slow, with the reason as its cause, and StopWait after ctx. If ctx
// has already ended, so has that context.
func newGuard(ctx context.Context, o *Options) (context.Context, *guard) {
	g := &guard{o: o, release: o.Rate.acquire(ctx), begun: time.Now()}
	guarded, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	g.cancel = cancel
	if ctx.Err() != nil {
		cancel(context.Cause(ctx))
	}
	if o.Rate != nil {
		guarded = g.held.trace(guarded)
	}
	g.mu.Lock() // the timer may expire, and ctx end, before these are assigned
	g.timer = time.AfterFunc(min(o.HeaderTimeout, o.Grace, o.Timeout), g.check)
	g.forget = context.AfterFunc(ctx, g.stopSoon)
	g.mu.Unlock()
	return guarded, g
}

// stopSoon ends the fetch after StopWait.
func (g *guard) stopSoon() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.stopped = time.Now()
	g.timer.Reset(g.o.StopWait)
}

// stop ends the guard. The response body may not be read afterwards.
func (g *guard) stop() {
	g.forget()
	g.timer.Stop()
	g.cancel(nil)
	g.release()
}

// answered records that the header was read.
func (g *guard) answered() {
	g.mu.Lock()
	g.body = time.Now()
	g.mu.Unlock()
}

// received counts bytes of the body.
func (g *guard) received(n int64) {
	g.mu.Lock()
	g.bytes += n
	g.mu.Unlock()
}

// check ends the fetch, or resets the timer.
func (g *guard) check() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.stopped.IsZero() && time.Since(g.stopped) >= g.o.StopWait {
		g.cancel(context.Canceled)
		return
	}
	now := time.Now().Add(-g.held.duration())
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
	if !g.stopped.IsZero() {
		next = min(next, g.o.StopWait-time.Since(g.stopped))
	}
	g.timer.Reset(max(next, time.Millisecond))
}

// late returns an error if the fetch is too slow.
func (g *guard) late(now time.Time) error {
	if now.Sub(g.begun) >= g.o.Timeout {
		return slowf("not done within %s", plural.Duration(g.o.Timeout))
	}
	if g.body.IsZero() {
		if now.Sub(g.begun) >= g.o.HeaderTimeout {
			return slowf("no answer within %s", plural.Duration(g.o.HeaderTimeout))
		}
		return nil
	}
	age := now.Sub(g.body)
	if age >= g.o.Grace && float64(g.bytes) < float64(g.o.MinRate)*age.Seconds() {
		return slowf("slower than %d bytes a second", g.o.MinRate)
	}
	return nil
}
