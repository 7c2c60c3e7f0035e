package urlserver

import (
	"net/netip"
	"slices"
	"time"

	"anatomy/disk/docindex"
)

// A host is one server, by name and port. In memory is only how long its queues are and where they
// begin; the queues are in the document index.
type host struct {
	docindex.HostRecord
	name   string
	site   *site
	levels []level // by priority; none is empty
	leased int     // new pages in flight

	fails   int                      // rounds of passing trouble, one after the other
	silent  int                      // of them, without any answer
	retryAt time.Time                // ask nothing before
	why     string                   // and why that is
	gone    *loss                    // given up for this run
	spent   map[string]docindex.Trap // folders and query patterns that repeat themselves; not read from disk where nil

	address *address // nil where not known
	parked  bool     // in its address's list

	spot  spot // in its site's ring
	held  bool // in frontier.held
	asked bool // its robots.txt has named its sitemaps
}

func (h *host) place() *spot { return &h.spot }

// A level is the part of a host's queue with one priority: its new URLs, or those to be visited again.
type level struct {
	priority uint8
	again    bool
	n        uint64 // URLs queued, those in flight not counted
	next     uint64 // no queued URL has a lower number: deleted keys before it are not walked over again
}

// push notes a queued URL.
func (h *host) push(priority uint8, number uint64) {
	at := level{priority: priority, again: number&again != 0, next: number}
	i, ok := slices.BinarySearchFunc(h.levels, at, compareLevels)
	if !ok {
		h.levels = slices.Insert(h.levels, i, at)
	}
	l := &h.levels[i]
	l.n++
	l.next = min(l.next, number)
}

// compareLevels orders levels as their keys are in the queue.
func compareLevels(a, b level) int {
	if a.priority != b.priority || a.again == b.again {
		return int(a.priority) - int(b.priority)
	}
	if b.again {
		return -1
	}
	return 1
}

// first is the level that URLs are taken from next, with new ones or without; -1 where there is none.
func (h *host) first(fresh bool) int {
	return slices.IndexFunc(h.levels, func(l level) bool { return fresh || l.again })
}

// pull takes a URL that is not in flight out of its level.
func (h *host) pull(priority uint8, number uint64) {
	i := slices.IndexFunc(h.levels, func(l level) bool { return l.priority == priority && l.again == (number&again != 0) })
	if h.levels[i].n--; h.levels[i].n == 0 {
		h.levels = slices.Delete(h.levels, i, i+1)
	}
}

func (h *host) queued() (n uint64) {
	for _, l := range h.levels {
		n += l.n
	}
	return n
}

// A frontier is the upper of the scheduler's two levels: which site is next (BP98 §4.3; the two
// levels are Mercator's). Of the sites that are free the one with the best host is served, and
// of the hosts of a site the best. Breadth-first ranks all alike, so that sites are served in the order
// in which they become free, and the hosts of a site in turn. It keeps no clock.
type frontier struct {
	o      *Options
	hosts  map[string]*host
	found  func(*host) error // called with each that is new
	bySite map[string]*site
	sites  waitlist[*site] // with a free connection and hosts in their rings
	ready  ranking[*site]  // of them those whose time has come
	held   waitlist[*host] // with URLs, and trouble

	byAddress map[netip.Addr]*address

	full bool    // no new page may be fetched now
	shut []*host // passed over because of that
}

// host finds the host of a URL, or makes it.
func (f *frontier) host(name, hostname string, load func(name string) (docindex.HostRecord, error)) (*host, error) {
	if h := f.hosts[name]; h != nil {
		return h, nil
	}
	record, err := load(name)
	if err != nil {
		return nil, err
	}
	siteName := f.o.siteOf(hostname)
	s := f.bySite[siteName]
	if s == nil {
		s = &site{name: siteName, pace: f.o.Paces[siteName]}
		f.bySite[siteName] = s
	}
	h := &host{HostRecord: record, name: name, site: s}
	f.hosts[name] = h
	return h, f.found(h)
}

// offer puts a host forward if it has anything to give.
func (f *frontier) offer(h *host) {
	room := f.room(h)
	if len(h.levels) == 0 || h.gone != nil || h.held || h.parked || room <= 0 {
		return
	}
	h.spot.rank = f.o.Policy.rank(h, room, f.o)
	if h.spot.index > 0 {
		h.site.ring.fix(h)
	} else {
		h.site.ring.push(h)
	}
	f.offerSite(h.site)
}

// offerSite puts a site forward if it has hosts and a free connection.
func (f *frontier) offerSite(s *site) {
	if s.waiting || len(s.ring.items) == 0 || s.leases >= s.connections(f.o) {
		return
	}
	s.spot.rank = s.ring.items[0].spot.rank
	if s.spot.index > 0 {
		f.ready.fix(s)
		return
	}
	s.waiting = true
	f.sites.push(s.at, s)
}

