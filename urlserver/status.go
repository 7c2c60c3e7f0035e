package urlserver

import (
	"cmp"
	"slices"
	"time"

	"anatomy/disk/docindex"
	"anatomy/urlserver/internal/frontier"
	"anatomy/urlserver/internal/trap"
	"anatomy/vocab"
	"anatomy/weburl"
)

// Stats are a server's totals.
type Stats struct {
	Known    uint64                  // documents
	Pages    uint64                  // fetched and kept, over all runs
	Queued   uint64                  // to be fetched, without those in flight
	Retrying uint64                  // waiting for a retry
	InFlight int                     // leased or claimed, and not completed
	States   [docindex.States]uint64 // documents by state
	Outcomes [vocab.Outcomes]uint64  // documents by the outcome of their last visit
	Logins   int64                   // documents that need a login: how many more than at Open
	Traps    [docindex.Traps]uint64  // refused documents by reason
	Hosts    int                     // in memory
	Waiting  map[string]int          // hosts with queued URLs that get no lease now, by reason
	Seen     SeenStats
	Disk     int64 // bytes of the document index
}

func newStats(s *state) Stats {
	flying := uint64(len(s.flights.inFlight))
	st := Stats{
		Known: s.counts.Known, Pages: s.counts.Pages,
		States: s.counts.States, Outcomes: s.counts.Outcomes, Logins: s.logins, Traps: s.counts.Traps,
		Queued:   max(s.counts.States[docindex.Queued], flying) - flying, // claimed documents may not be queued
		Retrying: s.counts.States[docindex.Waiting],
		InFlight: len(s.flights.inFlight), Hosts: s.frontier.Len(),
		Waiting: map[string]int{}, Seen: s.seen.stats,
	}
	for h := range s.frontier.Hosts() {
		if reason := s.frontier.WhyWaiting(s.now, h); reason != "" {
			st.Waiting[reason]++
		}
	}
	return st
}

// An Outlook describes a server's hosts at one moment.
type Outlook struct {
	Hosts   []vocab.HostStatus // with URLs to fetch, to retry or in flight, by descending queue length
	Count   int                // of all such hosts
	Retries map[string]int     // hosts that only have URLs to retry, by the reason why these wait
	Next    time.Time          // when the first of their URLs is due
	Rate    frontier.Rate      // bound set by the delays of their sites
	Removed []string           // patterns of Remove
}

func newOutlook(s *state, limit int, retries []retry) Outlook {
	retrying := hostsRetrying(s, retries)
	o := Outlook{
		Hosts: retrying, Removed: slices.Clone(s.scope.removed), Rate: s.frontier.Rate(), Retries: map[string]int{},
	}
	for i := range retrying {
		o.Retries[retrying[i].Why]++
	}
	if len(retrying) > 0 {
		o.Next = retrying[0].Until
	}
	for h := range s.frontier.Hosts() {
		if h.Active() {
			o.Hosts = append(o.Hosts, hostStatus(s, h))
		}
	}
	o.Count = len(o.Hosts)
	slices.SortFunc(o.Hosts, func(a, b vocab.HostStatus) int {
		return cmp.Or(cmp.Compare(b.Queued, a.Queued), cmp.Compare(a.Host, b.Host))
	})
	o.Hosts = slices.Clip(o.Hosts[:min(len(o.Hosts), limit)])
	return o
}

// A retry is a URL to fetch again.
type retry struct {
	host  string
	pages int64 // of the host, kept over all runs
	due   time.Time
	why   string // the reason of the last failure
}

// maxRetries bounds the URLs that retries reads.
const maxRetries = 1000

// retries returns the first maxRetries URLs to retry, in the order in which they are due.
func (rs records) retries() (all []retry, err error) {
	n := 0
	err = rs.db.EachWaiting(time.Time{}, func(w docindex.Wait) (bool, error) {
		n++
		r, ok, err := rs.db.Get(w.Doc)
		if err != nil || !ok || r.Fetch == nil {
			return n < maxRetries, err
		}
		u, err := weburl.Parse(r.URL)
		if err != nil {
			return false, err
		}
		host, err := rs.db.Host(u.Host())
		all = append(all, retry{u.Host(), int64(host.Pages), w.Due, r.Fetch.Reason})
		return n < maxRetries, err
	})
	return all, err
}

// hostsRetrying returns the hosts that only have URLs to retry, with the reason why the first of these
// waits, in the order in which they are due.
func hostsRetrying(s *state, retries []retry) (all []vocab.HostStatus) {
	at := map[string]int{}
	for _, r := range retries {
		h := s.frontier.Lookup(r.host)
		if h != nil && h.Active() {
			continue
		}
		if i, known := at[r.host]; known {
			all[i].Queued++
			continue
		}
		st := vocab.HostStatus{Host: r.host, Pages: r.pages}
		if h != nil { // it is not in memory after a restart
			st = hostStatus(s, h)
		}
		st.Queued, st.Until, st.Why = 1, r.due, frontier.Trouble+r.why
		at[r.host] = len(all)
		all = append(all, st)
	}
	return all
}

func hostStatus(s *state, h *frontier.Host) vocab.HostStatus {
	return s.frontier.Status(s.now, h, s.budget() <= 0)
}

// A Refusal is a shape of a host's URLs with the reason why they are refused.
type Refusal struct {
	Why     string // for display
	Refused uint64 // URLs, over all runs
}

// A DownHost is a host that was given up because of its answers, or because it gave none.
type DownHost struct {
	Host string
	Why  string // for display
}

// downHosts returns the number of hosts that are given up for reasons other than their name, and
// the first of them by name, at most limit.
func downHosts(s *state, limit int) (first []DownHost, total int) {
	for h := range s.frontier.Hosts() {
		if h.Loss != nil && h.Loss.Outcome == vocab.Failed {
			first = append(first, DownHost{h.Name, h.Loss.Reason})
		}
	}
	slices.SortFunc(first, func(a, b DownHost) int { return cmp.Compare(a.Host, b.Host) })
	return first[:min(len(first), limit)], len(first)
}

// refusals returns at most limit spent shapes of hosts in memory, by descending number of refused
// URLs.
func refusals(s *state, limit int) (all []Refusal, err error) {
	for h := range s.frontier.Hosts() {
		for shape, t := range h.Traps {
			v, err := s.yields.Current(h.Name, shape)
			if err != nil {
				return nil, err
			}
			if v.Refused > 0 {
				why := trap.Explain(h.Name, trap.Verdict{Shape: shape, Trap: t}, v)
				all = append(all, Refusal{why, v.Refused})
			}
		}
	}
	slices.SortFunc(all, func(a, b Refusal) int {
		return cmp.Or(cmp.Compare(b.Refused, a.Refused), cmp.Compare(a.Why, b.Why))
	})
	return all[:min(len(all), limit)], nil
}
