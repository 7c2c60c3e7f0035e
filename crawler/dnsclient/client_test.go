package dnsclient

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/miekg/dns"
)

// start runs a client until the test ends.
func start(t testing.TB, o Options) *Client {
	t.Helper()
	c, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- c.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return c
}

// serve runs a name server on loopback, over UDP and TCP.
func serve(t testing.TB, handler dns.HandlerFunc) string {
	t.Helper()
	var conn net.PacketConn
	var l net.Listener
	for l == nil { // until a port is free for UDP and for TCP
		var err error
		if conn, err = net.ListenPacket("udp4", "127.0.0.1:0"); err != nil {
			t.Fatal(err)
		}
		if l, err = net.Listen("tcp4", conn.LocalAddr().String()); err != nil {
			t.Log(err)
			conn.Close()
		}
	}
	addr := conn.LocalAddr().String()
	for _, s := range []*dns.Server{{PacketConn: conn, Handler: handler}, {Listener: l, Handler: handler}} {
		up := make(chan struct{})
		s.NotifyStartedFunc = func() { close(up) }
		go func() { _ = s.ActivateAndServe() }()
		<-up
		t.Cleanup(func() { _ = s.Shutdown() })
	}
	return addr
}

// records answers with the records given as zone file lines.
func records(r *dns.Msg, rcode int, lines ...string) *dns.Msg {
	m := new(dns.Msg).SetRcode(r, rcode)
	for _, line := range lines {
		rr, err := dns.NewRR(line)
		if err != nil {
			panic(err)
		}
		m.Answer = append(m.Answer, rr)
	}
	return m
}

// A zone is a small world of names, good and odd.
func zone(w dns.ResponseWriter, r *dns.Msg) {
	name, qtype := strings.ToLower(r.Question[0].Name), r.Question[0].Qtype
	send := func(rcode int, lines ...string) { _ = w.WriteMsg(records(r, rcode, lines...)) }
	if qtype == dns.TypeAAAA {
		if name == "six.test." {
			send(dns.RcodeSuccess, "six.test. 60 IN AAAA 2001:db8::6")
			return
		}
		send(dns.RcodeSuccess)
		return
	}
	switch {
	case name == "chain.test.":
		send(0, "b.test. 60 IN CNAME c.test.", "c.test. 60 IN A 192.0.2.7", "c.test. 60 IN A 192.0.2.8", "chain.test. 60 IN CNAME B.test.")
	case name == "circle.test.":
		send(0, "circle.test. 60 IN CNAME two.test.", "two.test. 60 IN CNAME circle.test.")
	case name == "six.test." || name == "nodata.test.":
		send(0)
	case name == "other.test.":
		send(0, "elsewhere.test. 60 IN A 192.0.2.66")
	case name == "servfail.test.":
		send(dns.RcodeServerFailure)
	case strings.HasPrefix(name, "no"):
		send(dns.RcodeNameError)
	case name == "many.test.":
		lines := make([]string, 1000)
		for i := range lines {
			lines[i] = fmt.Sprintf("many.test. 60 IN A 198.51.%d.%d", i/250, i%250)
		}
		m := records(r, 0, lines...)
		if w.RemoteAddr().Network() == "udp" {
			m.Truncate(512)
		}
		_ = w.WriteMsg(m)
	default:
		send(0, name+" 60 IN A "+addrOf(name).String())
	}
}

// addrOf is the address that the zone gives a made-up name.
func addrOf(name string) netip.Addr {
	sum := uint32(0)
	for _, b := range []byte(strings.TrimSuffix(name, ".")) {
		sum = sum*31 + uint32(b)
	}
	return netip.AddrFrom4([4]byte{203, byte(sum >> 16), byte(sum >> 8), byte(sum)})
}

