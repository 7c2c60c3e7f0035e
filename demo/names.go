package demo

import (
	"errors"
	"fmt"
	"net"
	"sync"

	"github.com/miekg/dns"
)

const (
	nameTTL     = 3600 // of addresses, in seconds
	negativeTTL = 300  // of negative answers, in seconds (RFC 2308 §5)
)

// A nameServer resolves the hosts of the web: A records to 127.0.0.1, no data for other types
// (RFC 2308 §2.2), NXDOMAIN for other names.
type nameServer struct {
	addr     string
	hosts    map[string]*host
	udp, tcp *dns.Server
	serving  sync.WaitGroup
}

func startNames(addr string, hosts map[string]*host) (*nameServer, error) {
	if addr == "" {
		addr = "127.0.0.1:0"
	}
	packets, listener, err := listenBoth(addr)
	if err != nil {
		return nil, fmt.Errorf("demo: DNS: %w", err)
	}
	s := &nameServer{addr: packets.LocalAddr().String(), hosts: hosts}
	s.udp = &dns.Server{PacketConn: packets, Handler: s}
	s.tcp = &dns.Server{Listener: listener, Handler: s}
	s.serve(s.udp)
	s.serve(s.tcp)
	return s, nil
}

// listenBoth opens the same port for UDP and TCP. A free UDP port may be in use for TCP, so it tries
// several.
func listenBoth(addr string) (packets net.PacketConn, listener net.Listener, err error) {
	for range 10 {
		if packets, err = net.ListenPacket("udp", addr); err != nil {
			return nil, nil, err
		}
		if listener, err = net.Listen("tcp", packets.LocalAddr().String()); err == nil {
			return packets, listener, nil
		}
		err = errors.Join(err, packets.Close())
	}
	return nil, nil, err
}

// serve returns when the server has started. Before that it could not be shut down.
func (s *nameServer) serve(server *dns.Server) {
	started := make(chan struct{})
	server.NotifyStartedFunc = func() { close(started) }
	s.serving.Go(func() { _ = server.ActivateAndServe() }) // returns after close
	<-started
}

func (s *nameServer) close() error {
	err := errors.Join(s.udp.Shutdown(), s.tcp.Shutdown())
	s.serving.Wait()
	return err
}

// ServeDNS answers one query.
func (s *nameServer) ServeDNS(w dns.ResponseWriter, query *dns.Msg) {
	_ = w.WriteMsg(s.answer(query)) // a client that gets no answer retries
}

func (s *nameServer) answer(query *dns.Msg) *dns.Msg {
	answer := new(dns.Msg).SetReply(query)
	answer.Authoritative = true
	answer.RecursionAvailable = true // crawlers set RD and may require it
	if len(query.Question) != 1 {
		answer.Rcode = dns.RcodeFormatError
		return answer
	}
	q := query.Question[0]
	name := dns.CanonicalName(q.Name)
	switch {
	case s.hosts[name[:len(name)-1]] == nil:
		answer.Rcode = dns.RcodeNameError
		answer.Ns = []dns.RR{authority()}
	case q.Qtype == dns.TypeA && q.Qclass == dns.ClassINET:
		header := dns.RR_Header{Name: q.Name, Rrtype: dns.TypeA, Class: dns.ClassINET, Ttl: nameTTL}
		answer.Answer = []dns.RR{&dns.A{Hdr: header, A: net.IPv4(127, 0, 0, 1)}}
	default:
		answer.Ns = []dns.RR{authority()}
	}
	return answer
}

// authority returns the SOA record with the TTL of negative answers.
func authority() dns.RR {
	return &dns.SOA{
		Hdr:    dns.RR_Header{Name: "test.", Rrtype: dns.TypeSOA, Class: dns.ClassINET, Ttl: negativeTTL},
		Ns:     "ns.anatomy.test.",
		Mbox:   "hostmaster.anatomy.test.",
		Serial: 1, Refresh: 3600, Retry: 600, Expire: 86400, Minttl: negativeTTL,
	}
}
