package frontier

import (
	"math"
	"slices"
	"time"

	"anatomy/disk/docindex"
	"anatomy/vocab"
)

// A Host is one server, by name and port. It has the length and start of each of its queues; the
// queues themselves are in the document index.
//
// The exported fields belong to the URL server, which guards them with its mutex; the others to the
// frontier. A host is at any time in its site's ring, in Frontier.held, in the list of its address,
// or in none of these: then it has no URLs that may be fetched now, or is in Frontier.full.
type Host struct {
	docindex.HostRecord
	Name     string // with its port, unless that is the scheme's default
	HasPort  bool   // Name has a port: then it answers only one scheme
	InFlight int    // new pages; they count against Options.PagesPerHost
	Loss     *Loss  // why the host is given up; nil for one in use

	Traps         map[string]docindex.Trap // spent URL shapes; nil before they are read
	Doubtful      int                      // URLs in flight that are probably of a trap
	Watched       bool                     // such URLs may be queued
	Evidence      uint64                   // grows when leased URLs may have to be reconsidered
	SitemapsAdded bool                     // those that its robots.txt names
	Seeking       bool                     // a lease to find its sitemap is in flight

	site    *Site
	levels  []Level  // by priority, new URLs first; none is empty
	turns   int      // URLs of pages before the next sitemap
	address *Address // nil before its name is resolved

	origins [2]origin // http, https

	health

	pos    position // in its site's ring or in Frontier.held
	held   bool     // in Frontier.held
	parked bool     // in its address's list
}

// A Loss is the reason why a host, or a URL, is given up.
type Loss struct {
	Outcome vocab.Outcome
	Reason  string
	Until   time.Time // of a host: when it is tried again; zero for the whole run
}

// Site returns the site of the host.
func (h *Host) Site() *Site { return h.site }

func (h *Host) position() *position { return &h.pos }

// A Level is the part of a host's queue with one priority: its new URLs, or its revisits.
type Level struct {
	Priority uint8
	Again    bool   // revisits
	Count    uint64 // queued URLs that are not in flight
	Next     uint64 // no queued URL has a lower number, so that a scan skips deleted keys
}

// Again is the bit of a queue number that marks a revisit. Revisits come after the new URLs of
// their priority.
const Again = 1 << 63

// Push counts a queued URL.
func (h *Host) Push(priority uint8, number uint64) {
	at := Level{Priority: priority, Again: number&Again != 0, Next: number}
	i, ok := slices.BinarySearchFunc(h.levels, at, compareLevels)
	if !ok {
		h.levels = slices.Insert(h.levels, i, at)
	}
	l := &h.levels[i]
	l.Count++
	l.Next = min(l.Next, number)
}

// compareLevels orders levels as their keys are ordered in the queue.
func compareLevels(a, b Level) int {
	switch {
	case a.Priority != b.Priority || a.Again == b.Again:
		return int(a.Priority) - int(b.Priority)
	case b.Again:
		return -1
	}
	return 1
}

// Pull uncounts a queued URL that is not in flight.
func (h *Host) Pull(priority uint8, number uint64) {
	i := slices.IndexFunc(h.levels, func(l Level) bool {
		return l.Priority == priority && l.Again == (number&Again != 0)
	})
	h.levels[i].Count--
	h.dropEmpty(i)
}

// Clear uncounts all queued URLs.
func (h *Host) Clear() { h.levels = nil }

// pagesPerSitemap is the number of URLs of pages leased between two sitemaps while both are queued.
// A sitemap names pages, but pages are the purpose of a crawl, and some sites have thousands of
// sitemaps.
const pagesPerSitemap = 4

// LeaseNext calls lease with the level from which URLs are leased next: of new ones and revisits, or
// only of revisits. lease leases at most most of them, uncounts them, and returns the number leased.
// LeaseNext returns false if there is no such level.
func (h *Host) LeaseNext(
	withNew bool, lease func(l *Level, most int) (leased int, err error),
) (ok bool, err error) {
	i, most := h.turn(withNew)
	if i < 0 {
		return false, nil
	}
	isSitemap := h.levels[i].Priority == SitemapPriority
	n, err := lease(&h.levels[i], most)
	if h.turns = max(0, h.turns-n); isSitemap && n > 0 {
		h.turns = pagesPerSitemap
	}
	h.dropEmpty(i)
	return true, err
}

// turn returns the level whose turn it is, or -1, and how many URLs may be leased from it.
func (h *Host) turn(withNew bool) (i, most int) {
	i = h.first(withNew)
	if i < 0 || h.levels[i].Priority != SitemapPriority {
		return i, math.MaxInt
	}
	page := slices.IndexFunc(h.levels, func(l Level) bool {
		return l.Priority != SitemapPriority && (withNew || l.Again)
	})
	switch {
	case page < 0:
		return i, math.MaxInt
	case h.turns > 0:
		return page, h.turns
	}
	return i, 1
}

func (h *Host) dropEmpty(i int) {
	if h.levels[i].Count == 0 {
		h.levels = slices.Delete(h.levels, i, i+1)
	}
}

func (h *Host) first(withNew bool) int {
	return slices.IndexFunc(h.levels, func(l Level) bool { return withNew || l.Again })
}

// Queued returns the number of queued URLs that are not in flight.
func (h *Host) Queued() (n uint64) {
	for _, l := range h.levels {
		n += l.Count
	}
	return n
}

// HasRevisits reports whether revisits are queued.
func (h *Host) HasRevisits() bool { return h.first(false) >= 0 }

// idle reports whether the host has nothing to fetch.
func (h *Host) idle() bool { return len(h.levels) == 0 || h.Loss != nil }
