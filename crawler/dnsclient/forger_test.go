//go:build linux

package dnsclient

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/miekg/dns"
)

// A forger sits off the path: it sees no query, but sends packets with the address of the server.
// It makes the client look up names of its choice, and the server late. It knows more than such a
// forger can: every port that is open.
type forger struct {
	conn   *net.UDPConn // bound to the address of the server
	server netip.AddrPort
	done   atomic.Pointer[chan struct{}] // of this try: closed when the forger has sent its packets
}

const (
	trueAddr   = "192.0.2.1"
	forgedAddr = "192.0.2.66"
)

// newForger starts a server whose UDP answers wait for the forger to end. The forger's socket has
// the address of the server; the kernel delivers queries to the socket that was bound last.
func newForger(t *testing.T) *forger {
	t.Helper()
	share := net.ListenConfig{Control: func(_, _ string, c syscall.RawConn) (err error) {
		_ = c.Control(func(fd uintptr) {
			err = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1)
		})
		return err
	}}
	open := func(addr string) *net.UDPConn {
		conn, err := share.ListenPacket(t.Context(), "udp4", addr)
		if err != nil {
			t.Fatal(err)
		}
		return conn.(*net.UDPConn)
	}
	f := &forger{conn: open("127.0.0.1:0")}
	f.server = netip.MustParseAddrPort(f.conn.LocalAddr().String())
	listener, err := net.Listen("tcp4", f.server.String())
	for tries := 0; err != nil && tries < 20; tries++ { // another process has that TCP port
		f.conn.Close()
		f.conn = open("127.0.0.1:0")
		f.server = netip.MustParseAddrPort(f.conn.LocalAddr().String())
		listener, err = net.Listen("tcp4", f.server.String())
	}
	if err != nil {
		t.Fatal(err)
	}
	served := open(f.server.String())
	t.Cleanup(func() { f.conn.Close(); served.Close() })
	answer := dns.HandlerFunc(func(w dns.ResponseWriter, r *dns.Msg) {
		if w.RemoteAddr().Network() == "udp" {
			<-*f.done.Load()
		}
		_ = w.WriteMsg(records(r, 0, r.Question[0].Name+" 60 IN A "+trueAddr))
	})
	for _, s := range []*dns.Server{{PacketConn: served, Handler: answer}, {Listener: listener, Handler: answer}} {
		up := make(chan struct{})
		s.NotifyStartedFunc = func() { close(up) }
		go func() { _ = s.ActivateAndServe() }()
		<-up
		t.Cleanup(func() { _ = s.Shutdown() })
	}
	return f
}

// try makes the client look up a new name, sends forged answers for it with so many random IDs to
// every port, and returns the address that the client got.
func (f *forger) try(t *testing.T, c *Client, name string, ids int) netip.Addr {
	t.Helper()
	done := make(chan struct{})
	f.done.Store(&done)
	sent := c.Stats().Queries
	got := make(chan netip.Addr, 1)
	go func() {
		addrs, err := c.Lookup(t.Context(), name)
		if err != nil {
			t.Error(err)
			addrs = []netip.Addr{{}}
		}
		got <- addrs[0]
	}()
	for c.Stats().Queries == sent {
		time.Sleep(10 * time.Microsecond)
	}
	packet, err := records(new(dns.Msg).SetQuestion(name+".", dns.TypeA), 0, name+". 60 IN A "+forgedAddr).Pack()
	if err != nil {
		t.Fatal(err)
	}
	packet[2] |= 0x80 // an answer
	for i, id := range rand.Perm(1 << 16)[:ids] {
		if i%16 == 0 && len(got) > 0 {
			break
		}
		packet[0], packet[1] = byte(id>>8), byte(id)
		for _, to := range openPorts(c) {
			_, _ = f.conn.WriteToUDPAddrPort(packet, to)
		}
	}
	close(done)
	return <-got
}

func openPorts(c *Client) (ports []netip.AddrPort) {
	c.network.inflight.mu.Lock()
	defer c.network.inflight.mu.Unlock()
	for p := range c.network.ports {
		ports = append(ports, netip.MustParseAddrPort(p.conn.LocalAddr().String()))
	}
	return ports
}

