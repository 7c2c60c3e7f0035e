// Package crawler fetches pages (BP98 §4.3): it is given a lease of one host's URLs, asks the host's
// robots.txt before anything else, fetches one URL after the other with the lease's delay between,
// and says of each what became of it.
//
// The web is hostile, so everything has a bound: time, rate, size on the wire and unpacked, ratio
// of the two, headers, redirects. Which address a connection goes to is checked at the moment of
// connecting, for every connection, robots.txt and its redirects included. Redirects of pages are
// reported and not followed: they go through the URL server like any link.
package crawler

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"sync/atomic"
	"time"

	"anatomy/crawler/dnsclient"
	"anatomy/vocab"
)

// Product is the token that robots.txt files know us by.
const Product = "anatomy"

// Options tune a Crawler. The zero value is fit for the public web.
type Options struct {
	UserAgent string // default "anatomy/0.1 (contact: …)"
	Product   string // token that is looked for in robots.txt; default "anatomy"
	Contact   string // how to reach the operator, for the default UserAgent: "crawl@example.org"

	AllowPrivate bool           // connect to private, loopback and other special addresses
	HTTPPort     int            // connect here where a URL's own port is 80; default 80
	HTTPSPort    int            // and here where it is 443; default 443
	RootCAs      *x509.CertPool // who is believed over TLS; default the system's (SSL_CERT_FILE)

	DNS dnsclient.Options

	Credentials *Credentials // for some origins; default none

	// Admit is asked before anything is asked of a lease's host whether it may be visited at its addresses; default always.
	Admit func(lease uint64, addrs []netip.Addr) bool

	// Ready waits until a page may be asked for, or ctx ends: who takes them in may have enough. It gives what is called
	// when the page was handled. Default at once.
	Ready func(ctx context.Context) (handled func(), err error)

	Timeout        time.Duration // of one fetch from start to end; default 60 s
	HeaderTimeout  time.Duration // until the header is here, name and connection included; default 30 s
	ConnectTimeout time.Duration // for one address; default 10 s
	Grace          time.Duration // how long a body may be slow; default 10 s
	MinRate        int64         // bytes a second that a body must bring after that; default 1,000

	MaxBody       int64         // bytes of a page, unpacked; default 10 MB (10<<20)
	MaxHeader     int64         // bytes of a response header; default 256 KB
	MaxCrawlDelay time.Duration // the most that a Crawl-delay is waited for between two fetches; default 30 s
	RobotsBytes   int           // memory for robots.txt rules; default 64 MB
	IdleConns     int           // idle connections kept, all hosts together; default 512

	Now   func() time.Time                           // default time.Now
	Sleep func(context.Context, time.Duration) error // default a timer; returns early with the context's error
}

// UserAgent is what we call ourselves in requests, with a way to reach the operator; "" for none.
func UserAgent(contact string) string {
	if contact == "" {
		return "anatomy/0.1 (no contact given)"
	}
	return "anatomy/0.1 (contact: " + contact + ")"
}

func (o Options) withDefaults() Options {
	if o.UserAgent == "" {
		o.UserAgent = UserAgent(o.Contact)
	}
	if o.Product == "" {
		o.Product = Product
	}
	defaultTo(&o.HTTPPort, 80)
	defaultTo(&o.HTTPSPort, 443)
	defaultTo(&o.Timeout, time.Minute)
	defaultTo(&o.HeaderTimeout, 30*time.Second)
	defaultTo(&o.ConnectTimeout, 10*time.Second)
	defaultTo(&o.Grace, 10*time.Second)
	defaultTo(&o.MinRate, 1000)
	defaultTo(&o.MaxBody, 10<<20)
	defaultTo(&o.MaxHeader, 256<<10)
	defaultTo(&o.MaxCrawlDelay, 30*time.Second)
	defaultTo(&o.RobotsBytes, 64<<20)
	defaultTo(&o.IdleConns, 512)
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Sleep == nil {
		o.Sleep = sleep
	}
	return o
}

