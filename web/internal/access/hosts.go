// Package access decides which requests are answered: by the host that they name, the origin that they
// come from, the number of searches of a client, and its wrong tokens.
package access

import (
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"

	"golang.org/x/net/idna"

	"anatomy/web/internal/respond"
	"anatomy/web/internal/text"
)

// Hosts are the names under which a server answers. A page of another site whose name its owner
// points at this machine (DNS rebinding) has the same origin as the server in the eyes of a browser,
// so CORS does not stop it; but its requests name that site as their host. Names and addresses of
// loopback are always allowed. Ports do not count.
type Hosts struct {
	// Certificate returns the certificate whose host names are allowed, too, at the time of the call.
	// *.NAME there means the names with one label more (RFC 6125 §6.4.3). It is nil if there is no
	// certificate.
	Certificate func() *x509.Certificate

	names     map[string]bool
	suffixes  []string // ".example.org", of *.example.org
	addresses bool     // every IP address: nobody can rebind these
}

// NewHosts returns the hosts of some names. A name is a host name, *.NAME for all names below one,
// or an IP address; "", 0.0.0.0 and :: mean every IP address, as in a listening address.
func NewHosts(names []string) (*Hosts, error) {
	h := &Hosts{names: map[string]bool{}}
	for _, raw := range names {
		below, isPattern := strings.CutPrefix(raw, "*.")
		name := hostName(below)
		if addr, err := netip.ParseAddr(name); name == "" || err == nil && addr.IsUnspecified() {
			if isPattern {
				return nil, fmt.Errorf("%q is not a host name", raw)
			}
			h.addresses = true
			continue
		} else if err == nil && !isPattern {
			h.names[addr.Unmap().String()] = true
			continue
		}
		ascii, err := idna.Lookup.ToASCII(name)
		switch {
		case err != nil || strings.ContainsAny(below, "/*@"):
			return nil, fmt.Errorf("%q is not a host name: write search.example.org, or *.example.org", raw)
		case isPattern:
			h.suffixes = append(h.suffixes, "."+ascii)
		default:
			h.names[ascii] = true
		}
	}
	return h, nil
}

// hostName returns the name of a Host header in lower case, without port, brackets and final dot.
func hostName(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	return strings.ToLower(strings.TrimSuffix(host, "."))
}

// Allow reports whether requests may name a host. A request without a host is of HTTP/1.0, which no
// browser uses.
func (h *Hosts) Allow(host string) bool {
	if host == "" {
		return true
	}
	name := hostName(host)
	if addr, err := netip.ParseAddr(name); err == nil {
		addr = addr.Unmap().WithZone("")
		return addr.IsLoopback() || h.addresses || h.names[addr.String()]
	}
	if name == "localhost" || strings.HasSuffix(name, ".localhost") || h.names[name] {
		return true
	}
	for _, suffix := range h.suffixes {
		if strings.HasSuffix(name, suffix) {
			return true
		}
	}
	return h.Certificate != nil && h.Certificate().VerifyHostname(name) == nil
}

// Check returns nil for a request that names an allowed host, else a problem with the flags that
// help.
func (h *Hosts) Check(r *http.Request) error {
	if h.Allow(r.Host) {
		return nil
	}
	name := text.Shorten(text.Visible(hostName(r.Host)), 80)
	return respond.NewProblem(http.StatusMisdirectedRequest, "wrong_host", "Wrong address", fmt.Sprintf(
		"This server does not answer as “%s”. To allow this name, start it with --allow-host %s; "+
			"behind a reverse proxy, with --public-url and the URL that people use.", name, name))
}
