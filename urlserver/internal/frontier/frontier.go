// Package frontier maintains the hosts with URLs to fetch, and decides which one is leased next
// (BP98 §4.3).
//
// It has the two levels of Mercator. The upper level is the sites: each is crawled by a bounded
// number of connections, with a delay. Among the free sites, the one with the best host is next,
// and its best host is leased. [BreadthFirst] ranks all hosts equally, so that sites are served in
// the order in which they become free, and the hosts of a site round-robin.
//
// The package has no clock, no goroutine and no lock: the time is an argument, and the caller
// serializes all calls.
package frontier

import (
	"iter"
	"maps"
	"net/netip"
	"time"

	"anatomy/disk/docindex"
)

// A Frontier has all hosts and sites. The caller of its methods holds the URL server's mutex.
//
// Between calls, each host that has URLs, is not given up, and may have more URLs in flight is in
// exactly one queue: the ring of its site, held, the list of its address, or full. Each site with a
// non-empty ring and a free connection is in waiting or in ready.
type Frontier struct {
	o         *Options
	stored    Stored
	created   func(*Host) error
	hosts     map[string]*Host
	sites     map[string]*Site
	addresses map[netip.Addr]*Address
	crowded   map[*Address]bool // those at which hosts are parked
	freed     uint64            // count of ended leases when hosts were last offered

	waiting queue[*Site] // by the time when they become free
	ready   queue[*Site] // free ones, by rank
	held    queue[*Host] // hosts in back-off or on hold, by the end of that

	noNew bool    // no new page may be fetched now
	full  []*Host // hosts without revisits whose turn came while noNew
}

// Stored returns the records of hosts and the usage of sites, as a document index does.
type Stored interface {
	Host(name string) (docindex.HostRecord, error)
	Site(name string) (docindex.SiteUsage, error)
}

// New returns an empty frontier. created is called with each host after it was made.
func New(o Options, stored Stored, created func(*Host) error) *Frontier {
	return &Frontier{
		o: &o, stored: stored, created: created,
		hosts: map[string]*Host{}, sites: map[string]*Site{}, addresses: map[netip.Addr]*Address{},
		crowded: map[*Address]bool{},
	}
}

// Host returns the host with a name, including port, creating it if needed. hostname is the name
// without port.
func (f *Frontier) Host(name, hostname string) (*Host, error) {
	if h := f.hosts[name]; h != nil {
		return h, nil
	}
	record, err := f.stored.Host(name)
	if err != nil {
		return nil, err
	}
	s, err := f.site(f.o.siteOf(hostname))
	if err != nil {
		return nil, err
	}
	h := &Host{HostRecord: record, Name: name, HasPort: name != hostname, site: s}
	f.hosts[name] = h
	return h, f.created(h)
}

// site returns the site with a name, creating it if needed.
func (f *Frontier) site(name string) (*Site, error) {
	if s := f.sites[name]; s != nil {
		return s, nil
	}
	usage, err := f.stored.Site(name)
	if err != nil {
		return nil, err
	}
	s := &Site{name: name, o: f.o, limits: f.o.SiteLimits[name], usage: usage}
	s.judge()
	f.sites[name] = s
	return s, nil
}

// Lookup returns the host with a name, or nil if Host never created it.
func (f *Frontier) Lookup(name string) *Host { return f.hosts[name] }

// Hosts returns all hosts in no order.
func (f *Frontier) Hosts() iter.Seq[*Host] { return maps.Values(f.hosts) }

// Len returns the number of hosts.
func (f *Frontier) Len() int { return len(f.hosts) }

// Offer queues a host that may have URLs to fetch, or updates its rank. It must be called after
// each change of the host's levels, flights or loss.
func (f *Frontier) Offer(h *Host) {
	room := f.room(h)
	if h.idle() || h.held || h.parked || room <= 0 {
		return
	}
	if rank := h.rank(room); h.pos.index > 0 {
		h.site.ring.rerank(h, rank)
	} else {
		h.site.ring.add(h, rank, time.Time{})
	}
	f.offerSite(h.site)
}

// offerSite queues a site that has hosts and a free connection, or updates its rank.
func (f *Frontier) offerSite(s *Site) {
	switch {
	case s.waiting || len(s.ring.items) == 0 || s.leases >= s.connections():
	case s.pos.index > 0:
		f.ready.rerank(s, s.ring.items[0].pos.rank)
	default:
		s.waiting = true
		f.waiting.add(s, 0, s.freeAt)
	}
}

// room returns how many more URLs of a host may be in flight. Revisits do not count against the
// bound on its pages.
func (f *Frontier) room(h *Host) int {
	if h.HasRevisits() {
		return f.LeaseRoom(h)
	}
	return f.NewRoom(h)
}

