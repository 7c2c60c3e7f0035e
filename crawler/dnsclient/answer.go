package dnsclient

import (
	"context"
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

// receive takes one packet: the first thing that is wrong about it makes it a stray, which is
// counted and changes nothing.
func (c *Client) receive(socket int, from netip.AddrPort, packet []byte) {
	from = netip.AddrPortFrom(from.Addr().Unmap(), from.Port())
	at, known := c.byAddr[from]
	if !known || len(packet) < headerLen {
		c.count.strays.Add(1)
		return
	}
	k := key{uint8(at), uint8(socket), uint16(packet[0])<<8 | uint16(packet[1])}
	c.inflight.mu.Lock()
	q := c.inflight.byKey[k]
	c.inflight.mu.Unlock()
	if q == nil {
		c.count.strays.Add(1)
		return
	}
	var m dns.Msg
	if err := m.Unpack(packet); err != nil && !(m.Truncated && len(m.Question) == 1) {
		c.count.malformed.Add(1)
		return
	}
	c.answer(k, q, &m)
}

// answer takes a message from the right server with the right ID.
func (c *Client) answer(k key, q *call, m *dns.Msg) {
	c.inflight.mu.Lock()
	i := q.find(k)
	if i < 0 || !m.Response || !matches(m, q) {
		c.inflight.mu.Unlock()
		c.count.strays.Add(1)
		return
	}
	s := c.servers[k.server]
	now := time.Now()
	s.heard = now
	s.measured(now.Sub(q.sends[i].at))
	q.sends[i].close(c.servers)
	s.room = min(s.room+1, c.o.PerServer)
	if m.Rcode == dns.RcodeSuccess || m.Rcode == dns.RcodeNameError {
		s.failing = 0
	} else {
		s.failing++
	}
	if m.Truncated {
		c.inflight.schedule(q, now.Add(tcpTimeout))
	}
	ask := truncated{q, k.server, q.qtype}
	c.inflight.mu.Unlock()
	c.count.answers.Add(1)

	if m.Truncated {
		select {
		case c.tcp <- ask:
		default: // the timer asks again
		}
		return
	}
	c.conclude(q, s, m)
}

// find is the transmission with that key, or -1: none when the call has gone on meanwhile.
func (q *call) find(k key) int {
	for i, t := range q.sends[:q.sent] {
		if t.key == k {
			return i
		}
	}
	return -1
}

// matches says whether m repeats the question of q (RFC 5452 §9.1).
func matches(m *dns.Msg, q *call) bool {
	if len(m.Question) != 1 {
		return false
	}
	asked := m.Question[0]
	name := strings.TrimSuffix(asked.Name, ".")
	return asked.Qtype == q.qtype && asked.Qclass == dns.ClassINET && strings.EqualFold(name, q.host)
}

// conclude draws the conclusion from a whole answer: addresses, no such name, the other kind of
// address, or another server.
func (c *Client) conclude(q *call, s *server, m *dns.Msg) {
	switch m.Rcode {
	case dns.RcodeSuccess:
		qtype := m.Question[0].Qtype
		addrs, ttl := addresses(m, qtype)
		switch {
		case len(addrs) > 0:
			c.finish(q, addrs, nil, min(max(ttl, c.o.MinTTL), c.o.MaxTTL), s.at)
		case qtype == dns.TypeA:
			c.askAAAA(q)
		default:
			c.noName(q, s)
		}
	case dns.RcodeNameError:
		c.noName(q, s)
	case dns.RcodeFormatError:
		c.inflight.mu.Lock()
		s.plain = true // it may know no EDNS (RFC 6891 §7)
		c.inflight.mu.Unlock()
		c.failed(q)
	default:
		c.failed(q)
	}
}

func (c *Client) noName(q *call, s *server) {
	c.count.noNames.Add(1)
	c.finish(q, nil, ErrNoName, c.o.NegativeTTL, s.at)
}

// askAAAA goes on with the other kind of address.
func (c *Client) askAAAA(q *call) {
	c.inflight.mu.Lock()
	if q.settled || q.qtype != dns.TypeA {
		c.inflight.mu.Unlock()
		return
	}
	c.inflight.forget(q, c.servers)
	q.qtype, q.failures = dns.TypeAAAA, 0
	c.inflight.mu.Unlock()
	c.transmit(q, false)
}

// failed tries another server, and each at least once; a single one twice.
func (c *Client) failed(q *call) {
	c.inflight.mu.Lock()
	q.failures++
	last := q.failures >= max(2, len(c.servers)) || q.sent == maxSends
	c.inflight.mu.Unlock()
	if last {
		c.count.failures.Add(1)
		c.fail(q, ErrServer)
		return
	}
	c.transmit(q, true)
}

// addresses collects the addresses that the question's name leads to, through the CNAMEs of the
// answer, with the shortest time to live on the way.
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

const (
	tcpWorkers = 4
	tcpWaiting = 64
	tcpTimeout = 3 * time.Second
)

// truncated is a question whose answer did not fit into a packet.
type truncated struct {
	q      *call
	server uint8
	qtype  uint16
}

// serveTCP asks again over TCP (RFC 7766 §5).
func (c *Client) serveTCP(ctx context.Context) {
	over := dns.Client{Net: "tcp", Timeout: tcpTimeout}
	for {
		select {
		case <-ctx.Done():
			return
		case t := <-c.tcp:
			c.count.truncated.Add(1)
			s := c.servers[t.server]
			ask := question(t.q.host, t.qtype, dns.Id(), true)
			m, _, err := over.ExchangeContext(ctx, ask, s.addr.String())
			c.inflight.mu.Lock()
			current := !t.q.settled && t.q.qtype == t.qtype
			fits := err == nil && m.Response && matches(m, t.q)
			c.inflight.mu.Unlock()
			switch {
			case current && fits:
				c.conclude(t.q, s, m)
			case current:
				c.failed(t.q)
			}
		}
	}
}
