package dnsclient

import (
	"net/netip"
	"sync/atomic"
	"time"
)

// Stats are counts since New.
type Stats struct {
	Hits       uint64 // answered from the cache, negative answers included
	Stale      uint64 // answered from the cache with an expired answer, which is refreshed
	Misses     uint64 // not in the cache
	Joined     uint64 // waited for a query of another caller
	Names      int    // in the cache
	Evicted    uint64 // least recently used names, to make room
	InFlight   int    // names in flight
	Dropped    uint64 // names to prefetch while the queue was full
	Queries    uint64 // packets sent over UDP, retransmissions included
	Retries    uint64 // of these, sent again after a time-out or a failure
	Answers    uint64 // packets that answered a query
	Malformed  uint64 // packets that could not be read
	Full       uint64 // times that a name waited because its servers had too much in flight
	Strays     uint64 // packets that answer no query: late, forged, from elsewhere
	OverTCP    uint64 // queries sent over TCP
	Truncated  uint64 // answers that did not fit into a packet: the name was queried over TCP
	Recased    uint64 // answers in other letter case than the query: the same
	Doubted    uint64 // names queried over TCP because many strays came: somebody may forge answers
	NoNames    uint64 // names that do not exist
	Timeouts   uint64 // names that no server answered in time
	Failures   uint64 // names that every server failed on
	SendErrors uint64
	Servers    []ServerStats
}

// ServerStats are the counts of one name server.
type ServerStats struct {
	Addr     netip.AddrPort
	RTT      time.Duration // smoothed; 0 if nothing was measured
	Retry    time.Duration // retransmission time
	Open     int           // queries in flight
	Queries  uint64
	Timeouts uint64
}

type counters struct {
	dropped, queries, retries, answers, malformed, strays    atomic.Uint64
	full, truncated, noNames, timeouts, failures, sendErrors atomic.Uint64
	overTCP, recased, doubted                                atomic.Uint64
}

func (n *counters) addStats(st *Stats) {
	st.Dropped, st.Queries, st.Retries = n.dropped.Load(), n.queries.Load(), n.retries.Load()
	st.Answers, st.Malformed, st.Strays = n.answers.Load(), n.malformed.Load(), n.strays.Load()
	st.Full, st.Truncated, st.NoNames = n.full.Load(), n.truncated.Load(), n.noNames.Load()
	st.OverTCP, st.Recased, st.Doubted = n.overTCP.Load(), n.recased.Load(), n.doubted.Load()
	st.Timeouts, st.Failures, st.SendErrors = n.timeouts.Load(), n.failures.Load(), n.sendErrors.Load()
}

// sums returns the counts that only grow.
func (s *Stats) sums() []*uint64 {
	return []*uint64{
		&s.Hits, &s.Stale, &s.Misses, &s.Joined, &s.Evicted, &s.Dropped, &s.Queries, &s.Retries, &s.Answers,
		&s.Malformed, &s.Full, &s.Strays, &s.OverTCP, &s.Truncated, &s.Recased, &s.Doubted, &s.NoNames,
		&s.Timeouts, &s.Failures, &s.SendErrors,
	}
}

// Add adds the counts of another client. Its servers are not added: they are those of its machine.
func (s *Stats) Add(t *Stats) {
	own := s.sums()
	for i, more := range t.sums() {
		*own[i] += *more
	}
	s.Names += t.Names
	s.InFlight += t.InFlight
}

// Subtract subtracts the counts that the same client had earlier. Names and InFlight remain.
func (s *Stats) Subtract(earlier *Stats) {
	own := s.sums()
	for i, less := range earlier.sums() {
		*own[i] -= *less
	}
}
