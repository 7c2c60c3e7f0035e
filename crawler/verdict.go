package crawler

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/netip"
	"strings"

	"anatomy/crawler/dnsclient"
	"anatomy/crawler/internal/body"
	"anatomy/crawler/internal/reason"
	"anatomy/vocab"
	"anatomy/weburl"
)

// A dialError is the failure to connect to an address of a host.
type dialError struct {
	host string
	addr netip.Addr
	err  error
}

func (e *dialError) Error() string {
	var s *specialError
	if errors.As(e.err, &s) {
		return fmt.Sprintf("%s has the address %s (%s), which is only visited with --allow-private",
			e.host, e.addr, s.kind)
	}
	return fmt.Sprintf("connect to %s at %s: %s", e.host, e.addr, reason.Of(e.err))
}

func (e *dialError) Unwrap() error { return e.err }

// A proxyError is the failure to connect to the proxy, or through it.
type proxyError struct {
	proxy string // host and port
	err   error
}

func (e *proxyError) Error() string { return "proxy " + e.proxy + ": " + reason.Of(e.err) }

func (e *proxyError) Unwrap() error { return e.err }

// A specialError refuses an address that is not of the public internet.
type specialError struct{ kind string }

func (e *specialError) Error() string { return e.kind + " address" }

// verdict returns the outcome of a target for an error of its request. ctx is that of the request.
func verdict(
	ctx context.Context, u *weburl.URL, err error, maxHeader int64,
) (vocab.Outcome, string) {
	var large *body.TooLargeError
	var unsupported *body.UnsupportedError
	var special *specialError
	var dial *dialError
	var proxy *proxyError
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
	case ctx.Err() != nil: // first, because errors after the end of ctx look like network failures
		return vocab.Failed, context.Cause(ctx).Error()
	case errors.As(err, &proxy):
		return vocab.Failed, withScheme(u, proxy.Error())
	case errors.As(err, &dial):
		return vocab.Failed, withScheme(u, text)
	case isTLS(err):
		why := strings.TrimPrefix(reason.Of(err), "tls: ")
		return vocab.Refused, withScheme(u, "TLS with "+u.Host()+": "+why)
	case strings.Contains(text, "server response headers exceeded"),
		strings.Contains(text, "response header list larger"):
		return vocab.TooLarge, fmt.Sprintf("response header larger than %d bytes", maxHeader)
	}
	return vocab.Failed, withScheme(u, reason.Of(err))
}

// withScheme prefixes the text of a failure over https, which may not occur over http.
func withScheme(u *weburl.URL, text string) string {
	if u.Scheme() == "https" {
		return "https: " + text
	}
	return text
}

// isTLS reports whether the server does not support trusted TLS. Time-outs and lost connections
// during the handshake do not count, because they may be transient.
func isTLS(err error) bool {
	var cert *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	var alert tls.AlertError
	var authority x509.UnknownAuthorityError
	var name x509.HostnameError
	var invalid x509.CertificateInvalidError
	return errors.As(err, &cert) || errors.As(err, &record) || errors.As(err, &alert) ||
		errors.As(err, &authority) || errors.As(err, &name) || errors.As(err, &invalid) ||
		strings.Contains(err.Error(), "tls: ") && !strings.Contains(err.Error(), "i/o timeout")
}
