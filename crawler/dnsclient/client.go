// Package dnsclient resolves host names for a crawler: cached, non-blocking, asynchronous (CY09).
//
// A name in the cache costs a map lookup. Any other becomes a call in a bounded queue. One sender
// sends the queries of all callers from a pool of UDP ports, and never waits for answers; one reader
// per port handles the answers in the order of arrival, fills the cache and wakes the callers.
// [Client.Prefetch] resolves names ahead of need. ports.go describes the protection against forged
// answers.
//
//	Lookup ──▶ cache ──hit──▶ addresses
//	              └──miss─▶ queue (1,024) ─▶ sender ─▶ ports ─▶ servers
//	                                         timer ──▶  │
//	           cache ◀── answer ◀── reader (one a port) ◀┘
//
// Differences to the paper: the cache has shards and the client several goroutines (the paper has
// one thread and no locks); its 1,800 s are the least time to live instead of the time to live;
// expired answers are used while they are refreshed.
package dnsclient

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
)

// errAbandoned ends a call whose caller left while the queue was full. Callers that had joined it
// start again.
var errAbandoned = errors.New("abandoned")

// A Client resolves names. Any number of goroutines may use it at once, while Run runs.
type Client struct {
	o       Options
	start   time.Time
	clock   atomic.Int64 // nanoseconds since start; set at least once a second
	cache   *cache
	network *network
	stopped chan struct{} // closed when Run begins to return
}

// New returns a client. Nothing is resolved until Run runs.
func New(o Options) (*Client, error) {
	c := &Client{o: o.withDefaults(), start: time.Now(), stopped: make(chan struct{})}
	var err error
	if c.network, err = newNetwork(&c.o); err != nil {
		return nil, err
	}
	c.network.finished, c.network.unsent = c.finished, c.abort
	c.network.tick = func() { c.clock.Store(int64(time.Since(c.start))) }
	c.cache = newCache(c.o.Names)
	return c, nil
}

// Close closes the sockets and ends Run.
func (c *Client) Close() { c.network.close() }

// Run resolves names until ctx is done, fails all calls under way with ErrClosed, and closes the
// client. It is called once.
func (c *Client) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	n := c.network
	g, ctx := errgroup.WithContext(ctx)
	n.spawn = g.Go
	for range tcpWorkers {
		g.Go(func() error { n.serveTCP(ctx); return nil })
	}
	g.Go(func() error { n.send(ctx); return nil })
	g.Go(func() error { n.watch(ctx); return nil })
	g.Go(func() error {
		select {
		case <-ctx.Done():
		case <-n.closing:
		}
		close(c.stopped)
		n.close()
		cancel()
		return nil
	})
	err := g.Wait()
	n.failAll()
	return err
}

// now returns the time for the age of answers, in nanoseconds, exact to a second. The system's
// clock would cost a third of a cache hit.
func (c *Client) now() int64 {
	if c.o.Now != nil {
		return c.o.Now().UnixNano()
	}
	return c.clock.Load()
}

// Lookup returns the addresses of a host: a name, an IP address, or "localhost". A name in the
// cache costs no allocation; the slice is shared and must not be changed. ctx ends the wait, not
// the query. The error wraps ErrNoName, ErrTimeout, ErrServer, ErrClosed or the context's.
func (c *Client) Lookup(ctx context.Context, host string) ([]netip.Addr, error) {
	s := c.cache.shard(host)
	now := c.now()
	s.mu.Lock()
	if e := s.names[host]; e != nil && now < e.expires {
		s.touch(e)
		s.hits++
		s.mu.Unlock()
		return e.addrs, e.err // not changed once in the cache
	}
	s.mu.Unlock()
	return c.lookup(ctx, host)
}