func TestLookup(t *testing.T) {
	c := start(t, Options{Servers: []string{serve(t, zone)}})
	cases := []struct {
		host string
		want string // addresses, or the error
		err  error
	}{
		{"www.test", addrOf("www.test").String(), nil},
		{"WWW.test.", addrOf("www.test").String(), nil},
		{"chain.test", "192.0.2.7 192.0.2.8", nil},
		{"six.test", "2001:db8::6", nil},
		{"192.0.2.1", "192.0.2.1", nil},
		{"[2001:db8::1]", "2001:db8::1", nil},
		{"localhost", "127.0.0.1 ::1", nil},
		{"app.localhost", "127.0.0.1 ::1", nil},
		{"nodata.test", "", ErrNoName},
		{"nosuch.test", "", ErrNoName},
		{"circle.test", "", ErrNoName},
		{"other.test", "", ErrNoName}, // records of another name are no answer
		{"servfail.test", "", ErrServer},
		{"", "", ErrNoName},
		{"a..b", "", ErrNoName},
		{"sp ace.test", "", ErrNoName},
		{strings.Repeat("x", 64) + ".test", "", ErrNoName},
		{strings.Repeat("x.", 150), "", ErrNoName},
	}
	for _, c1 := range cases {
		for range 2 { // asked, then from the cache
			addrs, err := c.Lookup(t.Context(), c1.host)
			if got := strings.Trim(fmt.Sprint(addrs), "[]"); got != c1.want || !errors.Is(err, c1.err) {
				t.Errorf("%q: %v, %v", c1.host, addrs, err)
			}
		}
	}
	if st := c.Stats(); st.Hits == 0 || st.NoNames != 4 || st.Failures != 1 || st.InFlight != 0 || len(st.Servers) != 1 || st.Servers[0].RTT == 0 {
		t.Errorf("stats %+v", st)
	}
}

// TestThousandRecords: a truncated answer is fetched over TCP, and bounded.
func TestThousandRecords(t *testing.T) {
	c := start(t, Options{Servers: []string{serve(t, zone)}})
	addrs, err := c.Lookup(t.Context(), "many.test")
	if err != nil || len(addrs) != maxAddrs || c.Stats().Truncated != 1 {
		t.Fatalf("%d addresses, %v, %+v", len(addrs), err, c.Stats())
	}
}

// TestForgeries: before the true answer come packets with a wrong ID, for another name, of another
// type, of another class, no answer at all, cut short, garbage, and one whose compression loops.
func TestForgeries(t *testing.T) {
	addr := serve(t, func(w dns.ResponseWriter, r *dns.Msg) {
		name := r.Question[0].Name
		bad := name + " 60 IN A 192.0.2.66"
		forge := func(change func(*dns.Msg)) {
			m := records(r, 0, bad)
			change(m)
			_ = w.WriteMsg(m)
		}
		forge(func(m *dns.Msg) { m.Id++ })
		forge(func(m *dns.Msg) { m.Question[0].Name = "evil.test."; m.Answer[0].Header().Name = "evil.test." })
		forge(func(m *dns.Msg) { m.Question[0].Qtype = dns.TypeTXT })
		forge(func(m *dns.Msg) { m.Question[0].Qclass = dns.ClassCHAOS })
		forge(func(m *dns.Msg) { m.Question = nil })
		forge(func(m *dns.Msg) { m.Response = false })
		id := []byte{byte(r.Id >> 8), byte(r.Id)}
		_, _ = w.Write(append(id, "\x81\x80\x00\x01\x00\x01\x00\x00\x00\x00\xc0\x0c\x00\x01\x00\x01"...)) // a name that points at itself
		_, _ = w.Write(append(id, 0x81))
		_, _ = w.Write(append(id, strings.Repeat("\xff", 100)...))
		_ = w.WriteMsg(records(r, 0, name+" 60 IN A 192.0.2.1"))
	})
	c := start(t, Options{Servers: []string{addr}, MinRetry: time.Minute})
	addrs, err := c.Lookup(t.Context(), "www.test")
	if err != nil || len(addrs) != 1 || addrs[0] != netip.MustParseAddr("192.0.2.1") {
		t.Fatalf("%v, %v", addrs, err)
	}
	if st := c.Stats(); st.Strays != 7 || st.Malformed != 2 || st.Answers != 1 || st.Retries != 0 {
		t.Errorf("stats %+v", st)
	}
}

