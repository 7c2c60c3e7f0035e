// Package crawler fetches pages (BP98 §4.3). For a lease of URLs of one host, it reads the host's
// robots.txt, fetches one URL after the other with the lease's delay between them, and returns the
// outcome of each.
//
// The web is hostile, so everything has a bound: time, rate, size on the wire and decoded, the
// ratio of the two, headers, redirects. The address of every connection is checked when it is
// opened, including connections for robots.txt and redirects. Redirects of pages are reported and
// not followed; the URL server treats their targets like links.
package crawler

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"time"

	"anatomy/crawler/dnsclient"
	"anatomy/vocab"
	"anatomy/weburl"
)

// A Crawler fetches for any number of leases at the same time. They share the DNS client, the idle
// connections and the robots.txt rules, each of which has its own lock; everything else is
// immutable after New.
type Crawler struct {
	o          Options
	dns        *dnsclient.Client
	client     *client
	robots     *robotsCache
	missing    *missingPages
	activities *activities
	count      counters

	stop    context.CancelFunc // ends the DNS client
	stopped chan error         // result of the DNS client
}

// New returns a crawler. Its DNS client runs until Close.
func New(o Options) (*Crawler, error) {
	o = o.WithDefaults()
	if o.HTTPPort < 1 || o.HTTPPort > 65535 || o.HTTPSPort < 1 || o.HTTPSPort > 65535 {
		return nil, fmt.Errorf("ports %d and %d are not both between 1 and 65535", o.HTTPPort, o.HTTPSPort)
	}
	c := &Crawler{
		o: o, dns: o.Names, robots: newRobotsCache(o.RobotsBytes), missing: newMissingPages(),
		activities: newActivities(o.Now), stopped: make(chan error, 1), stop: func() {},
	}
	if o.Names == nil {
		if err := c.resolve(); err != nil {
			return nil, fmt.Errorf("DNS client: %w", err)
		}
	} else {
		c.stopped <- nil
	}
	c.client = newClient(&c.o, &dialer{o: &c.o, dns: c.dns, activities: c.activities, count: &c.count})
	return c, nil
}

// resolve starts a DNS client of the crawler's own.
func (c *Crawler) resolve() (err error) {
	if c.dns, err = dnsclient.New(c.o.DNS); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	c.stop = cancel
	go func() { c.stopped <- c.dns.Run(ctx) }()
	return nil
}

// Close ends the DNS client and closes idle connections. No visit may be in progress.
func (c *Crawler) Close() error {
	c.stop()
	c.client.close()
	if err := <-c.stopped; err != nil && !errors.Is(err, context.Canceled) {
		return fmt.Errorf("DNS client: %w", err)
	}
	return nil
}

// Prefetch resolves the names of hosts that will be visited soon. It never blocks.
func (c *Crawler) Prefetch(hosts ...string) {
	if !c.o.Proxy.resolves() {
		c.dns.Prefetch(hosts...)
	}
}

// Lookup resolves a name as the crawler does.
func (c *Crawler) Lookup(ctx context.Context, host string) ([]netip.Addr, error) {
	return c.dns.Lookup(ctx, host)
}

// Stats returns the counts so far.
func (c *Crawler) Stats() Stats { return c.count.stats(c.dns.Stats()) }

// Visits returns the status of every visit in progress.
func (c *Crawler) Visits() []VisitStatus { return c.activities.list() }

// Visit fetches the URLs of a lease: robots.txt first, then each URL in turn, with the longer of
// the lease's delay and the host's Crawl-delay between them, unless the delay is fixed. It calls
// handle exactly once for every target, in order, from the calling goroutine; handle owns
// Page.Body. When ctx is done, or the host asks for a pause, the remaining targets are Skipped; when ctx
// is done, the request in progress has the time StopWait to end.
//
// If robots.txt cannot be read, the first target of its origin is Failed, so that its tries count
// and a dead host is eventually given up; the others are Skipped.
func (c *Crawler) Visit(
	ctx context.Context, lease vocab.Lease, handle func(vocab.Fetch),
) vocab.HostReport {
	p := &pacer{
		o: &c.o, activity: c.activities.begin(lease.Host, len(lease.URLs)),
		delay: lease.Delay, fixed: lease.FixedDelay,
	}
	defer p.activity.end()
	p.report.Lease = lease.ID
	v := &visit{
		pacer: p, o: &c.o, lease: &lease, fetcher: &fetcher{client: c.client, pacer: p},
		missing: c.missing,
		origins: &origins{client: c.client, pacer: p, cache: c.robots, byName: map[string]*origin{}},
	}
	v.fetcher.allowed = func(ctx context.Context, u *weburl.URL) bool {
		o := v.origins.get(ctx, u, 0)
		return o.rules != nil && o.rules.Allowed(u.PathAndQuery())
	}
	var opened opened
	ctx = context.WithValue(ctx, openedKey{}, &opened)
	if c.o.Admit != nil && !c.o.Proxy.resolves() {
		c.admit(ctx, v)
	}
	for i, t := range lease.URLs {
		p.activity.next(len(lease.URLs) - i)
		f := v.target(ctx, t)
		if t.Kind != vocab.IconTarget {
			c.count.outcomes[f.Outcome].Add(1)
		}
		handle(f)
		if v.handled != nil {
			v.handled()
			v.handled = nil
		}
	}
	return v.finish(opened.mean())
}

// admit stops a visit whose host may not be visited at its addresses. If the name does not resolve,
// the first fetch reports that.
func (c *Crawler) admit(ctx context.Context, v *visit) {
	v.activity.set("DNS")
	addrs, err := c.dns.Lookup(ctx, hostname(v.lease.Host))
	if err == nil && !c.o.Admit(v.lease.ID, addrs) {
		v.stop = "other hosts at its address are being visited"
	}
}

// Replay returns the outcome of an answer that another crawler got at a time, as stored in a web
// archive. All rules and bounds for answers over the network apply, except those on time. A
// truncated body is kept. It sends nothing.
func (c *Crawler) Replay(u *weburl.URL, resp *http.Response, at time.Time) vocab.Fetch {
	f := vocab.Fetch{Target: vocab.Target{URL: u.String(), LastTry: true}}
	ctx, g := newGuard(context.Background(), &c.o)
	defer g.stop()
	v := fetcher{client: c.client, pacer: &pacer{o: &c.o}}
	v.judge(ctx, g, u, resp, &f)
	if f.Page != nil {
		f.Page.Fetched = at.UTC().Truncate(time.Second)
	}
	return f
}
