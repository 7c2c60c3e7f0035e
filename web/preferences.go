package web

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"

	"anatomy/searcher"
	"anatomy/weburl"
)

// Preferences are kept by the asker, not by us: in a cookie, or in the address, where they can be
// passed on and bookmarked. An address that has one of them is read instead of the cookie. Both hold
// them as a query string: "block=example.com&raise=docs.example.org,example.net&num=20&theme=dark".
type preferences struct {
	searcher.Preferences

	Num     int    // results a page; 0 for the default
	Tab     bool   // results open in a new tab
	Theme   string // "light", "dark" or "" for that of the system
	Instant bool   // results while one types
}

const (
	preferencesCookie = "anatomy_preferences"
	preferencesLength = 400 * 24 * 3600 // seconds: browsers keep nothing longer
	maxPreferences    = 3500            // bytes: browsers keep cookies of 4,096
)

// preferenceNames are the parameters that are preferences. (num is one, too, that others may stand without.)
var preferenceNames = []string{"raise", "lower", "pin", "block", "lang", "tab", "theme", "instant"}

// lists are the sites by what is thought of them.
func (f *preferences) lists() map[string]*[]string {
	return map[string]*[]string{"raise": &f.Raise, "lower": &f.Lower, "pin": &f.Pin, "block": &f.Block}
}

// preferences are all preferences.
func (p *params) preferences() *preferences {
	f := &preferences{Preferences: p.preferred(), Num: p.number("num", 0, 1, searcher.MaxLimit), Tab: p.flag("tab"), Instant: p.flag("instant")}
	switch f.Theme = p.one("theme"); f.Theme {
	case "", "light", "dark":
	case "auto":
		f.Theme = ""
	default:
		p.fail("Parameter theme must be auto, light or dark.")
	}
	return f
}

// preferred are those that results depend on.
func (p *params) preferred() searcher.Preferences {
	f := preferences{}
	sites := 0
	for name, list := range f.lists() {
		for _, raw := range strings.FieldsFunc(p.one(name), func(r rune) bool { return r == ',' || r <= ' ' }) {
			site, ok := siteName(raw)
			if !ok {
				p.fail("Parameter %s: %q is no site: write example.org, or example.org/docs.", name, shorten(visible(raw), 80))
				continue
			}
			if !slices.Contains(*list, site) {
				*list = append(*list, site)
				sites++
			}
		}
	}
	if sites > searcher.MaxPreferred {
		p.fail("%d sites are named; the limit is %d.", sites, searcher.MaxPreferred)
	}
	if lang := p.one("lang"); lang != "" {
		if f.Lang = langTag(lang); f.Lang == "" {
			p.fail("Parameter lang must be the tag of a language: de, en, pt-br.")
		}
	}
	return f.Preferences
}

// siteName is a site as people write it, or as lists of blocked sites do: "https://example.org/",
// "*://*.example.org/*".
func siteName(raw string) (string, bool) {
	name := strings.TrimPrefix(raw, "@") // of uBlacklist: the line is for search engines
	if _, rest, ok := strings.Cut(name, "://"); ok {
		name = rest
	}
	name = strings.TrimRight(strings.TrimSuffix(strings.TrimPrefix(name, "*."), "*"), "/")
	u, err := weburl.Parse("http://" + name)
	if err != nil || strings.ContainsAny(name, " *!<>\"'(){}|,;") || strings.Contains(name, "..") {
		return "", false
	}
	name = strings.TrimSuffix(strings.TrimPrefix(u.String(), "http://"), "/")
	_, _, ok := weburl.SiteKeys(name)
	return name, ok && len(name) <= 300
}

