package web

import (
	"container/list"
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"sync"
)

// DefaultConnections is how many are open at once where Options says nothing: each takes some 20 KB.
const DefaultConnections = 4096

// connections bounds how many connections are open. When there are too many, the one that has waited
// longest makes room: one that is kept for a next request, or whose request is slow in coming. So
// neither a crowd nor those who only hold the line keep others out, as they would where new
// connections queue (golang.org/x/net/netutil). Those that are being answered are never closed; when
// all are, the newest is.
type connections struct {
	most int

	mu      sync.Mutex
	open    map[net.Conn]*connection
	waiting list.List // of *connection, the longest first
}

type connection struct {
	conn    net.Conn
	serving int           // requests; more than one in HTTP/2
	waits   *list.Element // in waiting, nil while serving
}

func newConnections(most int) *connections {
	return &connections{most: most, open: make(map[net.Conn]*connection)}
}

// watch has a server tell of its connections.
func (b *connections) watch(server *http.Server) {
	server.ConnContext = b.accept
	server.ConnState = b.change
	server.Handler = b.count(server.Handler)
}

type connectionKey struct{}

func (b *connections) accept(ctx context.Context, conn net.Conn) context.Context {
	b.mu.Lock()
	defer b.mu.Unlock()
	c := &connection{conn: conn}
	c.waits = b.waiting.PushBack(c)
	b.open[conn] = c
	if len(b.open) > b.most {
		longest := b.waiting.Front().Value.(*connection) // there is one: the new one waits
		b.forget(longest)
		hangUp(longest.conn)
	}
	return context.WithValue(ctx, connectionKey{}, c)
}

// hangUp closes without the farewell of TLS, for which the other end could have us wait.
func hangUp(conn net.Conn) {
	if t, ok := conn.(*tls.Conn); ok {
		conn = t.NetConn()
	}
	conn.Close()
}

func (b *connections) change(conn net.Conn, state http.ConnState) {
	if state != http.StateClosed && state != http.StateHijacked {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if c := b.open[conn]; c != nil {
		b.forget(c)
	}
}

func (b *connections) forget(c *connection) {
	delete(b.open, c.conn)
	if c.waits != nil {
		b.waiting.Remove(c.waits)
	}
}

// count keeps a connection from making room while a request of it is answered.
func (b *connections) count(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if c, ok := r.Context().Value(connectionKey{}).(*connection); ok {
			b.begin(c)
			defer b.end(c)
		}
		next.ServeHTTP(w, r)
	})
}

func (b *connections) begin(c *connection) {
	b.mu.Lock()
	defer b.mu.Unlock()
	c.serving++
	if c.waits != nil {
		b.waiting.Remove(c.waits)
		c.waits = nil
	}
}

func (b *connections) end(c *connection) {
	b.mu.Lock()
	defer b.mu.Unlock()
	c.serving--
	if c.serving == 0 && b.open[c.conn] == c {
		c.waits = b.waiting.PushBack(c)
	}
}