func defaultTo[T int | int64 | time.Duration](v *T, d T) {
	if *v == 0 {
		*v = d
	}
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// A Crawler fetches for any number of leases at once. What they share is the DNS client, the pool
// of idle connections, and the robots.txt files.
type Crawler struct {
	o      Options
	dns    *dnsclient.Client
	http   *http.Transport
	header http.Header // of every request; never changed
	robots *robotsCache
	count  counters

	sessions map[string]*session // by origin, of those that want a sign-in; never changed
	visits   visits

	stop    context.CancelFunc // ends the DNS client
	stopped chan error
}

// New opens a crawler, whose DNS client runs until Close.
func New(o Options) (*Crawler, error) {
	o = o.withDefaults()
	if o.HTTPPort < 1 || o.HTTPPort > 65535 || o.HTTPSPort < 1 || o.HTTPSPort > 65535 {
		return nil, fmt.Errorf("crawler: ports %d and %d: not in 1 to 65535", o.HTTPPort, o.HTTPSPort)
	}
	names, err := dnsclient.New(o.DNS)
	if err != nil {
		return nil, fmt.Errorf("crawler: %w", err)
	}
	c := &Crawler{o: o, dns: names, robots: newRobotsCache(o.RobotsBytes), stopped: make(chan error, 1)}
	c.visits.at, c.visits.opening = map[*visit]*VisitStatus{}, map[string]string{}
	c.http = c.transport()
	c.header = http.Header{
		"User-Agent":      {o.UserAgent},
		"Accept":          {"text/html,application/xhtml+xml,text/plain;q=0.8,text/markdown;q=0.8,application/rss+xml;q=0.8,application/atom+xml;q=0.8,application/pdf;q=0.8,*/*;q=0.1"},
		"Accept-Language": {"en,*;q=0.5"},
		"Accept-Encoding": {"gzip, deflate, br, zstd"},
	}
	c.sessions = c.sessionsOf(o.Credentials)
	ctx, cancel := context.WithCancel(context.Background())
	c.stop = cancel
	go func() { c.stopped <- names.Run(ctx) }()
	return c, nil
}

// Close ends the DNS client and closes idle connections. No visit may be under way.
func (c *Crawler) Close() error {
	c.stop()
	c.http.CloseIdleConnections()
	for _, s := range c.sessions {
		s.client.CloseIdleConnections()
	}
	if err := <-c.stopped; err != nil && !errors.Is(err, context.Canceled) {
		return fmt.Errorf("crawler: %w", err)
	}
	return nil
}

// Prefetch resolves the names of hosts that will be visited soon. It never blocks.
func (c *Crawler) Prefetch(hosts ...string) { c.dns.Prefetch(hosts...) }

// Lookup resolves a name as the crawler does: for the curious, and for the unit of politeness.
func (c *Crawler) Lookup(ctx context.Context, host string) ([]netip.Addr, error) {
	return c.dns.Lookup(ctx, host)
}

// Stats are counts since New.
type Stats struct {
	Requests    uint64 // sent, robots.txt included
	Robots      uint64 // of these, for robots.txt
	RobotsHits  uint64 // robots.txt rules found in memory
	Connections uint64 // opened
	Bytes       uint64 // of bodies, on the wire
	Unpacked    uint64 // of bodies, after content coding was undone
	Outcomes    [vocab.Outcomes]uint64
	DNS         dnsclient.Stats
}

type counters struct {
	requests, robots, robotsHits, connections, bytes, unpacked atomic.Uint64
	outcomes                                                   [vocab.Outcomes]atomic.Uint64
}

// Stats counts what the crawler did.
func (c *Crawler) Stats() Stats {
	st := Stats{
		Requests: c.count.requests.Load(), Robots: c.count.robots.Load(), RobotsHits: c.count.robotsHits.Load(),
		Connections: c.count.connections.Load(), Bytes: c.count.bytes.Load(), Unpacked: c.count.unpacked.Load(), DNS: c.dns.Stats(),
	}
	for i := range st.Outcomes {
		st.Outcomes[i] = c.count.outcomes[i].Load()
	}
	return st
}
