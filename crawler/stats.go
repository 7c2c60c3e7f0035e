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

// Add adds the counts of another crawler.
func (s *Stats) Add(t *Stats) {
	s.Requests += t.Requests
	s.Robots += t.Robots
	s.RobotsHits += t.RobotsHits
	s.Connections += t.Connections
	s.Bytes += t.Bytes
	s.Unpacked += t.Unpacked
	for i := range s.Outcomes {
		s.Outcomes[i] += t.Outcomes[i]
	}
	s.DNS.Add(&t.DNS)
}