// TestForger: a forger who knows all ports and sends half of all IDs to each is believed soon by a
// client with two ports for life and nothing but IDs, which this one was, and never in a thousand
// tries by this one. Each of its defences is enough to resist many tries.
func TestForger(t *testing.T) {
	none := defence{queries: 1 << 30, age: 1 << 60, wrong: 1 << 30}
	letters, wrong := none, none
	letters.letters, wrong.wrong = true, fullDefence.wrong
	cases := []struct {
		name     string
		ports    int
		defence  defence
		tries    int
		believed bool // soon; then no more tries follow
		most     int  // tries that are believed otherwise: ten IDs of 65,536 are let through
	}{
		{"IDs alone", 2, none, 200, true, 0},
		{"letter case", 2, letters, 5, false, 0},
		{"TCP after wrong answers", 2, wrong, 200, false, 1},
		{"all", 0, fullDefence, 1000, false, 0},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			f := newForger(t)
			client, err := New(Options{Servers: []string{f.server.String()}, Ports: c.ports})
			if err != nil {
				t.Fatal(err)
			}
			client.network.defence = c.defence
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() { ended <- client.Run(ctx) }()
			defer func() { cancel(); <-ended }()
			tries, believed := 0, 0
			for tries < c.tries && !(c.believed && believed > 0) && !(testing.Short() && tries == 20) {
				tries++
				name := fmt.Sprintf("www%d.the-victim-of-a-forger.test", tries)
				if got := f.try(t, client, name, 1<<15); got == netip.MustParseAddr(forgedAddr) {
					believed++
				} else if got != netip.MustParseAddr(trueAddr) {
					t.Fatalf("%s: %v", name, got)
				}
			}
			st := client.Stats()
			t.Logf("%d of %d tries believed; %d strays, %d names over TCP", believed, tries, st.Strays, st.Doubted)
			if c.believed && believed == 0 || !c.believed && believed > c.most {
				t.Errorf("believed in %d of %d tries", believed, tries)
			}
			if c.defence.wrong < none.wrong && st.Doubted < uint64(tries)/2 {
				t.Errorf("%d of %d names over TCP", st.Doubted, tries)
			}
		})
	}
}

// TestPorts: no port sends more queries than it may, and each socket is connected and closed at the
// end.
func TestPorts(t *testing.T) {
	const names = 3000
	queries := make(chan string, 2*names)
	addr := serve(t, func(w dns.ResponseWriter, r *dns.Msg) {
		queries <- w.RemoteAddr().String()
		zone(w, r)
	})
	c := start(t, Options{Servers: []string{addr}, MinRetry: time.Minute, Ports: 8})
	for from := range names / 100 {
		for i := range 100 {
			c.Prefetch(fmt.Sprintf("h%d.test", from*100+i))
		}
		for c.busy() {
			time.Sleep(time.Millisecond)
		}
	}
	used := map[string]int{}
	for range c.Stats().Queries {
		used[<-queries]++
	}
	again := 0
	for port, n := range used {
		if n > fullDefence.queries {
			again++
		}
		if n > 2*fullDefence.queries {
			t.Errorf("%d queries from %s", n, port)
		}
	}
	if again > 3 { // the system may give out a port that was closed: one time in twenty it does once
		t.Errorf("%d ports sent more than %d queries", again, fullDefence.queries)
	}
	if least := names / fullDefence.queries; len(used) < least {
		t.Errorf("%d ports for %d queries, want at least %d", len(used), names, least)
	}
	c.network.inflight.mu.Lock()
	defer c.network.inflight.mu.Unlock()
	if len(c.network.ports) > 8 || c.network.retired != 0 {
		t.Errorf("%d ports are open, %d of them retired", len(c.network.ports), c.network.retired)
	}
	for p := range c.network.ports {
		if to := p.conn.RemoteAddr(); to == nil || to.String() != addr {
			t.Errorf("a socket is connected to %v", to)
		}
	}
}

