package pages

import (
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"anatomy/searcher"
	"anatomy/web/internal/address"
	"anatomy/web/internal/frame"
	"anatomy/web/internal/messages"
	"anatomy/web/internal/params"
	"anatomy/web/internal/prefsfile"
	"anatomy/web/internal/reader"
	"anatomy/web/internal/respond"
	"anatomy/web/internal/session"
	"anatomy/web/internal/text"
	"anatomy/web/internal/visitor"
)

// preferencesPages show and save preferences.
type preferencesPages struct {
	*frame.Frame
	sameOrigin *http.CrossOriginProtection
	offer      *renewed[offer]
}

// An offer is what preferences and searches can be about in a collection.
type offer struct {
	Languages []string // tags, those of most pages first
	Hosts     []string // those of most pages first
	Sites     int      // number of all hosts
	Documents int
	Ranked    time.Time // when the ranks were computed; zero for no ranks
}

// findOffer returns the languages and hosts of a collection, searcher.MaxFacetValues of each.
func findOffer(ctx context.Context, reader *reader.Reader) *offer {
	every := "filetype:" + strings.Join(fileKinds, " OR filetype:")
	a, err := reader.Search(ctx, searcher.Request{Query: every, Limit: 1, Count: searcher.CountNone, Facets: "site,lang"})
	if err != nil || len(a.Results) == 0 {
		return nil
	}
	found := &offer{Documents: a.Documents, Ranked: a.Rank.Computed}
	for _, f := range a.Facets {
		if f.Kind == "site" {
			found.Sites = f.Of
		}
		for _, v := range f.Values {
			if lang := text.LangTag(v.Value); f.Kind == "lang" && lang != "" {
				found.Languages = append(found.Languages, lang)
			} else if f.Kind == "site" {
				found.Hosts = append(found.Hosts, v.Value)
			}
		}
	}
	return found
}

// namedHosts is the number of hosts that a line about the collection names.
const namedHosts = 3

// Named returns the first hosts.
func (o *offer) Named() []string { return o.Hosts[:min(namedHosts, len(o.Hosts))] }

// offered returns an offer, which is empty for a collection that has nothing to search.
func offered(c *gin.Context, kept *renewed[offer]) *offer {
	if found := kept.get(c.Request.Context()); found != nil {
		return found
	}
	return &offer{}
}

// A preferencesView is the preferences page.
type preferencesView struct {
	params.Preferences
	Saved     bool
	Removed   string              // site that was just removed, or ""
	Undo      string              // the choice that brings it back
	Failed    string              // why the form was not saved, or ""
	Read      bool                // they are those of a file, and not saved
	Problems  []prefsfile.Problem // of the file
	Adding    string              // sites that could not be added
	Kind      string              // list that a site is added to
	Given     url.Values          // lists that are not those of the cookie, for the form
	Kinds     []siteList
	Found     int    // sites of Match
	Match     string // part of the names of the sites that are shown
	Filter    bool   // the lists are long
	Languages []languageView
	Hosts     []string // suggestions
	Nums      []int    // choices of results per page
	Link      string   // address with these preferences
	Lenses    []lensLink
	FileLens  string // lenses of the file, encoded
}

// IsList reports whether a parameter is a list of sites.
func (v *preferencesView) IsList(name string) bool { return v.Lists()[name] != nil }

// A siteList is the sites with one preference.
type siteList struct {
	Name, Label, Heading, About string
	Sites                       []listedSite
}

type listedSite struct{ Site, Href string }

// A languageView is a language that can be preferred.
type languageView struct {
	Tag, Name string
	On        bool
}

// longList is the number of sites from which the page has a filter for them.
const longList = 8

var preferenceLists = []siteList{
	{Name: "raise", Label: "Raise", Heading: "Raised sites", About: "their pages score more"},
	{Name: "lower", Label: "Lower", Heading: "Lowered sites", About: "their pages score less"},
	{Name: "pin", Label: "Pin", Heading: "Pinned sites", About: "their best pages come first"},
	{Name: "block", Label: "Block", Heading: "Blocked sites", About: "their pages are hidden, and counted"},
}

func (s *preferencesPages) preferencesPage(c *gin.Context) error {
	p := params.Read(c)
	a := visitor.Of(c, p)
	v := &preferencesView{Preferences: a.Preferences, Saved: p.Flag("saved"), Match: p.Text("match", maxMatch)}
	if a.Given {
		v.Given = a.Values()
	}
	if undo := p.One("undo"); undo != "" {
		if _, site, ok := choiceOf(undo); ok {
			v.Removed, v.Undo = site, undo
		} else {
			p.Fail("Parameter undo must be raise, lower, pin or block, and a site.")
		}
	}
	if p.Err != nil {
		return p.Err
	}
	return s.show(c, http.StatusOK, v)
}

