package params

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"anatomy/searcher"
	"anatomy/web/internal/text"
	"anatomy/weburl"
)

// Preferences of a visitor. The server does not store them: they are in a cookie or in the address,
// which can be bookmarked and shared. An address with one of them replaces the cookie. Both are a
// query string: "block=example.com&raise=docs.example.org,example.net&num=20&theme=dark".
type Preferences struct {
	searcher.Preferences

	Num     int    // results per page, 0 for the default
	Tab     bool   // results open in a new tab
	Theme   string // "light", "dark", or "" for the system's
	Instant bool   // results while typing
}

// PreferenceNames are the parameters that are preferences. num is a preference too, but occurs
// without the others.
var PreferenceNames = []string{"raise", "lower", "pin", "block", "lang", "tab", "theme", "instant"}

// Lists returns the lists of sites by parameter.
func (f *Preferences) Lists() map[string]*[]string {
	return map[string]*[]string{"raise": &f.Raise, "lower": &f.Lower, "pin": &f.Pin, "block": &f.Block}
}

// Preferences reads all preferences.
func (p *Params) Preferences() *Preferences {
	f := &Preferences{Preferences: p.Preferred(), Num: p.Number("num", 0, 1, searcher.MaxLimit), Tab: p.Flag("tab"), Instant: p.Flag("instant")}
	switch theme := p.One("theme"); theme {
	case "light", "dark":
		f.Theme = theme
	case "", "auto":
	default:
		p.Fail("Parameter theme must be auto, light or dark.")
	}
	return f
}

// Preferred reads the preferences that change results.
func (p *Params) Preferred() searcher.Preferences {
	f := Preferences{}
	sites := 0
	for name, list := range f.Lists() {
		for _, raw := range strings.FieldsFunc(p.One(name), IsListGap) {
			site, ok := text.SiteName(raw)
			if !ok {
				p.Fail("Parameter %s: %q is not a site. Write example.org or example.org/docs.", name, text.Shorten(text.Visible(raw), 80))
				continue
			}
			if slices.Contains(*list, site) {
				continue
			}
			if sites++; sites <= searcher.MaxPreferred {
				*list = append(*list, site)
			}
		}
	}
	if sites > searcher.MaxPreferred {
		p.Fail("The lists have %d sites. The limit is %d.", sites, searcher.MaxPreferred)
	}
	f.Lang = p.languages()
	return f.Preferences
}

// languages reads the parameter lang: language tags separated by commas.
func (p *Params) languages() string {
	var all []string
	for _, raw := range strings.FieldsFunc(p.One("lang"), IsListGap) {
		lang := text.LangTag(raw)
		if lang == "" {
			p.Fail("Parameter lang must be language tags: de, en, pt-br.")
		} else if !slices.Contains(all, lang) {
			all = append(all, lang)
		}
	}
	if len(all) > searcher.MaxLanguages {
		p.Fail("Parameter lang has %d languages. The limit is %d.", len(all), searcher.MaxLanguages)
	}
	return strings.Join(all[:min(len(all), searcher.MaxLanguages)], ",")
}

// Values returns preferences as parameters, without defaults.
func (f *Preferences) Values() url.Values {
	v := url.Values{}
	for name, list := range f.Lists() {
		if len(*list) > 0 {
			v.Set(name, strings.Join(*list, ","))
		}
	}
	for name, text := range map[string]string{"lang": f.Lang, "theme": f.Theme} {
		if text != "" {
			v.Set(name, text)
		}
	}
	for name, on := range map[string]bool{"tab": f.Tab, "instant": f.Instant} {
		if on {
			v.Set(name, "1")
		}
	}
	if f.Filters != "" {
		v.Set("lens", (&Lens{Query: f.Filters}).Encode())
	}
	if f.Num > 0 {
		v.Set("num", strconv.Itoa(f.Num))
	}
	return v
}

// OfSearch returns the preferences for a search, nil for none. With shown, it does not hide pages
// of blocked sites.
func OfSearch(t searcher.Preferences, shown bool) *searcher.Preferences {
	if shown {
		t.Block = nil
	}
	if t.Lang == "" && t.Filters == "" && (&Preferences{Preferences: t}).Sites() == 0 {
		return nil
	}
	return &t
}

// Of returns the preference for the site of a page: "blocked", "pinned", "raised", "lowered" or "".
func (f *Preferences) Of(address string) string {
	u, err := weburl.Parse(address)
	if err != nil {
		return ""
	}
	for _, kind := range []struct {
		sites []string
		what  string
	}{{f.Block, "blocked"}, {f.Pin, "pinned"}, {f.Raise, "raised"}, {f.Lower, "lowered"}} {
		if slices.ContainsFunc(kind.sites, func(site string) bool { return weburl.MatchSite(site, &u) }) {
			return kind.what
		}
	}
	return ""
}

// Set replaces the preference for a site.
func (f *Preferences) Set(site, what string) {
	for name, list := range f.Lists() {
		*list = slices.DeleteFunc(*list, func(known string) bool { return known == site })
		if name == what {
			*list = append(*list, site)
		}
	}
}

// Sites returns the number of sites in all lists.
func (f *Preferences) Sites() int { return len(f.Raise) + len(f.Lower) + len(f.Pin) + len(f.Block) }

// Clone returns preferences with lists of their own.
func (f *Preferences) Clone() *Preferences {
	clone := *f
	for _, list := range clone.Lists() {
		*list = slices.Clone(*list)
	}
	return &clone
}