// TestElsewhere: an answer that is right but comes from another address does not count.
func TestElsewhere(t *testing.T) {
	liar, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer liar.Close()
	addr := serve(t, func(w dns.ResponseWriter, r *dns.Msg) {
		lie, _ := records(r, 0, r.Question[0].Name+" 60 IN A 192.0.2.66").Pack()
		_, _ = liar.WriteTo(lie, w.RemoteAddr())
		_ = w.WriteMsg(records(r, 0, r.Question[0].Name+" 60 IN A 192.0.2.1"))
	})
	c := start(t, Options{Servers: []string{addr}})
	if addrs, err := c.Lookup(t.Context(), "www.test"); err != nil || addrs[0] != netip.MustParseAddr("192.0.2.1") {
		t.Fatalf("%v, %v", addrs, err)
	}
}

// TestLoss: one packet in five is lost, and every name resolves all the same.
func TestLoss(t *testing.T) {
	var lost atomic.Int64
	addr := serve(t, func(w dns.ResponseWriter, r *dns.Msg) {
		if rand.IntN(5) == 0 {
			lost.Add(1)
			return
		}
		zone(w, r)
	})
	c := start(t, Options{Servers: []string{addr}, MinRetry: 10 * time.Millisecond})
	lookupAll(t, c, 500)
	if st := c.Stats(); lost.Load() == 0 || st.Retries < uint64(lost.Load())/2 || st.Timeouts != 0 {
		t.Errorf("%d lost, stats %+v", lost.Load(), st)
	}
}

func lookupAll(t *testing.T, c *Client, names int) {
	t.Helper()
	var wg sync.WaitGroup
	for i := range names {
		wg.Go(func() {
			name := fmt.Sprintf("host%d.test", i)
			if addrs, err := c.Lookup(t.Context(), name); err != nil || addrs[0] != addrOf(name) {
				t.Errorf("%s: %v, %v", name, addrs, err)
			}
		})
	}
	wg.Wait()
}

// deaf is a server that answers nothing.
func deaf(t *testing.T) string {
	return serve(t, func(dns.ResponseWriter, *dns.Msg) {})
}

func TestOneServerDead(t *testing.T) {
	c := start(t, Options{Servers: []string{deaf(t), serve(t, zone)}, MinRetry: 10 * time.Millisecond})
	lookupAll(t, c, 300)
	st := c.Stats()
	if st.Timeouts != 0 || st.Servers[1].Queries < 300 {
		t.Errorf("stats %+v", st)
	}
	before := st.Servers[0].Queries
	for i := range 100 {
		if _, err := c.Lookup(t.Context(), fmt.Sprintf("later%d.test", i)); err != nil {
			t.Error(err)
		}
	}
	if more := c.Stats().Servers[0].Queries - before; more > 5 {
		t.Errorf("the dead server was asked %d times more", more)
	}
}

// TestFailover: SERVFAIL and REFUSED of one server leave the answer to the other.
func TestFailover(t *testing.T) {
	bad := serve(t, func(w dns.ResponseWriter, r *dns.Msg) { _ = w.WriteMsg(records(r, dns.RcodeRefused)) })
	c := start(t, Options{Servers: []string{bad, serve(t, zone)}})
	lookupAll(t, c, 20)
}

// TestRefusing: a server that refuses, and does so quickly, does not draw the load.
func TestRefusing(t *testing.T) {
	bad := serve(t, func(w dns.ResponseWriter, r *dns.Msg) { _ = w.WriteMsg(records(r, dns.RcodeRefused)) })
	c := start(t, Options{Servers: []string{bad, serve(t, zone)}})
	for i := range 300 {
		if _, err := c.Lookup(t.Context(), fmt.Sprintf("h%d.test", i)); err != nil {
			t.Error(err)
		}
	}
	if st := c.Stats(); st.Servers[0].Queries > 150 || st.Servers[1].Queries < 300 {
		t.Errorf("stats %+v", st)
	}
}

