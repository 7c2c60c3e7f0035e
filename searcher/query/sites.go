package query

import (
	"errors"
	"fmt"
	"slices"
)

// Both returns the query for pages that match both queries.
func Both(n, other *Node) *Node {
	both := &Node{Op: And, Kids: []*Node{n}}
	if n.Op == And {
		both.Kids = slices.Clone(n.Kids)
	}
	both.Kids = append(both.Kids, other)
	return both
}

// AnySite returns the query for pages of the first most sites.
func AnySite(sites []string, most int) *Node {
	or := &Node{Op: Or}
	for _, site := range sites[:min(len(sites), most)] {
		or.Kids = append(or.Kids, &Node{Op: Site, Site: site})
	}
	if len(or.Kids) == 1 {
		return or.Kids[0]
	}
	return or
}

// NamesSite reports whether a query restricts pages to a site.
func (n *Node) NamesSite() bool {
	switch n.Op {
	case Site:
		return true
	case And, Or:
		return slices.ContainsFunc(n.Kids, (*Node).NamesSite)
	}
	return false
}

// Required returns the nodes that every match passes: the kids of And, n itself, or none if n is nil.
func (n *Node) Required() []*Node {
	switch {
	case n == nil:
		return nil
	case n.Op == And:
		return n.Kids
	}
	return []*Node{n}
}

// ParseFilters returns a query that is made of filters alone, site:, lang:, filetype:, type:service,
// before:, after: and years, with OR, minus and groups: nil for an empty text. Every page that it
// matches passes all nodes of Required.
func ParseFilters(text string) (*Node, error) {
	q := Parse(text)
	switch {
	case len(q.Cut) > 0:
		return nil, errors.New("it is too long")
	case q.ByDate:
		return nil, errors.New("sort:date is not a filter")
	case q.Root == nil:
		return nil, nil
	}
	if other := q.Root.notFilter(); other != nil {
		return nil, fmt.Errorf("%s is not a filter", other)
	}
	return q.Root, nil
}

// notFilter returns a part of a query that is not a filter, or nil.
func (n *Node) notFilter() *Node {
	switch n.Op {
	case Site, Only:
		return nil
	case And, Or, Not:
		for _, kid := range n.Kids {
			if other := kid.notFilter(); other != nil {
				return other
			}
		}
		return nil
	}
	return n
}
