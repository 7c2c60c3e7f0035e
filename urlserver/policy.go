package urlserver

import (
	"fmt"
	"math"
	"time"

	"anatomy/disk/docindex"
	"anatomy/vocab"
)

// A Policy is an order of hosts, and of the URLs of each (CJS).
type Policy uint8

// The policies. The default is the first, by measurement: see doc/decisions.md.
const (
	CrawlAbility     Policy = iota // the host with the most quality a second; URLs by quality
	QualityFirst                   // the best URL of all
	PerformanceFirst               // the host with the most pages a second; URLs as breadth-first
	BreadthFirst                   // hosts in turn; URLs by depth, then in the order found
	policies
)

var policyNames = [policies]string{"crawl-ability", "quality-first", "performance-first", "breadth-first"}

func (p Policy) String() string {
	if p < policies {
		return policyNames[p]
	}
	return "unknown policy"
}

// PolicyNames are the names of all policies, the default first.
func PolicyNames() []string { return policyNames[:] }

// ParsePolicy is the inverse of String.
func ParsePolicy(name string) (Policy, error) {
	for p, n := range policyNames {
		if n == name {
			return Policy(p), nil
		}
	}
	return 0, fmt.Errorf("there is no policy %q", name)
}

// byQuality says whether URLs queue by quality, not by depth. Policies that agree in it understand
// each other's queues.
func (p Policy) byQuality() bool { return p == QualityFirst || p == CrawlAbility }

// order names how the queues are sorted, for the next run.
func (p Policy) order() string {
	if p.byQuality() {
		return "quality"
	}
	return "depth"
}

// newcomer is the priority of a URL of which nothing is known but its record. Priorities are places
// in the queue key, least first. Sitemaps go before all pages, since they name pages. A page far from
// the seeds begins a little lower: links take their time to show what a page is worth, and depth says
// something about it at once.
func (p Policy) newcomer(r *docindex.Record) uint8 {
	if p.byQuality() && r.Kind == vocab.PageTarget {
		return uint8(min(255, priorityOfOne+stepsPerDepth*int(r.Depth)))
	}
	return breadthFirst(r.Kind, r.Depth)
}

// breadthFirst is the priority by depth. Within a priority URLs keep the order in which they were
// found (CJS).
func breadthFirst(kind vocab.TargetKind, depth uint16) uint8 {
	if kind == vocab.SitemapTarget {
		return sitemapPriority
	}
	return uint8(1 + min(depth, 254))
}

const sitemapPriority = 0

// A quality is kept in a queue key as a priority from 1 to 255, the best first: eight steps to each power
// of two, from 2^15.9 down to 2^-15.9. With finer steps URLs move more often; with coarser ones a
// single site does worse. A seed begins at 1.
const (
	stepsPerDoubling = 8
	stepsPerDepth    = 2 // without them a single site does worse than breadth-first
	priorityOfOne    = 128
)

// qualityOf is the quality that a priority stands for. A sitemap counts as a page of quality 1.
func qualityOf(priority uint8) float64 {
	if priority == sitemapPriority {
		return 1
	}
	return math.Exp2(float64(priorityOfOne-int(priority)) / stepsPerDoubling)
}

// priorityOf is the priority that is nearest to a quality.
func priorityOf(quality float64) uint8 {
	if !(quality > 0) {
		return 255
	}
	return uint8(max(1, min(255, priorityOfOne-math.Round(stepsPerDoubling*math.Log2(quality)))))
}

// Estimates of a host of which nothing is known. The paper begins with 50 requests a connection; the
// times are ours, those of an ordinary server on another continent.
const (
	firstPerConnection = 50
	firstAnswer        = 200 * time.Millisecond
	smoothing          = 0.8 // of the estimate, the rest of the measurement (CJS)
)

// learn takes what a lease showed into the estimates of a host.
func (h *host) learn(report *vocab.HostReport) {
	h.Answer = smooth(h.Answer, report.Answer)
	h.Connect = smooth(h.Connect, report.Connect)
	switch n := uint32(max(0, min(report.Requests, 1<<20))); {
	case report.Closed > 0 && n > 0:
		h.PerConnection = max(1, n/uint32(min(report.Closed, 1<<20)))
	case n > h.perConnection(): // and the connection is still open
		h.PerConnection = n
	}
}

func smooth(estimate, measured time.Duration) time.Duration {
	switch {
	case measured <= 0:
		return estimate
	case estimate == 0:
		return max(measured.Truncate(time.Microsecond), time.Microsecond)
	}
	return max(time.Duration(smoothing*float64(estimate)+(1-smoothing)*float64(measured)).Truncate(time.Microsecond), time.Microsecond)
}

func (h *host) perConnection() uint32 {
	if h.PerConnection == 0 {
		return firstPerConnection
	}
	return h.PerConnection
}

// rank is how early a host is to be asked, highest first, if it may have so many URLs of a lease.
// P(s,i) and T(s,i) are the paper's; to the time of each answer comes the wait that politeness puts
// before the next, for the connection is taken meanwhile. The factor 1.2 of pipelining servers is
// left out: nothing is pipelined here.
func (p Policy) rank(h *host, room int, o *Options) float64 {
	if p == BreadthFirst || len(h.levels) == 0 {
		return 0
	}
	if p == QualityFirst {
		return qualityOf(h.levels[0].priority)
	}
	pages, quality := h.best(uint64(room))
	answer := h.Answer
	if answer == 0 {
		answer = firstAnswer
	}
	connect := h.Connect
	if connect == 0 {
		connect = answer // a round trip, which an answer takes too
	}
	seconds := 2*connect.Seconds() + float64(pages)*(answer+h.site.delay(o)).Seconds()
	if p == PerformanceFirst {
		return float64(pages) / seconds
	}
	return quality / seconds
}

// best is how many URLs a lease of at most n would have, and the sum of their quality.
func (h *host) best(n uint64) (pages uint64, quality float64) {
	for i := range h.levels {
		l := &h.levels[i]
		take := min(l.n, n-pages)
		quality += float64(take) * qualityOf(l.priority)
		if pages += take; pages == n {
			break
		}
	}
	return pages, quality
}