func (c *Client) lookup(ctx context.Context, host string) ([]netip.Addr, error) {
	if addrs, ok := literal(host); ok {
		return addrs, nil
	}
	name, ok := canonical(host)
	if !ok {
		return nil, fmt.Errorf("%.300q: %w", host, ErrNoName)
	}
	for {
		addrs, waiting, err := c.begin(ctx, name)
		if waiting == nil {
			return addrs, err
		}
		select {
		case <-waiting.done:
			if waiting.err != errAbandoned {
				return waiting.addrs, waiting.err
			}
		case <-ctx.Done():
			return nil, fmt.Errorf("%s: %w", name, context.Cause(ctx))
		case <-c.stopped:
			return nil, fmt.Errorf("%s: %w", name, ErrClosed)
		}
	}
}

// A Source is the origin of an answer.
type Source uint8

const (
	FromServer Source = iota
	FromCache
	FromStale   // from the cache and expired: it is refreshed
	FromLiteral // the host is an address, or localhost
)

// An Answer is the result of Resolve.
type Answer struct {
	Addrs  []netip.Addr
	Source Source
	Server netip.AddrPort // that answered, now or earlier; zero if none did
	TTL    time.Duration  // until it is refreshed, to a second; bounded by Options.MinTTL and MaxTTL
}

// Resolve is Lookup that also returns where the answer comes from, even with an error.
func (c *Client) Resolve(ctx context.Context, host string) (Answer, error) {
	if addrs, ok := literal(host); ok {
		return Answer{Addrs: addrs, Source: FromLiteral}, nil
	}
	source := FromServer
	if e := c.cached(host); e != nil {
		switch now := c.now(); {
		case now < e.expires:
			source = FromCache
		case now < e.stale:
			source = FromStale
		}
	}
	addrs, err := c.Lookup(ctx, host)
	a := Answer{Addrs: addrs, Source: source}
	if e := c.cached(host); e != nil {
		a.TTL = max(time.Duration(e.expires-c.now()), 0)
		if e.server >= 0 {
			a.Server = c.network.servers[e.server].addr
		}
	}
	return a, err
}

func (c *Client) cached(host string) *entry {
	name, ok := canonical(host)
	if !ok {
		return nil
	}
	s := c.cache.shard(name)
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.names[name]
}

// begin returns an answer from the cache, or the call to wait for: one under way or a new one.
func (c *Client) begin(ctx context.Context, name string) ([]netip.Addr, *call, error) {
	s := c.cache.shard(name)
	now := c.now()
	s.mu.Lock()
	e := s.names[name]
	if e != nil && now < e.expires {
		s.touch(e)
		s.hits++
		s.mu.Unlock()
		return e.addrs, nil, e.err
	}
	if e != nil && now < e.stale {
		s.touch(e)
		s.staleHits++
		c.refresh(s, name)
		s.mu.Unlock()
		return e.addrs, nil, nil
	}
	if under := s.calls[name]; under != nil {
		s.joined++
		s.mu.Unlock()
		return nil, under, nil
	}
	s.misses++
	q := newCall(name)
	s.calls[name] = q
	s.mu.Unlock()
	c.enqueue(ctx, q)
	return nil, q, nil
}

// enqueue adds a call to the queue, and blocks until that has room. If ctx or the client ends first, it
// ends the call for all callers that joined it.
func (c *Client) enqueue(ctx context.Context, q *call) {
	select {
	case c.network.queue <- q:
		return
	default:
	}
	select {
	case c.network.queue <- q:
	case <-ctx.Done():
		c.abort(q, errAbandoned)
	case <-c.stopped:
		c.abort(q, fmt.Errorf("%s: %w", q.host, ErrClosed))
	}
}

// refresh queues a call without a caller, and reports whether the name is being resolved now. The
// shard is locked.
func (c *Client) refresh(s *shard, name string) bool {
	if s.calls[name] != nil {
		return true
	}
	q := newCall(name)
	select {
	case c.network.queue <- q:
		s.calls[name] = q
		return true
	default:
		return false
	}
}

