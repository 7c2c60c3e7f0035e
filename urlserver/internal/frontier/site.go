package frontier

import (
	"time"

	"anatomy/disk/docindex"
	"anatomy/vocab"
)

// A Site is the unit of politeness: the hosts of one registrable domain, of one IP address, or of a
// name in Options.SiteLimits. It is at any time in Frontier.waiting, in Frontier.ready or in
// neither: then its ring is empty or all its connections are in use.
type Site struct {
	name    string
	o       *Options
	limits  SiteLimits
	usage   docindex.SiteUsage
	ring    queue[*Host] // hosts with URLs, of which possibly none may be fetched
	leases  int          // granted and not released
	freeAt  time.Time    // no request before
	why     string       // reason for that
	answer  time.Duration
	crawl   time.Duration // Crawl-delay
	waiting bool          // in Frontier.waiting
	pos     position      // in Frontier.waiting or Frontier.ready
}

func (s *Site) position() *position { return &s.pos }

// delay returns the wait after an answer: the operator's delay for this site, or the maximum of the
// general delay, Crawl-delay, and AnswerFactor × the last answer time, which slows down for a
// server under load.
func (s *Site) delay() time.Duration {
	if s.limits.Delay != 0 {
		return max(0, s.limits.Delay)
	}
	d := s.crawl
	if s.o.Delay > 0 {
		d = max(d, s.o.Delay, time.Duration(s.o.AnswerFactor*float64(s.answer)))
	}
	return min(d, max(s.o.MaxDelay, s.o.Delay))
}

// connections returns how many leases of the site may be granted at once.
func (s *Site) connections() int {
	switch {
	case s.limits.Connections > 0:
		return s.limits.Connections
	case s.delay() > 0:
		return 1
	}
	return s.o.PerSite
}

// politeness is the reason of a wait that only keeps the delay.
const politeness = "politeness"

// learn updates the site from the report of a lease, and sets when the next request is allowed.
func (s *Site) learn(now time.Time, report *vocab.HostReport) {
	if report.AnswerTime > 0 {
		s.answer = report.AnswerTime
	}
	if report.CrawlDelay > 0 {
		s.crawl = report.CrawlDelay
	}
	at, why := now.Add(s.delay()), politeness
	if held := now.Add(min(report.HoldFor, s.o.MaxHold)); held.After(at) {
		at, why = held, report.Reason
	}
	if at.After(s.freeAt) {
		s.freeAt, s.why = at, why
	}
}
