// Package facets counts the pages that match a query by the properties that filters select: site,
// section of a site, product, version, language, type and year.
package facets

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"

	"anatomy/searcher/query"
	"anatomy/weburl"
)

// A Facet is the numbers of pages by one kind.
type Facet struct {
	Kind   Kind
	Values []Value // those selected and those of most pages, to the bound of Tally.Facet; years from the newest
	Of     int     // how many values there are in all
	Exact  bool    // all pages are counted; otherwise the time ran out or there are too many sites or labels
}

// The number of values of a facet, unless more are selected: one of several, and one alone.
const (
	MaxValues      = 20
	MaxValuesAlone = 200
)

// A Value is one value of a facet.
type Value struct {
	Value    string // "docs.example.org", "docs.example.org/guide", "de", "pdf", "2024"
	Count    int    // pages that match the query with the filter, 0 only if it is selected
	Filter   string // "site:docs.example.org"
	Selected bool   // the query has the filter

	// Query is the query with the filter instead of others of its kind. If Selected, it is the query
	// without the filters of the kind, "" if nothing to look up is left.
	Query string
}

// Facet returns the facet of a kind, from the counted pages, for a query as it was parsed. It has at
// most the given number of values, unless more are selected.
func (t *Tally) Facet(k Kind, q query.Query, most int) Facet {
	f := Facet{Kind: k, Exact: !t.late && (k != Site || !t.moreSites) && (k != Product && k != Version || !t.moreLabels)}
	chosen := k.chosen(q.Root)
	var selected, others []Value // both in order
	add := func(value string, count int) {
		f.Of++
		v := Value{Value: value, Count: count}
		if v.Selected = slices.Contains(chosen, value); v.Selected {
			selected = k.insert(selected, v, len(chosen))
		} else {
			others = k.insert(others, v, most)
		}
	}
	for value, count := range t.values(k) {
		add(value, count)
	}
	for _, value := range chosen {
		if !slices.ContainsFunc(selected, func(v Value) bool { return v.Value == value }) {
			add(value, t.countOf(k, value))
		}
	}
	others = others[:min(len(others), max(0, most-len(selected)))]
	f.Values = slices.Concat(selected, others)
	slices.SortFunc(f.Values, k.compare)
	k.setQueries(f.Values, q)
	return f
}

// AreMost reports whether a section has nine of ten of the pages that match, or more.
func (t *Tally) AreMost(v Value) bool { return 10*v.Count >= 9*t.pages }

// insert inserts a value in order, if it is among the first most.
func (k Kind) insert(values []Value, v Value, most int) []Value {
	at, _ := slices.BinarySearchFunc(values, v, k.compare)
	if at == most {
		return values
	}
	return slices.Insert(values[:min(len(values), most-1)], at, v)
}

func (k Kind) compare(a, b Value) int {
	if k == Year {
		return cmp.Compare(b.Value, a.Value)
	}
	return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Value, b.Value))
}

// setQueries sets the filters and queries of values.
func (k Kind) setQueries(values []Value, q query.Query) {
	root := k.Root(q.Root)
	if k == Section {
		root = root.Without(k.Of)
	}
	none, others := q.Without(k.Of), query.Query{Root: root, ByDate: q.ByDate}.String()
	for i := range values {
		v := &values[i]
		v.Filter = k.filter(v.Value)
		if v.Query = none; !v.Selected {
			v.Query = strings.TrimSpace(others + " " + v.Filter)
		}
	}
}

// values returns the numbers of pages by value.
func (t *Tally) values(k Kind) iter.Seq2[string, int] {
	all := map[string]int{}
	switch k {
	case Site:
		return asWritten(withSubdomains(t.sites))
	case Section:
		return asWritten(t.ofSections())
	case Product, Version:
		for l, n := range t.labels {
			if k == Kind(l.Kind) {
				all[l.Value] = n
			}
		}
	case Language:
		for lang, n := range t.languages {
			all[lang.String()] = n
		}
	case Type:
		for medium, n := range t.media {
			all[medium.String()] = n
		}
	case Year:
		for year, n := range t.years {
			all[strconv.Itoa(year)] = n
		}
	}
	return maps.All(all)
}

// countOf returns the number of pages of a value that values lacks: of a site, those of its
// subdomains.
func (t *Tally) countOf(k Kind, value string) (n int) {
	if k != Site {
		return 0
	}
	from, to, _ := weburl.SiteKeys(value)
	for at, pages := range t.sites {
		if key := at.host + "/"; from <= key && key < to {
			n += pages
		}
	}
	return n
}
