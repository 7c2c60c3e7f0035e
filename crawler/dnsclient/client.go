// Package dnsclient resolves host names for a crawler: cached, non-blocking, asynchronous (CY09).
//
// A name that is in the cache costs a map lookup. Any other becomes a call in a bounded queue; a
// sender takes it from there and never waits for answers: a few UDP sockets carry the queries of
// all callers at once, one reader to a socket takes the answers in whatever order they come, fills
// the cache and wakes those who wait. Names can be resolved ahead of need with [Client.Prefetch].
//
//	Lookup ──▶ cache ──hit──▶ addresses
//	              └──miss─▶ queue (1,024) ─▶ sender ─▶ sockets ─▶ servers
//	                                         timer ──▶    │
//	           cache ◀── answer ◀── reader (one a socket) ◀┘
//
// Where we differ from the paper: the cache is in shards and the client in several goroutines (the
// paper has one thread and no locks); its 1,800 s are a floor under the time to live and not the
// time itself; expired answers are given out while they are asked again.
package dnsclient

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"sync/atomic"
	"time"

	"github.com/miekg/dns"
	"golang.org/x/sync/errgroup"
)

// The errors of Lookup, wrapped with the host's name.
var (
	ErrNoName  = errors.New("no such name")          // the name does not exist or has no address
	ErrTimeout = errors.New("no answer in time")     // from any server
	ErrServer  = errors.New("name servers failed")   // all servers answered SERVFAIL, REFUSED or the like
	ErrClosed  = errors.New("DNS client is stopped") // Run has returned
)

// errAbandoned ends a call whose caller left while the queue was full; those who had joined it
// start again.
var errAbandoned = errors.New("abandoned")

// Options tune a Client. The zero value reads /etc/resolv.conf and has the paper's numbers.
type Options struct {
	Servers []string // "address" or "address:port"; default those of /etc/resolv.conf, else 127.0.0.1

	Names       int           // names in the cache; default 50,000
	MinTTL      time.Duration // floor under the time to live; default 1,800 s, negative for none
	MaxTTL      time.Duration // cap on the time to live; default 24 h
	NegativeTTL time.Duration // how long a name that does not exist is remembered; default 5 min
	FailureTTL  time.Duration // how long a failure is remembered (RFC 9520 §3.2); default 5 s
	Stale       time.Duration // how long an expired answer may still be given out while it is asked again; default 24 h, negative for never

	Queue     int           // names that wait for the sender; default 1,024
	InFlight  int           // names asked and not yet answered; default 4,096, at most 8,192
	PerServer int           // of these at one name server; default 1,024
	Sockets   int           // UDP sockets for each address family of the servers; default 2, at most 16
	Timeout   time.Duration // for one name, all retries included; default 10 s
	MinRetry  time.Duration // floor under the retransmission time; default 100 ms

	Now func() time.Time // for the age of answers; default the system's monotonic clock, by the second
}

func (o Options) withDefaults() Options {
	defaultTo(&o.Names, 50_000)
	defaultTo(&o.MinTTL, 1800*time.Second)
	defaultTo(&o.MaxTTL, 24*time.Hour)
	defaultTo(&o.NegativeTTL, 5*time.Minute)
	defaultTo(&o.FailureTTL, 5*time.Second)
	defaultTo(&o.Stale, 24*time.Hour)
	defaultTo(&o.Queue, 1024)
	defaultTo(&o.InFlight, 4096)
	defaultTo(&o.PerServer, 1024)
	defaultTo(&o.Sockets, 2)
	defaultTo(&o.Timeout, 10*time.Second)
	defaultTo(&o.MinRetry, 100*time.Millisecond)
	o.MinTTL, o.Stale = max(o.MinTTL, 0), max(o.Stale, 0)
	o.InFlight, o.Sockets = min(o.InFlight, 8192), min(o.Sockets, 16) // IDs stay plentiful: see newKey
	return o
}

func defaultTo[T int | time.Duration](v *T, d T) {
	if *v == 0 {
		*v = d
	}
}

// A Client resolves names. Any number of goroutines may use it at once, while Run runs.
type Client struct {
	o     Options
	start time.Time
	clock atomic.Int64 // nanoseconds since start; the timer sets it at least once a second
	cache *cache

	queue    chan *call
	slots    chan struct{} // one taken for each name in flight
	tcp      chan truncated
	stopped  chan struct{} // closed when Run begins to return
	servers  []*server
	byAddr   map[netip.AddrPort]int
	sockets  []*net.UDPConn
	inflight inflight
	count    counters
}

