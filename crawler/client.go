package crawler

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"anatomy/crawler/dnsclient"
	"anatomy/crawler/internal/body"
	"anatomy/crawler/signin"
	"anatomy/vocab"
	"anatomy/weburl"
)

// A client sends requests and reads answers. All visits share it. It is immutable.
type client struct {
	o        *Options
	http     *http.Transport
	header   http.Header                // of every request
	sessions map[string]*signin.Session // by origin, of those with a sign-in
	count    *counters
}

func newClient(o *Options, d *dialer) *client {
	c := &client{o: o, http: d.transport(), count: d.count}
	c.header = http.Header{
		"User-Agent": {o.UserAgent},
		"Accept": {"text/html,application/xhtml+xml,text/plain;q=0.8,text/markdown;q=0.8," +
			"application/rss+xml;q=0.8,application/atom+xml;q=0.8,application/pdf;q=0.8,*/*;q=0.1"},
		"Accept-Language": {"en,*;q=0.5"},
		"Accept-Encoding": {"gzip, deflate, br, zstd"},
	}
	c.sessions = o.Credentials.Sessions(signin.Options{
		Transport: countingTransport{c, d.transport()}, Timeout: o.HeaderTimeout, Now: o.Now,
	})
	return c
}

// A countingTransport counts requests, and sets the user agent.
type countingTransport struct {
	c    *client
	next *http.Transport
}

func (t countingTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	t.c.count.requests.Add(1)
	r = r.Clone(r.Context())
	r.Header.Set("User-Agent", t.c.o.UserAgent)
	return t.next.RoundTrip(r)
}

// CloseIdleConnections is for http.Client.
func (t countingTransport) CloseIdleConnections() { t.next.CloseIdleConnections() }

func (c *client) close() {
	c.http.CloseIdleConnections()
	for _, s := range c.sessions {
		s.Close()
	}
}

// get sends one request, conditional if a version is stored. It does not follow redirects, like any
// http.Transport.
func (c *client) get(
	ctx context.Context, u *weburl.URL, held vocab.Validators,
) (*http.Response, error) {
	return c.send(ctx, u, held, "")
}

// send is get with the cookies of a visit.
func (c *client) send(
	ctx context.Context, u *weburl.URL, held vocab.Validators, cookies string,
) (*http.Response, error) {
	if err := c.o.checkStated(u); err != nil {
		return nil, err
	}
	header, session := c.o.Credentials.Header(u.Origin(), c.header), c.sessions[u.Origin()]
	if session != nil {
		header = session.Header(header, u)
	}
	if cookies != "" {
		header = header.Clone()
		header["Cookie"] = append(header["Cookie"], cookies)
	}
	req := (&http.Request{
		Method: http.MethodGet,
		URL:    requestURL(u, c.http.Proxy != nil && u.Scheme() == "http"),
		Host:   u.Host(),
		Header: conditional(header, held),
		Proto:  "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
	}).WithContext(ctx)
	resp, err := c.http.RoundTrip(req)
	if wasSent(err) {
		c.count.requests.Add(1)
	}
	if session != nil && err == nil {
		session.Keep(u, resp)
	}
	return resp, err
}

// wasSent reports whether a request with that result may have reached a server: its name was
// resolved and a connection was opened.
func wasSent(err error) bool {
	var dial *dialError
	if err == nil || errors.As(err, &dial) {
		return err == nil
	}
	for _, unresolved := range []error{
		dnsclient.ErrNoName, dnsclient.ErrTimeout, dnsclient.ErrServer, dnsclient.ErrClosed,
	} {
		if errors.Is(err, unresolved) {
			return false
		}
	}
	return true
}

// requestURL returns u for net/http. The path is sent byte for byte; url.URL would escape some
// bytes that weburl leaves alone. A path that begins with "//" must still be escaped, because an
// opaque one would be parsed as a host. A proxy that reads requests gets the complete URL.
func requestURL(u *weburl.URL, whole bool) *url.URL {
	path, query, hasQuery := strings.Cut(u.PathAndQuery(), "?")
	target := &url.URL{
		Scheme: u.Scheme(), Host: u.Host(),
		RawQuery: query, ForceQuery: hasQuery && query == "",
	}
	if !strings.HasPrefix(path, "//") {
		if target.Opaque = path; whole {
			target.Opaque = "//" + u.Host() + path
		}
		return target
	}
	target.RawPath = path
	if plain, err := url.PathUnescape(path); err == nil {
		target.Path = plain
	} else {
		target.Path, target.RawPath = path, ""
	}
	return target
}

// open returns a reader of at most max bytes of a response, and counts what it reads. The caller
// calls release.
func (c *client) open(
	resp *http.Response, g *guard, max int64,
) (r *body.Reader, release func(), err error) {
	r, err = body.New(resp, max, func(n int64) {
		g.received(n)
		c.count.bytes.Add(uint64(n))
	})
	if err != nil {
		return nil, nil, err
	}
	return r, func() {
		c.count.unpacked.Add(uint64(r.Decoded()))
		r.Release()
	}, nil
}

// openWhole is open for a body that is only useful as a whole: a Content-Length over max is an
// error.
func (c *client) openWhole(
	resp *http.Response, g *guard, max int64,
) (r *body.Reader, release func(), err error) {
	if resp.ContentLength > max {
		return nil, nil, body.TooLarge(max)
	}
	return c.open(resp, g, max)
}
