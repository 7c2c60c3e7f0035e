package crawler

import (
	"context"
	"net"
	"net/http/httptrace"
	"sync"
	"sync/atomic"
	"time"
)

// A RateLimit bounds the bytes that connections receive in a second, TLS and headers included, over
// all crawlers that share it. A nil RateLimit bounds nothing.
//
// A connection that has read some bytes returns them when the rate allows it, in the order in which
// connections read; the flow control of TCP slows the server down. At most rate/slotRate fetches are
// in flight, so that each is faster than Options.MinRate.
type RateLimit struct {
	rate  int64         // bytes a second
	slots chan struct{} // one for each fetch in flight

	mu   sync.Mutex
	free time.Time // when the rate allows further bytes to be returned
}

const (
	// MinRateLimit is the smallest rate that a RateLimit may have, in bytes a second.
	MinRateLimit = 10_000

	slotRate = 2000 // bytes a second, for each fetch
	maxSlots = 4096
)

// NewRateLimit returns a limit in bytes a second, at least MinRateLimit; nil for 0, which is none.
func NewRateLimit(rate int64) *RateLimit {
	if rate == 0 {
		return nil
	}
	rate = max(rate, MinRateLimit)
	return &RateLimit{rate: rate, slots: make(chan struct{}, min(rate/slotRate, maxSlots))}
}

// Rate returns the bytes a second; 0 for no limit.
func (l *RateLimit) Rate() int64 {
	if l == nil {
		return 0
	}
	return l.rate
}

// acquire blocks until a fetch may begin, or ctx ends. The caller calls release once.
func (l *RateLimit) acquire(ctx context.Context) (release func()) {
	if l == nil {
		return func() {}
	}
	select {
	case l.slots <- struct{}{}:
		return func() { <-l.slots }
	case <-ctx.Done():
		return func() {}
	}
}

// reserve returns the time after which n bytes that were read now may be returned.
func (l *RateLimit) reserve(n int) time.Duration {
	now := time.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.free.Before(now) {
		l.free = now
	}
	l.free = l.free.Add(time.Duration(n) * time.Second / time.Duration(l.rate))
	return l.free.Sub(now)
}

// chunk is the most that is read at a time, in bytes, so that no read waits long for another.
func (l *RateLimit) chunk() int { return int(min(max(l.rate/16, 512), 32<<10)) }

// wrap returns a connection that obeys the limit. The wait of its TLS handshake counts for the fetch
// of ctx, for which it was opened, even if another fetch gets the connection.
func (l *RateLimit) wrap(ctx context.Context, c net.Conn) net.Conn {
	if l == nil {
		return c
	}
	limited := &limitedConn{Conn: c, limit: l, closed: make(chan struct{})}
	if h, ok := ctx.Value(heldBackKey{}).(*heldBack); ok {
		h.watch(limited, 0)
	}
	return limited
}

// A limitedConn is a connection that receives within a RateLimit.
type limitedConn struct {
	net.Conn
	limit  *RateLimit
	waited atomic.Int64 // nanoseconds for which reads were held back
	close  sync.Once
	closed chan struct{}
}

func (c *limitedConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b[:min(len(b), c.limit.chunk())])
	if n == 0 {
		return n, err
	}
	wait := c.limit.reserve(n)
	c.waited.Add(int64(wait))
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-c.closed:
	}
	return n, err
}

func (c *limitedConn) Close() error {
	c.close.Do(func() { close(c.closed) })
	return c.Conn.Close()
}

// limitedBelow returns the limitedConn below a connection with TLS; nil if there is none.
func limitedBelow(c net.Conn) *limitedConn {
	for {
		switch below := c.(type) {
		case *limitedConn:
			return below
		case interface{ NetConn() net.Conn }:
			c = below.NetConn()
		default:
			return nil
		}
	}
}

// A heldBack is how long the limit has held back the connections of a fetch, their TLS handshakes
// included. A fetch has one connection at a time, more of them if it is redirected.
type heldBack struct {
	mu     sync.Mutex
	conn   *limitedConn // nil until the fetch has one
	before int64        // conn.waited when the fetch got it
	others time.Duration
}

type heldBackKey struct{}

// trace returns a context for the fetch whose connections are to be watched.
func (h *heldBack) trace(ctx context.Context) context.Context {
	ctx = context.WithValue(ctx, heldBackKey{}, h)
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(i httptrace.GotConnInfo) {
		if c := limitedBelow(i.Conn); c != nil {
			h.watch(c, c.waited.Load())
		}
	}})
}

// watch continues with a connection that had waited before nanoseconds, unless it is watched already.
func (h *heldBack) watch(c *limitedConn, before int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if c != h.conn {
		h.others += h.current()
		h.conn, h.before = c, before
	}
}

// current returns how long the watched connection was held back.
func (h *heldBack) current() time.Duration {
	if h.conn == nil {
		return 0
	}
	return time.Duration(h.conn.waited.Load() - h.before)
}

func (h *heldBack) duration() time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.others + h.current()
}
