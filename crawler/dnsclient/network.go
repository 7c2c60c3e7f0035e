package dnsclient

import (
	"container/heap"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"sync"
	"syscall"
	"time"

	"github.com/miekg/dns"
)

// A network sends queries and matches answers. A call goes through it as follows: send takes it
// from the queue when a slot is free, transmit sends its packets, and finish removes it, frees the
// slot and passes the result on.
type network struct {
	o        *Options
	queue    chan *call
	slots    chan struct{} // one taken for each name in flight
	tcp      chan tcpQuery
	servers  []*server
	inflight *inflight
	count    counters
	closing  chan struct{} // closed by close
	defence  defence

	// inflight.mu guards these.
	dice    dice
	ports   map[*port]bool // the open ones
	retired int            // of these, ports that wait for answers alone
	closed  bool

	// finished is called once for each call that was sent, unsent for each one that never was.
	finished func(q *call, r result)
	unsent   func(q *call, err error)
	tick     func()                 // called at least once a second
	spawn    func(run func() error) // runs the reader of a port
}

// A result is the outcome of a call.
type result struct {
	addrs  []netip.Addr
	err    error
	ttl    time.Duration
	server int8 // that answered; noServer if none did
}

// newNetwork parses the list of servers. Sockets are opened as they are needed.
func newNetwork(o *Options) (*network, error) {
	n := &network{
		o: o, queue: make(chan *call, o.Queue), tcp: make(chan tcpQuery, tcpWaiting),
		closing: make(chan struct{}), defence: fullDefence, dice: newDice(), ports: map[*port]bool{},
	}
	if err := n.parseServers(); err != nil {
		return nil, err
	}
	n.slots = make(chan struct{}, min(o.InFlight, o.PerServer*len(n.servers)))
	n.inflight = newInflight(n.servers)
	return n, nil
}

// parseServers parses the list of servers.
func (n *network) parseServers() error {
	names := n.o.Servers
	if len(names) == 0 {
		names = systemServers("/etc/resolv.conf")
	}
	known := map[netip.AddrPort]bool{}
	for _, name := range names {
		addr, err := parseServer(name)
		if err != nil {
			return err
		}
		if known[addr] || len(n.servers) == maxServers {
			continue
		}
		known[addr] = true
		n.servers = append(n.servers, &server{
			at: int8(len(n.servers)), addr: addr, pool: make([]*port, n.o.Ports),
			room: min(firstRoom, n.o.PerServer),
		})
	}
	return nil
}

// close closes the sockets, and makes Run return.
func (n *network) close() {
	n.inflight.mu.Lock()
	defer n.inflight.mu.Unlock()
	if n.closed {
		return
	}
	n.closed = true
	close(n.closing)
	for p := range n.ports {
		p.stop()
	}
}

// send sends the queries of queued calls. It does not wait for answers.
func (n *network) send(ctx context.Context) {
	for {
		var q *call
		select {
		case <-ctx.Done():
			return
		case q = <-n.queue:
		}
		select {
		case <-ctx.Done():
			n.unsent(q, fmt.Errorf("%s: %w", q.host, ErrClosed))
			return
		case n.slots <- struct{}{}:
			q.deadline = time.Now().Add(n.o.Timeout)
			n.transmit(q, false)
		}
	}
}

// transmit sends the question of q to the best server. If that has no room, the timer tries again
// soon.
func (n *network) transmit(q *call, again bool) {
	now := time.Now()
	n.inflight.mu.Lock()
	if q.ended || q.sent == maxSends {
		n.inflight.mu.Unlock()
		return
	}
	at := n.inflight.choose(q, now)
	if at < 0 {
		n.inflight.schedule(q, now.Add(fullWait))
		n.inflight.mu.Unlock()
		n.count.full.Add(1)
		return
	}
	s := n.servers[at]
	if q.doubted {
		n.queueTCP(tcpQuery{q: q, server: s, qtype: q.qtype}, now)
		n.inflight.mu.Unlock()
		return
	}
	t, err := n.register(q, s, now)
	host, qtype, plain := q.host, q.qtype, s.plain
	n.inflight.mu.Unlock()

	n.count.queries.Add(1)
	if again {
		n.count.retries.Add(1)
	}
	if err == nil {
		err = t.port.write(question(t.letters.of(host), qtype, t.id, plain))
	}
	if err != nil {
		n.count.sendErrors.Add(1) // the timer sends it again, elsewhere if it can
	}
}

