package dnsclient

import (
	"net/netip"
	"strings"
	"time"

	"github.com/miekg/dns"
)

const (
	maxChain  = 16 // CNAMEs followed within one answer
	maxAddrs  = 16 // addresses kept of a name
	headerLen = 12
)

// receive handles one packet. One that does not match a query in every respect is a stray, which
// answers nothing. Late answers apart, strays make their port suspect.
func (n *network) receive(p *port, from netip.AddrPort, packet []byte) {
	from = netip.AddrPortFrom(from.Addr().Unmap(), from.Port())
	if from != p.addr {
		n.count.strays.Add(1) // the kernel drops these, once the socket is connected
		return
	}
	if len(packet) < headerLen {
		n.stray(p)
		return
	}
	id := uint16(packet[0])<<8 | uint16(packet[1])
	n.inflight.mu.Lock()
	sent := p.find(id)
	var q *call
	if sent != nil {
		q = sent.q
	}
	n.inflight.mu.Unlock()
	switch {
	case sent == nil:
		n.stray(p)
		return
	case q == nil:
		n.count.strays.Add(1) // late
		return
	}
	var m dns.Msg
	if err := m.Unpack(packet); err != nil && !(m.Truncated && len(m.Question) == 1) {
		n.count.malformed.Add(1)
		n.suspect(p)
		return
	}
	n.answer(p, q, &m)
}

// stray counts a packet that answers no query of its port.
func (n *network) stray(p *port) {
	n.count.strays.Add(1)
	n.suspect(p)
}

// answer handles a message from the right server with the right ID.
func (n *network) answer(p *port, q *call, m *dns.Msg) {
	n.inflight.mu.Lock()
	t := q.find(p, m.Id)
	if t == nil || q.doubted {
		n.inflight.mu.Unlock()
		n.count.strays.Add(1)
		return
	}
	like := otherName
	if m.Response && matches(m, q) {
		like = t.letters.compare(m.Question[0].Name, q.host)
	}
	if like == otherName {
		n.inflight.mu.Unlock()
		n.stray(p)
		return
	}
	s := p.server
	now := time.Now()
	if n.defence.letters && !s.acceptCase(like) {
		n.count.recased.Add(1)
		if s.caseKept {
			n.doubt(q, s, now)
		} else {
			n.queueTCP(tcpQuery{q: q, server: s, qtype: q.qtype, recased: true}, now)
		}
		n.inflight.mu.Unlock()
		return
	}
	s.heard = now
	s.measure(now.Sub(t.at))
	t.close()
	s.room = min(s.room+1, n.o.PerServer)
	if m.Rcode == dns.RcodeSuccess || m.Rcode == dns.RcodeNameError {
		s.failing = 0
	} else {
		s.failing++
	}
	if m.Truncated {
		n.count.truncated.Add(1)
		n.queueTCP(tcpQuery{q: q, server: s, qtype: q.qtype}, now)
	}
	n.inflight.mu.Unlock()
	n.count.answers.Add(1)
	if !m.Truncated {
		n.conclude(q, s, m)
	}
}

// conclude decides by a whole answer: addresses, no such name, the other kind of address, or
// another server.
func (n *network) conclude(q *call, s *server, m *dns.Msg) {
	switch m.Rcode {
	case dns.RcodeSuccess:
		qtype := m.Question[0].Qtype
		addrs, ttl := addresses(m, qtype)
		switch {
		case len(addrs) > 0:
			n.finish(q, result{addrs: addrs, ttl: min(max(ttl, n.o.MinTTL), n.o.MaxTTL), server: s.at})
		case qtype == dns.TypeA:
			n.askAAAA(q)
		default:
			n.noName(q, s)
		}
	case dns.RcodeNameError:
		n.noName(q, s)
	case dns.RcodeFormatError:
		n.inflight.mu.Lock()
		s.plain = true // it may know no EDNS (RFC 6891 §7)
		n.inflight.mu.Unlock()
		n.failed(q)
	default:
		n.failed(q)
	}
}

func (n *network) noName(q *call, s *server) {
	n.count.noNames.Add(1)
	n.finish(q, result{err: ErrNoName, ttl: n.o.NegativeTTL, server: s.at})
}

// askAAAA queries the other kind of address.
func (n *network) askAAAA(q *call) {
	n.inflight.mu.Lock()
	if q.ended || q.qtype != dns.TypeA {
		n.inflight.mu.Unlock()
		return
	}
	n.forget(q)
	q.qtype, q.failures = dns.TypeAAAA, 0
	n.inflight.mu.Unlock()
	n.transmit(q, false)
}

// failed tries another server: each one at least once, a single one twice.
func (n *network) failed(q *call) {
	n.inflight.mu.Lock()
	q.failures++
	last := q.failures >= max(2, len(n.servers)) || q.sent == maxSends
	n.inflight.mu.Unlock()
	if last {
		n.count.failures.Add(1)
		n.fail(q, ErrServer)
		return
	}
	n.transmit(q, true)
}

// addresses returns the addresses of the question's name, through the CNAMEs of the answer, and the
// shortest time to live on the way.
func addresses(m *dns.Msg, qtype uint16) (addrs []netip.Addr, ttl time.Duration) {
	name := m.Question[0].Name
	least := uint32(1<<31 - 1) // RFC 2181 §8
	for range maxChain {
		next := ""
		for _, rr := range m.Answer {
			h := rr.Header()
			if h.Class != dns.ClassINET || !strings.EqualFold(h.Name, name) {
				continue
			}
			switch rr := rr.(type) {
			case *dns.CNAME:
				next = rr.Target
			case *dns.A:
				addrs = appendAddr(addrs, rr.A, qtype == dns.TypeA)
			case *dns.AAAA:
				addrs = appendAddr(addrs, rr.AAAA, qtype == dns.TypeAAAA)
			default:
				continue
			}
			least = min(least, h.Ttl)
		}
		if len(addrs) > 0 || next == "" {
			break
		}
		name = next
	}
	return addrs, time.Duration(least) * time.Second
}

func appendAddr(addrs []netip.Addr, ip []byte, wanted bool) []netip.Addr {
	addr, ok := netip.AddrFromSlice(ip)
	if !ok || !wanted || len(addrs) == maxAddrs {
		return addrs
	}
	return append(addrs, addr.Unmap())
}
