package urlserver

import (
	"strings"
	"time"

	"anatomy/weburl"
)

// A site is the unit of politeness: the hosts of one registrable domain, or one address, or what
// Options.Paces names.
type site struct {
	name    string
	pace    Pace
	ring    ranking[*host] // hosts to be served; some may turn out to have nothing to give
	leases  int
	at      time.Time // no request before
	why     string    // and why that is
	answer  time.Duration
	crawl   time.Duration // Crawl-delay
	waiting bool          // in frontier.sites
	spot    spot          // in frontier.ready
}

func (s *site) place() *spot { return &s.spot }

// A Pace is how a site is treated that whoever runs the crawl names. Zero fields leave it to the options for all.
type Pace struct {
	Delay       time.Duration // between requests, whatever its robots.txt says and however long it takes to answer; negative for none
	Connections int           // leases at once
}

// siteOf names the site of a host: what Options.Paces has of the host itself or of a domain above it, the nearest
// first; else its registrable domain or address.
func (o *Options) siteOf(hostname string) string {
	for name, more := hostname, len(o.Paces) > 0; more; _, name, more = strings.Cut(name, ".") {
		if _, ok := o.Paces[name]; ok {
			return name
		}
	}
	return weburl.SiteOf(hostname)
}

// delay is how long to leave a site alone after an answer: what was said of this site, or the largest of the
// floor, its Crawl-delay, and a multiple of the time that it took to answer, so that a server under strain
// is asked less often.
func (s *site) delay(o *Options) time.Duration {
	if s.pace.Delay != 0 {
		return max(0, s.pace.Delay)
	}
	d := s.crawl
	if o.Delay > 0 {
		d = max(d, o.Delay, time.Duration(o.AnswerFactor*float64(s.answer)))
	}
	return min(d, max(o.MaxDelay, o.Delay))
}

// connections is how many leases of a site may be out at once.
func (s *site) connections(o *Options) int {
	switch {
	case s.pace.Connections > 0:
		return s.pace.Connections
	case s.delay(o) > 0:
		return 1
	}
	return o.PerSite
}

// SetDelay gives the site of a host a delay of its own until the server is closed, for its leases from now on: as
// Pace.Delay says, 0 for the delay of all. It gives the name of the site.
func (s *Server) SetDelay(hostname string, d time.Duration) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	name := s.o.siteOf(hostname)
	pace := s.o.Paces[name]
	pace.Delay = d
	s.o.Paces[name] = pace
	if site := s.frontier.bySite[name]; site != nil {
		site.pace = pace
		if at := s.now.Add(site.delay(&s.o)); site.why == politeness && at.Before(site.at) {
			s.frontier.recall(site)
			site.at = at
		}
		s.frontier.offerSite(site)
	}
	return name
}

// SiteOf names the unit of politeness that a host belongs to.
func (s *Server) SiteOf(hostname string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.o.siteOf(hostname)
}