// values are preferences as parameters; none stands where it says nothing.
func (f *preferences) values() url.Values {
	v := url.Values{}
	for name, list := range f.lists() {
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
	if f.Num > 0 {
		v.Set("num", strconv.Itoa(f.Num))
	}
	return v
}

// taste is what the searcher has to know, nil where that is nothing. With shown, pages of blocked sites
// are not left out.
func taste(t searcher.Preferences, shown bool) *searcher.Preferences {
	if shown {
		t.Block = nil
	}
	if t.Lang == "" && len(t.Raise)+len(t.Lower)+len(t.Pin)+len(t.Block) == 0 {
		return nil
	}
	return &t
}

// of says what is thought of the site of a page, "" for nothing: "blocked", "pinned", "raised", "lowered".
func (f *preferences) of(address string) string {
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

// set thinks of a site what is said, and nothing else.
func (f *preferences) set(site, what string) {
	for name, list := range f.lists() {
		*list = slices.DeleteFunc(*list, func(known string) bool { return known == site })
		if name == what {
			*list = append(*list, site)
		}
	}
}

// A visitor is who a page is for: preferences, and where they come from.
type visitor struct {
	preferences
	Carry url.Values // what addresses must hold, so that those they lead to are as this one; nil with a cookie
}

// visitor reads preferences from the address, or else from the cookie. What a cookie says wrong is passed
// over: its holder could not mend it.
func (s *Server) visitor(c *gin.Context, p *params) *visitor {
	if slices.ContainsFunc(preferenceNames, p.values.Has) {
		f := p.preferences()
		carry := f.values()
		carry.Del("num") // which addresses have anyway
		if len(carry) == 0 {
			carry.Set("theme", "auto") // nothing is preferred, whatever a cookie says
		}
		return &visitor{*f, carry}
	}
	return &visitor{preferences: *kept(c.Request)}
}

// kept are the preferences in the cookie.
func kept(r *http.Request) *preferences {
	cookie, err := r.Cookie(preferencesCookie)
	if err != nil || len(cookie.Value) > maxPreferences {
		return &preferences{}
	}
	values, err := url.ParseQuery(cookie.Value)
	if err != nil {
		return &preferences{}
	}
	return (&params{values: values}).preferences()
}

// keep sets the cookie.
func (s *Server) keep(c *gin.Context, f *preferences) error {
	text := f.values().Encode()
	if len(text) > maxPreferences {
		return badParameter("These are more sites than a browser keeps: name fewer, or their common parent.")
	}
	http.SetCookie(c.Writer, &http.Cookie{
		Name: preferencesCookie, Value: text, Path: s.path("/"), MaxAge: preferencesLength, HttpOnly: true, SameSite: http.SameSiteLaxMode,
		Secure: isHTTPS(c.Request) || strings.HasPrefix(s.o.PublicURL, "https://"),
	})
	return nil
}

// A preferencesView is the page of preferences.
type preferencesView struct {
	preferences
	Saved bool
	Nums  []int  // that are proposed
	Link  string // an address with these preferences
	Sites []siteLists
}

type siteLists struct{ Name, Label, About, Text string }

func (s *Server) preferencesPage(c *gin.Context) error {
	p := readParams(c)
	a := s.visitor(c, p)
	saved := p.flag("saved")
	if p.err != nil {
		return p.err
	}
	v := s.view("Preferences", "")
	f := &preferencesView{preferences: a.preferences, Saved: saved, Nums: []int{10, 20, 30, 50, 100}}
	if a.Num > 0 && !slices.Contains(f.Nums, a.Num) {
		f.Nums = append(f.Nums, a.Num)
		slices.Sort(f.Nums)
	}
	if values := a.values(); len(values) > 0 {
		f.Link = "/?" + values.Encode()
	}
	for _, l := range []siteLists{
		{Name: "raise", Label: "Raise", About: "their pages score more"},
		{Name: "lower", Label: "Lower", About: "their pages score less"},
		{Name: "pin", Label: "Pin", About: "their best pages come first"},
		{Name: "block", Label: "Block", About: "their pages are hidden, and counted"},
	} {
		l.Text = strings.Join(*a.lists()[l.Name], "\n")
		f.Sites = append(f.Sites, l)
	}
	v.Preferences = f
	return s.render(c, http.StatusOK, s.pages.preferences, v)
}

// fromHere refuses what another site has a browser send: nobody else sets preferences.
func (s *Server) fromHere(c *gin.Context) error {
	if s.sameOrigin.Check(c.Request) != nil {
		return forbidden("Another site sent this request.")
	}
	c.Request.Body = http.MaxBytesReader(c.Writer, c.Request.Body, maxForm)
	if err := c.Request.ParseForm(); err != nil {
		return badParameter("The form could not be read, or is too long.")
	}
	return nil
}

// savePreferences takes all preferences from the form of their page.
func (s *Server) savePreferences(c *gin.Context) error {
	if err := s.fromHere(c); err != nil {
		return err
	}
	p := &params{values: c.Request.PostForm}
	f := p.preferences()
	if f.Num == searcher.DefaultLimit {
		f.Num = 0
	}
	if err := cmp.Or(p.err, s.keep(c, f)); err != nil {
		return err
	}
	s.redirect(c, http.StatusSeeOther, "/preferences?saved=1")
	return nil
}

// preferSite takes one decision from the menu of a result, "block example.org" in set, and leads back to
// the results. Where the preferences are those of the address, the address changes and no cookie.
func (s *Server) preferSite(c *gin.Context) error {
	if err := s.fromHere(c); err != nil {
		return err
	}
	p := &params{values: c.Request.PostForm}
	what, raw, _ := strings.Cut(p.one("set"), " ")
	site, ok := siteName(raw)
	if _, known := (&preferences{}).lists()[what]; !ok || !known && what != "none" {
		p.fail("Parameter set must be raise, lower, pin, block or none, and a site.")
	}
	back, err := url.ParseQuery(p.text("back", 4*MaxQuery))
	if err != nil {
		p.fail("Parameter back must be the query string of a search.")
	}
	if p.err != nil {
		return p.err
	}
	if given := (&params{values: back}); slices.ContainsFunc(preferenceNames, back.Has) {
		f := given.preferences()
		f.set(site, what)
		for _, name := range preferenceNames {
			back.Del(name)
		}
		values := f.values()
		values.Del("num")
		if len(values) == 0 {
			values.Set("theme", "auto") // the address stays the one that counts
		}
		for name := range values {
			back.Set(name, values.Get(name))
		}
	} else {
		f := kept(c.Request)
		f.set(site, what)
		if err := s.keep(c, f); err != nil {
			return err
		}
	}
	s.redirect(c, http.StatusSeeOther, "/search?"+back.Encode())
	return nil
}
