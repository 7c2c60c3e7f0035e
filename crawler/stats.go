package crawler

import (
	"sync/atomic"

	"anatomy/crawler/dnsclient"
	"anatomy/vocab"
)

// Stats are counts since New.
type Stats struct {
	Requests    uint64 // sent, those for robots.txt included
	Robots      uint64 // of these, for robots.txt
	RobotsHits  uint64 // robots.txt rules found in memory
	Connections uint64 // opened
	Bytes       uint64 // of bodies, on the wire
	Unpacked    uint64 // of bodies, decoded
	Outcomes    [vocab.Outcomes]uint64
	DNS         dnsclient.Stats
}

type counters struct {
	requests, robots, robotsHits, connections, bytes, unpacked atomic.Uint64
	outcomes                                                   [vocab.Outcomes]atomic.Uint64
}

func (c *counters) stats(dns dnsclient.Stats) Stats {
	st := Stats{
		Requests: c.requests.Load(), Robots: c.robots.Load(), RobotsHits: c.robotsHits.Load(),
		Connections: c.connections.Load(), Bytes: c.bytes.Load(), Unpacked: c.unpacked.Load(), DNS: dns,
	}
	for i := range st.Outcomes {
		st.Outcomes[i] = c.outcomes[i].Load()
	}
	return st
}

// sums returns the counts of the crawler.
func (s *Stats) sums() []*uint64 {
	all := []*uint64{&s.Requests, &s.Robots, &s.RobotsHits, &s.Connections, &s.Bytes, &s.Unpacked}
	for i := range s.Outcomes {
		all = append(all, &s.Outcomes[i])
	}
	return all
}

// Add adds the counts of another crawler.
func (s *Stats) Add(t *Stats) {
	own := s.sums()
	for i, more := range t.sums() {
		*own[i] += *more
	}
	s.DNS.Add(&t.DNS)
}

// Subtract subtracts the counts that the same crawler had earlier.
func (s *Stats) Subtract(earlier *Stats) {
	own := s.sums()
	for i, less := range earlier.sums() {
		*own[i] -= *less
	}
	s.DNS.Subtract(&earlier.DNS)
}
