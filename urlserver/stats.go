package urlserver

import (
	"cmp"
	"slices"

	"anatomy/disk/docindex"
	"anatomy/vocab"
)

// Stats are a server's totals.
type Stats struct {
	Known    uint64                  // documents
	Pages    uint64                  // fetched and kept, over all runs
	Queued   uint64                  // to be fetched, those in flight not counted
	Retrying uint64                  // to be fetched again later
	InFlight int                     // between Take and Done
	Leases   int                     // out
	States   [docindex.States]uint64 // documents by state
	Outcomes [vocab.Outcomes]uint64  // by the outcome of their last fetch
	Traps    [docindex.Traps]uint64  // refused documents, by reason
	Hosts    int                     // met with URLs to fetch, in this run
	Waiting  map[string]int          // hosts with URLs queued that may not be asked now, by reason
	Loaded   []HostStats             // of them the most loaded, at most 10
	Lost     map[string]uint64       // URLs given up in this run, by reason
	Seen     SeenStats
	Disk     int64 // bytes of the document index
}

// HostStats show why a host waits.
type HostStats struct {
	Host   string
	Queued uint64
	Reason string
}

// SeenStats count the lookups of the seen test.
type SeenStats struct {
	Cache uint64 // known, and in the cache
	Disk  uint64 // known, found in the document index
	New   uint64 // not known
}

// maxLoaded is how many hosts Stats names.
const maxLoaded = 10

// Stats gives the totals. It looks at every host once.
func (s *Server) Stats() Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := Stats{
		Known: s.counts.Known, Pages: s.counts.Pages, States: s.counts.States, Outcomes: s.counts.Outcomes, Traps: s.counts.Traps,
		Queued:   max(s.counts.States[docindex.Queued], uint64(len(s.inFlight))) - uint64(len(s.inFlight)), // claimed ones need not be queued
		Retrying: s.counts.States[docindex.Waiting],
		InFlight: len(s.inFlight), Leases: len(s.leases), Hosts: len(s.frontier.hosts),
		Waiting: map[string]int{}, Lost: map[string]uint64{}, Seen: s.hits,
	}
	if s.err == nil {
		st.Disk = s.db.DiskBytes()
	}
	for reason, n := range s.lost {
		st.Lost[reason] = n
	}
	for _, h := range s.frontier.hosts {
		if reason := s.whyWaiting(h); reason != "" {
			st.Waiting[reason]++
			st.Loaded = append(st.Loaded, HostStats{h.name, h.queued(), reason})
		}
	}
	slices.SortFunc(st.Loaded, func(a, b HostStats) int {
		return cmp.Or(cmp.Compare(b.Queued, a.Queued), cmp.Compare(a.Host, b.Host))
	})
	st.Loaded = slices.Clip(st.Loaded[:min(len(st.Loaded), maxLoaded)])
	return st
}

// crowdedAddress is why a host waits that is parked.
const crowdedAddress = "other hosts at its address are read"

// whyWaiting says why a host with URLs gets no lease now, or "".
func (s *Server) whyWaiting(h *host) string {
	switch site := h.site; {
	case len(h.levels) == 0 || h.gone != nil:
		return ""
	case s.frontier.room(h) <= 0:
		return "page limit of the host"
	case h.retryAt.After(s.now):
		return "in trouble: " + h.why
	case h.parked:
		return crowdedAddress
	case site.at.After(s.now):
		return site.why
	case site.leases >= site.connections(&s.o):
		return "being read"
	}
	return ""
}
