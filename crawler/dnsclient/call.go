package dnsclient

import (
	"net/netip"
	"time"

	"github.com/miekg/dns"
)

// maxSends bounds the transmissions of one question. After the last one only the deadline counts.
const maxSends = 10

// A call is one name being resolved: first its A records, then AAAA if there are none. (RFC 8305
// queries both at once; a crawler needs only one kind, and saves half of the queries.)
//
// addrs and err are set before done is closed, and do not change afterwards. inflight.mu guards the
// fields from ended on.
type call struct {
	host string
	done chan struct{}

	addrs []netip.Addr
	err   error

	ended    bool
	doubted  bool // many wrong answers came: it is queried over TCP only
	qtype    uint16
	deadline time.Time
	due      time.Time // when the timer checks it next
	index    int       // in the timer's heap; -1 outside
	sent     int
	sends    [maxSends]transmission
	failures int // servers that answered with a failure
}

// A transmission is one query packet. Each has an ID of its own, so that a late answer to an
// earlier one still counts, and its round trip is known.
type transmission struct {
	server  *server
	port    *port // nil if none could be opened
	id      uint16
	letters letterCase
	at      time.Time
	closed  bool // answered, or counted as a time-out of its server: no longer in flight there
}

// close uncounts a transmission at its server, once. inflight.mu is held.
func (t *transmission) close() {
	if !t.closed {
		t.closed = true
		t.server.open--
	}
}

func newCall(host string) *call {
	return &call{host: host, done: make(chan struct{}), qtype: dns.TypeA, index: -1}
}

func (q *call) triesOf(s *server) (n int) {
	for _, t := range q.sends[:q.sent] {
		if t.server == s {
			n++
		}
	}
	return n
}

// find returns the transmission from p with that ID, or nil if it is no longer recorded.
func (q *call) find(p *port, id uint16) *transmission {
	for i := range q.sends[:q.sent] {
		if t := &q.sends[i]; t.port == p && t.id == id {
			return t
		}
	}
	return nil
}

// matches reports whether m has one question, with the type and class of q's (RFC 5452 §9.1).
func matches(m *dns.Msg, q *call) bool {
	return len(m.Question) == 1 && m.Question[0].Qtype == q.qtype &&
		m.Question[0].Qclass == dns.ClassINET
}

// A callHeap orders calls by their due time.
type callHeap []*call

func (h callHeap) Len() int           { return len(h) }
func (h callHeap) Less(i, j int) bool { return h[i].due.Before(h[j].due) }
func (h callHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}
func (h *callHeap) Push(x any) {
	q := x.(*call)
	q.index = len(*h)
	*h = append(*h, q)
}
func (h *callHeap) Pop() any {
	old := *h
	q := old[len(old)-1]
	old[len(old)-1] = nil
	*h = old[:len(old)-1]
	q.index = -1
	return q
}
