package searcher

import (
	"slices"
	"strings"

	"anatomy/searcher/internal/facets"
	"anatomy/searcher/internal/shard"
	"anatomy/searcher/query"
)

// Facets are numbers of the pages that match a query, by site, section, product, version, language,
// type and year.
type (
	// A Facet is the numbers of pages by one kind.
	Facet = facets.Facet

	// A FacetValue is one value of a facet.
	FacetValue = facets.Value

	// A FacetKind is a property by which pages are counted.
	FacetKind = facets.Kind
)

// AllFacets is a Request.Facets with all kinds.
const AllFacets = facets.All

// MaxFacetValues is the number of values of each of several facets. One alone has ten times as many.
const MaxFacetValues = facets.MaxValues

// ParseFacets returns a list of kinds of facets for Request.Facets, given one with commas; "all" names
// all of them.
func ParseFacets(list string) (string, error) { return facets.Parse(list) }

// A count is the kinds of facets that are counted over one query.
type count struct {
	root  *query.Node
	kinds []FacetKind
}

// countFacets counts the pages that match the query, without those of blocked sites, by the kinds of
// the request. A kind that the query has filters of is counted without these filters. Relaxed results
// do not count, and collapsed pages do.
func countFacets(p *pass) error {
	if p.req.Facets == "" {
		return nil
	}
	var counts []count
	most := facets.MaxValues
	if !strings.Contains(p.req.Facets, ",") {
		most = facets.MaxValuesAlone
	}
	for _, name := range strings.Split(p.req.Facets, ",") {
		kind := FacetKind(name)
		root := kind.Root(p.root)
		if last := len(counts) - 1; last >= 0 && counts[last].root == root {
			counts[last].kinds = append(counts[last].kinds, kind)
		} else {
			counts = append(counts, count{root, []FacetKind{kind}})
		}
	}
	asked := query.Parse(p.resp.Interpreted)
	for _, c := range counts {
		tally, err := tallyOf(p, allowed(p, c.root), c.kinds)
		if err != nil {
			return err
		}
		for _, kind := range c.kinds {
			f := tally.Facet(kind, asked, most)
			if kind == facets.Section {
				if f, err = subsections(p, c.root, asked, tally, f, most); err != nil {
					return err
				}
			}
			if f.Of > 0 {
				p.resp.Facets = append(p.resp.Facets, f)
			}
		}
	}
	return nil
}

// maxEntered is the number of folders below one another whose only section is entered.
const maxEntered = 4

// subsections returns the sections of the only section, while it has most pages that match: those of
// /en/latest for a site that has all its pages there. all is the facet before that, and tally its pages.
func subsections(
	p *pass, root *query.Node, asked query.Query, tally *facets.Tally, all Facet, most int,
) (Facet, error) {
	rest := root.Without(facets.Section.Of)
	for range maxEntered {
		if len(all.Values) != 1 || !all.Exact || !tally.AreMost(all.Values[0]) {
			break
		}
		inside := query.Parse(all.Values[0].Filter).Root
		if rest != nil {
			inside = query.Both(rest, inside)
		}
		below, err := tallyOf(p, allowed(p, inside), []FacetKind{facets.Section})
		if err != nil {
			return Facet{}, err
		}
		f := below.Facet(facets.Section, asked, most)
		if f.Of == 0 {
			break
		}
		tally, all = below, f
	}
	return all, nil
}

// tallyOf counts the pages of all shards that match a query, in the time that is left.
func tallyOf(p *pass, root *query.Node, kinds []FacetKind) (*facets.Tally, error) {
	tallies := make([]*facets.Tally, len(p.shards))
	var configured []*query.Node
	if slices.Contains(kinds, facets.Product) || slices.Contains(kinds, facets.Version) {
		configured = p.labelNodes()
	}
	err := p.each(func(i int, q *shard.Query) (err error) {
		tallies[i], err = q.Tally(root, kinds, configured)
		return err
	})
	if err != nil {
		return nil, err
	}
	for _, other := range tallies[1:] {
		tallies[0].Add(other)
	}
	if tallies[0].Late() {
		p.clock.Hurry()
	}
	return tallies[0], nil
}
