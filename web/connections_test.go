package web

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// running serves a server on loopback until the test ends, and says where.
func running(t *testing.T, s *Server) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx, l) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return l.Addr().String()
}

// ask sends a request over a connection of its own.
func ask(address string) error {
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	r, err := client.Get("http://" + address + "/search?q=inverted+index")
	if err != nil {
		return err
	}
	defer r.Body.Close()
	if _, err := io.Copy(io.Discard, r.Body); err != nil || r.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %v", r.Status, err)
	}
	return nil
}

// TestManyConnections opens 10,000 connections that say nothing, or not enough: whoever asks is
// answered all the same, and no more than the bound are open.
func TestManyConnections(t *testing.T) {
	const bound = 200
	crowd := 10_000
	if testing.Short() {
		crowd = 1000
	}
	s := newServerOf(Options{Collection: newFake(), Limits: Limits{Connections: bound}})
	address := running(t, s)
	begun := []string{"", "G", "GET /search?q=a HTTP/1.1\r\nHost: a\r\nX-Slow: ", "POST /api/v1/batch HTTP/1.1\r\nHost: a\r\nContent-Le"}
	var held []net.Conn
	defer func() {
		for _, conn := range held {
			conn.Close()
		}
	}()
	for i := range crowd {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(conn, begun[i%len(begun)]) // may be closed already
		held = append(held, conn)
		if i%(crowd/20) == 0 {
			if err := ask(address); err != nil {
				t.Fatalf("after %d connections: %v", i, err)
			}
		}
	}
	s.connections.mu.Lock()
	open := len(s.connections.open)
	s.connections.mu.Unlock()
	if open > bound || open < bound/2 {
		t.Errorf("%d connections are open, at most %d may be", open, bound)
	}
}

// TestConnectionsMakeRoom: the longest waiting one goes; none that is being answered does, and where
// all are, the newest is turned away.
func TestConnectionsMakeRoom(t *testing.T) {
	b := newConnections(2)
	closed := map[string]bool{}
	dial := func(name string) (*connection, net.Conn) {
		conn := &namedConn{name: name, peer: "192.0.2.1:80", closed: closed}
		ctx := b.accept(t.Context(), conn)
		return ctx.Value(connectionKey{}).(*connection), conn
	}
	want := func(what string, names ...string) {
		t.Helper()
		if len(closed) != len(names) {
			t.Errorf("%s: closed %v, want %v", what, closed, names)
		}
		for _, name := range names {
			if !closed[name] {
				t.Errorf("%s: closed %v, want %v", what, closed, names)
			}
		}
	}
	first, _ := dial("first")
	second, secondConn := dial("second")
	b.begin(first)
	want("two")
	third, _ := dial("third")
	want("the one that waits goes", "second")
	b.change(secondConn, http.StateClosed) // as net/http says later
	b.begin(third)
	dial("fourth")
	want("all are answered", "second", "fourth")
	b.begin(third) // two requests on one connection
	b.end(third)
	b.end(first)
	dial("fifth")
	want("first waits again", "second", "fourth", "first")
	waiting := &third.network.waiting
	if len(b.open) != 2 || waiting.Len() != 1 || second.serving != 0 {
		t.Errorf("%d open, %d wait", len(b.open), waiting.Len())
	}
	b.end(third)
	if waiting.Len() != 2 {
		t.Errorf("%d wait", waiting.Len())
	}
}

