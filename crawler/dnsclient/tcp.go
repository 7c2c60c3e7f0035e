package dnsclient

import (
	"context"
	"net"
	"net/netip"
	"time"

	"github.com/miekg/dns"
)

const (
	tcpWorkers = 16
	tcpWaiting = 64
	tcpTimeout = 3 * time.Second
)

// A tcpQuery is a question to repeat over TCP, because its answer did not fit into a packet
// (RFC 7766 §5) or may be forged (RFC 5452 §9.1).
type tcpQuery struct {
	q      *call
	server *server
	qtype  uint16
	// recased: the answer came in other letters. If TCP fails the query is sent in a packet again.
	recased bool
}

// queueTCP queues a query to be sent over TCP. If the queue is full the timer transmits the question
// again, over TCP if the call is doubted. inflight.mu is held.
func (n *network) queueTCP(t tcpQuery, now time.Time) {
	select {
	case n.tcp <- t:
		n.inflight.schedule(t.q, now.Add(tcpTimeout))
	default:
		n.inflight.schedule(t.q, now.Add(fullWait))
	}
}

// serveTCP sends the queued queries over TCP.
func (n *network) serveTCP(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case t := <-n.tcp:
			n.count.overTCP.Add(1)
			n.inflight.mu.Lock()
			id, letters := uint16(n.dice.draw()), n.letters()
			n.inflight.mu.Unlock()
			m, err := exchange(ctx, t.server.addr, question(letters.of(t.q.host), t.qtype, id, true))
			n.answerTCP(t, letters, m, err)
		}
	}
}

// exchange sends a query over a connection of its own and returns the answer.
func exchange(ctx context.Context, to netip.AddrPort, query *dns.Msg) (*dns.Msg, error) {
	d := net.Dialer{Timeout: tcpTimeout}
	conn, err := d.DialContext(ctx, "tcp", to.String())
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(tcpTimeout)); err != nil {
		return nil, err
	}
	defer context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })()
	return converse(conn, query)
}

// converse sends a query over a stream and returns the first answer, which must have its ID.
func converse(conn net.Conn, query *dns.Msg) (*dns.Msg, error) {
	over := dns.Conn{Conn: conn}
	if err := over.WriteMsg(query); err != nil {
		return nil, err
	}
	m, err := over.ReadMsg()
	if err == nil && m.Id != query.Id {
		err = dns.ErrId
	}
	return m, err
}

// answerTCP handles the outcome of a query.
func (n *network) answerTCP(t tcpQuery, letters letterCase, m *dns.Msg, err error) {
	n.inflight.mu.Lock()
	current := !t.q.ended && t.q.qtype == t.qtype
	like := otherName
	if err == nil && m.Response && !m.Truncated && matches(m, t.q) {
		like = letters.compare(m.Question[0].Name, t.q.host)
	}
	t.server.recordTCPCase(like)
	if err != nil && t.recased {
		t.server.lostWithoutTCP()
	}
	n.inflight.mu.Unlock()
	switch {
	case !current:
	case like != otherName:
		n.conclude(t.q, t.server, m)
	case t.recased:
		n.transmit(t.q, true)
	default:
		n.failed(t.q)
	}
}
