package pages

import (
	"html/template"
	"path"
	"regexp"
	"slices"
	"strings"

	"anatomy/searcher"
	"anatomy/web/internal/address"
	"anatomy/web/internal/messages"
	"anatomy/web/internal/params"
	"anatomy/web/internal/text"
)

// A facetView is a list of links to narrower searches, with the numbers of their pages.
type facetView struct {
	Name   string
	Values []facetValueView
	More   int    // values that are not shown
	Alone  string // address with more of them, "" if there are none or this is it
	Beside string // address with the other facets, "" unless this is the only one asked for
	Partly bool   // the numbers are lower bounds, as the time ran out
}

type facetValueView struct {
	Label    string
	Lang     string // of Label, or ""
	Count    int
	Href     string
	Selected bool
}

// shownValues is the number of values of one of several facets on a page, besides selected ones.
const shownValues = 8

// facetViews returns the facets of an answer.
func facetViews(m *messages.Printer, r searcher.Request, a *searcher.Response) (all []facetView) {
	if len(a.Facets) == 0 {
		return nil
	}
	names := map[searcher.FacetKind]string{
		"site": m.Text("Site"), "section": m.Text("Section"), "product": m.Text("Product"), "version": m.Text("Version"), "lang": m.Text("Language"),
		"type": m.Text("Type"), "date": m.Text("Year"),
	}
	hasVersions := slices.ContainsFunc(a.Facets, func(f searcher.Facet) bool { return f.Kind == "version" && f.Of > 1 })
	for i := range a.Facets {
		f := &a.Facets[i]
		v := facetView{Name: names[f.Kind], Partly: !f.Exact}
		alone, most := r, shownValues
		if alone.Facets = string(f.Kind); alone.Facets == r.Facets {
			most = len(f.Values)
		}
		if areVersions(f) && !hasVersions {
			v.Name = m.Text("Version")
		}
		for _, value := range f.Values {
			if len(v.Values) >= most && !value.Selected || len(value.Query) > params.MaxQuery {
				continue
			}
			one := facetValueView{Count: value.Count, Href: withoutHref(r, value.Query), Selected: value.Selected}
			one.Label, one.Lang = facetLabel(f.Kind, value.Value)
			v.Values = append(v.Values, one)
		}
		if f.Of == 1 && len(v.Values) == 1 && !v.Values[0].Selected && v.Values[0].Count >= a.Total { // it narrows nothing
			continue
		}
		v.More = f.Of - len(v.Values)
		if r.Facets == alone.Facets {
			alone.Facets = searcher.AllFacets
			v.Beside = address.SearchHref("/search", alone, r.Offset)
		} else if v.More > 0 {
			v.Alone = address.SearchHref("/search", alone, r.Offset)
		}
		all = append(all, v)
	}
	return all
}

// version is the name of a folder with a version of a documentation, and unnumbered the name of one without
// a number.
var (
	version    = regexp.MustCompile(`^(?:v|release-)?\d+(?:[._]\d+)*(?:[._]x)?$`)
	unnumbered = regexp.MustCompile(`^(?:current|dev|devel|latest|main|master|next|nightly|stable)$`)
)

// areVersions reports whether sections of a site are the versions of what it documents.
func areVersions(f *searcher.Facet) bool {
	numbered := 0
	for _, v := range f.Values {
		name := path.Base(v.Value)
		switch {
		case version.MatchString(name):
			numbered++
		case !unnumbered.MatchString(name):
			return false
		}
	}
	return f.Kind == "section" && numbered > 0
}

// facetLabel returns a value as people read it, and the language of that.
func facetLabel(kind searcher.FacetKind, value string) (label, lang string) {
	switch kind {
	case "lang":
		return text.LanguageName(value), value
	case "type":
		return strings.ToUpper(value), ""
	case "section":
		_, value, _ = strings.Cut(value, "/")
	}
	return text.Shorten(text.Visible(value), 64), ""
}

// byDateFilter sorts by date, in the query language.
const byDateFilter = "sort:date"

// otherOrder returns the address of the results in the other order, "" if that query would be too long,
// and whether these are by date.
func otherOrder(r searcher.Request, a *searcher.Response) (href string, byDate bool) {
	query := ""
	for _, f := range a.Filters {
		if f.Text == byDateFilter {
			query, byDate = f.Without, true
		}
	}
	if !byDate {
		query = params.Narrow([]string{byDateFilter}, r.Query)
	}
	if len(query) > params.MaxQuery {
		return "", byDate
	}
	r.Query = query
	return address.SearchHref("/search", r, 0), byDate
}

// tools returns the controls above the results: their order, and the link that shows or hides filters.
func tools(m *messages.Printer, v *resultsView) template.HTML {
	b := markup{messages: m}
	b.raw(`<div class="tools"><nav class="sort"`)
	b.attr("aria-label", m.Text("Order"))
	b.raw(">")
	for byDate, name := range []string{m.Text("best match first"), m.Text("newest first")} {
		if v.ByDate == (byDate == 1) {
			b.element(`<span aria-current="true">`, name, "</span>")
		} else if v.OtherOrder != "" {
			b.link(v.OtherOrder, "", name)
		}
	}
	b.raw("</nav>")
	if v.FacetsShown {
		b.link(v.ShowFacets, ` class="toggle"`, m.Text("Hide filters"))
	} else {
		b.link(v.ShowFacets+"#filters", ` class="toggle"`, m.Text("Filters"))
	}
	b.raw("</div>")
	return template.HTML(b.String())
}

// narrow sets the controls that narrow the results: order, facets, and the links that show and hide
// them.
func (v *resultsView) narrow(m *messages.Printer, r searcher.Request, a *searcher.Response) {
	v.Facets = facetViews(m, r, a)
	v.OtherOrder, v.ByDate = otherOrder(r, a)
	to := r
	if to.Facets = ""; r.Facets == "" {
		to.Facets = searcher.AllFacets
	}
	v.ShowFacets, v.FacetsShown = address.SearchHref("/search", to, r.Offset), r.Facets != ""
	if len(a.Filters) > 0 && a.Plain != "" {
		v.Clear = address.SearchHref("/search", address.WithQuery(r, a.Plain), 0)
	}
}