// TestLargestNetworkLosesFirst: a network loses no connection to another that has fewer, however
// many networks come, and of the largest the slowest goes. The test counts again after each step
// and compares.
func TestLargestNetworkLosesFirst(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const most = 20
		b := newConnections(most)
		closed := map[string]bool{}
		var conns []*connection
		counts := func() (open map[netip.Prefix]int, slowest map[netip.Prefix]string) {
			open, slowest = map[netip.Prefix]int{}, map[netip.Prefix]string{}
			for _, c := range conns {
				open[c.network.prefix]++
				if front := c.network.waiting.Front(); front != nil {
					slowest[c.network.prefix] = front.Value.(*connection).conn.(*namedConn).name
				}
			}
			return open, slowest
		}
		for i := range rapid.IntRange(1, 100).Draw(t, "steps") {
			if len(conns) > 0 && rapid.IntRange(0, 2).Draw(t, "what") == 0 {
				c := rapid.SampledFrom(conns).Draw(t, "conn")
				if c.serving == 0 {
					b.begin(c)
				} else {
					b.end(c)
				}
				continue
			}
			before, slowest := counts()
			peer := fmt.Sprintf("192.0.%d.%d:80", rapid.IntRange(0, 5).Draw(t, "network"), i)
			conn := &namedConn{name: peer, peer: peer, closed: closed}
			ctx := b.accept(context.Background(), conn)
			c := ctx.Value(connectionKey{}).(*connection)
			before[c.network.prefix]++
			conns = slices.DeleteFunc(append(conns, c), func(c *connection) bool {
				name := c.conn.(*namedConn).name
				if closed[name] && b.open[c.conn] == nil {
					lost := c.network.prefix
					most := 0
					for _, n := range before {
						most = max(most, n)
					}
					if c.serving > 0 || before[lost] < most && name != peer && slowest[lost] != name {
						t.Fatalf("%s is closed, of a network of %d; the largest has %d", name, before[lost], most)
					}
					if before[lost] == most && slowest[lost] != "" && name != slowest[lost] {
						t.Fatalf("%s is closed before %s", name, slowest[lost])
					}
					return true
				}
				return false
			})
			if len(b.open) != len(conns) || len(conns) > most {
				t.Fatalf("%d open, %d counted", len(b.open), len(conns))
			}
		}
		open, _ := counts()
		if len(open) != len(b.networks) || len(open) != len(b.sizes) {
			t.Fatalf("%d networks, %d and %d kept", len(open), len(b.networks), len(b.sizes))
		}
		for prefix, n := range open {
			if b.networks[prefix].open != n {
				t.Fatalf("%s has %d, counted as %d", prefix, n, b.networks[prefix].open)
			}
		}
	})
}

// TestSlowPosts: clients that send the beginning of a body and wait keep nobody out, many more than
// the bound of connections, nor do they take more memory than their bound.
func TestSlowPosts(t *testing.T) {
	for _, sent := range []int{1, 10_000} {
		const bound, crowd = 50, 600
		s := newServerOf(Options{Collection: newFake(), Limits: Limits{Connections: bound}})
		s.connections.bodies = 100_000
		address := running(t, s)
		begun := "POST /api/v1/batch HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n" +
			"Content-Length: 60000\r\n\r\n" + strings.Repeat(" ", sent)
		for i := range crowd {
			conn, err := net.Dial("tcp", address)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			io.WriteString(conn, begun) // may be closed already
			if i%20 == 19 {
				if err := ask(address); err != nil {
					t.Fatalf("after %d slow posts of %d bytes: %v", i+1, sent, err)
				}
			}
			s.connections.mu.Lock()
			if s.connections.held > s.connections.bodies {
				t.Errorf("%d bytes of bodies are held", s.connections.held)
			}
			s.connections.mu.Unlock()
		}
	}
}

// TestReadersThatDoNotRead: answers that nobody reads keep nobody out, when there are more of them
// than connections.
func TestReadersThatDoNotRead(t *testing.T) {
	const bound = 20
	b := newConnections(bound)
	part := make([]byte, 1<<20)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/large" {
			for range 1000 {
				if _, err := w.Write(part); err != nil { // blocks once the buffers of both sides are full
					return
				}
			}
			return
		}
		io.WriteString(w, "small")
	}))
	b.watch(server.Config)
	server.Start()
	address := server.Listener.Addr().String()
	blocked := func() (n int) {
		b.mu.Lock()
		defer b.mu.Unlock()
		for _, c := range b.open {
			n += c.writing
		}
		return n
	}
	for i := range 2 * bound {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		fmt.Fprintf(conn, "GET /large HTTP/1.1\r\nHost: a\r\n\r\n")
		for blocked() < min(i+1, bound-1) { // until it is being answered
			time.Sleep(time.Millisecond)
		}
	}
	for range 2 * bound {
		client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
		r, err := client.Get("http://" + address + "/small")
		if err != nil {
			t.Fatal(err)
		}
		if text, err := io.ReadAll(r.Body); err != nil || string(text) != "small" {
			t.Fatalf("%q, %v", text, err)
		}
		r.Body.Close()
	}
	server.CloseClientConnections()
	server.Close()
}

type namedConn struct {
	net.Conn
	name   string
	peer   string
	closed map[string]bool
}

func (c *namedConn) Close() error { c.closed[c.name] = true; return nil }

func (c *namedConn) RemoteAddr() net.Addr {
	return net.TCPAddrFromAddrPort(netip.MustParseAddrPort(c.peer))
}

// TestSlowReaders: clients that ask and never read hold no one up.
func TestSlowReaders(t *testing.T) {
	address := running(t, newServerOf(Options{Collection: newFake(), Limits: Limits{Connections: 64, Searches: 100, Grace: time.Millisecond}}))
	for range 30 {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		for range 3 {
			fmt.Fprintf(conn, "GET /search?q=inverted+index&num=100 HTTP/1.1\r\nHost: a\r\n\r\n")
		}
	}
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() {
			for range 5 {
				if err := ask(address); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wait.Wait()
}