// LeaseRoom returns how many URLs the next lease of a host may have. With several connections to
// the site, each lease gets its share of the queue; otherwise the last lease would continue alone.
// With TopicFirst a lease has one URL, because its page may change the order of all others.
func (f *Frontier) LeaseRoom(h *Host) int {
	if f.o.Policy == TopicFirst {
		return 1
	}
	most := min(f.o.LeaseSize, int(h.perConnection()))
	if n := uint64(h.site.connections()); n > 1 {
		return int(min(uint64(most), max(1, (h.Queued()+n-1)/n)))
	}
	return most
}

// NewRoom returns how many new URLs the next lease of a host may have.
func (f *Frontier) NewRoom(h *Host) int {
	if h.site.isSpent() {
		return 0
	}
	room := f.LeaseRoom(h)
	if f.o.PagesPerHost == 0 {
		return room
	}
	return min(room, int(int64(f.o.PagesPerHost)-int64(h.Pages))-h.InFlight)
}

// AllowNew sets whether new pages may be fetched.
func (f *Frontier) AllowNew(allow bool) {
	if f.noNew = !allow; f.noNew {
		return
	}
	full := f.full
	f.full = nil
	for _, h := range full {
		f.Offer(h)
	}
}

// Next removes the host whose turn it is from its queue and returns it, or nil. The host has URLs
// and room for them, and its site has a free connection.
func (f *Frontier) Next(now time.Time) *Host {
	f.offerFreed(now)
	for h, ok := f.held.due(now); ok; h, ok = f.held.due(now) {
		h.held = false
		f.Offer(h)
	}
	f.free(now)
	for s, ok := f.ready.pop(); ok; s, ok = f.ready.pop() {
		if s.freeAt.After(now) || s.leases >= s.connections() { // changed since it was queued
			f.offerSite(s)
			continue
		}
		if h := f.nextOf(s, now); h != nil {
			return h
		}
	}
	return nil
}

// free moves sites that have become free from waiting to ready.
func (f *Frontier) free(now time.Time) {
	for s, ok := f.waiting.due(now); ok; s, ok = f.waiting.due(now) {
		s.waiting = false
		if s.freeAt.After(now) { // changed since it was queued
			f.offerSite(s)
			continue
		}
		f.ready.add(s, s.ring.items[0].pos.rank, s.freeAt)
	}
}

// nextOf removes the first host of a site's ring that may be leased and returns it. Hosts before it
// move to the queues that they belong to.
func (f *Frontier) nextOf(s *Site, now time.Time) *Host {
	for h, ok := s.ring.pop(); ok; h, ok = s.ring.pop() {
		switch {
		case h.idle() || f.room(h) <= 0:
		case f.noNew && !h.HasRevisits():
			f.full = append(f.full, h)
		case h.retryAt.After(now):
			h.held = true
			f.held.add(h, 0, h.retryAt)
		case h.address.crowded(f.o.PerAddress):
			h.address.park(h)
			f.crowded[h.address] = true
		default:
			return h
		}
	}
	return nil
}

// parkedWait is the interval at which hosts check for room at their address while nothing else is
// to be done.
const parkedWait = time.Second

// Wait returns the time until Next may return a host if nothing else changes, or false if it never
// will.
func (f *Frontier) Wait(now time.Time) (wait time.Duration, ok bool) {
	if len(f.ready.items) > 0 {
		return 0, true
	}
	site, hasSite := f.waiting.next()
	host, hasHost := f.held.next()
	if !hasSite && !hasHost && len(f.crowded) > 0 {
		return parkedWait, true // a lease of another frontier may end
	}
	if hasSite && (!hasHost || site.Before(host)) {
		return site.Sub(now), true
	}
	return host.Sub(now), hasHost
}

// HasRevisits reports whether any host has revisits queued. It visits all hosts.
func (f *Frontier) HasRevisits() bool {
	for _, h := range f.hosts {
		if h.Loss == nil && h.HasRevisits() {
			return true
		}
	}
	return false
}

// SiteOf returns the name of the site of a host name.
func (f *Frontier) SiteOf(hostname string) string { return f.o.siteOf(hostname) }

// SetDelay sets the delay of a host's site like SiteLimits.Delay, or the general one for 0, and
// returns the name of the site. Leases granted earlier keep their delay.
func (f *Frontier) SetDelay(now time.Time, hostname string, d time.Duration) (site string) {
	site = f.o.siteOf(hostname)
	limits := f.o.SiteLimits[site]
	limits.Delay = d
	f.o.SiteLimits[site] = limits
	s := f.sites[site]
	if s == nil {
		return site
	}
	s.limits = limits
	if at := now.Add(s.delay()); s.why == politeness && at.Before(s.freeAt) {
		if s.waiting {
			f.waiting.remove(s)
			s.waiting = false
		}
		s.freeAt = at
	}
	f.offerSite(s)
	return site
}
