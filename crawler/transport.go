package crawler

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"anatomy/crawler/dnsclient"
	"anatomy/vocab"
	"anatomy/weburl"
)

// transport is net/http's with our own way of finding and opening connections.
func (c *Crawler) transport() *http.Transport {
	return &http.Transport{
		DialContext:            c.dial,
		ForceAttemptHTTP2:      true,
		TLSClientConfig:        &tls.Config{RootCAs: c.o.RootCAs, ClientSessionCache: tls.NewLRUClientSessionCache(1024)},
		TLSHandshakeTimeout:    c.o.ConnectTimeout,
		DisableCompression:     true, // content coding is undone under our bounds: see unpack
		MaxIdleConns:           c.o.IdleConns,
		MaxIdleConnsPerHost:    c.o.IdleConns, // no more than leases of the host go out are ever open
		IdleConnTimeout:        time.Minute,
		MaxResponseHeaderBytes: c.o.MaxHeader,
	}
}

// maxDials bounds the addresses of one host that are tried in turn.
const maxDials = 4

// dial resolves a host and connects to its addresses in turn.
func (c *Crawler) dial(ctx context.Context, _, hostPort string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(hostPort)
	if err != nil {
		return nil, err
	}
	c.visits.open(host, "DNS")
	defer c.visits.open(host, "")
	addrs, err := c.dns.Lookup(ctx, host)
	if err != nil {
		return nil, err
	}
	c.visits.open(host, "connecting")
	d := net.Dialer{Timeout: c.o.ConnectTimeout, ControlContext: c.check}
	var first error
	for _, addr := range addrs[:min(len(addrs), maxDials)] {
		begun := c.o.Now()
		conn, err := d.DialContext(ctx, "tcp", netip.AddrPortFrom(addr, c.port(port)).String())
		if err == nil {
			c.count.connections.Add(1)
			if o, ok := ctx.Value(openedKey{}).(*opened); ok {
				o.add(c.o.Now().Sub(begun))
			}
			return conn, nil
		}
		if first == nil {
			first = &dialError{host, addr, err}
		}
	}
	return nil, first
}

// An opened counts the connections that a visit opened. It goes with the context of its requests, for
// the transport opens connections on goroutines of its own.
type opened struct {
	n, took atomic.Int64
}

type openedKey struct{}

func (o *opened) add(took time.Duration) {
	o.took.Add(int64(took))
	o.n.Add(1)
}

// mean is the mean time of opening one, DNS and TLS not counted; 0 where there was none.
func (o *opened) mean() time.Duration {
	return time.Duration(o.took.Load() / max(1, o.n.Load()))
}

// port is where a URL's port is really served.
func (c *Crawler) port(port string) uint16 {
	switch port {
	case "80":
		return uint16(c.o.HTTPPort)
	case "443":
		return uint16(c.o.HTTPSPort)
	}
	n, _ := strconv.ParseUint(port, 10, 16)
	return uint16(n)
}

// check looks at the address that the socket is about to connect to. Nothing can come between: no
// later answer of a name server, no redirect, no form of writing the address.
func (c *Crawler) check(_ context.Context, _, address string, _ syscall.RawConn) error {
	if c.o.AllowPrivate {
		return nil
	}
	ap, err := netip.ParseAddrPort(address)
	if err != nil {
		return err
	}
	if kind := special(ap.Addr()); kind != "" {
		return &specialError{kind}
	}
	return nil
}

// A dialError says which address of which host could not be reached.
type dialError struct {
	host string
	addr netip.Addr
	err  error
}

func (e *dialError) Error() string {
	var s *specialError
	if errors.As(e.err, &s) {
		return fmt.Sprintf("%s has the address %s (%s), which is only visited with --allow-private", e.host, e.addr, s.kind)
	}
	return fmt.Sprintf("connect to %s at %s: %s", e.host, e.addr, shortly(e.err))
}

func (e *dialError) Unwrap() error { return e.err }

// A specialError refuses an address that is not of the public internet.
type specialError struct{ kind string }

func (e *specialError) Error() string { return e.kind + " address" }

// shortly drops the addresses and operations that net puts around an error of the system.
func shortly(err error) string {
	var errno syscall.Errno
	var op *net.OpError
	switch {
	case errors.As(err, &errno):
		return errno.Error()
	case errors.As(err, &op) && op.Timeout():
		return "timed out"
	case errors.As(err, &op):
		return op.Err.Error()
	}
	return err.Error()
}

