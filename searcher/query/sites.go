package query

import "slices"

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

// Required returns the nodes that every match passes: the kids of And, else n itself, none of nil.
func (n *Node) Required() []*Node {
	switch {
	case n == nil:
		return nil
	case n.Op == And:
		return n.Kids
	}
	return []*Node{n}
}
