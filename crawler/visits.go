package crawler

import (
	"sync"
	"time"
)

// A VisitStatus says what a visit is at, and so why its host has to wait.
type VisitStatus struct {
	Host  string
	Doing string    // "robots.txt", "delay", "DNS", "connecting", "processor", "answer"
	Since time.Time // it has been at that
	Left  int       // targets of the lease, this one included
}

// Visits says of every visit under way what it is at.
func (c *Crawler) Visits() []VisitStatus {
	c.visits.mu.Lock()
	defer c.visits.mu.Unlock()
	all := make([]VisitStatus, 0, len(c.visits.at))
	for _, st := range c.visits.at {
		one := *st
		if opening := c.visits.opening[hostname(one.Host)]; opening != "" && one.Doing != "delay" {
			one.Doing = opening
		}
		all = append(all, one)
	}
	return all
}

// visits are those under way. The lock is taken some times a page, for an assignment.
type visits struct {
	mu      sync.Mutex
	at      map[*visit]*VisitStatus
	opening map[string]string // by host name: a connection is opened, and what for it waits
}

// hostname is a lease's host without its port.
func hostname(host string) string {
	for i := len(host) - 1; i >= 0 && host[i] != ']'; i-- {
		if host[i] == ':' {
			return host[:i]
		}
	}
	return host
}

// begin notes a visit; its end has to be noted too.
func (v *visits) begin(visit *visit) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.at[visit] = &VisitStatus{Host: visit.lease.Host, Left: len(visit.lease.URLs)}
}

func (v *visits) end(visit *visit) {
	v.mu.Lock()
	defer v.mu.Unlock()
	delete(v.at, visit)
}

// next notes that a visit has come to its next target.
func (v *visits) next(visit *visit, left int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.at[visit].Left = left
}

// doing notes what a visit is at.
func (v *visit) doing(what string) {
	now := v.c.o.Now()
	v.c.visits.mu.Lock()
	defer v.c.visits.mu.Unlock()
	if st := v.c.visits.at[v]; st != nil && st.Doing != what {
		st.Doing, st.Since = what, now
	}
}

// open notes what the opening of a connection waits for; "" is its end.
func (v *visits) open(host, what string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if what == "" {
		delete(v.opening, host)
		return
	}
	v.opening[host] = what
}
