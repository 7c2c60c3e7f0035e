package main

import (
	"net"
	"strings"
	"sync"
	"time"

	"github.com/miekg/dns"
)

// A oneSocket is what a programmer writes in an afternoon: one UDP socket, a map of the queries in
// flight by ID, and a map of the answers. It asks again after half a second.
type oneSocket struct {
	conn *net.UDPConn

	mu     sync.Mutex
	nextID uint16
	open   map[uint16]chan bool
	known  map[string]bool // nil: every name is asked
}

func openOneSocket(addr string, cached bool) (*oneSocket, error) {
	to, err := net.ResolveUDPAddr("udp", addr)
	if err != nil {
		return nil, err
	}
	s := &oneSocket{open: map[uint16]chan bool{}}
	if cached {
		s.known = map[string]bool{}
	}
	if s.conn, err = net.DialUDP("udp", nil, to); err != nil {
		return nil, err
	}
	_ = s.conn.SetReadBuffer(4 << 20)
	go s.read()
	return s, nil
}

func (s *oneSocket) close() { _ = s.conn.Close() }

func (s *oneSocket) read() {
	buf := make([]byte, 1<<12)
	for {
		n, err := s.conn.Read(buf)
		if err != nil {
			return
		}
		var m dns.Msg
		if m.Unpack(buf[:n]) != nil || len(m.Question) != 1 {
			continue
		}
		s.mu.Lock()
		if waiting := s.open[m.Id]; waiting != nil {
			delete(s.open, m.Id)
			waiting <- true
		}
		if s.known != nil && len(m.Answer) > 0 {
			s.known[strings.TrimSuffix(m.Question[0].Name, ".")] = true
		}
		s.mu.Unlock()
	}
}

// lookup asks until an answer comes, ten times at most.
func (s *oneSocket) lookup(name string) error {
	for range 10 {
		s.mu.Lock()
		if s.known[name] {
			s.mu.Unlock()
			return nil
		}
		s.nextID++
		id, answered := s.nextID, make(chan bool, 1)
		s.open[id] = answered
		s.mu.Unlock()
		query := new(dns.Msg).SetQuestion(dns.Fqdn(name), dns.TypeA)
		query.Id = id
		packet, err := query.Pack()
		if err != nil {
			return err
		}
		if _, err := s.conn.Write(packet); err != nil {
			return err
		}
		again := time.NewTimer(500 * time.Millisecond)
		select {
		case <-answered:
			again.Stop()
			return nil
		case <-again.C:
		}
	}
	return dns.ErrTime
}
