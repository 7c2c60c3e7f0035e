package bus

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
)

// A Client is a crawler's end of the bus. It connects again by itself.
type Client struct {
	ID   string
	conn *nats.Conn

	splitter splitter
	closed   chan error // gets the error with which the connection ended for good
	again    chan struct{}
}

// ErrRefused is the error of a server that does not accept the token.
var ErrRefused = errors.New("the owner refuses the token of the join line: it was made for another data folder")

const (
	retryEvery  = time.Second
	dialFor     = 10 * time.Second
	writeBuffer = 256 << 10 // of the socket: what is in it is before a sign of life
)

// Dial connects. While the server cannot be reached it tries again, until ctx ends. handle gets each
// message, in one goroutine; it owns the message and must not block.
func Dial(
	ctx context.Context, l JoinLine, log *slog.Logger, handle func(message []byte),
) (*Client, error) {
	c := &Client{ID: RandomID(), closed: make(chan error, 1), again: make(chan struct{}, 1)}
	for tries := 0; ; tries++ {
		err := c.connect(l)
		switch {
		case err == nil:
			return c, c.receive(log, handle)
		case isFinal(err) != nil:
			return nil, isFinal(err)
		case tries == 0:
			log.Warn("the owner cannot be reached; trying again", "address", l.Address, "error", err)
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("join %s: %w", l.Address, err)
		case <-time.After(retryEvery):
		}
	}
}

// isFinal returns the error to fail with if trying again cannot help, else nil.
func isFinal(err error) error {
	switch {
	case errors.Is(err, nats.ErrAuthorization), errors.Is(err, nats.ErrAuthExpired):
		return ErrRefused
	case err != nil && strings.Contains(err.Error(), errOtherServer.Error()):
		return errOtherServer
	}
	return nil
}

// A dialer keeps its last error, which the NATS client does not return.
type dialer struct {
	net.Dialer
	err error
}

func (d *dialer) Dial(network, address string) (c net.Conn, err error) {
	c, err = d.Dialer.Dial(network, address)
	d.err = err
	if tcp, ok := c.(*net.TCPConn); ok {
		err = tcp.SetWriteBuffer(writeBuffer)
	}
	return c, err
}

func (c *Client) connect(l JoinLine) (err error) {
	d := &dialer{Dialer: net.Dialer{Timeout: dialFor}}
	defer func() {
		if errors.Is(err, nats.ErrNoServers) && d.err != nil {
			err = d.err
		}
	}()
	c.conn, err = nats.Connect("tls://"+l.Address,
		nats.UserInfo(string(l.Role)+"."+c.ID, l.Token), nats.Name("anatomy "+string(l.Role)),
		nats.Secure(clientTLS(l.Authority)), nats.TLSHandshakeFirst(),
		nats.SetCustomDialer(d), nats.MaxReconnects(-1), nats.ReconnectWait(retryEvery), nats.ReconnectBufSize(-1),
		nats.PingInterval(10*time.Second), nats.MaxPingsOutstanding(3), nats.NoEcho(),
		nats.ReconnectHandler(func(*nats.Conn) {
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
			log.Debug("a message was lost", "error", err)
		}
		if message != nil {
			handle(message)
		}
	})
	if err == nil {
		err = sub.SetPendingLimits(-1, maxPending)
	}
	if err == nil {
		err = c.conn.Flush()
	}
	return err
}

// Send sends a message to the owner. It is lost if the connection is.
func (c *Client) Send(message []byte) error {
	return c.splitter.split(message, func(part []byte) error { return c.conn.Publish("up."+c.ID, part) })
}

// Reconnected gets a value after each time that the connection was lost and came back. Messages may
// be lost.
func (c *Client) Reconnected() <-chan struct{} { return c.again }

// Closed gets the error with which the connection ended for good, such as ErrRefused.
func (c *Client) Closed() <-chan error { return c.closed }

// Close ends the connection, after what was sent has left.
func (c *Client) Close() {
	c.conn.FlushTimeout(time.Second)
	c.conn.Close()
}
