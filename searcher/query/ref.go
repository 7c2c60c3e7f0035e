package query

import (
	"strings"

	"anatomy/weburl"
)

// A Relation is the relation of pages to the page at a URL.
type Relation uint8

// The relations.
const (
	LinkTo  Relation = iota + 1 // they link to it: link:
	Related                     // they are linked to together with it: related:
	Info                        // they are it: info:
	Cache                       // they are it, as it was fetched: cache:
)

var relationNames = [...]string{LinkTo: "link:", Related: "related:", Info: "info:", Cache: "cache:"}

func (r Relation) String() string { return relationNames[r] }

// A Ref refers to the pages that have a relation to the page at a URL.
type Ref struct {
	Relation Relation
	URL      string // without its scheme: "example.org/a"; for LinkTo also a host, for all its pages
}

// String returns the reference in the query language.
func (r Ref) String() string { return r.Relation.String() + r.URL }

// Site reports whether r refers to all pages of a host and its subdomains.
func (r Ref) Site() bool { return !strings.Contains(r.URL, "/") }

// parseRef parses link:, related:, info: and cache: with a URL or a host. The URL of the result is
// "" for other words.
func parseRef(word string) Ref {
	for r := LinkTo; r <= Cache; r++ {
		if object, ok := cutFold(word, r.String()); ok {
			if url := parseAddress(object, r == LinkTo); url != "" {
				return Ref{r, url}
			}
		}
	}
	return Ref{}
}

// parseAddress returns a URL without its scheme, or "" if the object has neither a dot nor a slash.
// A host alone becomes the URL of its root, or stays as it is if hosts is set.
func parseAddress(object string, hosts bool) string {
	object = withoutScheme(object)
	if !strings.ContainsAny(object, "./") || strings.Contains(object, "://") {
		return ""
	}
	if _, _, ok := weburl.SiteKeys(object); hosts && ok && !strings.Contains(object, "/") {
		return strings.ToLower(object)
	}
	u, err := weburl.Parse("http://" + object)
	if err != nil {
		return ""
	}
	if object = withoutScheme(u.String()); strings.Contains(object, `"`) || !balanced(object) {
		return ""
	}
	return object
}

// parseSite parses site: with a valid host. It returns "" for other words.
func parseSite(word string) string {
	site, ok := cutFold(word, "site:")
	if !ok {
		return ""
	}
	site = strings.TrimPrefix(withoutScheme(site), "*.")
	host, path, _ := strings.Cut(site, "/")
	if path = strings.TrimRight(path, "/"); path != "" {
		path = "/" + path
	}
	site = strings.ToLower(host) + path
	if _, _, ok := weburl.SiteKeys(site); !ok {
		return ""
	}
	return site
}

// OtherWWW returns a URL without scheme, without "www." before its host, or with it if it has none.
func OtherWWW(address string) string {
	if rest, ok := strings.CutPrefix(address, "www."); ok {
		return rest
	}
	return "www." + address
}
