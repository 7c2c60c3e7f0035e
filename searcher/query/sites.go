package query

import (
	"errors"
	"fmt"
	"slices"

	"anatomy/vocab"
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

// OfLabel returns the query for pages that state a label or are of the sites that have it.
func OfLabel(l vocab.Label, sites []string) *Node {
	n := &Node{Op: Only, Filter: Filter{Label: l}}
	for _, site := range sites {
		n.Kids = append(n.Kids, &Node{Op: Site, Site: site})
	}
	return n
}

// WithLabelSites returns the tree with the sites of its labels, which a function returns.
func (n *Node) WithLabelSites(sites func(vocab.Label) []string) *Node {
	if n == nil {
		return nil
	}
	if l := n.Filter.Label; n.Op == Only && l.Value != "" {
		return OfLabel(l, sites(l))
	}
	return n.withKids(func(kid *Node) *Node { return kid.WithLabelSites(sites) })
}

// CheckLabels fails if queries are not filters of labels, as OfLabel returns them.
func CheckLabels(all []*Node) error {
	for _, n := range all {
		if n == nil || n.Op != Only || n.Filter.Label.Value == "" {
			return errNode
		}
		if err := Check(n); err != nil {
			return err
		}
	}
	return nil
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
