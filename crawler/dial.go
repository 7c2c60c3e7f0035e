package crawler

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"

	"anatomy/crawler/dnsclient"
)

// A dialer opens connections: it resolves names with the DNS client, and checks each address.
type dialer struct {
	o          *Options
	dns        *dnsclient.Client
	activities *activities
	count      *counters
}

func (d *dialer) transport() *http.Transport {
	sessions := tls.NewLRUClientSessionCache(1024)
	t := &http.Transport{
		DialContext:            d.dial,
		ForceAttemptHTTP2:      true,
		TLSClientConfig:        &tls.Config{RootCAs: d.o.RootCAs, ClientSessionCache: sessions},
		TLSHandshakeTimeout:    d.o.ConnectTimeout,
		DisableCompression:     true, // package body decodes, within bounds
		MaxIdleConns:           d.o.IdleConns,
		MaxIdleConnsPerHost:    d.o.IdleConns, // no more are open than leases of the host are granted
		IdleConnTimeout:        time.Minute,
		MaxResponseHeaderBytes: d.o.MaxHeader,
	}
	if p := d.o.Proxy; p != nil && !p.isSOCKS() {
		t.Proxy = http.ProxyURL(p.url) // then dial is called with the address of the proxy
	}
	return t
}

// maxDials bounds the addresses of one host that are tried.
const maxDials = 4

// dial connects to a host, or to the proxy.
func (d *dialer) dial(ctx context.Context, _, hostPort string) (net.Conn, error) {
	if !d.o.Proxy.resolves() {
		return d.dialAddresses(ctx, hostPort)
	}
	network, begun := d.network(nil), d.o.Now()
	if !d.o.Proxy.isSOCKS() {
		conn, err := network.DialContext(ctx, "tcp", hostPort)
		return d.opened(ctx, conn, err, begun)
	}
	host, port, err := net.SplitHostPort(hostPort)
	if err != nil {
		return nil, err
	}
	conn, err := d.o.Proxy.dial(ctx, network, net.JoinHostPort(host, strconv.Itoa(int(d.port(port)))))
	return d.opened(ctx, conn, err, begun)
}

// network returns a dialer from the configured local address.
func (d *dialer) network(
	check func(context.Context, string, string, syscall.RawConn) error,
) *net.Dialer {
	network := &net.Dialer{Timeout: d.o.ConnectTimeout, ControlContext: check}
	if d.o.LocalAddr.IsValid() {
		network.LocalAddr = net.TCPAddrFromAddrPort(netip.AddrPortFrom(d.o.LocalAddr, 0))
	}
	return network
}

// opened counts a connection and guards it. err is that of the proxy.
func (d *dialer) opened(
	ctx context.Context, conn net.Conn, err error, begun time.Time,
) (net.Conn, error) {
	if err != nil {
		return nil, &proxyError{d.o.Proxy.url.Host, err}
	}
	d.count.connections.Add(1)
	if o, ok := ctx.Value(openedKey{}).(*opened); ok {
		o.add(d.o.Now().Sub(begun))
	}
	if d.o.MaySend != nil {
		conn = &guardedConn{conn, d.o.MaySend}
	}
	return d.o.Rate.wrap(ctx, conn), nil
}

// connect connects to an address, by SOCKS if the proxy uses it.
func (d *dialer) connect(ctx context.Context, at netip.AddrPort) (net.Conn, error) {
	if !d.o.Proxy.isSOCKS() {
		return d.network(d.check).DialContext(ctx, "tcp", at.String())
	}
	if err := d.check(ctx, "tcp", at.String(), nil); err != nil {
		return nil, err
	}
	conn, err := d.o.Proxy.dial(ctx, d.network(nil), at.String())
	if err != nil {
		return nil, &proxyError{d.o.Proxy.url.Host, err}
	}
	return conn, nil
}

// dialAddresses resolves a host and connects to its addresses in turn.
func (d *dialer) dialAddresses(ctx context.Context, hostPort string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(hostPort)
	if err != nil {
		return nil, err
	}
	d.activities.open(host, "DNS")
	defer d.activities.open(host, "")
	addrs, err := d.dns.Lookup(ctx, host)
	if err != nil {
		return nil, err
	}
	d.activities.open(host, "connecting")
	var first error
	for _, addr := range addrs[:min(len(addrs), maxDials)] {
		begun := d.o.Now()
		conn, err := d.connect(ctx, netip.AddrPortFrom(addr, d.port(port)))
		if err == nil {
			return d.opened(ctx, conn, nil, begun)
		}
		if first == nil {
			first = &dialError{host, addr, err}
		}
	}
	return nil, first
}

// A guardedConn calls Options.MaySend before each write, and does not write if that fails. So data
// that was about to be sent when the process was suspended is not sent when it resumes.
type guardedConn struct {
	net.Conn
	maySend func() error
}

func (c *guardedConn) Write(b []byte) (int, error) {
	if err := c.maySend(); err != nil {
		return 0, err
	}
	return c.Conn.Write(b)
}

// port returns the port to connect to for the port of a URL.
func (d *dialer) port(port string) uint16 {
	switch port {
	case "80":
		return uint16(d.o.HTTPPort)
	case "443":
		return uint16(d.o.HTTPSPort)
	}
	n, _ := strconv.ParseUint(port, 10, 16)
	return uint16(n)
}

// check refuses special addresses when the socket is about to connect. Nothing can change the
// address after that: no later DNS answer, no redirect, no other notation.
func (d *dialer) check(_ context.Context, _, address string, _ syscall.RawConn) error {
	if d.o.AllowPrivate {
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

// An opened counts the connections opened for a visit. The context of its requests carries it,
// because the transport opens connections on goroutines of its own.
type opened struct {
	n, took atomic.Int64
}

type openedKey struct{}

func (o *opened) add(took time.Duration) {
	o.took.Add(int64(took))
	o.n.Add(1)
}

// mean returns the mean time to connect, without DNS and TLS; 0 if no connection was opened.
func (o *opened) mean() time.Duration {
	return time.Duration(o.took.Load() / max(1, o.n.Load()))
}
