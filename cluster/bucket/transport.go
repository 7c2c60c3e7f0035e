package bucket

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"syscall"
	"time"
)

const (
	dialTime = 10 * time.Second
	stall    = 30 * time.Second // time without a byte in either direction after which a connection is closed

	maxHeader = 64 << 10
	maxAnswer = 8 << 20 // bytes of a response that is not an object: a page of a list has 1,000 names

	maxSkew = 15 * time.Minute // clock difference that servers accept
)

// A dialFunc connects to a server.
type dialFunc func(ctx context.Context, network, address string) (net.Conn, error)

// dialer returns the function that connects to servers. If plain is set it connects to local
// addresses only, even if the server's name resolves to others.
func dialer(plain bool) dialFunc {
	d := net.Dialer{Timeout: dialTime}
	if plain {
		d.Control = func(_, address string, _ syscall.RawConn) error {
			to, err := netip.ParseAddrPort(address)
			if err == nil && !isLocal(to.Addr()) {
				err = errPublic
			}
			return err
		}
	}
	return d.DialContext
}

// newTransport returns a transport over dial that fails requests without progress, and responses
// that no S3 server sends. HTTP/2 is disabled: its streams share a connection, so progress of one
// request would hide that another is stalled.
func newTransport(dial dialFunc, plain bool) *http.Transport {
	t := &http.Transport{
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			c, err := dial(ctx, network, address)
			if err != nil {
				return nil, err
			}
			return conn{c}, nil
		},
		TLSHandshakeTimeout:    dialTime,
		MaxIdleConnsPerHost:    16,
		IdleConnTimeout:        stall / 2,
		MaxResponseHeaderBytes: maxHeader,
		DisableCompression:     true, // objects are returned as stored
		WriteBufferSize:        64 << 10,
		ReadBufferSize:         64 << 10,
	}
	if !plain {
		t.Proxy = http.ProxyFromEnvironment
	}
	return t
}

// A conn is a connection that fails after [stall] without progress.
type conn struct{ net.Conn }

func (c conn) Read(p []byte) (int, error) {
	if err := c.SetDeadline(time.Now().Add(stall)); err != nil {
		return 0, err
	}
	return c.Conn.Read(p)
}

// Write also moves the deadline of a Read that waits for the answer.
func (c conn) Write(p []byte) (int, error) {
	if err := c.SetDeadline(time.Now().Add(stall)); err != nil {
		return 0, err
	}
	return c.Conn.Write(p)
}

// A checker verifies the responses of S3 servers and turns others into errors.
type checker struct{ next http.RoundTripper }

// A foreignError is the error of a response that no S3 server sends.
type foreignError struct{ what string }

func (e *foreignError) Error() string {
	return "it is not an S3 server, or this is not its port: " + e.what
}

// A clockError is the error of a request that a server refused because of the clock difference.
type clockError struct{ ahead time.Duration } // server's clock minus this machine's

func (e *clockError) Error() string {
	relation := "behind"
	if e.ahead < 0 {
		relation = "ahead of"
	}
	return fmt.Sprintf("the clock of this machine is %.1f hours %s the server's: set it",
		e.ahead.Abs().Hours(), relation)
}

func (c checker) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := c.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	if err := checkAnswer(answer); err != nil {
		answer.Body.Close()
		return nil, err
	}
	return answer, nil
}

// checkAnswer fails if a response is not from an S3 server, or refuses a request for its time. It
// bounds the body unless that is an object.
func checkAnswer(answer *http.Response) error {
	method, query := answer.Request.Method, answer.Request.URL.Query()
	ofObject := len(query) == 0
	status := answer.StatusCode
	if method != http.MethodGet || !ofObject || status >= 300 {
		answer.Body = readCloser{&limited{answer.Body, maxAnswer}, answer.Body}
	}
	switch {
	case status < 300 && query.Has("list-type"):
		return begins(answer, "<ListBucketResult")
	case status < 300 && query.Has("location"):
		return begins(answer, "<LocationConstraint")
	// Objects have an ETag, both in responses to put and to get.
	case status < 300 && method != http.MethodDelete && answer.Header.Get("ETag") == "":
		return &foreignError{"its answer has no ETag"}
	case status < 300:
		return nil
	case status >= 500, status == http.StatusRequestTimeout, status == http.StatusTooManyRequests:
		return nil // it may come from a proxy
	}
	if date, err := http.ParseTime(answer.Header.Get("Date")); err == nil {
		ahead := time.Until(date)
		if ahead.Abs() > maxSkew && (status == http.StatusForbidden || status == http.StatusBadRequest) {
			return &clockError{ahead}
		}
	}
	return begins(answer, "<Error")
}

// begins fails unless the first KiB of a response's body contains the start of an XML element.
func begins(answer *http.Response, element string) error {
	in := bufio.NewReaderSize(answer.Body, 1<<10)
	head, err := in.Peek(1 << 10)
	if err != nil && err != io.EOF {
		return err
	}
	if !bytes.Contains(head, []byte(element)) {
		return &foreignError{"it answers " + answer.Status}
	}
	answer.Body = readCloser{in, answer.Body}
	return nil
}

// A readCloser reads a body through another reader.
type readCloser struct {
	io.Reader
	io.Closer
}

// A limited reader fails after left bytes.
type limited struct {
	in   io.Reader
	left int64
}

func (l *limited) Read(p []byte) (int, error) {
	if l.left <= 0 {
		return 0, &foreignError{"its answer is too long"}
	}
	n, err := l.in.Read(p[:min(int64(len(p)), l.left)])
	l.left -= int64(n)
	return n, err
}