// show answers with the preferences page.
func (s *preferencesPages) show(c *gin.Context, status int, f *preferencesView) error {
	v := s.View(c, "Preferences", "")
	f.Kinds, f.Found = siteLists(&f.Preferences, f.Match)
	f.Filter = f.Sites() > longList || f.Match != ""
	if f.Kind == "" {
		f.Kind = "block"
	}
	offer := offered(c, s.offer)
	f.Lenses = lensLinks(visitor.WithLenses(visitor.DecodeLenses(f.FileLens), visitor.Lenses(c.Request)))
	f.Hosts, f.Languages = offer.Hosts, languageViews(f.Lang, offer.Languages)
	if f.Nums = []int{10, 20, 30, 50, 100}; f.Num > 0 && !slices.Contains(f.Nums, f.Num) {
		f.Nums = append(f.Nums, f.Num)
		slices.Sort(f.Nums)
	}
	if values := f.Values(); len(values) > 0 {
		f.Link = "/?" + values.Encode()
	}
	v.Body = f
	return s.Render(c, status, "preferences", v)
}

// siteLists returns the sites whose names have match in them, by list, and their number.
func siteLists(f *params.Preferences, match string) (all []siteList, found int) {
	for _, l := range preferenceLists {
		list := *f.Lists()[l.Name]
		for _, site := range slices.Sorted(slices.Values(list)) {
			if strings.Contains(site, strings.ToLower(match)) {
				l.Sites = append(l.Sites, listedSite{site, address.SiteHref(site)})
				found++
			}
		}
		all = append(all, l)
	}
	return all, found
}

// languageViews returns the languages of a collection, and the preferred ones that it lacks.
func languageViews(preferred string, offered []string) (all []languageView) {
	on := strings.FieldsFunc(preferred, params.IsListGap)
	for _, tag := range offered {
		all = append(all, languageView{tag, text.LanguageName(tag), slices.Contains(on, tag)})
	}
	for _, tag := range on {
		if !slices.Contains(offered, tag) {
			all = append(all, languageView{tag, text.LanguageName(tag), true})
		}
	}
	return all
}

// choiceOf reads a preference for a site: "block example.org".
func choiceOf(choice string) (what, site string, ok bool) {
	what, raw, _ := strings.Cut(choice, " ")
	_, known := (&params.Preferences{}).Lists()[what]
	site, isSite := text.SiteName(raw)
	return what, site, isSite && (known || what == "none")
}

// savePreferences saves the form of the preferences page: its settings, and the lists of sites with
// those added and without the one removed. The lists are those of the cookie, unless the form has
// them.
func (s *preferencesPages) savePreferences(c *gin.Context) error {
	if err := s.fromHere(c); err != nil {
		return err
	}
	p := &params.Params{Values: c.Request.PostForm}
	if languages := p.Values["lang"]; len(languages) > 1 { // checkboxes
		p.Values["lang"] = []string{strings.Join(languages, ",")}
	}
	v := &preferencesView{Preferences: *p.Preferences(), Adding: p.One("site"), Kind: p.One("kind")}
	lists := v.Lists()
	if slices.ContainsFunc(slices.Collect(maps.Keys(lists)), p.Values.Has) {
		v.Given = v.Values()
	} else {
		for name, list := range visitor.Kept(c.Request).Lists() {
			*lists[name] = *list
		}
	}
	if v.Num == searcher.DefaultLimit {
		v.Num = 0
	}
	next := url.Values{"saved": {"1"}}
	f := v.Preferences.Clone()
	if removed := p.One("remove"); removed != "" {
		_, site, ok := choiceOf(removed)
		if !ok {
			p.Fail("Parameter remove must be a list and a site.")
		}
		f.Set(site, "none")
		next = url.Values{"undo": {removed}}
	}
	if match := p.Text("match", maxMatch); match != "" {
		next.Set("match", match)
	}
	if lists[v.Kind] == nil && v.Adding != "" {
		p.Fail("Parameter kind must be raise, lower, pin or block.")
	}
	if p.Err != nil {
		return p.Err
	}
	m := messages.For(c.GetHeader("Accept-Language"))
	v.FileLens = p.One("lenses")
	if v.Failed = addSites(m, f, v.Adding, v.Kind); v.Failed == "" {
		v.Failed = s.keep(c, m, f)
	}
	if v.Failed == "" && v.FileLens != "" {
		v.Failed = s.keepLenses(c, m, visitor.WithLenses(visitor.DecodeLenses(v.FileLens), visitor.Lenses(c.Request)))
	}
	if v.Failed != "" {
		c.Writer.Header().Del("Set-Cookie")
		return s.show(c, http.StatusBadRequest, v)
	}
	s.Site.Redirect(c, http.StatusSeeOther, "/preferences?"+next.Encode())
	return nil
}

// addSites adds sites to a list. It returns why it cannot, or "".
func addSites(m *messages.Printer, f *params.Preferences, sites, kind string) (failed string) {
	for _, raw := range strings.FieldsFunc(sites, params.IsListGap) {
		site, ok := text.SiteName(raw)
		if !ok {
			return prefsfile.NotSite(m, raw)
		}
		f.Set(site, kind)
	}
	return ""
}

