package dnsclient

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strings"
	"time"
)

const (
	firstRetry = 500 * time.Millisecond // of a server that was never measured
	maxRetry   = 2 * time.Second
	probeEvery = time.Second // how often a server that is down is tried first
	downAfter  = 3           // time-outs in a row
	maxServers = 16          // more are not asked
)

// A server is one name server with what was measured of it. The lock of inflight guards it.
type server struct {
	at     int8 // in Client.servers
	addr   netip.AddrPort
	socket []int // of Client.sockets, those of its address family

	rtt, deviation time.Duration // smoothed as TCP does (RFC 6298 §2)
	open           int           // queries in flight: neither answered nor timed out
	room           int           // for so many; each answer makes it grow, up to Options.PerServer
	heard          time.Time     // when it last answered
	silent         int           // time-outs in a row of queries sent since
	failing        int           // answers in a row that were failures
	probed         time.Time     // when it was last tried although it is down
	plain          bool          // it does not know EDNS
	queries        uint64
	timeouts       uint64
}

// firstRoom is how many queries a server that is not known yet gets at once. A burst of a thousand
// overflows what many a server's socket buffers: the lost ones would wait for their retransmission.
const firstRoom = 128

// measured takes the round trip of one query. Each transmission has an ID of its own, so none is
// ambiguous. The more of them a round trip sees, the less each counts: with TCP's own gains two slow
// names in a row would double the retransmission time of all.
func (s *server) measured(rtt time.Duration) {
	s.silent = 0
	if s.rtt == 0 {
		s.rtt, s.deviation = rtt, rtt/2
		return
	}
	samples := time.Duration(s.open/2 + 1)
	s.deviation += ((s.rtt - rtt).Abs() - s.deviation) / (4 * samples)
	s.rtt += (rtt - s.rtt) / (8 * samples)
}

// retryAfter is the retransmission time: RTT + 4 deviations, between floor and cap.
func (s *server) retryAfter(floor time.Duration) time.Duration {
	if s.rtt == 0 {
		return max(firstRetry, floor)
	}
	return min(max(s.rtt+4*s.deviation, floor), max(maxRetry, floor))
}

func (s *server) down() bool { return s.silent >= downAfter }

func (s *server) full() bool { return s.open >= s.room }

// choose picks the server for the next transmission of q: one that this call has not tried, and of
// these the one with the least expected work, the round trip times the queries in flight. So equal
// servers share the load, a server twice as slow gets about a quarter, and one that stops to answer
// loses its share before the first time-out tells. A server that is down comes last, but is tried
// first once a second to see whether it is back. -1 says that those worth asking have as many
// queries in flight as they may.
func (c *Client) choose(q *call, now time.Time) int {
	best, turn := -1, int(c.inflight.turn)
	c.inflight.turn++
	for i := range c.servers {
		at := (i + turn) % len(c.servers)
		s := c.servers[at]
		if s.down() && q.sent == 0 && len(c.servers) > 1 && now.Sub(s.probed) >= probeEvery {
			s.probed = now
			return at
		}
		if best < 0 || c.better(q, at, best) {
			best = at
		}
	}
	if c.servers[best].full() {
		return -1
	}
	return best
}

// better says whether server a is to be asked before server b.
func (c *Client) better(q *call, a, b int) bool {
	s, t := c.servers[a], c.servers[b]
	if s.down() != t.down() {
		return t.down()
	}
	if s.full() != t.full() {
		return t.full()
	}
	if x, y := q.triesOf(a), q.triesOf(b); x != y {
		return x < y
	}
	return s.work() < t.work()
}

// work is what one more query would add. A server that was never measured counts as a quick one, and
// one that fails as slower with each failure: to refuse is quick, and would draw the load.
func (s *server) work() time.Duration {
	return max(s.rtt, time.Millisecond) * time.Duration(s.open+1) * time.Duration(1+min(s.failing, 100))
}

// openServers reads the list of servers and opens the sockets for their address families.
func (c *Client) openServers() error {
	names := c.o.Servers
	if len(names) == 0 {
		names = systemServers("/etc/resolv.conf")
	}
	c.byAddr = map[netip.AddrPort]int{}
	families := map[string][]int{}
	for _, name := range names {
		addr, err := parseServer(name)
		if err != nil {
			return err
		}
		if _, twice := c.byAddr[addr]; twice || len(c.servers) == maxServers {
			continue
		}
		network := "udp4"
		if addr.Addr().Is6() {
			network = "udp6"
		}
		if families[network] == nil {
			if families[network], err = c.openSockets(network); err != nil {
				return errors.Join(err, c.Close())
			}
		}
		c.byAddr[addr] = len(c.servers)
		c.servers = append(c.servers, &server{at: int8(len(c.servers)), addr: addr, socket: families[network], room: min(firstRoom, c.o.PerServer)})
	}
	return nil
}

// openSockets opens sockets that are bound to no server: the kernel gives each a random port.
func (c *Client) openSockets(network string) ([]int, error) {
	var opened []int
	for range c.o.Sockets {
		conn, err := net.ListenUDP(network, nil)
		if err != nil {
			return nil, fmt.Errorf("dnsclient: open socket: %w", err)
		}
		_ = conn.SetReadBuffer(1 << 20) // a burst of answers; the system may give less
		opened = append(opened, len(c.sockets))
		c.sockets = append(c.sockets, conn)
	}
	return opened, nil
}

func parseServer(name string) (netip.AddrPort, error) {
	if addr, err := netip.ParseAddr(name); err == nil {
		return netip.AddrPortFrom(addr.Unmap(), 53), nil
	}
	ap, err := netip.ParseAddrPort(name)
	if err != nil {
		return ap, fmt.Errorf("dnsclient: name server %q is not an address: %w", name, err)
	}
	return netip.AddrPortFrom(ap.Addr().Unmap(), ap.Port()), nil
}

// systemServers reads the nameserver lines of resolv.conf(5). Without any the server is this
// machine, as everywhere.
func systemServers(path string) []string {
	var servers []string
	if f, err := os.Open(path); err == nil {
		defer f.Close()
		for lines := bufio.NewScanner(f); lines.Scan(); {
			if words := strings.Fields(lines.Text()); len(words) >= 2 && words[0] == "nameserver" {
				if _, err := netip.ParseAddr(words[1]); err == nil {
					servers = append(servers, words[1])
				}
			}
		}
	}
	if len(servers) == 0 {
		return []string{"127.0.0.1"}
	}
	return servers
}