// TestBalance: of three servers the two equal ones share the load, and the slow one gets less.
func TestBalance(t *testing.T) {
	c := start(t, Options{Servers: []string{"192.0.2.1", "192.0.2.2", "192.0.2.3"}})
	for i, rtt := range []time.Duration{20, 20, 80} {
		c.network.servers[i].measure(rtt * time.Millisecond)
		c.network.servers[i].room = c.o.PerServer
	}
	asked := [3]int{}
	for range 900 { // in flight all at once
		at := c.network.inflight.choose(&call{}, time.Now())
		c.network.servers[at].open++
		asked[at]++
	}
	if asked != [3]int{400, 400, 100} {
		t.Errorf("asked %v", asked)
	}
}

// TestInFlight: no server ever has more to answer than it may, and nothing is lost by waiting.
func TestInFlight(t *testing.T) {
	const bound = 8
	var open, most atomic.Int64
	full := make(chan struct{})
	reached := sync.OnceFunc(func() { close(full) })
	handler := func(w dns.ResponseWriter, r *dns.Msg) {
		n := open.Add(1)
		for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
		}
		if n >= bound {
			reached()
		}
		<-full // the first ones wait for company, so that the bound is reached
		open.Add(-1)
		zone(w, r)
	}
	c := start(t, Options{Servers: []string{serve(t, handler)}, PerServer: bound, MinRetry: time.Minute})
	lookupAll(t, c, 200)
	st := c.Stats()
	if most.Load() != bound || st.Servers[0].Open != 0 || st.Queries != 200 || st.InFlight != 0 {
		t.Errorf("%d at once, %+v", most.Load(), st)
	}
}

// TestAllFull: if no server has room, a name waits for the timer.
func TestAllFull(t *testing.T) {
	c := start(t, Options{Servers: []string{serve(t, zone)}})
	c.network.inflight.mu.Lock()
	c.network.servers[0].open = c.network.servers[0].room
	c.network.inflight.mu.Unlock()
	done := make(chan error, 1)
	go func() { _, err := c.Lookup(t.Context(), "www.test"); done <- err }()
	for c.Stats().Full < 2 {
		runtime.Gosched()
	}
	c.network.inflight.mu.Lock()
	c.network.servers[0].open = 0
	c.network.inflight.mu.Unlock()
	if err := <-done; err != nil || c.Stats().Queries != 1 {
		t.Errorf("%v, %+v", err, c.Stats())
	}
}

// TestOldServer: a server that answers FORMERR to EDNS gets queries without it.
func TestOldServer(t *testing.T) {
	addr := serve(t, func(w dns.ResponseWriter, r *dns.Msg) {
		if r.IsEdns0() != nil {
			_ = w.WriteMsg(records(r, dns.RcodeFormatError))
			return
		}
		zone(w, r)
	})
	lookupAll(t, start(t, Options{Servers: []string{addr}}), 5)
}

