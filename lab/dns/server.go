package main

import (
	"hash/maphash"
	"math/rand/v2"
	"net"
	"net/netip"
	"time"

	"github.com/miekg/dns"
)

const (
	latency   = 20 * time.Millisecond
	slowOnes  = 20 // one name in so many
	slowTimes = 10 // takes so many times as long
	loss      = 0.01
)

// A server answers for every name, after a while or not at all, over UDP.
type server struct {
	conn *net.UDPConn
	seed maphash.Seed
}

func startServer() (*server, error) {
	conn, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return nil, err
	}
	_ = conn.SetReadBuffer(4 << 20)
	s := &server{conn, maphash.MakeSeed()}
	go s.serve()
	return s, nil
}

func (s *server) addr() string { return s.conn.LocalAddr().String() }

func (s *server) close() { _ = s.conn.Close() }

func (s *server) serve() {
	buf := make([]byte, 1<<12)
	for {
		n, from, err := s.conn.ReadFromUDPAddrPort(buf)
		if err != nil {
			return
		}
		var query dns.Msg
		if query.Unpack(buf[:n]) != nil || len(query.Question) != 1 || rand.Float64() < loss {
			continue
		}
		wait := latency
		if maphash.String(s.seed, query.Question[0].Name)%slowOnes == 0 {
			wait *= slowTimes
		}
		time.AfterFunc(wait, func() { s.answer(&query, from) })
	}
}

func (s *server) answer(query *dns.Msg, to netip.AddrPort) {
	m := new(dns.Msg).SetReply(query)
	if q := query.Question[0]; q.Qtype == dns.TypeA {
		m.Answer = []dns.RR{&dns.A{Hdr: dns.RR_Header{Name: q.Name, Rrtype: dns.TypeA, Class: dns.ClassINET, Ttl: 300}, A: net.IPv4(127, 0, 0, 1)}}
	}
	if packet, err := m.Pack(); err == nil {
		_, _ = s.conn.WriteToUDPAddrPort(packet, to)
	}
}
