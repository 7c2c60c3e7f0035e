package weburl

import (
	"slices"
	"strings"
)

// Key returns the key by which documents are sorted. A domain, a host and usually a folder is a range of
// keys:
//
//	http://www.example.org/a/b?x=1       org.example.www/a/b?x=1
//	https://www.example.org:8080/a       org.example.www.:8080/a
//	http://127.0.0.1:8080/               127.0.0.1.:8080/
//
// The labels of the host are reversed, except in an IP address. The scheme is omitted. Two URLs
// have the same key only if they have the same identity. The port is before the path, as a label
// that no host can have: after the slash it would look like a path "/:8080".
func (u *URL) Key() string {
	name := u.s[u.hostStart():u.name]
	b := make([]byte, 0, len(u.s)+1)
	b = appendReversed(b, name)
	if port := u.s[u.name:u.host]; port != "" {
		b = append(append(b, '.'), port...)
	}
	return string(append(b, u.s[u.host:]...))
}

// appendReversed appends the labels of a host name, last first.
func appendReversed(b []byte, name string) []byte {
	if isAddress(name) {
		return append(b, name...)
	}
	for {
		dot := strings.LastIndexByte(name, '.')
		b = append(b, name[dot+1:]...)
		if dot < 0 {
			return b
		}
		b = append(b, '.')
		name = name[:dot]
	}
}

// HostOfKey returns the host, with its port if it has one, given the part of a key before the path:
// "www.example.org:8080" of "org.example.www.:8080".
func HostOfKey(host string) string {
	name, port, ported := strings.Cut(host, ".:")
	if ported {
		port = ":" + port
	}
	if strings.HasPrefix(name, "[") || name != "" && name[0]-'0' < 10 { // an address
		return name + port
	}
	labels := strings.Split(name, ".")
	slices.Reverse(labels)
	return strings.Join(labels, ".") + port
}

// A SiteSpec is a site as users write it: "example.org", "example.org:8080" or "example.org/dir".
type SiteSpec struct {
	host string // reversed, without port
	port string // "" for every port, and for subdomains too
	path string // "" or "/dir": this path and those below it
}

// ParseSite returns the site that spec names, or false if spec has no valid host.
func ParseSite(spec string) (SiteSpec, bool) {
	spec, _ = cutScheme(strings.TrimPrefix(trimControls(spec), "*."))
	spec = strings.TrimPrefix(spec, ".")
	u, err := Parse("http://" + spec)
	if err != nil || strings.HasPrefix(spec, "/") {
		return SiteSpec{}, false
	}
	name := u.s[u.hostStart():u.name]
	return SiteSpec{
		host: string(appendReversed(nil, name)),
		port: u.Port(),
		path: strings.TrimRight(u.s[u.host:], "/"),
	}, true
}

// SiteKeys returns the range [lo, hi) of keys of all URLs that spec names. spec is a host, which includes
// its subdomains and all their ports, or a host with a port, which is that server alone. Either may have
// a path, which includes the paths below it, by segments: "example.org/dir" names /dir, /dir/, /dir/x
// and /dir?x, not /directory.
//
// Without a path the range has no other URLs, since '.' and '/' are adjacent in ASCII. With a path it is
// the smallest range, and [MatchSite] decides about its URLs: /dir-x sorts between /dir and /dir/x. ok is
// false if spec has no valid host.
func SiteKeys(spec string) (lo, hi string, ok bool) {
	site, ok := ParseSite(spec)
	if !ok {
		return "", "", false
	}
	// Subdomains and ports, at '.', sort before the host's own paths, at '/'.
	switch {
	case site.port != "" && site.path == "":
		key := site.host + ".:" + site.port
		return key + "/", key + "0", true
	case site.port != "":
		key := site.host + ".:" + site.port + site.path
		return key, key + "@", true
	case site.path == "":
		return site.host + ".", site.host + "0", true
	}
	return site.host + ".", site.host + site.path + "@", true
}

// MatchSite reports whether spec names u, as defined by [SiteKeys].
func MatchSite(spec string, u *URL) bool {
	site, ok := ParseSite(spec)
	return ok && site.Match(u)
}

// Match reports whether s names u, as defined by [SiteKeys].
func (s *SiteSpec) Match(u *URL) bool {
	path, ok := strings.CutPrefix(u.s[u.host:], s.path)
	if !ok || path != "" && path[0] != '/' && path[0] != '?' {
		return false
	}
	host := string(appendReversed(nil, u.s[u.hostStart():u.name]))
	if s.port != "" {
		return host == s.host && u.Port() == s.port
	}
	below, ok := strings.CutPrefix(host, s.host)
	return ok && (below == "" || below[0] == '.')
}

// Host returns the host of s without its port, in the form that the URLs of the site have it.
func (s *SiteSpec) Host() string { return HostOfKey(s.host) }
