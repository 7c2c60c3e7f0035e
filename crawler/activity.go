package crawler

import (
	"strings"
	"sync"
	"time"
)

// A VisitStatus is the current activity of a visit, which explains why its host waits.
type VisitStatus struct {
	Host  string
	Doing string    // "robots.txt", "delay", "DNS", "connecting", "processor", "answer"
	Since time.Time // when that began
	Left  int       // targets of the lease, the present one included
}

// activities are the visits in progress. The lock is held a few times per page, for an assignment.
type activities struct {
	now func() time.Time

	mu      sync.Mutex
	visits  map[*activity]bool
	opening map[string]string // by host name: what opening a connection waits for
}

// An activity is one visit. activities.mu guards its status.
type activity struct {
	all    *activities
	status VisitStatus
}

func newActivities(now func() time.Time) *activities {
	return &activities{now: now, visits: map[*activity]bool{}, opening: map[string]string{}}
}

func (as *activities) begin(host string, targets int) *activity {
	a := &activity{as, VisitStatus{Host: host, Left: targets}}
	as.mu.Lock()
	defer as.mu.Unlock()
	as.visits[a] = true
	return a
}

func (a *activity) end() {
	a.all.mu.Lock()
	defer a.all.mu.Unlock()
	delete(a.all.visits, a)
}

// next records how many targets are left.
func (a *activity) next(left int) {
	a.all.mu.Lock()
	defer a.all.mu.Unlock()
	a.status.Left = left
}

// set records the activity that the visit begins.
func (a *activity) set(doing string) {
	now := a.all.now()
	a.all.mu.Lock()
	defer a.all.mu.Unlock()
	if a.status.Doing != doing {
		a.status.Doing, a.status.Since = doing, now
	}
}

// open records what opening a connection to a host name waits for, or "".
func (as *activities) open(hostname, doing string) {
	as.mu.Lock()
	defer as.mu.Unlock()
	if doing == "" {
		delete(as.opening, hostname)
		return
	}
	as.opening[hostname] = doing
}

func (as *activities) list() []VisitStatus {
	as.mu.Lock()
	defer as.mu.Unlock()
	all := make([]VisitStatus, 0, len(as.visits))
	for a := range as.visits {
		st := a.status
		if doing := as.opening[hostname(st.Host)]; doing != "" && st.Doing != "delay" {
			st.Doing = doing
		}
		all = append(all, st)
	}
	return all
}

// hostname returns a host without its port and without the brackets of an IPv6 address.
func hostname(host string) string {
	if at := strings.LastIndexByte(host, ':'); at > strings.LastIndexByte(host, ']') {
		host = host[:at]
	}
	return strings.Trim(host, "[]")
}
