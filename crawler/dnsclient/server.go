package dnsclient

import (
	"bufio"
	"fmt"
	"net/netip"
	"os"
	"strings"
	"time"
)

const (
	firstRetry = 500 * time.Millisecond // of a server that was never measured
	maxRetry   = 2 * time.Second
	probeEvery = time.Second // how often a server that is down is probed
	downAfter  = 3           // time-outs in a row
	maxServers = 16          // more are not used
)

// A server is one name server and its measurements. at and addr do not change; inflight.mu guards
// the rest.
type server struct {
	at   int8 // in network.servers
	addr netip.AddrPort

	pool []*port // that queries leave from; nil where none was opened yet

	rtt, deviation time.Duration // smoothed as TCP does (RFC 6298 §2)
	open           int           // queries in flight: neither answered nor timed out
	room           int           // bound on open; each answer raises it, up to Options.PerServer
	heard          time.Time     // when it last answered
	silent         int           // time-outs in a row of queries sent since
	failing        int           // answers in a row that were failures
	probed         time.Time     // last query while down
	plain          bool          // it does not know EDNS
	caseKept       bool          // it has repeated capitals of a question
	caseLost       int           // answers in another case before that: see acceptCase
	queries        uint64
	timeouts       uint64
}

// firstRoom is the room of a server that has not answered yet. A burst of a thousand queries
// overflows the socket buffer of many servers; the lost ones would wait for their retransmission.
const firstRoom = 128

// measure updates the estimates by the round trip of one query. Each transmission has an ID of its
// own, so none is ambiguous. The more queries are in flight, the less each counts: with TCP's own
// gains two slow names in a row would double the retransmission time of all.
func (s *server) measure(rtt time.Duration) {
	s.silent = 0
	if s.rtt == 0 {
		s.rtt, s.deviation = rtt, rtt/2
		return
	}
	samples := time.Duration(s.open/2 + 1)
	s.deviation += ((s.rtt - rtt).Abs() - s.deviation) / (4 * samples)
	s.rtt += (rtt - s.rtt) / (8 * samples)
}

// retryAfter returns the retransmission time: RTT + 4 deviations, between floor and maxRetry.
func (s *server) retryAfter(floor time.Duration) time.Duration {
	if s.rtt == 0 {
		return max(firstRetry, floor)
	}
	return min(max(s.rtt+4*s.deviation, floor), max(maxRetry, floor))
}

func (s *server) down() bool { return s.silent >= downAfter }

func (s *server) full() bool { return s.open >= s.room }

// work returns the expected work of one more query. An unmeasured server counts as a fast one. One
// that fails counts as slower with each failure: refusing is fast, and would attract load.
func (s *server) work() time.Duration {
	queries, slowness := time.Duration(s.open+1), time.Duration(1+min(s.failing, 100))
	return max(s.rtt, time.Millisecond) * queries * slowness
}

func parseServer(name string) (netip.AddrPort, error) {
	if addr, err := netip.ParseAddr(name); err == nil {
		return netip.AddrPortFrom(addr.Unmap(), 53), nil
	}
	ap, err := netip.ParseAddrPort(name)
	if err != nil {
		return ap, fmt.Errorf("name server %q is not an address: %w", name, err)
	}
	return netip.AddrPortFrom(ap.Addr().Unmap(), ap.Port()), nil
}

// systemServers returns the nameserver lines of resolv.conf(5). Without any, the server is this
// machine.
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