func TestTimeout(t *testing.T) {
	c := start(t, Options{Servers: []string{deaf(t)}, MinRetry: 5 * time.Millisecond, Timeout: 60 * time.Millisecond})
	if _, err := c.Lookup(t.Context(), "www.test"); !errors.Is(err, ErrTimeout) {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Lookup(ctx, "two.test"); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// A clock is set by hand.
type clock struct{ nanos atomic.Int64 }

func (c *clock) now() time.Time          { return time.Unix(1e9, c.nanos.Load()) }
func (c *clock) advance(d time.Duration) { c.nanos.Add(int64(d)) }

// TestTimeToLive: the zone's time to live counts only above MinTTL (CY09); an expired answer is used
// while it is refreshed; a name that does not exist is cached for a shorter time.
func TestTimeToLive(t *testing.T) {
	var asked atomic.Int64
	var down atomic.Bool
	addr := serve(t, func(w dns.ResponseWriter, r *dns.Msg) {
		if down.Load() {
			_ = w.WriteMsg(records(r, dns.RcodeServerFailure))
			return
		}
		if n := asked.Add(1); strings.EqualFold(r.Question[0].Name, "www.test.") {
			_ = w.WriteMsg(records(r, 0, fmt.Sprintf("www.test. 60 IN A 192.0.2.%d", n)))
			return
		}
		zone(w, r)
	})
	var now clock
	c := start(t, Options{Servers: []string{addr}, Now: now.now, MinRetry: time.Minute})
	last := func(want byte) {
		t.Helper()
		if addrs, err := c.Lookup(t.Context(), "www.test"); err != nil || addrs[0].As4()[3] != want {
			t.Errorf("%v, %v, want .%d", addrs, err, want)
		}
	}
	idle := func() { // until no query is under way
		for c.busy() {
			time.Sleep(time.Millisecond)
		}
	}
	last(1)
	now.advance(1799 * time.Second)
	last(1)
	now.advance(2 * time.Second)
	last(1) // stale, and asked again
	idle()
	last(2)
	down.Store(true)
	now.advance(time.Hour)
	last(2)
	idle()
	last(2) // the servers fail: still given out
	now.advance(25 * time.Hour)
	if _, err := c.Lookup(t.Context(), "www.test"); !errors.Is(err, ErrServer) {
		t.Errorf("after a day: %v", err)
	}
	down.Store(false)
	now.advance(6 * time.Second)
	last(3)

	_, err := c.Lookup(t.Context(), "nosuch.test")
	before := asked.Load()
	_, again := c.Lookup(t.Context(), "nosuch.test")
	if !errors.Is(err, ErrNoName) || again != err || asked.Load() != before {
		t.Errorf("%v, %v", err, again)
	}
	now.advance(301 * time.Second)
	if _, err := c.Lookup(t.Context(), "nosuch.test"); !errors.Is(err, ErrNoName) || asked.Load() == before {
		t.Errorf("not asked again: %v", err)
	}
}

// busy reports whether any call is under way.
func (c *Client) busy() bool {
	for i := range c.cache.shards {
		s := &c.cache.shards[i]
		s.mu.Lock()
		n := len(s.calls)
		s.mu.Unlock()
		if n > 0 {
			return true
		}
	}
	return false
}

// TestResolve: where an answer comes from, and how long it lasts.
func TestResolve(t *testing.T) {
	addr := serve(t, zone)
	var now clock
	c := start(t, Options{Servers: []string{addr}, Now: now.now})
	cases := []struct {
		host   string
		later  time.Duration
		source Source
		ttl    time.Duration
		err    error
	}{
		{"www.test", 0, FromServer, 1800 * time.Second, nil},
		{"WWW.test.", 600 * time.Second, FromCache, 1200 * time.Second, nil},
		{"nosuch.test", 0, FromServer, 300 * time.Second, ErrNoName},
		{"nosuch.test", 100 * time.Second, FromCache, 200 * time.Second, ErrNoName},
		{"[::1]", 0, FromLiteral, 0, nil},
		{strings.Repeat("x", 300), 0, FromServer, 0, ErrNoName},
	}
	for _, want := range cases {
		now.advance(want.later)
		a, err := c.Resolve(t.Context(), want.host)
		if a.Source != want.source || a.TTL != want.ttl || !errors.Is(err, want.err) || (a.Addrs == nil) != (err != nil) {
			t.Errorf("%.20s: %+v, %v", want.host, a, err)
		}
		if asked := want.ttl > 0; asked != (a.Server.String() == addr) {
			t.Errorf("%.20s: answered by %v", want.host, a.Server)
		}
	}
	now.advance(time.Hour)
	if a, err := c.Resolve(t.Context(), "www.test"); a.Source != FromStale || err != nil {
		t.Errorf("%+v, %v", a, err)
	}
}

// TestClose: it ends Run and those who wait.
func TestClose(t *testing.T) {
	c, err := New(Options{Servers: []string{deaf(t)}})
	if err != nil {
		t.Fatal(err)
	}
	ended, waited := make(chan error, 1), make(chan error, 1)
	go func() { ended <- c.Run(t.Context()) }()
	go func() { _, err := c.Lookup(t.Context(), "www.test"); waited <- err }()
	for c.Stats().Queries == 0 {
		runtime.Gosched()
	}
	c.Close()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if err := <-waited; !errors.Is(err, ErrClosed) {
		t.Errorf("got %v", err)
	}
}

// TestJoined: a hundred callers of one name make one query.
func TestJoined(t *testing.T) {
	var asked atomic.Int64
	gate := make(chan struct{})
	addr := serve(t, func(w dns.ResponseWriter, r *dns.Msg) {
		asked.Add(1)
		<-gate
		zone(w, r)
	})
	c := start(t, Options{Servers: []string{addr}, MinRetry: time.Minute})
	var wg sync.WaitGroup
	for range 100 {
		wg.Go(func() {
			if _, err := c.Lookup(t.Context(), "www.test"); err != nil {
				t.Error(err)
			}
		})
	}
	for c.Stats().Joined+c.Stats().Misses < 100 {
		time.Sleep(time.Millisecond)
	}
	close(gate)
	wg.Wait()
	if asked.Load() != 1 || c.Stats().Joined != 99 {
		t.Errorf("%d queries, %+v", asked.Load(), c.Stats())
	}
}

// TestPrefetch: it never blocks, drops what the queue has no room for, and what it resolved is a hit.
func TestPrefetch(t *testing.T) {
	c, err := New(Options{Servers: []string{serve(t, zone)}, Queue: 2})
	if err != nil {
		t.Fatal(err)
	}
	c.Prefetch("a.test", "b.test", "c.test", "a.test", "192.0.2.1", "localhost", "bad name")
	if st := c.Stats(); st.Dropped != 1 {
		t.Errorf("stats %+v", st)
	}
	// A caller that leaves while the queue is full ends its call for those who joined it.
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Lookup(ctx, "d.test"); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	run, stop := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- c.Run(run) }()
	for c.busy() {
		time.Sleep(time.Millisecond)
	}
	if _, err := c.Lookup(t.Context(), "a.test"); err != nil || c.Stats().Hits != 1 {
		t.Errorf("%v, %+v", err, c.Stats())
	}
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if _, err := c.Lookup(t.Context(), "z.test"); !errors.Is(err, ErrClosed) {
		t.Errorf("after Run: %v", err)
	}
}

// TestEviction: a full cache evicts the least recently used name.
func TestEviction(t *testing.T) {
	s := &newCache(3 * shardCount).shards[0]
	for _, host := range []string{"a", "b", "c"} {
		s.put(&entry{host: host})
	}
	s.touch(s.names["a"])
	s.put(&entry{host: "d"})
	s.put(&entry{host: "d"})
	if s.names["b"] != nil || s.names["a"] == nil || s.names["c"] == nil || len(s.names) != 3 || s.evicted != 1 {
		t.Errorf("%v", s.names)
	}
}

func TestSystemServers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "resolv.conf")
	if err := os.WriteFile(path, []byte("# x\nsearch a b\nnameserver 192.0.2.1\nnameserver\t2001:db8::1\nnameserver junk\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(systemServers(path)); got != "[192.0.2.1 2001:db8::1]" {
		t.Error(got)
	}
	if got := fmt.Sprint(systemServers(path + ".missing")); got != "[127.0.0.1]" {
		t.Error(got)
	}
	if _, err := New(Options{Servers: []string{"dns.example.org"}}); err == nil {
		t.Error("a name is no server address")
	}
}

