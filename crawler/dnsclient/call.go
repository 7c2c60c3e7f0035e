package dnsclient

import (
	"container/heap"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/miekg/dns"
)

// maxSends bounds the transmissions of one question; after the last one only the deadline counts.
const maxSends = 10

// A call is one name on its way: first asked for A, and for AAAA where it has none (RFC 8305 has
// both at once; a crawler that is glad of either saves half of the queries).
type call struct {
	host string
	done chan struct{} // closed when addrs and err stand

	addrs []netip.Addr
	err   error

	// Guarded by the lock of inflight.
	settled  bool
	qtype    uint16
	deadline time.Time
	due      time.Time // when the timer looks at it again
	place    int       // in the timer's heap; -1 outside
	sent     int
	sends    [maxSends]transmission
	failures int // servers that answered with a failure
}

// A transmission is one packet that asked. Each has an ID of its own, so that a late answer to an
// earlier one still counts, and its round trip is known.
type transmission struct {
	key    key
	at     time.Time
	closed bool // answered, or counted as a time-out of its server: no longer in flight there
}

// A key finds the call that a packet answers: the server that it must come from, the socket that
// it must come to, the ID that it must carry. The question is compared after that.
type key struct {
	server, socket uint8
	id             uint16
}

// inflight is the table of questions without answer, and the timer's heap over their calls.
type inflight struct {
	mu    sync.Mutex
	byKey map[key]*call
	timer callHeap
	wake  chan struct{} // the earliest time changed
	turn  uint32
}

func (f *inflight) init() {
	f.byKey = map[key]*call{}
	f.wake = make(chan struct{}, 1)
}

func newCall(host string) *call {
	return &call{host: host, done: make(chan struct{}), qtype: dns.TypeA, place: -1}
}

func (q *call) triesOf(server int) (n int) {
	for _, t := range q.sends[:q.sent] {
		if int(t.key.server) == server {
			n++
		}
	}
	return n
}

// send takes names from the queue and asks for them, without waiting for answers.
func (c *Client) send(ctx context.Context) {
	for {
		var q *call
		select {
		case <-ctx.Done():
			return
		case q = <-c.queue:
		}
		select {
		case <-ctx.Done():
			c.settle(q, fmt.Errorf("dnsclient: %s: %w", q.host, ErrClosed))
			return
		case c.slots <- struct{}{}:
			q.deadline = time.Now().Add(c.o.Timeout)
			c.transmit(q, false)
		}
	}
}

// transmit sends the question of q to the server that is best for it now. Where the servers have as
// much in flight as they may, the timer tries again soon.
func (c *Client) transmit(q *call, again bool) {
	now := time.Now()
	c.inflight.mu.Lock()
	if q.settled || q.sent == maxSends {
		c.inflight.mu.Unlock()
		return
	}
	at := c.choose(q, now)
	if at < 0 {
		c.inflight.schedule(q, now.Add(fullWait))
		c.inflight.mu.Unlock()
		c.count.full.Add(1)
		return
	}
	s := c.servers[at]
	k := c.inflight.newKey(at, s.socket)
	c.inflight.byKey[k] = q
	q.sends[q.sent] = transmission{key: k, at: now}
	q.sent++
	s.queries++
	s.open++
	wait := s.retryAfter(c.o.MinRetry) << ((q.sent - 1) / len(c.servers))
	c.inflight.schedule(q, now.Add(min(wait, max(maxRetry, c.o.MinRetry))))
	host, qtype, plain := q.host, q.qtype, s.plain
	c.inflight.mu.Unlock()

	c.count.queries.Add(1)
	if again {
		c.count.retries.Add(1)
	}
	if err := c.write(k, s.addr, host, qtype, plain); err != nil {
		c.count.sendErrors.Add(1) // the timer sends it again, elsewhere if it can
	}
}

// fullWait is when a question is tried again for which no server had room.
const fullWait = 5 * time.Millisecond

// newKey draws an ID that is not in use for that server and socket. The table holds a small share
// of the 65,536 IDs: see Options.InFlight.
func (f *inflight) newKey(server int, sockets []int) key {
	for {
		r := rand.Uint64()
		k := key{uint8(server), uint8(sockets[int(r>>32)%len(sockets)]), uint16(r)}
		if f.byKey[k] == nil {
			return k
		}
	}
}

var packets = sync.Pool{New: func() any { return new([512]byte) }}

func (c *Client) write(k key, to netip.AddrPort, host string, qtype uint16, plain bool) error {
	buf := packets.Get().(*[512]byte)
	defer packets.Put(buf)
	packet, err := question(host, qtype, k.id, plain).PackBuffer(buf[:])
	if err != nil {
		return err
	}
	_, err = c.sockets[k.socket].WriteToUDPAddrPort(packet, to)
	return err
}

// udpSize is the largest answer over UDP that we invite: what passes everywhere unfragmented.
const udpSize = 1232

func question(host string, qtype, id uint16, plain bool) *dns.Msg {
	m := &dns.Msg{
		MsgHdr:   dns.MsgHdr{Id: id, RecursionDesired: true},
		Question: []dns.Question{{Name: fqdn(host), Qtype: qtype, Qclass: dns.ClassINET}},
	}
	if !plain {
		m.Extra = []dns.RR{&dns.OPT{Hdr: dns.RR_Header{Name: ".", Rrtype: dns.TypeOPT, Class: udpSize}}}
	}
	return m
}

// watch is the timer: it sends again what was not answered in time, and gives up on what is past
// its deadline.
func (c *Client) watch(ctx context.Context) {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		c.clock.Store(int64(time.Since(c.start)))
		again, late, wait := c.inflight.due(time.Now(), c.servers)
		for _, q := range again {
			c.transmit(q, true)
		}
		for _, q := range late {
			c.count.timeouts.Add(1)
			c.fail(q, ErrTimeout)
		}
		timer.Reset(min(wait, time.Second))
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		case <-c.inflight.wake:
		}
	}
}

