package web

import (
	"net/url"

	"anatomy/searcher"
)

// A choice is an entry of the menu of a result.
type choice struct{ Label, Set string }

// prefer puts what the asker prefers on a page of results: the menus to change it, the tags that tell
// of it, and, where it stands in the address, the addresses of other pages. Query is that of the page's
// own address; shown says that pages of blocked sites are not left out,
// explore that sites can be looked at.
func (v *resultsView) prefer(a *visitor, query string, shown, explore bool) {
	v.Back = query
	for i := range v.Results {
		r := &v.Results[i]
		r.Liked = a.of(r.URL)
		if site, ok := siteName(hostOf(r.URL)); ok {
			r.Host, r.Choices = site, choices(site, r.Liked)
			if explore {
				r.Explore = siteHref(site)
			}
		}
	}
	v.carry(a.Carry)
	if shown {
		v.carry(url.Values{"blocked": {"1"}})
	}
	v.ShowHidden = "/search?" + query + "&blocked=1"
}

// choices are what may be thought of a site, but for what is.
func choices(site, liked string) (all []choice) {
	for _, c := range []struct{ label, what, when string }{
		{"Raise", "raise", "raised"}, {"Lower", "lower", "lowered"}, {"Pin", "pin", "pinned"}, {"Block", "block", "blocked"},
	} {
		if liked != c.when {
			all = append(all, choice{c.label, c.what + " " + site})
		}
	}
	if liked != "" {
		all = append(all, choice{"Not " + liked, "none " + site})
	}
	return all
}

// carry puts parameters into the addresses of searches that the page leads to.
func (v *resultsView) carry(values url.Values) {
	if len(values) == 0 {
		return
	}
	tail := "&" + values.Encode()
	add := func(href *string) {
		if *href != "" {
			*href += tail
		}
	}
	for _, href := range []*string{&v.Prev, &v.Next, &v.JSON} {
		add(href)
	}
	for i := range v.Pages {
		add(&v.Pages[i].Href)
	}
	for i := range v.Filters {
		add(&v.Filters[i].Href)
	}
	for i := range v.Sites {
		add(&v.Sites[i].Href)
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

// hiddenText says how many pages of blocked sites were left out, "" for none.
func hiddenText(a *searcher.Response) string {
	switch {
	case a.Hidden == 0:
		return ""
	case a.Hidden == 1 && a.HiddenExact:
		return "1 page of a site that you blocked is"
	case a.HiddenExact:
		return count(a.Hidden) + " pages of sites that you blocked are"
	}
	return "At least " + count(a.Hidden) + " pages of sites that you blocked are"
}