// pending is a client without sockets, and a call for www.test that waits for an answer with ID 1.
func pending(t *testing.T) (*Client, *call) {
	c, err := New(Options{Servers: []string{"127.0.0.1:9"}})
	if err != nil {
		t.Fatal(err)
	}
	n := c.network
	c.Close()
	q := newCall("www.test")
	q.deadline = time.Now().Add(time.Hour)
	n.slots <- struct{}{}
	s := n.servers[0]
	p := &port{addr: s.addr, server: s, queries: []query{{1, q}}, live: 1}
	q.sends[0], q.sent = transmission{server: s, port: p, id: 1, at: time.Now()}, 1
	return c, q
}

// FuzzReceive feeds packets to a client that waits for an answer.
func FuzzReceive(f *testing.F) {
	good, _ := records(new(dns.Msg).SetQuestion("www.test.", dns.TypeA), 0, "www.test. 60 IN CNAME b.test.", "b.test. 60 IN A 192.0.2.1").Pack()
	f.Add(good)
	f.Add([]byte("\x00\x01\x83\x80\x00\x01\x00\x00\x00\x00\x00\x00\x03www\x04test\x00\x00\x01\x00\x01"))
	f.Fuzz(func(t *testing.T, packet []byte) {
		c, q := pending(t)
		if len(packet) > 2 {
			packet[0], packet[1] = 0, 1
		}
		c.network.receive(q.sends[0].port, c.network.servers[0].addr, packet)
		if q.ended && q.err == nil && len(q.addrs) == 0 {
			t.Fatal("no addresses and no error")
		}
	})
}