// Prefetch resolves names ahead of need. It never blocks: names for which the queue has no room are
// dropped and counted.
func (c *Client) Prefetch(hosts ...string) {
	for _, host := range hosts {
		name, ok := canonical(host)
		if _, address := literal(host); !ok || address {
			continue
		}
		s := c.cache.shard(name)
		now := c.now()
		s.mu.Lock()
		e := s.names[name]
		if fresh := e != nil && now < e.expires; !fresh && !c.refresh(s, name) {
			c.network.count.dropped.Add(1)
		}
		s.mu.Unlock()
	}
}

// literal returns the addresses of hosts that need no query: IP addresses, and localhost
// (RFC 6761 §6.3).
func literal(host string) ([]netip.Addr, bool) {
	if n := len(host); n > 2 && host[0] == '[' && host[n-1] == ']' {
		host = host[1 : n-1]
	}
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, 1}), netip.IPv6Loopback()}, true
	}
	if !mayBeAddress(host) {
		return nil, false
	}
	if addr, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{addr}, true
	}
	return nil, false
}

// mayBeAddress reports whether to parse host as an IP address: errors cost more than a cache lookup.
func mayBeAddress(host string) bool {
	if strings.IndexByte(host, ':') >= 0 {
		return true
	}
	return host != "" && '0' <= host[len(host)-1] && host[len(host)-1] <= '9'
}

// canonical returns the name in lower case without a last dot; ok is false if it is not a valid
// name (RFC 1035 §2.3.4: labels of 1 to 63 octets, 253 in all).
func canonical(host string) (string, bool) {
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	if host == "" || len(host) > 253 {
		return "", false
	}
	for label := range strings.SplitSeq(host, ".") {
		if label == "" || len(label) > 63 {
			return "", false
		}
	}
	for i := 0; i < len(host); i++ {
		if b := host[i]; b <= ' ' || b >= 0x7F || strings.IndexByte(`\"();@`, b) >= 0 {
			return "", false // not a host, and special to the wire codec's text form
		}
	}
	return host, true
}

// finished caches the result of a call and wakes its callers. A failure does not replace addresses
// that may still be used (RFC 8767 §5).
func (c *Client) finished(q *call, r result) {
	if r.err != nil {
		r.err = fmt.Errorf("%s: %w", q.host, r.err)
	}
	now := c.now()
	e := &entry{
		host: q.host, addrs: r.addrs, server: r.server, err: r.err, expires: now + int64(r.ttl),
	}
	if r.err == nil {
		e.stale = e.expires + int64(c.o.Stale)
	}
	s := c.cache.shard(q.host)
	s.mu.Lock()
	old := s.names[q.host]
	failed := e.err != nil && !errors.Is(e.err, ErrNoName)
	if failed && old != nil && old.err == nil && now < old.stale {
		e = &entry{
			host: old.host, addrs: old.addrs, server: old.server,
			expires: min(now+int64(staleRecheck), old.stale), stale: old.stale,
		}
	}
	s.put(e)
	delete(s.calls, q.host)
	s.mu.Unlock()
	q.addrs, q.err = e.addrs, e.err
	close(q.done)
}

// staleRecheck is how long a stale answer is used before a failing name is queried again.
const staleRecheck = 30 * time.Second

// abort ends a call that was never sent.
func (c *Client) abort(q *call, err error) {
	s := c.cache.shard(q.host)
	s.mu.Lock()
	delete(s.calls, q.host)
	s.mu.Unlock()
	q.err = err
	close(q.done)
}

// Stats returns the counts so far.
func (c *Client) Stats() Stats {
	n := c.network
	st := Stats{InFlight: len(n.slots)}
	n.count.addStats(&st)
	c.cache.addStats(&st)
	n.inflight.mu.Lock()
	defer n.inflight.mu.Unlock()
	for _, s := range n.servers {
		retry := s.retryAfter(c.o.MinRetry)
		st.Servers = append(st.Servers, ServerStats{s.addr, s.rtt, retry, s.open, s.queries, s.timeouts})
	}
	return st
}
