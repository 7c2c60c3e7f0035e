package web

import (
	"bytes"
	"container/heap"
	"container/list"
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/netip"
	"sync"

	"anatomy/web/admin"
)

// DefaultConnections is the default limit of open connections. Each takes about 20 KB.
const DefaultConnections = 4096

// maxBodies bounds the bodies of requests that are being read, in bytes over all connections.
const maxBodies = 32 << 20

// maxPosted bounds the body that is read before a request is answered, in bytes. No handler reads
// more.
const maxPosted = admin.MaxForm

// connections limits open connections. Above the limit it closes the slowest one of the network
// that has the most: the one that has kept the server waiting longest. So neither many nor slow
// clients lock others out, as they would if new connections queued (golang.org/x/net/netutil), and
// a network never loses a connection to a network with fewer.
//
// A connection keeps the server waiting while it is idle, sends a request, header or body, or does
// not read what is written to it. It is never closed while its request is being answered, that is
// between the last byte of the body and the first byte of the answer, or between two writes.
//
// Every connection of open is in one network. It is in the network's waiting list if it keeps the
// server waiting, those first that began first.
type connections struct {
	most   int
	bodies int // maxBodies

	mu       sync.Mutex // guards all below, and every connection and network
	open     map[net.Conn]*connection
	networks map[netip.Prefix]*network
	sizes    bySize    // all of networks
	reading  list.List // of *posted, those first that began first
	held     int       // bytes of reading
}

// A network is an address prefix that one party probably controls.
type network struct {
	prefix  netip.Prefix
	open    int
	waiting list.List // of *connection
	index   int       // in bySize
}

type connection struct {
	conn    net.Conn
	network *network
	serving int           // requests; more than one in HTTP/2
	writing int           // of these, in a call of Write
	waits   *list.Element // in network.waiting if serving == writing, else nil
}

// A posted body is being read into memory.
type posted struct {
	from *connection
	held int           // bytes
	in   *list.Element // in connections.reading, nil if its connection was closed
}

func newConnections(most int) *connections {
	return &connections{
		most: most, bodies: maxBodies,
		open: make(map[net.Conn]*connection), networks: make(map[netip.Prefix]*network),
	}
}

// bySize is a heap of networks, the one with the most connections first.
type bySize []*network

func (s bySize) Len() int           { return len(s) }
func (s bySize) Less(i, j int) bool { return s[i].open > s[j].open }
func (s bySize) Swap(i, j int) {
	s[i], s[j] = s[j], s[i]
	s[i].index, s[j].index = i, j
}

// Push implements heap.Interface.
func (s *bySize) Push(n any) {
	n.(*network).index = len(*s)
	*s = append(*s, n.(*network))
}

// Pop implements heap.Interface.
func (s *bySize) Pop() any {
	last := len(*s) - 1
	n := (*s)[last]
	(*s)[last] = nil
	*s = (*s)[:last]
	return n
}

// watch installs the hooks of a server.
func (b *connections) watch(server *http.Server) {
	server.ConnContext = b.accept
	server.ConnState = b.change
	server.Handler = b.count(server.Handler)
}

type connectionKey struct{}

func (b *connections) accept(ctx context.Context, conn net.Conn) context.Context {
	b.mu.Lock()
	defer b.mu.Unlock()
	c := &connection{conn: conn, network: b.networkOf(conn)}
	c.network.open++
	heap.Fix(&b.sizes, c.network.index)
	b.open[conn] = c
	b.update(c)
	if len(b.open) > b.most {
		slowest := b.sizes[0].waiting.Front()
		if slowest == nil { // the largest network has answers coming
			slowest = c.network.waiting.Front() // not empty: it holds c
		}
		b.close(slowest.Value.(*connection))
	}
	return context.WithValue(ctx, connectionKey{}, c)
}

// networkOf returns the network of a connection, which is added if it is new.
func (b *connections) networkOf(conn net.Conn) *network {
	prefix := prefixOf(conn)
	n := b.networks[prefix]
	if n == nil {
		n = &network{prefix: prefix}
		b.networks[prefix] = n
		heap.Push(&b.sizes, n)
	}
	return n
}

// prefixOf returns the network of a connection's peer: /24 for IPv4 and /56 for IPv6, which is what
// one customer of a provider has. An unknown address has the zero Prefix.
func prefixOf(conn net.Conn) netip.Prefix {
	peer, ok := conn.RemoteAddr().(*net.TCPAddr)
	if !ok {
		return netip.Prefix{}
	}
	addr := peer.AddrPort().Addr().Unmap().WithZone("")
	bits := 24
	if addr.Is6() {
		bits = 56
	}
	prefix, _ := addr.Prefix(bits) // in range
	return prefix
}

