// Package weburl parses URLs by the WHATWG URL Standard into one canonical form, with an identity
// ([URL.Fingerprint]), an order ([URL.Key]) and a unit of politeness ([URL.Site]). It does no I/O.
//
// The canonical form is the standard's serialization with these changes:
//   - no fragment and no user information: neither identifies another page;
//   - no dot at the end of the host: the DNS name is the same;
//   - escapes of unreserved characters (RFC 3986 §2.3) are decoded and the others have upper-case
//     digits (§6.2.2), except in a path or query with a malformed escape, which is not changed;
//   - no tracking parameters and no sessions, by the names in tracking.go.
//
// A slash at the end of a path is kept: removing it makes redirect loops.
package weburl

import (
	"errors"
	"strings"

	"github.com/cespare/xxhash/v2"
	"golang.org/x/net/publicsuffix"

	"anatomy/vocab"
)

// MaxLength is the longest canonical URL in bytes. Longer ones are traps far more often than pages.
const MaxLength = 2048

// maxRaw bounds the input, in bytes. Its canonical form may be shorter than MaxLength.
const maxRaw = 4 * MaxLength

// The errors of Parse and Join.
var (
	ErrScheme  = errors.New("the scheme is neither http nor https")
	ErrTooLong = errors.New("a URL is longer than 2048 bytes")
	ErrHost    = errors.New("the host has an empty label")
	ErrSyntax  = errors.New("not a valid URL")
)

// A URL is a canonical http or https URL. It is a small value. The zero URL is not valid.
type URL struct {
	s string // "http://www.example.org:8080/a/b?x=1"

	// Offsets into s. The host begins after "://".
	name  uint16 // end of the host name, port excluded
	host  uint16 // end of the host, port included: here the path begins
	query uint16 // end of the path: '?' or the end
}

// String returns the canonical URL.
func (u *URL) String() string { return u.s }

// IsZero reports whether u is the zero URL.
func (u *URL) IsZero() bool { return u.s == "" }

// Scheme returns "http" or "https", and "" for the zero URL.
func (u *URL) Scheme() string {
	if u.s == "" {
		return ""
	}
	return u.s[:u.hostStart()-len("://")]
}

// Host returns the host, with its port unless that is the scheme's default: "example.org:8080".
func (u *URL) Host() string { return u.s[u.hostStart():u.host] }

// Hostname returns the host without port, and without the brackets of an IPv6 address.
func (u *URL) Hostname() string {
	name := u.s[u.hostStart():u.name]
	if len(name) > 2 && name[0] == '[' {
		return name[1 : len(name)-1]
	}
	return name
}

// Port returns the port, or "" if it is the scheme's default.
func (u *URL) Port() string {
	if u.name == u.host {
		return ""
	}
	return u.s[u.name+1 : u.host]
}

// Path returns the path with its leading slash, percent-encoded.
func (u *URL) Path() string { return u.s[u.host:u.query] }

// Depth returns the number of path segments that are not empty, plus one for a query.
func (u *URL) Depth() (depth int) {
	for part := range strings.SplitSeq(u.Path(), "/") {
		if part != "" {
			depth++
		}
	}
	if u.Query() != "" {
		depth++
	}
	return depth
}

// Query returns the query without its question mark, percent-encoded.
func (u *URL) Query() string {
	if int(u.query) == len(u.s) {
		return ""
	}
	return u.s[u.query+1:]
}

// Site returns the registrable domain by the public suffix list, or the host name itself if it has none:
// an IP address, a name of one label, a public suffix.
func (u *URL) Site() string { return SiteOf(u.Hostname()) }

// SiteOf returns the site of a canonical host name without port.
func SiteOf(hostname string) string {
	if isAddress(hostname) {
		return hostname
	}
	site, err := publicsuffix.EffectiveTLDPlusOne(hostname)
	if err != nil {
		return hostname
	}
	return site
}

// Suffixes returns the version of the public suffix list that determines sites.
func Suffixes() string { return publicsuffix.List.String() }

// Fingerprint returns the hash of the URL's identity: host, path and query (xxhash64). The scheme does
// not count, so a page served over http and https is one document. A port that is not the scheme's
// default does count.
func (u *URL) Fingerprint() vocab.Fingerprint {
	return vocab.Fingerprint(xxhash.Sum64String(u.s[u.hostStart():]))
}

// HTTPS returns the same URL over https. A URL with a port is returned as it is: a port has one
// protocol.
func (u *URL) HTTPS() URL {
	if u.s == "" || u.hostStart() == len("https://") || u.Port() != "" {
		return *u
	}
	return URL{s: "https" + u.s[len("http"):], name: u.name + 1, host: u.host + 1, query: u.query + 1}
}

// Origin returns scheme, host and port: "https://example.org:8443".
func (u *URL) Origin() string { return u.s[:u.host] }

// PathAndQuery returns the path with the query, if any: "/a?b=c".
func (u *URL) PathAndQuery() string { return u.s[u.host:] }

func (u *URL) hostStart() int {
	switch {
	case u.s == "":
		return 0
	case u.s[len("http")] == 's':
		return len("https://")
	}
	return len("http://")
}

// isAddress reports whether a canonical host is an IP address. The standard parses every host whose last
// label is a number as IPv4, so a digit there is enough.
func isAddress(host string) bool {
	last := host[strings.LastIndexByte(host, '.')+1:]
	return strings.IndexByte(host, ':') >= 0 || last != "" && last[0]-'0' < 10 && strings.IndexByte(host, '.') > 0
}

// A layout has the ends of the parts of a URL under construction, as in [URL].
type layout struct{ name, host, query int }
