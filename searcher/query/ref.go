package query

import (
	"strings"

	"anatomy/weburl"
)

// A Relation is how pages are related to the page that a URL names.
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
	URL      string // without its scheme: "example.org/a"; of LinkTo also a host, for all its pages
}

// String returns the reference in the query language.
func (r Ref) String() string { return r.Relation.String() + r.URL }

// Site reports whether r is about all pages of a host and its subdomains.
func (r Ref) Site() bool { return !strings.Contains(r.URL, "/") }

// parseRef parses link:, related:, info: and cache: with a URL or a host. Its URL is "" for
// anything else.
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

// parseAddress returns a URL without its scheme, "" if the object does not look like one: it has
// neither a dot nor a slash. A host alone is the URL of its root, or with hosts itself.
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

// parseSite parses site: with a host that can be looked up. It returns "" for anything else.
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