// recall takes a site off the list of those that wait, to be put forward anew.
func (f *frontier) recall(s *site) {
	if s.waiting {
		f.sites.drop(func(other *site) bool { return other == s })
		s.waiting = false
	}
}

// ripen moves the sites whose time has come from the list by time to the list by rank.
func (f *frontier) ripen(now time.Time) {
	for {
		s, ok := f.sites.due(now)
		if !ok {
			return
		}
		s.waiting = false
		if s.at.After(now) { // it changed since it was put forward
			f.offerSite(s)
			continue
		}
		s.spot.at = s.at
		s.spot.rank = s.ring.items[0].spot.rank
		f.ready.push(s)
	}
}

// room is how many more URLs of a host may be in flight: of a lease, which is a connection of the
// paper, and of the bound on its pages, which those that are visited again do not count against.
func (f *frontier) room(h *host) int {
	if h.first(false) >= 0 {
		return f.leaseOf(h)
	}
	return f.roomForNew(h)
}

// leaseOf is how many URLs the next lease of a host may have. Where a site gets many leases at once each has
// its share of the queue, or the last ones would be worked off one URL after the other, all else done.
func (f *frontier) leaseOf(h *host) int {
	most := min(f.o.LeaseSize, int(h.perConnection()))
	if n := uint64(h.site.connections(f.o)); n > 1 {
		return int(min(uint64(most), max(1, (h.queued()+n-1)/n)))
	}
	return most
}

// roomForNew is how many more new URLs of a host may be in flight.
func (f *frontier) roomForNew(h *host) int {
	lease := f.leaseOf(h)
	if f.o.PagesPerHost == 0 {
		return lease
	}
	return min(lease, int(int64(f.o.PagesPerHost)-int64(h.Pages))-h.leased)
}

// allow says whether new pages may be fetched at all. Hosts that were passed over when none might are
// offered again when some may.
func (f *frontier) allow(fresh bool) {
	if f.full = !fresh; f.full {
		return
	}
	shut := f.shut
	f.shut = nil
	for _, h := range shut {
		f.offer(h)
	}
}

// nextHost takes the host whose turn it is off the frontier; nil where none is ready. A host that
// it gives has URLs and room; its site has a free connection.
func (f *frontier) nextHost(now time.Time) *host {
	for {
		h, ok := f.held.due(now)
		if !ok {
			break
		}
		h.held = false
		f.offer(h)
	}
	f.ripen(now)
	for {
		s, ok := f.ready.pop()
		if !ok {
			return nil
		}
		if s.at.After(now) || s.leases >= s.connections(f.o) { // it changed since it was put forward
			f.offerSite(s)
			continue
		}
		if h := f.nextOf(s, now); h != nil {
			return h
		}
	}
}

// nextOf takes the first ready host off a site's ring.
func (f *frontier) nextOf(s *site, now time.Time) *host {
	for {
		h, ok := s.ring.pop()
		switch {
		case !ok:
			return nil
		case len(h.levels) == 0 || h.gone != nil || f.room(h) <= 0:
		case f.full && h.first(false) < 0:
			f.shut = append(f.shut, h)
		case h.retryAt.After(now):
			h.held = true
			f.held.push(h.retryAt, h)
		case f.crowded(h.address):
			f.park(h)
		default:
			return h
		}
	}
}

// wait is how long until a site or host becomes free; ok is false where none is waiting.
func (f *frontier) wait(now time.Time) (wait time.Duration, ok bool) {
	if len(f.ready.items) > 0 {
		return 0, true
	}
	for _, next := range []func() (time.Time, bool){f.sites.next, f.held.next} {
		if at, there := next(); there && (!ok || at.Sub(now) < wait) {
			wait, ok = at.Sub(now), true
		}
	}
	return wait, ok
}

// maxBackoff bounds waits that are our own idea.
const maxBackoff = 30 * time.Minute

// pause notes for how long a host that answers wants to be left alone (RFC 9110 §10.2.3). It knows
// best: no back-off makes that longer, and no second answer to what was asked before makes it shorter.
func (h *host) pause(now time.Time, o *Options, wait time.Duration, reason string) {
	h.silent = 0
	if at := now.Add(min(wait, o.MaxHold)); at.After(h.retryAt) {
		h.retryAt, h.why = at, reason
	}
}

// trouble notes that a host is in passing trouble. Failures within one wait count as one round, so
// that a lease of thirty time-outs is one. It says whether the host is past hope.
func (h *host) trouble(now time.Time, o *Options, answered bool, reason string) (hopeless bool) {
	if now.Before(h.retryAt) {
		return false
	}
	h.fails++
	h.silent++
	if answered {
		h.silent = 0
	}
	h.retryAt = now.Add(min(o.Backoff<<min(h.fails-1, 20), maxBackoff, o.MaxHold))
	h.why = reason
	return h.silent >= o.HostTries
}

// well notes an ordinary answer.
func (h *host) well() {
	h.fails, h.silent = 0, 0
}