func (b *connections) close(c *connection) {
	b.forget(c)
	hangUp(c.conn)
}

// hangUp closes a connection without the closing message of TLS, which could block.
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

// forget removes a connection, and its network if that has no other.
func (b *connections) forget(c *connection) {
	if b.open[c.conn] != c {
		return
	}
	delete(b.open, c.conn)
	b.update(c)
	n := c.network
	if n.open--; n.open > 0 {
		heap.Fix(&b.sizes, n.index)
		return
	}
	heap.Remove(&b.sizes, n.index)
	delete(b.networks, n.prefix)
}

// update adds a connection to the waiting ones of its network, or removes it.
func (b *connections) update(c *connection) {
	waits := c.serving == c.writing && b.open[c.conn] == c
	switch {
	case waits && c.waits == nil:
		c.waits = c.network.waiting.PushBack(c)
	case !waits && c.waits != nil:
		c.network.waiting.Remove(c.waits)
		c.waits = nil
	}
}

// count wraps a handler. A request counts as being answered once its body is complete, and not
// while the client does not read.
func (b *connections) count(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, ok := r.Context().Value(connectionKey{}).(*connection)
		if !ok {
			next.ServeHTTP(w, r)
			return
		}
		if r.ContentLength != 0 {
			if err := b.readBody(c, r); err != nil {
				w.Header().Set("Connection", "close")
				http.Error(w, "The body of the request did not arrive.", http.StatusRequestTimeout)
				return
			}
		}
		b.begin(c)
		defer b.end(c)
		next.ServeHTTP(&watchedWriter{w, b, c}, r)
	})
}

// readBody reads the body of a request into memory, up to maxPosted bytes. Handlers read the rest
// from the connection, unless they refuse the request.
func (b *connections) readBody(c *connection, r *http.Request) error {
	p := &posted{from: c}
	b.mu.Lock()
	p.in = b.reading.PushBack(p)
	b.mu.Unlock()
	var body bytes.Buffer
	_, err := io.Copy(&body, io.LimitReader(postedReader{r.Body, b, p}, maxPosted+1))
	b.mu.Lock()
	b.endBody(p)
	b.mu.Unlock()
	if err != nil {
		return err
	}
	r.Body = readBody{io.MultiReader(&body, r.Body), r.Body}
	return nil
}

// endBody records that a body is no longer read.
func (b *connections) endBody(p *posted) {
	if p.in != nil {
		b.reading.Remove(p.in)
		b.held -= p.held
		p.in = nil
	}
}

// A readBody is a body whose beginning was read in advance.
type readBody struct {
	io.Reader
	io.Closer
}

// A postedReader reads a body.
type postedReader struct {
	io.Reader
	b *connections
	p *posted
}

// Read reads part of the body. It makes room by closing the connections whose bodies began first.
func (r postedReader) Read(into []byte) (n int, err error) {
	n, err = r.Reader.Read(into)
	r.b.mu.Lock()
	defer r.b.mu.Unlock()
	if r.p.in != nil {
		r.p.held += n
		r.b.held += n
	}
	for r.b.held > r.b.bodies {
		first := r.b.reading.Front().Value.(*posted) // not empty: held is the sum of theirs
		r.b.endBody(first)
		r.b.close(first.from)
	}
	return n, err
}

func (b *connections) begin(c *connection) {
	b.mu.Lock()
	defer b.mu.Unlock()
	c.serving++
	b.update(c)
}

func (b *connections) end(c *connection) {
	b.mu.Lock()
	defer b.mu.Unlock()
	c.serving--
	b.update(c)
}

// A watchedWriter counts a connection as waiting while the client does not accept written data.
type watchedWriter struct {
	http.ResponseWriter
	b *connections
	c *connection
}

// Unwrap is for http.ResponseController.
func (w *watchedWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// Write implements http.ResponseWriter.
func (w *watchedWriter) Write(p []byte) (int, error) {
	defer w.blocked()()
	return w.ResponseWriter.Write(p)
}

// Flush implements http.Flusher.
func (w *watchedWriter) Flush() {
	defer w.blocked()()
	http.NewResponseController(w.ResponseWriter).Flush() // an error shows at the next write
}

// blocked counts the request as waiting for its client until the returned function is called.
func (w *watchedWriter) blocked() (done func()) {
	b, c := w.b, w.c
	b.mu.Lock()
	defer b.mu.Unlock()
	c.writing++
	b.update(c)
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		c.writing--
		b.update(c)
	}
}
