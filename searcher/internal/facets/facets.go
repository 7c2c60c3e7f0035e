// Package facets counts the pages that match a query by what filters can narrow them down to: site,
// section of a site, language, type and year.
package facets

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"anatomy/searcher/query"
)

// A Facet is the numbers of pages by one kind.
type Facet struct {
	Kind   Kind
	Values []Value // those of most pages, at most MaxValues; years from the newest
	Of     int     // how many values there are in all
	Exact  bool    // all pages that match are counted; otherwise the time ran out
}

// MaxValues is the number of values of a facet.
const MaxValues = 20

// A Value is one value of a facet.
type Value struct {
	Value    string // "docs.example.org", "docs.example.org/guide", "de", "pdf", "2024"
	Count    int    // pages that match the query with the filter
	Filter   string // "site:docs.example.org"
	Selected bool   // the query has the filter
	Query    string // the query with the filter instead of others of its kind; if Selected, without
}

// Facet returns the facet of a kind of what was counted, for a query as it was parsed.
func (t *Tally) Facet(k Kind, q query.Query) Facet {
	f := Facet{Kind: k, Exact: !t.late}
	for value, count := range t.values(k) {
		f.Values = append(f.Values, Value{Value: value, Count: count})
	}
	f.Of = len(f.Values)
	slices.SortFunc(f.Values, func(a, b Value) int {
		if k == Year {
			return cmp.Compare(b.Value, a.Value)
		}
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Value, b.Value))
	})
	f.Values = f.Values[:min(len(f.Values), MaxValues)]
	none := query.Query{Root: q.Root.Without(k.Of), ByDate: q.ByDate}.String()
	others := none
	if k != Section {
		others = query.Query{Root: k.Root(q.Root), ByDate: q.ByDate}.String()
	}
	for i := range f.Values {
		v := &f.Values[i]
		v.Filter = k.filter(v.Value)
		v.Selected = k.selects(q.Root, query.Parse(v.Filter).Root)
		if v.Query = none; !v.Selected {
			v.Query = strings.TrimSpace(others + " " + v.Filter)
		}
	}
	return f
}

// values returns the numbers of pages by value.
func (t *Tally) values(k Kind) map[string]int {
	all := map[string]int{}
	switch k {
	case Site:
		return withSubdomains(t.sites)
	case Section:
		return t.ofSections()
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
	return all
}
