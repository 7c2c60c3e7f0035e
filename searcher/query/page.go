package query

import (
	"strings"

	"anatomy/vocab"
	"anatomy/weburl"
)

// A Relation is what pages have to do with one page, which its URL names.
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

// A Ref names pages by what they have to do with another one.
type Ref struct {
	Relation Relation
	URL      string // without its scheme: "example.org/a"; of LinkTo also a host, without a slash, that stands for all of its pages
}

// String is the reference in the query language.
func (r Ref) String() string { return r.Relation.String() + r.URL }

// Site says whether r is about all pages of a host, and those of hosts below it.
func (r Ref) Site() bool { return !strings.Contains(r.URL, "/") }

// ref reads link:, related:, info: and cache: with a URL or a host. Nil for anything else.
func (p *parser) ref(word string) *Node {
	for r := LinkTo; r <= Cache; r++ {
		object, ok := cutFold(word, r.String())
		if !ok {
			continue
		}
		if url := address(object, r == LinkTo); url != "" && !p.full() {
			p.words++
			return &Node{Op: Pages, Ref: Ref{r, url}}
		}
	}
	return nil
}

// address is a URL without its scheme, "" for what looks like none: it has neither a dot nor a slash.
// A host by itself is the URL of its root, unless hosts says that it stands for itself.
func address(object string, hosts bool) string {
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
	if object = withoutScheme(u.String()); strings.Contains(object, `"`) || !paired(object) {
		return ""
	}
	return object
}

// paired says whether parentheses come in pairs.
func paired(s string) bool {
	open := 0
	for _, c := range s {
		switch c {
		case '(':
			open++
		case ')':
			open--
		}
		if open < 0 {
			return false
		}
	}
	return open == 0
}

// Locate is the tree with the documents that a function gives for references. Nodes without any are
// shared with n.
func (n *Node) Locate(docs func(Ref) []vocab.DocID) *Node {
	if n == nil || n.Op == Words {
		return n
	}
	if n.Op == Pages {
		changed := *n
		changed.Docs = docs(n.Ref)
		return &changed
	}
	return n.withKids(func(kid *Node) *Node { return kid.Locate(docs) })
}
