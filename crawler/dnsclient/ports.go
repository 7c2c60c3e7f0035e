package dnsclient

import (
	"bufio"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"net"
	"net/netip"
	"os"
	"time"
)

// A defence has the bounds that protect against forged answers from someone who cannot see the
// queries. A forger has to send a packet with the address of the server, to the query's port, with
// its ID and its name in the same letter case, before the true answer arrives (RFC 5452 §4).
//
// To prevent many attempts, ports are random and used for few queries and a short time. A port that
// receives several wrong answers is retired, and its queries are repeated over TCP, where an answer
// cannot be forged without seeing the connection.
type defence struct {
	queries int           // sent from one port
	age     time.Duration // of a port from which queries are sent
	wrong   int           // packets that answer no query of a port, until it is given up
	letters bool          // names are sent in random letter case, and must come back in the same
}

var fullDefence = defence{queries: 64, age: 10 * time.Second, wrong: 10, letters: true}

// maxRetired bounds the ports that take no new queries and wait for answers. Beyond it ports are
// used for longer.
const maxRetired = 256

// A port is a UDP socket that is connected to one server, on a random source port. inflight.mu
// guards the fields from queries on.
type port struct {
	conn   *net.UDPConn
	addr   netip.AddrPort // of the server
	server *server
	opened time.Time

	queries []query // sent from here, the last one last
	live    int     // of these, queries whose call goes on
	wrong   int     // packets that answered none of them
	retired bool    // sends no more queries, and is closed when none is live
}

// A query was sent from a port. Its ID is kept when the call has ended, because a late answer is not
// evidence of a forger.
type query struct {
	id uint16
	q  *call // nil when the call has ended
}

// find returns the query with that ID, or nil.
func (p *port) find(id uint16) *query {
	for i := range p.queries {
		if p.queries[i].id == id {
			return &p.queries[i]
		}
	}
	return nil
}

// pickPort returns the port for the next query to s: a random one of its pool. A port that was used
// enough is replaced. inflight.mu is held.
func (n *network) pickPort(s *server, now time.Time) (*port, error) {
	i := int(n.dice.draw() % uint64(len(s.pool)))
	p := s.pool[i]
	if p != nil && !p.retired && len(p.queries) < n.defence.queries && now.Sub(p.opened) < n.defence.age {
		return p, nil
	}
	kept := p != nil && !p.retired && p.live > 0
	if kept && n.retired >= maxRetired {
		return p, nil
	}
	fresh, err := n.openPort(s, now)
	if err != nil {
		if kept {
			return p, nil
		}
		return nil, err
	}
	if p != nil {
		n.retire(p)
	}
	s.pool[i] = fresh
	return fresh, nil
}

// openPort opens a socket and starts its reader. The kernel draws the port. inflight.mu is held.
func (n *network) openPort(s *server, now time.Time) (*port, error) {
	if n.closed {
		return nil, net.ErrClosed
	}
	conn, err := net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(s.addr))
	if err != nil {
		return nil, err
	}
	p := &port{conn: conn, addr: s.addr, server: s, opened: now}
	n.ports[p] = true
	n.spawn(func() error { return n.read(p) })
	return p, nil
}

// retire ends the use of a port for new queries. inflight.mu is held.
func (n *network) retire(p *port) {
	if !p.retired {
		p.retired = true
		n.retired++
		n.closeUnused(p)
	}
}

// closeUnused closes a port if it is retired and waits for no answer. inflight.mu is held.
func (n *network) closeUnused(p *port) {
	if p.retired && p.live == 0 && n.ports[p] {
		n.retired--
		delete(n.ports, p)
		p.stop()
	}
}

// stop ends the reader, which closes the socket. It does not block, as Close would.
func (p *port) stop() {
	if p.conn != nil {
		_ = p.conn.SetReadDeadline(time.Unix(1, 0))
	}
}

// read handles the packets that arrive at one port until it is stopped, and closes it.
func (n *network) read(p *port) error {
	buf := make([]byte, 4096) // over udpSize: a longer answer is cut, and malformed
	for {
		size, from, err := p.conn.ReadFromUDPAddrPort(buf)
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, net.ErrClosed):
			return p.conn.Close()
		case err != nil:
			continue // an ICMP error for an earlier packet: the timer handles it
		}
		n.receive(p, from, buf[:size])
	}
}

// suspect counts a packet that answers no query of p. Many of them may be attempts of a forger: then
// the port is retired, and the names queried from it are queried over TCP.
func (n *network) suspect(p *port) {
	n.inflight.mu.Lock()
	defer n.inflight.mu.Unlock()
	if p.wrong++; p.wrong < n.defence.wrong {
		return
	}
	now := time.Now()
	for i := range p.queries {
		if q := p.queries[i].q; q != nil {
			n.doubt(q, p.server, now)
		}
	}
	n.retire(p)
}

// doubt queries the name of a call over TCP; answers over UDP no longer count. inflight.mu is held.
func (n *network) doubt(q *call, s *server, now time.Time) {
	if !q.ended && !q.doubted {
		q.doubted = true
		n.count.doubted.Add(1)
		n.queueTCP(tcpQuery{q: q, server: s, qtype: q.qtype}, now)
	}
}

// A dice draws from the system's random source.
type dice struct{ source *bufio.Reader }

func newDice() dice { return dice{bufio.NewReaderSize(rand.Reader, 512)} }

// draw returns 64 random bits. A system call serves 64 draws.
func (d dice) draw() uint64 {
	b, _ := d.source.Peek(8) // rand.Reader does not fail
	v := binary.LittleEndian.Uint64(b)
	_, _ = d.source.Discard(8)
	return v
}