// exportPreferences answers with the preferences as a file.
func (s *preferencesPages) exportPreferences(c *gin.Context) error {
	p := params.Read(c)
	f := visitor.Of(c, p).Preferences
	if p.Err != nil {
		return p.Err
	}
	content, err := prefsfile.Write(&f, visitor.Lenses(c.Request))
	if err != nil {
		return err
	}
	respond.AsData(c)
	c.Header("Content-Disposition", `attachment; filename="preferences.toml"`)
	c.Data(http.StatusOK, "application/toml; charset=utf-8", content)
	return nil
}

// importPreferences shows the preferences of a file, which the page's form saves, or the problems of
// the file. A list of sites adds to the blocked ones.
func (s *preferencesPages) importPreferences(c *gin.Context) error {
	if err := s.fromHere(c); err != nil {
		return err
	}
	m := messages.For(c.GetHeader("Accept-Language"))
	v := &preferencesView{Preferences: *visitor.Kept(c.Request)}
	content, err := posted(c.Request, "file", prefsfile.MaxBytes)
	switch {
	case err != nil:
		return respond.BadParameter("Field file must be a file.")
	case len(content) > prefsfile.MaxBytes:
		v.Problems = []prefsfile.Problem{{Text: m.Text("The file has more than %d bytes.", prefsfile.MaxBytes)}}
	case prefsfile.IsBlockList(content):
		f := v.Clone()
		if v.Problems = prefsfile.AddBlockList(m, f, content); v.Problems == nil {
			v.Preferences = *f
		}
	default:
		var f *params.Preferences
		var lenses []*params.Lens
		if f, lenses, v.Problems = prefsfile.Read(m, content); f != nil {
			v.Preferences, v.FileLens = *f, visitor.EncodeLenses(lenses)
		}
	}
	if v.Problems != nil {
		return s.show(c, http.StatusBadRequest, v)
	}
	v.Read, v.Given = true, v.Values()
	return s.show(c, http.StatusOK, v)
}

// posted returns a file of a form, or the first limit+1 bytes of it.
func posted(r *http.Request, field string, limit int64) ([]byte, error) {
	file, _, err := r.FormFile(field)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, limit+1))
}

// preferSite saves one choice from the menu of a result, "block example.org" in set, and redirects
// to the results of the query string in back, or without it to the preferences. If the preferences
// are in that, it changes the address instead of the cookie.
func (s *preferencesPages) preferSite(c *gin.Context) error {
	if err := s.fromHere(c); err != nil {
		return err
	}
	p := &params.Params{Values: c.Request.PostForm}
	what, site, ok := choiceOf(p.One("set"))
	if !ok {
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
		f := visitor.Kept(c.Request)
		f.Set(site, what)
		if failed := s.keep(c, messages.English(), f); failed != "" {
			return respond.BadParameter(failed)
		}
	}
	if len(back) == 0 {
		s.Site.Redirect(c, http.StatusSeeOther, "/preferences?saved=1")
		return nil
	}
	s.Site.Redirect(c, http.StatusSeeOther, "/search?"+back.Encode())
	return nil
}

// fromHere refuses forms that another site sends.
func (s *preferencesPages) fromHere(c *gin.Context) error {
	if s.sameOrigin.Check(c.Request) != nil {
		return respond.Forbidden("Another site sent this request.")
	}
	c.Request.Body = http.MaxBytesReader(c.Writer, c.Request.Body, session.MaxForm)
	err := c.Request.ParseForm()
	if err == nil {
		err = c.Request.ParseMultipartForm(session.MaxForm)
	}
	if err != nil && !errors.Is(err, http.ErrNotMultipart) {
		return respond.BadParameter("The form is malformed or too long.")
	}
	return nil
}

// keep stores preferences in the cookie. It returns why it cannot, or "".
func (s *preferencesPages) keep(c *gin.Context, m *messages.Printer, f *params.Preferences) (failed string) {
	if sites := f.Sites(); sites > searcher.MaxPreferred {
		return m.Text("The lists would have %d sites; the limit is %d. Remove some, or add their common parent domain.", sites, searcher.MaxPreferred)
	}
	value := f.Values().Encode()
	if len(value) > visitor.MaxPreferences {
		return m.Text("The lists would take %d bytes; this browser keeps %d. Remove some sites, or add their common parent domain.", len(value), visitor.MaxPreferences)
	}
	s.setCookie(c, visitor.PreferencesCookie, value)
	return ""
}

func (s *preferencesPages) setCookie(c *gin.Context, name, value string) {
	http.SetCookie(c.Writer, &http.Cookie{
		Name: name, Value: value, Path: s.Site.Path("/"), MaxAge: visitor.CookieSeconds, HttpOnly: true, SameSite: http.SameSiteLaxMode,
		Secure: s.Site.Secure(c.Request),
	})
}