// FuzzTCP feeds what a server sends over TCP, in the given sizes of pieces, to a client that waits
// for it. An answer that is believed has the ID and the question of the query.
func FuzzTCP(f *testing.F) {
	good, _ := records(new(dns.Msg).SetQuestion("www.test.", dns.TypeA), 0, "www.test. 60 IN CNAME b.test.", "b.test. 60 IN A 192.0.2.1").Pack()
	framed := append([]byte{byte(len(good) >> 8), byte(len(good))}, good...)
	f.Add(framed, uint8(1), true)
	f.Add(framed, uint8(200), false)
	f.Add(append([]byte{0, 12}, framed...), uint8(7), true)
	f.Add([]byte("\xff\xff\x00\x01\x81\x80\x00\x01\x00\x01"), uint8(3), true)
	f.Add([]byte("\x00\x00\x00\x00"), uint8(1), true)
	f.Fuzz(func(t *testing.T, stream []byte, piece uint8, right bool) {
		c, q := pending(t)
		query := question(q.host, q.qtype, 0xABCD, true)
		if right && len(stream) > 3 {
			stream[2], stream[3] = 0xAB, 0xCD
		}
		conn := &pieces{stream: stream, size: int(piece)%32 + 1}
		m, err := converse(conn, query)
		c.network.answerTCP(tcpQuery{q: q, server: c.network.servers[0], qtype: q.qtype}, 0, m, err)
		if sent := conn.sent.Bytes(); len(sent) < 2 || int(sent[0])<<8|int(sent[1]) != len(sent)-2 {
			t.Fatalf("sent %x", sent)
		}
		if !q.ended || q.err != nil {
			return
		}
		if len(q.addrs) == 0 {
			t.Fatal("no addresses and no error")
		}
		const name = "\x03www\x04test\x00\x00\x01\x00\x01"
		if len(stream) < 2+headerLen+len(name) || string(stream[2:4]) != "\xAB\xCD" || stream[4]&0x80 == 0 ||
			string(stream[6:8]) != "\x00\x01" || !strings.EqualFold(string(stream[14:14+len(name)]), name) {
			t.Fatalf("believed %q", stream)
		}
	})
}

// pieces is a connection that delivers a stream in pieces.
type pieces struct {
	net.Conn
	stream []byte
	size   int
	sent   bytes.Buffer
}