// due takes the calls whose time has come: those to send again and those past their deadline. The
// time-outs are charged to their servers. wait is until the next one.
func (f *inflight) due(now time.Time, servers []*server) (again, late []*call, wait time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for len(f.timer) > 0 {
		q := f.timer[0]
		if now.Before(q.due) {
			return again, late, q.due.Sub(now)
		}
		q.charge(servers)
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

// charge counts the last transmission as lost.
func (q *call) charge(servers []*server) {
	if q.sent == 0 || q.sends[q.sent-1].closed {
		return
	}
	t := &q.sends[q.sent-1]
	t.close(servers)
	s := servers[t.key.server]
	s.timeouts++
	if t.at.Before(s.heard) {
		return // it has answered others since: the packet was lost, or the name is a slow one
	}
	if s.silent++; s.down() {
		s.room = min(s.room, firstRoom)
	}
}

// close takes a transmission out of its server's count of those in flight, once.
func (t *transmission) close(servers []*server) {
	if !t.closed {
		t.closed = true
		servers[t.key.server].open--
	}
}

// schedule sets when the timer looks at q next; never after its deadline.
func (f *inflight) schedule(q *call, at time.Time) {
	if at.After(q.deadline) {
		at = q.deadline
	}
	q.due = at
	if q.place < 0 {
		heap.Push(&f.timer, q)
	} else {
		heap.Fix(&f.timer, q.place)
	}
	if q.place == 0 {
		select {
		case f.wake <- struct{}{}:
		default:
		}
	}
}

// forget drops the questions of q from the table.
func (f *inflight) forget(q *call, servers []*server) {
	for i := range q.sends[:q.sent] {
		t := &q.sends[i]
		t.close(servers)
		delete(f.byKey, t.key)
	}
	q.sent = 0
}

// A callHeap orders calls by their due time.
type callHeap []*call

func (h callHeap) Len() int           { return len(h) }
func (h callHeap) Less(i, j int) bool { return h[i].due.Before(h[j].due) }
func (h callHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].place, h[j].place = i, j
}
func (h *callHeap) Push(x any) {
	q := x.(*call)
	q.place = len(*h)
	*h = append(*h, q)
}
func (h *callHeap) Pop() any {
	old := *h
	q := old[len(old)-1]
	old[len(old)-1] = nil
	*h = old[:len(old)-1]
	q.place = -1
	return q
}

// finish takes q out of the table, keeps its answer and wakes those who wait. Only the first one
// to finish a call counts.
func (c *Client) finish(q *call, addrs []netip.Addr, err error, ttl time.Duration, server int8) {
	c.inflight.mu.Lock()
	if q.settled {
		c.inflight.mu.Unlock()
		return
	}
	q.settled = true
	c.inflight.forget(q, c.servers)
	if q.place >= 0 {
		heap.Remove(&c.inflight.timer, q.place)
	}
	c.inflight.mu.Unlock()
	<-c.slots

	if err != nil {
		err = fmt.Errorf("dnsclient: %s: %w", q.host, err)
	}
	now := c.now()
	e := &entry{host: q.host, addrs: addrs, server: server, err: err, expires: now + int64(ttl)}
	if err == nil {
		e.stale = e.expires + int64(c.o.Stale)
	}
	c.publish(q, e, now)
}

// publish puts the answer into the cache. A failure does not replace addresses that may still be
// given out: those stay for a while longer (RFC 8767 §5).
func (c *Client) publish(q *call, e *entry, now int64) {
	s := c.cache.shard(q.host)
	s.mu.Lock()
	old := s.names[q.host]
	if failed := e.err != nil && !errors.Is(e.err, ErrNoName); failed && old != nil && old.err == nil && now < old.stale {
		e = &entry{host: old.host, addrs: old.addrs, server: old.server, expires: min(now+int64(staleRecheck), old.stale), stale: old.stale}
	}
	s.put(e)
	delete(s.calls, q.host)
	s.mu.Unlock()
	q.addrs, q.err = e.addrs, e.err
	close(q.done)
}

// staleRecheck is how long a stale answer is given out before a failing name is asked again.
const staleRecheck = 30 * time.Second

// fail ends a call that no server could answer.
func (c *Client) fail(q *call, err error) { c.finish(q, nil, err, c.o.FailureTTL, noServer) }

const noServer = -1

// settle ends a call that never reached the sender.
func (c *Client) settle(q *call, err error) {
	s := c.cache.shard(q.host)
	s.mu.Lock()
	delete(s.calls, q.host)
	s.mu.Unlock()
	q.err = err
	close(q.done)
}

// failAll ends what is still under way when Run returns.
func (c *Client) failAll() {
	for {
		select {
		case q := <-c.queue:
			c.settle(q, fmt.Errorf("dnsclient: %s: %w", q.host, ErrClosed))
			continue
		default:
		}
		break
	}
	c.inflight.mu.Lock()
	left := append([]*call(nil), c.inflight.timer...)
	c.inflight.mu.Unlock()
	for _, q := range left {
		c.fail(q, ErrClosed)
	}
}

// read takes the answers that come to one socket until it is closed.
func (c *Client) read(socket int) error {
	buf := make([]byte, 64<<10)
	for {
		n, from, err := c.sockets[socket].ReadFromUDPAddrPort(buf)
		switch {
		case errors.Is(err, net.ErrClosed):
			return nil
		case err != nil:
			continue // an ICMP error of an earlier packet: the timer deals with it
		}
		c.receive(socket, from, buf[:n])
	}
}