// verdict says what an error of a request means for its target. ctx is the request's own.
func (c *Crawler) verdict(ctx context.Context, u *weburl.URL, err error) (vocab.Outcome, string) {
	var large *largeError
	var unsupported *unsupportedError
	var special *specialError
	var dial *dialError
	text := err.Error()
	switch {
	case errors.As(err, &large):
		return vocab.TooLarge, text
	case errors.As(err, &unsupported):
		return vocab.Unsupported, text
	case errors.As(err, &special):
		return vocab.Refused, text
	case errors.Is(err, dnsclient.ErrNoName):
		return vocab.NoName, u.Hostname() + ": no such name"
	case ctx.Err() != nil: // before the rest: its effects look like trouble of the network
		return vocab.Failed, context.Cause(ctx).Error()
	case errors.As(err, &dial):
		return vocab.Failed, overTLS(u, text)
	case isTLS(err):
		return vocab.Refused, overTLS(u, "TLS with "+u.Host()+": "+strings.TrimPrefix(shortly(err), "tls: "))
	case strings.Contains(text, "server response headers exceeded") || strings.Contains(text, "response header list larger"):
		return vocab.TooLarge, fmt.Sprintf("response header larger than %d bytes", c.o.MaxHeader)
	}
	return vocab.Failed, overTLS(u, shortly(err))
}

// overTLS marks trouble that http might not have.
func overTLS(u *weburl.URL, text string) string {
	if u.Scheme() == "https" {
		return "https: " + text
	}
	return text
}

// isTLS says whether the other side speaks no TLS that we trust. Time-outs and lost connections
// during the handshake are not of that kind: they may pass.
func isTLS(err error) bool {
	var cert *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	var alert tls.AlertError
	var authority x509.UnknownAuthorityError
	var name x509.HostnameError
	var invalid x509.CertificateInvalidError
	return errors.As(err, &cert) || errors.As(err, &record) || errors.As(err, &alert) || errors.As(err, &authority) ||
		errors.As(err, &name) || errors.As(err, &invalid) ||
		strings.Contains(err.Error(), "tls: ") && !strings.Contains(err.Error(), "i/o timeout")
}

// A block is a range of addresses that is not of the public internet (RFC 6890 and its registries).
type block struct {
	prefix netip.Prefix
	kind   string
}

var blocks = []block{
	{netip.MustParsePrefix("0.0.0.0/8"), "this network"},
	{netip.MustParsePrefix("10.0.0.0/8"), "private"},
	{netip.MustParsePrefix("100.64.0.0/10"), "shared by a provider's customers"},
	{netip.MustParsePrefix("127.0.0.0/8"), "loopback"},
	{netip.MustParsePrefix("169.254.0.0/16"), "link-local"},
	{netip.MustParsePrefix("172.16.0.0/12"), "private"},
	{netip.MustParsePrefix("192.0.0.0/24"), "protocol assignments"},
	{netip.MustParsePrefix("192.0.2.0/24"), "documentation"},
	{netip.MustParsePrefix("192.168.0.0/16"), "private"},
	{netip.MustParsePrefix("198.18.0.0/15"), "benchmarks"},
	{netip.MustParsePrefix("198.51.100.0/24"), "documentation"},
	{netip.MustParsePrefix("203.0.113.0/24"), "documentation"},
	{netip.MustParsePrefix("224.0.0.0/4"), "multicast"},
	{netip.MustParsePrefix("240.0.0.0/4"), "reserved"},
	{netip.MustParsePrefix("::1/128"), "loopback"},
	{netip.MustParsePrefix("::/96"), "IPv4-compatible"},
	{netip.MustParsePrefix("64:ff9b:1::/48"), "local translation"},
	{netip.MustParsePrefix("100::/64"), "discard"},
	{netip.MustParsePrefix("2001::/23"), "protocol assignments"},
	{netip.MustParsePrefix("2001:db8::/32"), "documentation"},
	{netip.MustParsePrefix("fc00::/7"), "private"},
	{netip.MustParsePrefix("fe80::/10"), "link-local"},
	{netip.MustParsePrefix("fec0::/10"), "site-local"},
	{netip.MustParsePrefix("ff00::/8"), "multicast"},
}

var (
	nat64   = netip.MustParsePrefix("64:ff9b::/96") // the IPv4 address is in the last four bytes (RFC 6052)
	sixToV4 = netip.MustParsePrefix("2002::/16")    // and here in bytes 2 to 5 (RFC 3056)
)

// special names the kind of an address that is not of the public internet; "" for all others. An
// IPv4 address inside an IPv6 one is taken out and judged itself.
func special(addr netip.Addr) string {
	addr = addr.Unmap().WithZone("")
	raw := addr.As16()
	switch {
	case nat64.Contains(addr):
		addr = netip.AddrFrom4([4]byte(raw[12:16]))
	case sixToV4.Contains(addr):
		addr = netip.AddrFrom4([4]byte(raw[2:6]))
	}
	for _, b := range blocks {
		if b.prefix.Contains(addr) {
			return b.kind
		}
	}
	return ""
}