func (p *pieces) Write(b []byte) (int, error) { return p.sent.Write(b) }

func (p *pieces) Read(b []byte) (int, error) {
	if len(p.stream) == 0 {
		return 0, io.EOF
	}
	n := copy(b, p.stream[:min(p.size, len(p.stream))])
	p.stream = p.stream[n:]
	return n, nil
}

// BenchmarkHit: a name that is in the cache, from all cores at once, over 10,000 names.
func BenchmarkHit(b *testing.B) {
	c := start(b, Options{Servers: []string{"127.0.0.1:9"}})
	names := make([]string, 10_000)
	for i := range names {
		names[i] = fmt.Sprintf("www.host%d.test", i)
		c.cache.shard(names[i]).put(&entry{host: names[i], addrs: []netip.Addr{{}}, expires: 1 << 62})
	}
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		ctx := context.Background()
		for i := rand.IntN(1000); pb.Next(); i++ {
			if _, err := c.Lookup(ctx, names[i%1000]); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkResolve resolves names that are all different, 256 at once, against one server on
// loopback: ours, and net.Resolver over the same server.
func BenchmarkResolve(b *testing.B) {
	addr := serve(b, zone)
	var n atomic.Int64
	bench := func(name string, lookup func(string) error) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetParallelism(128)
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					if err := lookup(fmt.Sprintf("h%d.test", n.Add(1))); err != nil {
						b.Error(err)
					}
				}
			})
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "names/s")
		})
	}
	c := start(b, Options{Servers: []string{addr}})
	bench("ours", func(host string) error { _, err := c.Lookup(context.Background(), host); return err })
	goes := &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, network, addr)
	}}
	bench("net.Resolver", func(host string) error {
		_, err := goes.LookupNetIP(context.Background(), "ip4", host+".")
		return err
	})
}

// BenchmarkStream resolves a stream as a crawl makes it: Zipf over 30,000 names, 1,024 at once,
// against a server that takes 20 ms, one time in twenty 200 ms, and loses one packet in a hundred.
func BenchmarkStream(b *testing.B) {
	addr := serve(b, func(w dns.ResponseWriter, r *dns.Msg) {
		delay := 20 * time.Millisecond
		switch n := rand.IntN(100); {
		case n == 0:
			return
		case n <= 5:
			delay = 200 * time.Millisecond
		}
		time.AfterFunc(delay, func() { zone(w, r) })
	})
	const lookups, atOnce = 200_000, 1024
	names := make([]string, lookups)
	zipf := rand.NewZipf(rand.New(rand.NewPCG(1, 2)), 1.1, 1, 30_000-1)
	for i := range names {
		names[i] = fmt.Sprintf("h%d.many.test", zipf.Uint64())
	}
	for b.Loop() {
		c := start(b, Options{Servers: []string{addr}})
		took := make([]time.Duration, lookups)
		var next, failed atomic.Int64
		var wg sync.WaitGroup
		begun := time.Now()
		for range atOnce {
			wg.Go(func() {
				for i := next.Add(1) - 1; i < lookups; i = next.Add(1) - 1 {
					t := time.Now()
					if _, err := c.Lookup(context.Background(), names[i]); err != nil {
						failed.Add(1)
					}
					took[i] = time.Since(t)
				}
			})
		}
		wg.Wait()
		all := time.Since(begun)
		slices.Sort(took)
		st := c.Stats()
		b.ReportMetric(lookups/all.Seconds(), "lookups/s")
		b.ReportMetric(float64(took[lookups*99/100].Milliseconds()), "p99-ms")
		b.ReportMetric(float64(took[lookups*999/1000].Milliseconds()), "p99.9-ms")
		b.ReportMetric(float64(failed.Load()), "failed")
		b.ReportMetric(100*float64(st.Hits)/lookups, "%hits")
		b.ReportMetric(float64(st.Queries)/float64(st.Misses), "queries/miss")
	}
}
