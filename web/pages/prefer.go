package pages

import (
	"net/url"
	"strings"

	"anatomy/web/internal/address"
	"anatomy/web/internal/messages"
	"anatomy/web/internal/text"
	"anatomy/web/internal/visitor"
)

// prefer adds the visitor's preferences to a page of results: menus, tags, and parameters of links.
// query is the query string of the page; shown means that pages of blocked sites are not hidden.
func (v *resultsView) prefer(a *visitor.Visitor, query string, shown bool) {
	v.Back = query
	for i := range v.Results {
		r := &v.Results[i]
		r.Liked = a.Of(r.URL)
		if site, ok := text.SiteName(text.HostOf(r.URL)); ok {
			r.Host, r.Choices = site, choices(v.messages, site, r.Liked)
			r.Explore = address.SiteHref(site)
		}
	}
	v.Lens = chooseLens(a, v.Again)
	v.Atom += a.Lens.Tail()
	v.carry(a.Carry)
	if shown {
		v.carry(url.Values{"blocked": {"1"}})
	}
	v.ShowHidden = "/search?" + query + "&blocked=1"
}

// choices returns the menu entries for a site with the preference liked.
func choices(m *messages.Printer, site, liked string) (all []choice) {
	for _, c := range []struct{ label, what, when string }{
		{m.Text("Raise"), "raise", "raised"}, {m.Text("Lower"), "lower", "lowered"},
		{m.Text("Pin"), "pin", "pinned"}, {m.Text("Block"), "block", "blocked"},
	} {
		if liked != c.when {
			all = append(all, choice{c.label, c.what + " " + site})
		}
	}
	if liked != "" {
		all = append(all, choice{m.Text("Treat as any site"), "none " + site})
	}
	return all
}

// carry adds parameters to the links to other searches.
func (v *resultsView) carry(values url.Values) {
	if len(values) == 0 {
		return
	}
	tail := values.Encode()
	add := func(href *string) {
		switch {
		case *href == "":
		case strings.Contains(*href, "?"):
			*href += "&" + tail
		default: // the home page
			*href += "?" + tail
		}
	}
	for _, href := range []*string{&v.Prev, &v.Next, &v.JSON, &v.Clear, &v.ShowFacets, &v.OtherOrder, &v.Again} {
		add(href)
	}
	for i := range v.Facets {
		add(&v.Facets[i].Alone)
		add(&v.Facets[i].Beside)
		for j := range v.Facets[i].Values {
			add(&v.Facets[i].Values[j].Href)
		}
	}
	for i := range v.Pages {
		add(&v.Pages[i].Href)
	}
	for i := range v.Filters {
		add(&v.Filters[i].Href)
	}
	for i := range v.Hints {
		add(&v.Hints[i].Href)
	}
	for i := range v.Results {
		add(&v.Results[i].Why)
	}
	if v.Spelling != nil {
		add(&v.Spelling.Href)
		add(&v.Spelling.AskedHref)
	}
}
