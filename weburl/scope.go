package weburl

import (
	"fmt"
	"strings"

	"anatomy/vocab"
)

// A Scope bounds how far a crawl leaves its seeds.
type Scope uint8

// The scopes, by the part that a URL must share with a seed.
const (
	DomainScope Scope = iota // the site (registrable domain); the default
	PageScope                // everything: only the seeds
	DirScope                 // host, and path up to the last slash
	HostScope                // host and port
	AnyScope                 // nothing
	scopes
)

var scopeNames = [scopes]string{"domain", "page", "dir", "host", "any"}

func (s Scope) String() string {
	if s < scopes {
		return scopeNames[s]
	}
	return fmt.Sprintf("scope %d", uint8(s))
}

// ParseScope returns the scope with a name.
func ParseScope(name string) (Scope, error) {
	for s, n := range scopeNames {
		if n == name {
			return Scope(s), nil
		}
	}
	return 0, fmt.Errorf("%q is not one of %s", name, strings.Join(scopeNames[:], ", "))
}

// A Filter decides which URLs a crawl may fetch: the seeds, and the URLs within Scope of a seed that
// match one of Include, if there are any, and none of Exclude.
//
// A pattern matches a whole canonical URL. * matches any bytes, every other byte itself. A pattern
// without "://" is compared without the scheme: "example.org/private/*", "*.pdf", "https://*".
//
// The zero Filter admits nothing until it has seeds. AddSeed must not be called concurrently with other
// methods.
type Filter struct {
	Scope   Scope
	Include []string
	Exclude []string

	seeds map[vocab.Fingerprint]bool
	near  map[string]bool // sites, hosts, or hosts with folder of the seeds, depending on Scope
}

// AddSeed adds a seed.
func (f *Filter) AddSeed(u URL) {
	if f.seeds == nil {
		f.seeds, f.near = map[vocab.Fingerprint]bool{}, map[string]bool{}
	}
	f.seeds[u.Fingerprint()] = true
	switch f.Scope {
	case DomainScope:
		f.near[u.Site()] = true
	case DirScope:
		f.near[u.Host()] = true // for sitemaps; a folder contains a slash
		f.near[u.folder()] = true
	case HostScope:
		f.near[u.Host()] = true
	}
}

// folder returns host and path up to the last slash.
func (u *URL) folder() string {
	s := u.s[u.hostStart():u.query]
	return s[:strings.LastIndexByte(s, '/')+1]
}

// Admits reports whether u may be fetched. Include does not apply to sitemaps, and a sitemap needs a
// seed's host where a page needs a seed's folder.
func (f *Filter) Admits(u *URL, kind vocab.TargetKind) bool {
	sitemap := kind == vocab.SitemapTarget
	switch {
	case f.seeds[u.Fingerprint()]:
		return true
	case !f.within(u, sitemap), matchAny(f.Exclude, u):
		return false
	}
	return sitemap || len(f.Include) == 0 || matchAny(f.Include, u)
}

func (f *Filter) within(u *URL, sitemap bool) bool {
	switch f.Scope {
	case DomainScope:
		return f.near[u.Site()]
	case HostScope:
		return f.near[u.Host()]
	case DirScope:
		return sitemap && f.near[u.Host()] || f.withinFolder(u.folder())
	}
	return f.Scope == AnyScope
}

// withinFolder reports whether folder or one above it is a seed's: "host/a/b/", "host/a/", "host/".
func (f *Filter) withinFolder(folder string) bool {
	for folder != "" {
		if f.near[folder] {
			return true
		}
		folder = folder[:strings.LastIndexByte(folder[:len(folder)-1], '/')+1]
	}
	return false
}

func matchAny(patterns []string, u *URL) bool {
	for _, p := range patterns {
		if MatchPattern(p, u) {
			return true
		}
	}
	return false
}

// MatchPattern reports whether a pattern of a [Filter] matches u.
func MatchPattern(pattern string, u *URL) bool {
	if strings.Contains(pattern, "://") {
		return glob(pattern, u.s)
	}
	return glob(pattern, u.s[u.hostStart():])
}

// glob reports whether pattern matches s. It backtracks only to the last star, which is sufficient and
// bounds the cost by the product of the lengths.
func glob(pattern, s string) bool {
	star, mark := -1, 0
	p, i := 0, 0
	for i < len(s) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, mark = p, i
			p++
		case p < len(pattern) && pattern[p] == s[i]:
			p++
			i++
		case star >= 0:
			mark++
			p, i = star+1, mark
		default:
			return false
		}
	}
	return strings.Trim(pattern[p:], "*") == ""
}
