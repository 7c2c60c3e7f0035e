package frontier

import (
	"fmt"
	"time"

	"anatomy/vocab"
)

// Trouble begins the reason of a wait after an answer with an error, or after none.
const Trouble = "in trouble: "

// Reasons of a wait that Status explains further.
const (
	crowdedAddress = "other hosts at its address are read"
	beingRead      = "being read"
)

// WhyWaiting returns why a host with URLs gets no lease now, or "".
func (f *Frontier) WhyWaiting(now time.Time, h *Host) string {
	switch s := h.site; {
	case h.idle():
		return ""
	case f.room(h) <= 0 && h.site.isSpent():
		return h.site.usage.Spent.String()
	case f.room(h) <= 0:
		return "page limit of the host"
	case h.retryAt.After(now):
		return Trouble + h.why
	case h.parked:
		return crowdedAddress
	case s.freeAt.After(now):
		return s.why
	case s.leases >= s.connections():
		return beingRead
	}
	return ""
}

// Status returns the state of a host, with the reason why it waits. noNew reports that the crawl has
// reached its maximum of pages.
func (f *Frontier) Status(now time.Time, h *Host, noNew bool) vocab.HostStatus {
	st := vocab.HostStatus{
		Host: h.Name, Queued: int64(h.Queued()), InFlight: int64(h.InFlight), Pages: int64(h.Pages),
		Why: f.WhyWaiting(now, h), Delay: h.site.delay(), Answer: h.site.answer, Fails: h.failures,
	}
	switch {
	case st.Why == "" && noNew:
		st.Why = "page limit of the crawl"
	case st.Why == "" && len(h.levels) > 0:
		st.Why = "its turn"
	case st.Why == crowdedAddress:
		st.Why = fmt.Sprintf("%d hosts at its address %s are read", h.address.all.count(h.address.name), h.address.name)
	case st.Why == beingRead && h.InFlight == 0:
		st.Why = "another host of " + h.site.name + " is read"
	}
	for _, at := range []time.Time{h.retryAt, h.site.freeAt} {
		if at.After(now) && at.After(st.Until) {
			st.Until = at
		}
	}
	return st
}

// Active reports whether a host has URLs to fetch or in flight.
func (h *Host) Active() bool { return h.InFlight > 0 || !h.idle() }

// A Rate is the bound that delays set on the speed of a crawl.
type Rate struct {
	Pages     float64 // pages per second over all sites with a delay
	Delayed   int     // sites with a delay
	Undelayed int     // sites without one
}

// Rate sums over the sites of hosts: one page per delay plus the time of the last answer.
func (f *Frontier) Rate() (r Rate) {
	seen := map[*Site]bool{}
	for _, h := range f.hosts {
		s := h.site
		if seen[s] || h.Loss != nil || !h.Active() {
			continue
		}
		seen[s] = true
		if d := s.delay(); d > 0 {
			r.Delayed++
			r.Pages += float64(s.connections()) / (d + s.answer).Seconds()
		} else {
			r.Undelayed++
		}
	}
	return r
}
