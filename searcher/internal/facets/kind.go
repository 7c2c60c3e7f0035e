package facets

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"anatomy/searcher/query"
	"anatomy/vocab"
)

// A Kind is a property by which pages are counted.
type Kind string

// The kinds of facets, in the order of an answer.
const (
	Site     Kind = "site"    // host, with its subdomains
	Section  Kind = "section" // folder of the site that the query names, or of the only host with pages that match
	Product  Kind = Kind(vocab.Product)
	Version  Kind = Kind(vocab.Version)
	Language Kind = "lang"
	Type     Kind = "type" // of document
	Year     Kind = "date" // of the page's date
)

// Kinds are all kinds.
var Kinds = []Kind{Site, Section, Product, Version, Language, Type, Year}

// All names all kinds, as [Parse] returns them.
const All = string(Site + "," + Section + "," + Product + "," + Version + "," + Language + "," + Type + "," + Year)

// Parse returns a list of kinds separated by commas, in the order of Kinds; "all" for all of them.
func Parse(list string) (string, error) {
	if list == "all" || list == "" {
		return strings.Repeat(All, len(list)/len("all")), nil
	}
	names, known := strings.Split(list, ","), []string{}
	for _, kind := range Kinds {
		if slices.Contains(names, string(kind)) {
			known = append(known, string(kind))
		}
	}
	for _, name := range names {
		if !slices.Contains(known, name) {
			return "", errors.New("must be all, or some of " + strings.ReplaceAll(All, ",", ", "))
		}
	}
	return strings.Join(known, ","), nil
}

// Of reports whether a node of a query is a filter of the kind, or several joined by OR.
func (k Kind) Of(n *query.Node) bool {
	switch n.Op {
	case query.Site:
		return k == Site || k == Section
	case query.Only:
		f := &n.Filter
		return k == Language && f.Lang != "" || k == Type && f.Medium != vocab.OtherMedium ||
			k == Year && (f.After != 0 || f.Before != 0) || f.Label.Value != "" && k == Kind(f.Label.Kind)
	case query.Or:
		return !slices.ContainsFunc(n.Kids, func(kid *query.Node) bool { return !k.Of(kid) })
	}
	return false
}

// Root returns the query whose matches are counted by a kind: root without the filters of the kind,
// so that other values are counted as if they were selected instead, unless nothing is left.
// Sections are counted within their site.
func (k Kind) Root(root *query.Node) *query.Node {
	if k == Section {
		return root
	}
	if rest := root.Without(k.Of); rest != nil && rest.Positive() {
		return rest
	}
	return root
}

// selects reports whether the filters of the kind in a query include all those of another query.
func (k Kind) selects(root, filter *query.Node) bool {
	own := map[string]bool{}
	for _, n := range root.Required() {
		if k.Of(n) {
			own[n.String()] = true
			for _, kid := range n.Kids {
				own[kid.String()] = true
			}
		}
	}
	return !slices.ContainsFunc(filter.Required(), func(n *query.Node) bool {
		return !own[n.String()]
	})
}

// chosen returns the values whose filters a query has.
func (k Kind) chosen(root *query.Node) (all []string) {
	for _, n := range root.Required() {
		if !k.Of(n) {
			continue
		}
		for _, leaf := range append(slices.Clone(n.Kids), n) {
			value := k.valueOf(leaf)
			if value != "" && !slices.Contains(all, value) && k.selects(root, query.Parse(k.filter(value)).Root) {
				all = append(all, value)
			}
		}
	}
	return all
}

// valueOf returns the value that a filter may select, or "".
func (k Kind) valueOf(n *query.Node) string {
	f := &n.Filter
	switch {
	case k == Site && n.Op == query.Site && !strings.Contains(n.Site, "/"):
		return n.Site
	case k == Language:
		return f.Lang
	case k == Type && f.Medium != vocab.OtherMedium:
		return f.Medium.String()
	case k == Kind(f.Label.Kind):
		return f.Label.Value
	case k == Year && f.After != 0:
		return strconv.Itoa(f.After.Time().Year())
	}
	return ""
}

// filter returns the filter of a value in the query language.
func (k Kind) filter(value string) string {
	switch k {
	case Product, Version:
		return string(k) + ":" + value
	case Language:
		return "lang:" + value
	case Type:
		return "filetype:" + value
	case Year:
		return value + ".." + value
	}
	return "site:" + value
}
