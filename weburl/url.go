// Package weburl is what all rooms mean by a URL: parsed as the WHATWG URL Standard says, in one
// canonical form, with its identity ([URL.Fingerprint]), its order ([URL.Key]) and its unit of
// politeness ([URL.Site]). It does no I/O.
//
// The canonical form is the standard's serialisation with these changes:
//   - no fragment and no user information: neither names another page;
//   - no dot at the end of the host: the same name in DNS;
//   - escapes of unreserved characters (RFC 3986 §2.3) are decoded and the others have upper-case
//     digits (§6.2.2), except in a path or query that holds a malformed escape, which stays as it is;
//   - no parameters that tell where a visitor came from or which session is his, by the names in
//     tracking.go.
//
// A slash at the end of a path is kept as found: taking it off makes redirect loops.
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

// maxRaw bounds what is looked at before it is known whether a URL is short once canonical.
const maxRaw = 4 * MaxLength

// The errors of Parse and Join.
var (
	ErrScheme  = errors.New("weburl: neither http nor https")
	ErrTooLong = errors.New("weburl: longer than 2048 bytes")
	ErrHost    = errors.New("weburl: host with an empty label")
	ErrSyntax  = errors.New("weburl: not a URL")
)

// A URL is a canonical http or https URL. It is a small value; the zero URL is no URL.
type URL struct {
	s string // "http://www.example.org:8080/a/b?x=1"

	// Offsets into s. The host begins after "://".
	name  uint16 // end of the host name, port excluded
	host  uint16 // end of the host, port included: here the path begins
	query uint16 // end of the path: '?' or the end
}

// String is the canonical URL.
func (u *URL) String() string { return u.s }

// IsZero says whether u is no URL at all.
func (u *URL) IsZero() bool { return u.s == "" }

// Scheme is "http" or "https".
func (u *URL) Scheme() string {
	if u.s == "" {
		return ""
	}
	return u.s[:u.hostStart()-len("://")]
}

// Host is the host with its port where that is not the scheme's own: "example.org:8080".
func (u *URL) Host() string { return u.s[u.hostStart():u.host] }

// Hostname is the host without port, and without the brackets of an IPv6 address.
func (u *URL) Hostname() string {
	name := u.s[u.hostStart():u.name]
	if len(name) > 2 && name[0] == '[' {
		return name[1 : len(name)-1]
	}
	return name
}

// Port is the port where it is not the scheme's own, else "".
func (u *URL) Port() string {
	if u.name == u.host {
		return ""
	}
	return u.s[u.name+1 : u.host]
}

// Path is the path with its leading slash, percent-encoded.
func (u *URL) Path() string { return u.s[u.host:u.query] }

// Depth is how many folders deep the URL is; 0 is the root of a host, and a query counts as a folder.
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

// Query is what follows the question mark, percent-encoded.
func (u *URL) Query() string {
	if int(u.query) == len(u.s) {
		return ""
	}
	return u.s[u.query+1:]
}

// Site is the registrable domain by the public suffix list, or the host name itself where it has
// none: an address, a name of one label, a public suffix.
func (u *URL) Site() string { return SiteOf(u.Hostname()) }

// SiteOf is the site of a canonical host name without port.
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

// Fingerprint is the hash of the URL's identity: host, path and query (xxhash64). The scheme does
// not count: one page served over http and over https is one document here, so that neither the
// frontier nor the index holds twins. A port that is not the scheme's own does count.
func (u *URL) Fingerprint() vocab.Fingerprint {
	return vocab.Fingerprint(xxhash.Sum64String(u.s[u.hostStart():]))
}

// HTTPS is the same URL over https. A URL with a port of its own stays as it is: the port speaks
// one protocol.
func (u *URL) HTTPS() URL {
	if u.s == "" || u.hostStart() == len("https://") || u.Port() != "" {
		return *u
	}
	return URL{s: "https" + u.s[len("http"):], name: u.name + 1, host: u.host + 1, query: u.query + 1}
}

func (u *URL) hostStart() int {
	switch {
	case u.s == "":
		return 0
	case u.s[len("http")] == 's':
		return len("https://")
	}
	return len("http://")
}

// isAddress says whether a canonical host is an IP address. The standard gives every host whose
// last label is a number to the IPv4 parser, so a digit there is enough.
func isAddress(host string) bool {
	last := host[strings.LastIndexByte(host, '.')+1:]
	return strings.IndexByte(host, ':') >= 0 || last != "" && last[0]-'0' < 10 && strings.IndexByte(host, '.') > 0
}