// register enters a transmission to s in the tables of the call and of its port. It has no port if
// there is an error. inflight.mu is held.
func (n *network) register(q *call, s *server, now time.Time) (transmission, error) {
	t := transmission{server: s, letters: n.letters(), at: now}
	var err error
	if t.port, err = n.pickPort(s, now); err == nil {
		for t.id = uint16(n.dice.draw()); t.port.find(t.id) != nil; {
			t.id = uint16(n.dice.draw())
		}
		t.port.queries = append(t.port.queries, query{t.id, q})
		t.port.live++
	}
	q.sends[q.sent] = t
	q.sent++
	s.queries++
	s.open++
	wait := s.retryAfter(n.o.MinRetry) << ((q.sent - 1) / len(n.servers))
	n.inflight.schedule(q, now.Add(min(wait, max(maxRetry, n.o.MinRetry))))
	return t, err
}

// letters draws the case of a name. inflight.mu is held.
func (n *network) letters() letterCase {
	if !n.defence.letters {
		return 0
	}
	return letterCase(n.dice.draw())
}

// fullWait is the wait of a question that no server had room for.
const fullWait = 5 * time.Millisecond

var packets = sync.Pool{New: func() any { return new([512]byte) }}

// write sends a query.
func (p *port) write(query *dns.Msg) error {
	buf := packets.Get().(*[512]byte)
	defer packets.Put(buf)
	packet, err := query.PackBuffer(buf[:])
	if err != nil {
		return err
	}
	_, err = p.conn.Write(packet)
	if errors.Is(err, syscall.ECONNREFUSED) {
		_, err = p.conn.Write(packet) // that was the ICMP error for an earlier packet
	}
	return err
}

// udpSize is the largest answer over UDP that a query allows: it passes everywhere unfragmented.
const udpSize = 1232

func question(host string, qtype, id uint16, plain bool) *dns.Msg {
	m := &dns.Msg{
		MsgHdr:   dns.MsgHdr{Id: id, RecursionDesired: true},
		Question: []dns.Question{{Name: dns.Fqdn(host), Qtype: qtype, Qclass: dns.ClassINET}},
	}
	if !plain {
		m.Extra = []dns.RR{&dns.OPT{Hdr: dns.RR_Header{Name: ".", Rrtype: dns.TypeOPT, Class: udpSize}}}
	}
	return m
}

// watch is the timer. It sends queries again that were not answered in time, and fails calls past
// their deadline.
func (n *network) watch(ctx context.Context) {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		n.tick()
		again, late, wait := n.inflight.due(time.Now())
		for _, q := range again {
			n.transmit(q, true)
		}
		for _, q := range late {
			n.count.timeouts.Add(1)
			n.fail(q, ErrTimeout)
		}
		timer.Reset(min(wait, time.Second))
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		case <-n.inflight.wake:
		}
	}
}

// forget deletes the transmissions of q from the tables. inflight.mu is held.
func (n *network) forget(q *call) {
	for i := range q.sends[:q.sent] {
		t := &q.sends[i]
		t.close()
		if p := t.port; p != nil {
			if a := p.find(t.id); a != nil && a.q != nil {
				a.q = nil
				p.live--
			}
			n.closeUnused(p)
		}
	}
	q.sent = 0
}

// finish removes q from the table and passes its result on. Only the first finish of a call counts.
func (n *network) finish(q *call, r result) {
	f := n.inflight
	f.mu.Lock()
	if q.ended {
		f.mu.Unlock()
		return
	}
	q.ended = true
	n.forget(q)
	if q.index >= 0 {
		heap.Remove(&f.timer, q.index)
	}
	f.mu.Unlock()
	<-n.slots
	n.finished(q, r)
}

// fail finishes a call that no server could answer.
func (n *network) fail(q *call, err error) {
	n.finish(q, result{err: err, ttl: n.o.FailureTTL, server: noServer})
}

// failAll ends all calls when Run returns.
func (n *network) failAll() {
	for len(n.queue) > 0 {
		q := <-n.queue
		n.unsent(q, fmt.Errorf("%s: %w", q.host, ErrClosed))
	}
	n.inflight.mu.Lock()
	left := append([]*call(nil), n.inflight.timer...)
	n.inflight.mu.Unlock()
	for _, q := range left {
		n.fail(q, ErrClosed)
	}
}