// TestPortAge: a port is replaced when it is old, even if few queries left from it.
func TestPortAge(t *testing.T) {
	c, err := New(Options{Servers: []string{"127.0.0.1:9"}, Ports: 1})
	if err != nil {
		t.Fatal(err)
	}
	n := c.network
	var readers []func() error
	n.spawn = func(run func() error) { readers = append(readers, run) }
	now := time.Now()
	take := func(after time.Duration) *port {
		n.inflight.mu.Lock()
		defer n.inflight.mu.Unlock()
		p, err := n.pickPort(n.servers[0], now.Add(after))
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	first := take(0)
	if take(fullDefence.age-1) != first {
		t.Error("the port is replaced early")
	}
	if second := take(fullDefence.age); second == first || !first.retired {
		t.Error("an old port is used")
	}
	c.Close()
	for _, read := range readers { // each ends, and closes its socket
		if err := read(); err != nil {
			t.Error(err)
		}
	}
}

// TestLetterCase: the server sees capitals at random; an answer in other letters does not count, and
// the name is asked over TCP.
func TestLetterCase(t *testing.T) {
	names := make(chan string, 10)
	addr := serve(t, func(w dns.ResponseWriter, r *dns.Msg) {
		name := r.Question[0].Name
		if w.RemoteAddr().Network() == "udp" {
			names <- name
			if strings.EqualFold(name, "www.victim.test.") {
				lie := records(r, 0, "www.victim.test. 60 IN A "+forgedAddr)
				if lie.Question[0].Name = "www.victim.test."; name == lie.Question[0].Name {
					lie.Question[0].Name = "WWW.victim.test." // the forger guesses other letters
				}
				_ = w.WriteMsg(lie)
				return
			}
		}
		_ = w.WriteMsg(records(r, 0, name+" 60 IN A "+trueAddr))
	})
	c := start(t, Options{Servers: []string{addr}, MinRetry: time.Minute})
	for _, host := range []string{"the.first.name.of.all.test", "www.victim.test"} {
		if addrs, err := c.Lookup(t.Context(), host); err != nil || addrs[0].String() != trueAddr {
			t.Errorf("%s: %v, %v", host, addrs, err)
		}
	}
	if sent := <-names; sent == strings.ToLower(sent) || sent == strings.ToUpper(sent) {
		t.Errorf("sent %q", sent)
	}
	if st := c.Stats(); st.Recased != 1 || st.Doubted != 1 || st.Truncated != 0 {
		t.Errorf("%+v", st)
	}
}

// TestCaseLost: a server that answers in small letters is used all the same. That it does so is
// believed after one answer over TCP; without TCP, after casesLost in packets. No name is lost.
func TestCaseLost(t *testing.T) {
	var overTCP, overUDP atomic.Int64
	small := func(w dns.ResponseWriter, r *dns.Msg) {
		if w.RemoteAddr().Network() == "udp" {
			overUDP.Add(1)
		} else {
			overTCP.Add(1)
		}
		r.Question[0].Name = strings.ToLower(r.Question[0].Name)
		_ = w.WriteMsg(records(r, 0, r.Question[0].Name+" 60 IN A "+trueAddr))
	}
	conn, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	up := make(chan struct{})
	deafTCP := &dns.Server{PacketConn: conn, Handler: dns.HandlerFunc(small), NotifyStartedFunc: func() { close(up) }}
	go func() { _ = deafTCP.ActivateAndServe() }()
	<-up
	defer func() { _ = deafTCP.Shutdown() }()
	for _, c := range []struct {
		server   string
		udp, tcp int64
	}{
		{serve(t, small), 20, 1}, // or as below, if the answer over TCP is late on a busy machine
		{conn.LocalAddr().String(), 20 + casesLost, 0},
	} {
		overTCP.Store(0)
		overUDP.Store(0)
		client := start(t, Options{Servers: []string{c.server}, MinRetry: time.Minute})
		for i := range 20 {
			host := fmt.Sprintf("a.server.of.old%d.test", i)
			if addrs, err := client.Lookup(t.Context(), host); err != nil || addrs[0].String() != trueAddr {
				t.Errorf("%s: %v, %v", host, addrs, err)
			}
		}
		late := c.tcp > 0 && overUDP.Load() == c.udp+casesLost
		if overUDP.Load() != c.udp && !late || overTCP.Load() < c.tcp || client.Stats().Doubted != 0 {
			t.Errorf("%d over UDP, %d over TCP, want %d and %d", overUDP.Load(), overTCP.Load(), c.udp, c.tcp)
		}
	}
}
