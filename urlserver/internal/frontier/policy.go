package frontier

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"anatomy/vocab"
)

// A Policy orders hosts, and the URLs of each host (CJS).
type Policy uint8

// The policies. The default is the first one; decision 0048 has the measurements.
const (
	CrawlAbility     Policy = iota // hosts by quality per second; URLs by quality
	QualityFirst                   // the best URL of all hosts first
	PerformanceFirst               // hosts by pages per second; URLs by depth
	BreadthFirst                   // hosts round-robin; URLs by depth, then in the order found
	TopicFirst                     // the best URL of all hosts first, by scores of the caller
)

var policyNames = []string{
	"crawl-ability", "quality-first", "performance-first", "breadth-first", "topic-first",
}

// PolicyNames returns the names of the policies that only need links, the default first.
func PolicyNames() []string { return policyNames[:TopicFirst] }

// Valid reports whether p is one of the policies.
func (p Policy) Valid() bool { return int(p) < len(policyNames) }

func (p Policy) String() string {
	if p.Valid() {
		return policyNames[p]
	}
	return "unknown policy"
}

// ParsePolicy returns the policy of that name.
func ParsePolicy(name string) (Policy, error) {
	if i := slices.Index(PolicyNames(), name); i >= 0 {
		return Policy(i), nil
	}
	return 0, fmt.Errorf("%q is not one of %s", name, strings.Join(PolicyNames(), ", "))
}

// ByQuality reports whether queues are ordered by quality instead of depth. With TopicFirst,
// quality is the odds that a page is relevant.
func (p Policy) ByQuality() bool {
	return p == QualityFirst || p == CrawlAbility || p == TopicFirst
}

// Order names the order of the queues on disk. Policies with equal Order can use each other's
// queues.
func (p Policy) Order() string {
	switch {
	case p == TopicFirst:
		return "topic"
	case p.ByQuality():
		return "quality"
	}
	return "depth"
}

// The priority of a URL is a byte of its queue key; lower ones are fetched first. Sitemaps have their
// own, and take turns with pages ([Host.LeaseNext]). By depth, that of a page is its depth plus 1.
//
// By quality, priorities 1 to 255 are steps of a logarithmic scale: eight to each power of two,
// from 2^15.9 down to 2^-15.9. With finer steps URLs move more often; with coarser ones a crawl of
// a single site finds good pages later. A seed begins at quality 1. Pages far from the seeds begin
// a little lower, because the links to them are found late; without that a crawl of a single site is
// worse than breadth-first.
const (
	SitemapPriority  = 0
	priorityOfOne    = 128
	stepsPerDoubling = 8
	stepsPerDepth    = 2

	// With TopicFirst, seeds come before all other URLs, and a URL without a score starts at odds
	// of 1 to 32.
	seedPriority     = 1
	unscoredPriority = priorityOfOne + 5*stepsPerDoubling
)

// FirstPriority returns the priority of a URL without known links.
func (p Policy) FirstPriority(kind vocab.TargetKind, depth uint16) uint8 {
	switch {
	case kind == vocab.SitemapTarget:
		return SitemapPriority
	case p == TopicFirst && depth == 0:
		return seedPriority
	case p == TopicFirst:
		return unscoredPriority
	case p.ByQuality() && kind == vocab.PageTarget:
		return uint8(min(255, priorityOfOne+stepsPerDepth*int(depth)))
	}
	return uint8(1 + min(depth, 254))
}

// Quality returns the quality of a priority. A sitemap counts as a page of quality 1.
func Quality(priority uint8) float64 {
	if priority == SitemapPriority {
		return 1
	}
	return math.Exp2(float64(priorityOfOne-int(priority)) / stepsPerDoubling)
}

// PriorityOf returns the priority nearest to a quality.
func PriorityOf(quality float64) uint8 {
	if !(quality > 0) {
		return 255
	}
	return uint8(max(1, min(255, priorityOfOne-math.Round(stepsPerDoubling*math.Log2(quality)))))
}

// Raise returns the priority after amount is added to the quality. A remainder smaller than a step
// raises it by chance, so that the expected quality is exact, as in a Morris counter (1978).
func Raise(priority uint8, amount float64, random *rand.Rand) uint8 {
	for q := Quality(priority); priority > 1; priority-- {
		next := Quality(priority - 1)
		if amount < next-q {
			if random.Float64()*(next-q) < amount {
				priority--
			}
			break
		}
		amount -= next - q
		q = next
	}
	return priority
}
