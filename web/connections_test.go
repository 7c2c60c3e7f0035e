package web

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"
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
	s := New(Options{Search: newFake(), Connections: bound})
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
		conn := &namedConn{name: name, closed: closed}
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
	if len(b.open) != 2 || b.waiting.Len() != 1 || second.serving != 0 {
		t.Errorf("%d open, %d wait", len(b.open), b.waiting.Len())
	}
	b.end(third)
	if b.waiting.Len() != 2 {
		t.Errorf("%d wait", b.waiting.Len())
	}
}

type namedConn struct {
	net.Conn
	name   string
	closed map[string]bool
}

func (c *namedConn) Close() error { c.closed[c.name] = true; return nil }

// TestSlowReaders: clients that ask and never read hold no one up.
func TestSlowReaders(t *testing.T) {
	address := running(t, New(Options{Search: newFake(), Connections: 64, MaxSearches: 100, Grace: time.Millisecond}))
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
