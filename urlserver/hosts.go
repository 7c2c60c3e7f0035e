package urlserver

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"anatomy/vocab"
)

// An Outlook is what a server says of its hosts at one moment.
type Outlook struct {
	Hosts []vocab.HostStatus // with URLs to fetch or in flight, the longest queue first
	Count int                // of all such hosts

	Bound   float64 // pages a second that the delays of sites allow, all together
	Bounded int     // sites with URLs to fetch or in flight, and a delay
	Unbound int     // and without one
	Removed []string
}

// Outlook says why each host waits, of at most limit hosts. It looks at every host once.
func (s *Server) Outlook(now time.Time, limit int) Outlook {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tell(now)
	w := Outlook{Removed: slices.Clone(s.removed)}
	sites := map[*site]bool{}
	for _, h := range s.frontier.hosts {
		if h.leased == 0 && (len(h.levels) == 0 || h.gone != nil) {
			continue
		}
		w.Hosts = append(w.Hosts, s.hostStatus(h))
		if h.gone == nil && !sites[h.site] {
			sites[h.site] = true
			w.add(h.site, &s.o)
		}
	}
	w.Count = len(w.Hosts)
	slices.SortFunc(w.Hosts, func(a, b vocab.HostStatus) int {
		return cmp.Or(cmp.Compare(b.Queued, a.Queued), cmp.Compare(a.Host, b.Host))
	})
	w.Hosts = slices.Clip(w.Hosts[:min(len(w.Hosts), limit)])
	return w
}

// add counts what a site allows: a page each delay, after the answer before it.
func (w *Outlook) add(s *site, o *Options) {
	if d := s.delay(o); d > 0 {
		w.Bounded++
		w.Bound += float64(s.connections(o)) / (d + s.answer).Seconds()
	} else {
		w.Unbound++
	}
}

// WhyWaits says for people why a host gets no lease now, or that it is its turn; "" of one that has nothing to fetch.
func (s *Server) WhyWaits(now time.Time, host string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tell(now)
	if h := s.frontier.hosts[host]; h != nil {
		return s.hostStatus(h).Why
	}
	return ""
}

func (s *Server) hostStatus(h *host) vocab.HostStatus {
	st := vocab.HostStatus{
		Host: h.name, Queued: int64(h.queued()), InFlight: int64(h.leased), Pages: int64(h.Pages), Why: s.whyWaiting(h),
		Delay: h.site.delay(&s.o), Answer: h.site.answer, Fails: h.fails,
	}
	switch {
	case st.Why == "" && s.budget() <= 0:
		st.Why = "page limit of the crawl"
	case st.Why == "" && len(h.levels) > 0:
		st.Why = "its turn"
	case st.Why == crowdedAddress:
		st.Why = fmt.Sprintf("%d hosts at its address %s are read", h.address.leases, h.address.name)
	case st.Why == "being read" && h.leased == 0:
		st.Why = "another host of " + h.site.name + " is read"
	}
	for _, at := range []time.Time{h.retryAt, h.site.at} {
		if at.After(s.now) && at.After(st.Until) {
			st.Until = at
		}
	}
	return st
}
