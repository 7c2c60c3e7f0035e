package pages

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"

	"anatomy/searcher"
	"anatomy/web/internal/params"
	"anatomy/web/internal/respond"
	"anatomy/web/internal/text"
)

// preferencesPages show and save preferences.
type preferencesPages struct {
	*frame
	sameOrigin *http.CrossOriginProtection
}

// A preferencesView is the preferences page.
type preferencesView struct {
	params.Preferences
	Saved bool
	Nums  []int  // choices of results per page
	Link  string // address with these preferences
	Sites []siteLists
}

type siteLists struct{ Name, Label, About, Text string }

var preferenceLists = []siteLists{
	{Name: "raise", Label: "Raise", About: "their pages score more"},
	{Name: "lower", Label: "Lower", About: "their pages score less"},
	{Name: "pin", Label: "Pin", About: "their best pages come first"},
	{Name: "block", Label: "Block", About: "their pages are hidden, and counted"},
}

func (s *preferencesPages) preferencesPage(c *gin.Context) error {
	p := params.Read(c)
	a := visitorOf(c, p)
	saved := p.Flag("saved")
	if p.Err != nil {
		return p.Err
	}
	v := s.view(c, "Preferences", "")
	f := &preferencesView{Preferences: a.Preferences, Saved: saved, Nums: []int{10, 20, 30, 50, 100}}
	if a.Num > 0 && !slices.Contains(f.Nums, a.Num) {
		f.Nums = append(f.Nums, a.Num)
		slices.Sort(f.Nums)
	}
	if values := a.Values(); len(values) > 0 {
		f.Link = "/?" + values.Encode()
	}
	for _, l := range preferenceLists {
		l.Text = strings.Join(*a.Lists()[l.Name], "\n")
		f.Sites = append(f.Sites, l)
	}
	v.Body = f
	return s.render(c, http.StatusOK, "preferences", v)
}

// savePreferences saves the form of the preferences page.
func (s *preferencesPages) savePreferences(c *gin.Context) error {
	if err := s.fromHere(c); err != nil {
		return err
	}
	p := &params.Params{Values: c.Request.PostForm}
	f := p.Preferences()
	if f.Num == searcher.DefaultLimit {
		f.Num = 0
	}
	if err := cmp.Or(p.Err, s.keep(c, f)); err != nil {
		return err
	}
	s.site.Redirect(c, http.StatusSeeOther, "/preferences?saved=1")
	return nil
}

// preferSite saves one choice from the menu of a result, "block example.org" in set, and redirects
// to the results. If the preferences are in the address, it changes the address instead of the
// cookie.
func (s *preferencesPages) preferSite(c *gin.Context) error {
	if err := s.fromHere(c); err != nil {
		return err
	}
	p := &params.Params{Values: c.Request.PostForm}
	what, raw, _ := strings.Cut(p.One("set"), " ")
	site, ok := text.SiteName(raw)
	if _, known := (&params.Preferences{}).Lists()[what]; !ok || !known && what != "none" {
		p.Fail("Parameter set must be raise, lower, pin, block or none, and a site.")
	}
	back, err := url.ParseQuery(p.Text("back", 4*params.MaxQuery))
	if err != nil {
		p.Fail("Parameter back must be the query string of a search.")
	}
	if p.Err != nil {
		return p.Err
	}
	if given := (&params.Params{Values: back}); slices.ContainsFunc(params.PreferenceNames, back.Has) {
		f := given.Preferences()
		f.Set(site, what)
		for _, name := range params.PreferenceNames {
			back.Del(name)
		}
		values := f.Values()
		values.Del("num")
		if len(values) == 0 {
			values.Set("theme", "auto") // so that the address still replaces the cookie
		}
		for name := range values {
			back.Set(name, values.Get(name))
		}
	} else {
		f := kept(c.Request)
		f.Set(site, what)
		if err := s.keep(c, f); err != nil {
			return err
		}
	}
	s.site.Redirect(c, http.StatusSeeOther, "/search?"+back.Encode())
	return nil
}

// fromHere refuses forms that another site sends.
func (s *preferencesPages) fromHere(c *gin.Context) error {
	if s.sameOrigin.Check(c.Request) != nil {
		return respond.Forbidden("Another site sent this request.")
	}
	c.Request.Body = http.MaxBytesReader(c.Writer, c.Request.Body, MaxForm)
	if err := c.Request.ParseForm(); err != nil {
		return respond.BadParameter("The form is malformed or too long.")
	}
	return nil
}

// keep stores preferences in the cookie.
func (s *preferencesPages) keep(c *gin.Context, f *params.Preferences) error {
	text := f.Values().Encode()
	if len(text) > maxPreferences {
		return respond.BadParameter("These are more sites than a browser can store. Enter fewer, or their common parent domain.")
	}
	http.SetCookie(c.Writer, &http.Cookie{
		Name: preferencesCookie, Value: text, Path: s.site.Path("/"), MaxAge: preferencesLength, HttpOnly: true, SameSite: http.SameSiteLaxMode,
		Secure: s.site.Secure(c.Request),
	})
	return nil
}
