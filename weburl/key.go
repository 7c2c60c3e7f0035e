package weburl

import "strings"

// Key is the URL as documents are sorted by it, so that a domain, a host and mostly a folder are
// one run of neighbours:
//
//	http://www.example.org/a/b?x=1       org.example.www/a/b?x=1
//	https://www.example.org:8080/a       org.example.www.:8080/a
//	http://127.0.0.1:8080/               127.0.0.1.:8080/
//
// The labels of the host are reversed, those of an address are not. The scheme is left out. Two
// URLs have the same key only if they have the same identity. The port stands before the path as
// a label that no host can have: after the slash it would look like a path "/:8080".
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

// A siteSpec is what a user means by "example.org", "example.org:8080" or "example.org/dir".
type siteSpec struct {
	host string // reversed, without port
	port string // "" for every port, and for the subdomains too
	path string // "" or "/dir": this path and what is below it
}

func parseSite(spec string) (siteSpec, bool) {
	spec, _ = cutScheme(strings.TrimPrefix(trimControls(spec), "*."))
	spec = strings.TrimPrefix(spec, ".")
	u, err := Parse("http://" + spec)
	if err != nil || strings.HasPrefix(spec, "/") {
		return siteSpec{}, false
	}
	name := u.s[u.hostStart():u.name]
	return siteSpec{
		host: string(appendReversed(nil, name)),
		port: u.Port(),
		path: strings.TrimRight(u.s[u.host:], "/"),
	}, true
}

// SiteKeys is the range [lo, hi) of keys that holds every URL that spec names. Spec is a host,
// which stands for its subdomains and all their ports too; or a host with a port, which stands
// for that server alone; either with a path, which stands for the URLs at it and below it, segment
// by segment: "example.org/dir" names /dir, /dir/, /dir/x and /dir?x, not /directory.
//
// Without a path the range holds nothing else, '.' and '/' being neighbours in ASCII. With a path
// it is the tightest range there is, and [MatchSite] says which of its URLs belong: /dir-x sorts
// between /dir and /dir/x. ok is false for what is no host.
func SiteKeys(spec string) (lo, hi string, ok bool) {
	site, ok := parseSite(spec)
	if !ok {
		return "", "", false
	}
	// Subdomains and ports come first, at '.', then the host's own paths, at '/'.
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

// MatchSite says whether spec names u, by the rules of [SiteKeys].
func MatchSite(spec string, u *URL) bool {
	site, ok := parseSite(spec)
	if !ok {
		return false
	}
	path, ok := strings.CutPrefix(u.s[u.host:], site.path)
	if !ok || path != "" && path[0] != '/' && path[0] != '?' {
		return false
	}
	host := string(appendReversed(nil, u.s[u.hostStart():u.name]))
	if site.port != "" {
		return host == site.host && u.Port() == site.port
	}
	below, ok := strings.CutPrefix(host, site.host)
	return ok && (below == "" || below[0] == '.')
}