// New opens the sockets. Nothing is resolved until Run runs; Close frees a client that never ran.
func New(o Options) (*Client, error) {
	c := &Client{o: o.withDefaults(), start: time.Now(), stopped: make(chan struct{})}
	if err := c.openServers(); err != nil {
		return nil, err
	}
	c.cache = newCache(c.o.Names)
	c.queue = make(chan *call, c.o.Queue)
	c.slots = make(chan struct{}, min(c.o.InFlight, c.o.PerServer*len(c.servers)))
	c.tcp = make(chan truncated, tcpWaiting)
	c.inflight.init()
	return c, nil
}

// Close closes the sockets, which also ends Run.
func (c *Client) Close() error {
	var errs []error
	for _, s := range c.sockets {
		if err := s.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// Run resolves names until ctx is done, then fails whatever is still asked with ErrClosed and
// closes the client. It is run once.
func (c *Client) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	g, ctx := errgroup.WithContext(ctx)
	for i := range c.sockets {
		g.Go(func() error { defer cancel(); return c.read(i) })
	}
	for range tcpWorkers {
		g.Go(func() error { c.serveTCP(ctx); return nil })
	}
	g.Go(func() error { c.send(ctx); return nil })
	g.Go(func() error { c.watch(ctx); return nil })
	g.Go(func() error {
		<-ctx.Done()
		close(c.stopped)
		return c.Close()
	})
	err := g.Wait()
	c.failAll()
	return err
}

// now is the time for the age of answers, in nanoseconds, true to a second. To ask the system each
// time would cost a third of a cache hit.
func (c *Client) now() int64 {
	if c.o.Now != nil {
		return c.o.Now().UnixNano()
	}
	return c.clock.Load()
}

// Lookup gives the addresses of a host: a name, an IP address, or "localhost". A name in the cache
// costs no allocation; the slice is shared, and is not to be changed. ctx ends the wait, not the
// query. The error wraps ErrNoName, ErrTimeout, ErrServer, ErrClosed or the context's.
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
		return nil, fmt.Errorf("dnsclient: %.300q: %w", host, ErrNoName)
	}
	for {
		addrs, err, waiting := c.begin(ctx, name)
		if waiting == nil {
			return addrs, err
		}
		select {
		case <-waiting.done:
			if waiting.err != errAbandoned {
				return waiting.addrs, waiting.err
			}
		case <-ctx.Done():
			return nil, fmt.Errorf("dnsclient: %s: %w", name, context.Cause(ctx))
		case <-c.stopped:
			return nil, fmt.Errorf("dnsclient: %s: %w", name, ErrClosed)
		}
	}
}

// A Source says where an answer came from.
type Source uint8

const (
	FromServer  Source = iota // asked for
	FromCache                 // remembered
	FromStale                 // remembered and expired: it is asked again meanwhile
	FromLiteral               // the host is an address, or localhost
)

// An Answer is what Resolve says of a name.
type Answer struct {
	Addrs  []netip.Addr
	Source Source
	Server netip.AddrPort // that answered, now or back then; none for a literal or where none did
	TTL    time.Duration  // until it is asked again, to a second; bounded by Options.MinTTL and MaxTTL
}

// Resolve is Lookup for the curious: it says where the answer comes from, also where that is an error.
func (c *Client) Resolve(ctx context.Context, host string) (Answer, error) {
	if addrs, ok := literal(host); ok {
		return Answer{Addrs: addrs, Source: FromLiteral}, nil
	}
	source := FromServer
	if e := c.remembered(host); e != nil {
		switch now := c.now(); {
		case now < e.expires:
			source = FromCache
		case now < e.stale:
			source = FromStale
		}
	}
	addrs, err := c.Lookup(ctx, host)
	a := Answer{Addrs: addrs, Source: source}
	if e := c.remembered(host); e != nil {
		a.TTL = max(time.Duration(e.expires-c.now()), 0)
		if e.server >= 0 {
			a.Server = c.servers[e.server].addr
		}
	}
	return a, err
}

func (c *Client) remembered(host string) *entry {
	name, ok := canonical(host)
	if !ok {
		return nil
	}
	s := c.cache.shard(name)
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.names[name]
}

// begin answers from the cache, or gives the call to wait for: one under way already or a new one.
func (c *Client) begin(ctx context.Context, name string) ([]netip.Addr, error, *call) {
	s := c.cache.shard(name)
	now := c.now()
	s.mu.Lock()
	e := s.names[name]
	if e != nil && now < e.expires {
		s.touch(e)
		s.hits++
		s.mu.Unlock()
		return e.addrs, e.err, nil
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
		return nil, nil, under
	}
	s.misses++
	q := newCall(name)
	s.calls[name] = q
	s.mu.Unlock()
	c.enqueue(ctx, q)
	return nil, nil, q
}

