package dnsclient

import (
	"container/heap"
	"sync"
	"time"
)

// inflight has the calls without an answer in a timer.
type inflight struct {
	servers []*server // does not change

	mu    sync.Mutex // guards the fields below, calls in flight, ports, and the servers' measurements
	timer callHeap
	turn  uint32 // where choose begins

	wake chan struct{} // holds one token: the earliest time has changed
}

func newInflight(servers []*server) *inflight {
	return &inflight{servers: servers, wake: make(chan struct{}, 1)}
}

// choose returns the server for the next transmission of q: one that this call has not tried, and
// of these the one with the least expected work, which is the round trip times the queries in
// flight. So equal servers share the load, a server twice as slow gets about a quarter, and one
// that stops answering loses its share before the first time-out. A server that is down comes last,
// but is probed once a second. choose returns -1 if the best server has no room.
func (f *inflight) choose(q *call, now time.Time) int {
	best, turn := -1, int(f.turn)
	f.turn++
	for i := range f.servers {
		at := (i + turn) % len(f.servers)
		s := f.servers[at]
		if s.down() && q.sent == 0 && len(f.servers) > 1 && now.Sub(s.probed) >= probeEvery {
			s.probed = now
			return at
		}
		if best < 0 || f.better(q, at, best) {
			best = at
		}
	}
	if f.servers[best].full() {
		return -1
	}
	return best
}

// better reports whether server a is chosen before server b.
func (f *inflight) better(q *call, a, b int) bool {
	s, t := f.servers[a], f.servers[b]
	if s.down() != t.down() {
		return t.down()
	}
	if s.full() != t.full() {
		return t.full()
	}
	if x, y := q.triesOf(s), q.triesOf(t); x != y {
		return x < y
	}
	return s.work() < t.work()
}

// due removes the calls whose time has come from the timer: those to send again, and those past
// their deadline. It charges the time-outs to their servers. wait is the time until the next one.
func (f *inflight) due(now time.Time) (again, late []*call, wait time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for len(f.timer) > 0 {
		q := f.timer[0]
		if now.Before(q.due) {
			return again, late, q.due.Sub(now)
		}
		f.charge(q)
		switch {
		case !now.Before(q.deadline):
			heap.Pop(&f.timer)
			late = append(late, q)
		case q.sent == maxSends:
			q.due = q.deadline
			heap.Fix(&f.timer, 0)
		default:
			heap.Pop(&f.timer)
			again = append(again, q)
		}
	}
	return again, late, time.Hour
}

// charge counts the last transmission of a call as timed out at its server.
func (f *inflight) charge(q *call) {
	if q.sent == 0 || q.sends[q.sent-1].closed {
		return
	}
	t := &q.sends[q.sent-1]
	t.close()
	s := t.server
	s.timeouts++
	if t.at.Before(s.heard) {
		return // it answered others since: the packet was lost, or the name is slow
	}
	if s.silent++; s.down() {
		s.room = min(s.room, firstRoom)
	}
}

// schedule sets when the timer checks q next, at the latest at its deadline.
func (f *inflight) schedule(q *call, at time.Time) {
	if at.After(q.deadline) {
		at = q.deadline
	}
	q.due = at
	if q.index < 0 {
		heap.Push(&f.timer, q)
	} else {
		heap.Fix(&f.timer, q.index)
	}
	if q.index == 0 {
		select {
		case f.wake <- struct{}{}:
		default:
		}
	}
}
