package bus

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
)

// A Client is a crawler's end of the bus. It reconnects by itself.
type Client struct {
	ID     string
	conn   *nats.Conn
	dialer *dialer

	splitter splitter
	closed   chan error // receives the error with which the connection ended permanently
	again    chan struct{}
}

// ErrRefused is the error of a server that rejects the token.
var ErrRefused = errors.New("the owner refuses the token of the join line: it was made for another data folder")

const (
	retryEvery  = time.Second
	dialFor     = 5 * time.Second // bounds one round of attempts: the owner may start during it
	writeBuffer = 256 << 10       // of the socket: a sign of life waits for the bytes in it

	// A connection to a machine that lost power is detected after three missed pings.
	pingEvery = 4 * time.Second
)

// Dial connects. While the server cannot be reached it retries until ctx ends. handle is called
// with each message from one goroutine; it owns the message and must not block.
func Dial(
	ctx context.Context, l JoinLine, log *slog.Logger, handle func(message []byte),
) (*Client, error) {
	c := &Client{ID: RandomID(), closed: make(chan error, 1), again: make(chan struct{}, 1)}
	c.dialer = &dialer{tls: clientTLS(l.Authority), joined: l.Addresses}
	for tries := 0; ; tries++ {
		err := c.connect(l)
		switch {
		case err == nil:
			return c, c.receive(log, handle)
		case isFinal(err) != nil:
			return nil, isFinal(err)
		case tries == 0:
			log.Warn("the owner cannot be reached; trying again", "address", strings.Join(l.Addresses, ", "), "error", err)
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("join %s: %w", strings.Join(l.Addresses, ", "), err)
		case <-time.After(retryEvery):
		}
	}
}

// isFinal returns the error that retrying cannot fix, or nil.
func isFinal(err error) error {
	switch {
	case errors.Is(err, nats.ErrAuthorization), errors.Is(err, nats.ErrAuthExpired):
		return ErrRefused
	case err != nil && strings.Contains(err.Error(), ErrOtherServer.Error()):
		return ErrOtherServer
	}
	return nil
}

// A dialer connects to the owner at any of its addresses.
type dialer struct {
	tls *tls.Config

	joined []string // addresses of the join line

	mu       sync.Mutex
	received []string // addresses received from the owner
	current  string   // address of the last connection
	err      error    // of the last Dial, which the NATS client does not return
}

// addresses returns all addresses that may be the owner's.
func (d *dialer) addresses() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	all := slices.Clone(d.joined)
	for _, address := range append(slices.Clip(d.received), d.current) {
		if address != "" && !slices.Contains(all, address) {
			all = append(all, address)
		}
	}
	return all
}

// learn replaces the addresses that an owner sent before.
func (d *dialer) learn(received []string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.received = received
}

// SkipTLSHandshake makes the NATS client leave TLS to Dial.
func (d *dialer) SkipTLSHandshake() bool { return true }

// Dial connects to all known addresses at the same time. It returns the first connection whose
// server has proved to be the owner: a suspended machine accepts connections, too.
func (d *dialer) Dial(string, string) (net.Conn, error) {
	addresses := d.addresses()
	ctx, cancel := context.WithTimeout(context.Background(), dialFor)
	type result struct {
		address string
		conn    net.Conn
		err     error
	}
	results := make(chan result, len(addresses))
	for _, address := range addresses {
		go func() {
			conn, err := d.connect(ctx, address)
			results <- result{address, conn, err}
		}()
	}
	var failed error
	for i := range addresses {
		r := <-results
		if r.err == nil {
			cancel()
			go func() {
				for range len(addresses) - i - 1 {
					if r := <-results; r.err == nil {
						r.conn.Close()
					}
				}
			}()
			d.mu.Lock()
			defer d.mu.Unlock()
			d.current = r.address
			return r.conn, nil
		}
		if failed == nil || errors.Is(failed, ErrOtherServer) { // other errors may be transient
			failed = r.err
		}
	}
	cancel()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.err = failed
	return nil, failed
}

func (d *dialer) connect(ctx context.Context, address string) (net.Conn, error) {
	c, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	err = c.(*net.TCPConn).SetWriteBuffer(writeBuffer)
	over := tls.Client(c, d.tls)
	if err == nil {
		err = over.HandshakeContext(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return over, nil
}

func (d *dialer) lastError() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.err
}

func (c *Client) connect(l JoinLine) (err error) {
	defer func() {
		if last := c.dialer.lastError(); errors.Is(err, nats.ErrNoServers) && last != nil {
			err = last
		}
	}()
	c.conn, err = nats.Connect("tls://"+l.Addresses[0],
		nats.UserInfo(string(l.Role)+"."+c.ID, l.Token), nats.Name("anatomy "+string(l.Role)),
		nats.Secure(), nats.TLSHandshakeFirst(), nats.SkipHostLookup(),
		nats.SetCustomDialer(c.dialer), nats.MaxReconnects(-1), nats.ReconnectWait(retryEvery), nats.ReconnectBufSize(-1),
		nats.PingInterval(pingEvery), nats.MaxPingsOutstanding(2), nats.NoEcho(),
		nats.ReconnectHandler(func(n *nats.Conn) {
			_ = c.ask(n) // if this fails, the connection is lost again
			select {
			case c.again <- struct{}{}:
			default:
			}
		}),
		nats.ClosedHandler(func(n *nats.Conn) { c.closed <- n.LastError() }),
		nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}),
	)
	return err
}

func (c *Client) receive(log *slog.Logger, handle func([]byte)) error {
	var j joiner
	sub, err := c.conn.Subscribe("down."+c.ID, func(m *nats.Msg) {
		message, err := j.add(m.Data)
		if err != nil {
			log.Debug("lost a message", "error", err)
		}
		if message != nil {
			handle(message)
		}
	})
	if err == nil {
		err = sub.SetPendingLimits(-1, maxPending)
	}
	if err == nil {
		_, err = c.conn.Subscribe(ownersSubject, func(m *nats.Msg) { c.learn(m.Data, log) })
	}
	if err == nil {
		_, err = c.conn.Subscribe(ownersSubject+"."+c.ID, func(m *nats.Msg) { c.learn(m.Data, log) })
	}
	if err == nil {
		err = c.ask(c.conn)
	}
	if err == nil {
		err = c.conn.Flush()
	}
	return err
}

// ask requests the addresses of the machines that may be the owner later.
func (c *Client) ask(n *nats.Conn) error { return n.Publish("asks."+c.ID, nil) }

// learn stores the addresses of machines that may be the owner later.
func (c *Client) learn(message []byte, log *slog.Logger) {
	var all []string
	if err := json.Unmarshal(message, &all); err != nil || len(all) > maxAddresses || !isAddresses(all) {
		log.Warn("the owner sent invalid addresses")
		return
	}
	c.dialer.learn(all)
}

// Send sends a message to the owner. It is lost if the connection is.
func (c *Client) Send(message []byte) error {
	return c.splitter.split(message, func(part []byte) error { return c.conn.Publish("up."+c.ID, part) })
}

// Reconnected receives a value after each reconnection. Messages may have been lost.
func (c *Client) Reconnected() <-chan struct{} { return c.again }

// Closed receives the error with which the connection ended permanently, such as ErrRefused.
func (c *Client) Closed() <-chan error { return c.closed }

// Close ends the connection after all sent messages have left.
func (c *Client) Close() {
	c.conn.FlushTimeout(time.Second)
	c.conn.Close()
}