// enqueue waits for room in the queue. A call that found none is ended for those who joined it.
func (c *Client) enqueue(ctx context.Context, q *call) {
	select {
	case c.queue <- q:
		return
	default:
	}
	select {
	case c.queue <- q:
	case <-ctx.Done():
		c.settle(q, errAbandoned)
	case <-c.stopped:
		c.settle(q, fmt.Errorf("dnsclient: %s: %w", q.host, ErrClosed))
	}
}

// refresh asks for a name anew without anyone waiting for it, if the queue has room. The shard is
// locked.
func (c *Client) refresh(s *shard, name string) bool {
	if s.calls[name] != nil {
		return true
	}
	q := newCall(name)
	select {
	case c.queue <- q:
		s.calls[name] = q
		return true
	default:
		return false
	}
}

// Prefetch resolves names ahead. It never blocks: names for which the queue has no room are
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
			c.count.dropped.Add(1)
		}
		s.mu.Unlock()
	}
}

// literal answers for hosts that need no query: addresses, and localhost (RFC 6761 §6.3).
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

// mayBeAddress spares the parser, whose error costs more than a look at the cache.
func mayBeAddress(host string) bool {
	return host != "" && '0' <= host[len(host)-1] && host[len(host)-1] <= '9' || strings.IndexByte(host, ':') >= 0
}

// canonical is the name in lower case without a last dot; not ok where it can be no name at all
// (RFC 1035 §2.3.4: labels of 1 to 63 octets, 253 in all).
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
		if b := host[i]; b <= ' ' || b >= 0x7F || b == '\\' || b == '"' || b == '(' || b == ')' || b == ';' || b == '@' {
			return "", false // not a host, and special to the wire codec's text form
		}
	}
	return host, true
}

// Stats are counts since New.
type Stats struct {
	Hits       uint64 // answered from the cache, negative answers included
	Stale      uint64 // of an expired answer, which is asked again meanwhile
	Misses     uint64 // had to be asked
	Joined     uint64 // waited for a query of another caller
	Names      int    // in the cache
	Evicted    uint64 // least recently used names that made room
	InFlight   int    // asked and not yet answered
	Dropped    uint64 // names to prefetch that the queue had no room for
	Queries    uint64 // packets sent over UDP, retransmissions included
	Retries    uint64 // of these, sent again after a time-out or a failure
	Answers    uint64 // packets that answered a query of ours
	Malformed  uint64 // packets that could not be read
	Full       uint64 // times that a name waited because its servers had all in flight that they may
	Strays     uint64 // packets that answer no query of ours: late, forged, from elsewhere
	Truncated  uint64 // answers fetched over TCP
	NoNames    uint64 // names that do not exist
	Timeouts   uint64 // names that no server answered in time
	Failures   uint64 // names that every server failed on
	SendErrors uint64
	Servers    []ServerStats
}

// ServerStats are the counts of one name server.
type ServerStats struct {
	Addr     netip.AddrPort
	RTT      time.Duration // smoothed; 0 where nothing was measured
	Retry    time.Duration // after which a query is sent again
	Open     int           // queries in flight
	Queries  uint64
	Timeouts uint64
}

type counters struct {
	dropped, queries, retries, answers, malformed, strays, full, truncated, noNames, timeouts, failures, sendErrors atomic.Uint64
}

// Stats counts what the client did.
func (c *Client) Stats() Stats {
	n := &c.count
	st := Stats{
		Dropped: n.dropped.Load(), Queries: n.queries.Load(), Retries: n.retries.Load(), Answers: n.answers.Load(),
		Malformed: n.malformed.Load(), Strays: n.strays.Load(), Full: n.full.Load(), Truncated: n.truncated.Load(), NoNames: n.noNames.Load(),
		Timeouts: n.timeouts.Load(), Failures: n.failures.Load(), SendErrors: n.sendErrors.Load(), InFlight: len(c.slots),
	}
	c.cache.addStats(&st)
	c.inflight.mu.Lock()
	defer c.inflight.mu.Unlock()
	for _, s := range c.servers {
		st.Servers = append(st.Servers, ServerStats{s.addr, s.rtt, s.retryAfter(c.o.MinRetry), s.open, s.queries, s.timeouts})
	}
	return st
}

// fqdn is a name as the wire codec wants it.
func fqdn(name string) string { return dns.Fqdn(name) }
