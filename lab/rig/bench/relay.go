package bench

import (
	"io"
	"net"
	"sync"
	"time"
)

// A relay passes on TCP connections, and can cut them.
type relay struct {
	to       string // address
	listener net.Listener

	mu    sync.Mutex
	until time.Time // connections are refused until then
	conns map[net.Conn]bool
}

// listen starts a relay to an address, at a free port of loopback.
func listen(to string) (*relay, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	r := &relay{to: to, listener: l, conns: map[net.Conn]bool{}}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go r.pass(c)
		}
	}()
	return r, nil
}

func (r *relay) address() string { return r.listener.Addr().String() }

// pass passes on what both sides of a connection send.
func (r *relay) pass(from net.Conn) {
	defer from.Close()
	to, err := net.Dial("tcp", r.to)
	if err != nil {
		return
	}
	defer to.Close()
	if !r.track(from, to) {
		return
	}
	defer r.forget(from, to)
	ended := make(chan struct{}, 2)
	for _, way := range [][2]net.Conn{{from, to}, {to, from}} {
		go func() {
			io.Copy(way[0], way[1])
			ended <- struct{}{}
		}()
	}
	<-ended
}

// track keeps connections for pause, unless there is a pause.
func (r *relay) track(conns ...net.Conn) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if time.Now().Before(r.until) {
		return false
	}
	for _, c := range conns {
		r.conns[c] = true
	}
	return true
}

func (r *relay) forget(conns ...net.Conn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range conns {
		delete(r.conns, c)
	}
}

// pause cuts all connections, and accepts none for a time.
func (r *relay) pause(d time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.until = time.Now().Add(d)
	for c := range r.conns {
		c.Close()
	}
}

// close cuts all connections permanently.
func (r *relay) close() {
	r.listener.Close()
	r.pause(time.Hour)
}
