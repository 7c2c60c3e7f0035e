package pages

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"

	"anatomy/web/internal/messages"
	"anatomy/web/internal/params"
	"anatomy/web/internal/prefsfile"
	"anatomy/web/internal/text"
	"anatomy/web/internal/visitor"
)

// keepLenses stores lenses in the cookie. It returns why it cannot, or "".
func (s *preferencesPages) keepLenses(c *gin.Context, m *messages.Printer, all []*params.Lens) (failed string) {
	value := visitor.EncodeLenses(all)
	if len(value) > visitor.MaxLenses {
		return m.Text("Your lenses would take %d bytes; this browser keeps %d. Remove one, or some of its rules.", len(value), visitor.MaxLenses)
	}
	s.setCookie(c, visitor.LensesCookie, value)
	return ""
}

// A lensLink is a lens with the address of its page.
type lensLink struct{ Name, Href string }

func lensHref(l *params.Lens) string { return "/lens?" + url.Values{"lens": {l.Encode()}}.Encode() }

func lensLinks(all []*params.Lens) (links []lensLink) {
	for _, l := range all {
		links = append(links, lensLink{l.Name, lensHref(l)})
	}
	return links
}

// A lensChoice is the control on a page of results.
type lensChoice struct {
	Name    string // of the lens in use, "" for none
	Foreign bool   // it is in use and not kept
	About   string // address of its page
	Without string // address of the search without a lens
	Options []lensOption
}

type lensOption struct {
	Name, Href string
	Current    bool
}

// chooseLens returns the control for a search at an address that has neither lens nor preferences;
// nil if there is no lens to choose.
func chooseLens(a *visitor.Visitor, href string) *lensChoice {
	if a.Lens == nil && len(a.Kept) == 0 {
		return nil
	}
	own := url.Values{}
	for name, values := range a.Carry {
		if name != "lens" {
			own[name] = values
		}
	}
	if len(own) > 0 {
		href += "&" + own.Encode()
	}
	v := &lensChoice{Without: href, Foreign: a.Lens != nil}
	if a.Lens != nil {
		v.Name, v.About = a.Lens.Name, lensHref(a.Lens)
	}
	for _, l := range a.Kept {
		encoded := l.Encode()
		current := a.Lens != nil && a.Lens.Encode() == encoded
		v.Foreign = v.Foreign && !current
		v.Options = append(v.Options, lensOption{l.Name, href + l.Tail(), current})
	}
	return v
}

// A lensView is the page of a lens, or of a new one.
type lensView struct {
	params.Lens
	Encoded   string // "" for a new one
	Kept      bool
	Replaces  bool // another lens of its name is kept
	Saved     bool
	Removed   bool
	Failed    string // why it was not kept, or ""
	Rules     []lensRule
	Share     string // absolute address of this page
	Sites     []lensList
	Languages []languageView
}

// A lensRule is one of the things that a lens does.
type lensRule struct {
	Label string
	Items []string
}

// A lensList is a list of sites in the form.
type lensList struct{ Name, Label, Text string }

var lensLabels = []lensList{
	{Name: "only", Label: "Only these sites"},
	{Name: "raise", Label: "Raised sites"},
	{Name: "block", Label: "Blocked sites"},
}

// showLens shows what a lens does, and asks whether to keep it.
func (s *preferencesPages) showLens(c *gin.Context) error {
	p := params.Read(c)
	l := p.Lens()
	v := &lensView{Saved: p.Flag("saved"), Removed: p.Flag("removed")}
	if p.Err != nil {
		return p.Err
	}
	if l != nil {
		v.Lens, v.Encoded = *l, l.Encode()
	}
	return s.lensPage(c, http.StatusOK, v)
}

func (s *preferencesPages) lensPage(c *gin.Context, status int, f *lensView) error {
	v := s.View(c, "Lens", "")
	m := v.Messages
	for _, l := range visitor.Lenses(c.Request) {
		if l.Name == f.Name {
			f.Kept = l.Encode() == f.Encoded
			f.Replaces = !f.Kept && f.Name != ""
		}
	}
	lists := [][]string{f.Only, f.Raise, f.Block}
	for i, l := range lensLabels {
		if len(lists[i]) > 0 {
			f.Rules = append(f.Rules, lensRule{m.Text(l.Label), lists[i]})
		}
		l.Text = strings.Join(lists[i], "\n")
		f.Sites = append(f.Sites, l)
	}
	var names []string
	for _, tag := range f.Lang {
		names = append(names, text.LanguageName(tag))
	}
	if len(names) > 0 {
		f.Rules = append(f.Rules, lensRule{m.Text("Only these languages"), names})
	}
	if f.Query != "" {
		f.Rules = append(f.Rules, lensRule{m.Text("Only pages that pass these filters"), []string{f.Query}})
	}
	var offered []string
	if offer := s.offer.get(c.Request.Context()); offer != nil {
		offered = offer.Languages
	}
	f.Languages = languageViews(strings.Join(f.Lang, ","), offered)
	if base, err := s.Site.URL(c.Request); err == nil && f.Encoded != "" {
		f.Share = base + lensHref(&f.Lens)
	}
	v.Body = f
	return s.Render(c, status, "lens", v)
}

// keepLens keeps the lens of the parameter lens or of the form, or removes the one that remove names.
func (s *preferencesPages) keepLens(c *gin.Context) error {
	if err := s.fromHere(c); err != nil {
		return err
	}
	m := messages.For(c.GetHeader("Accept-Language"))
	p := &params.Params{Values: c.Request.PostForm}
	kept, next := visitor.Lenses(c.Request), url.Values{"saved": {"1"}}
	v := &lensView{}
	if name := p.One("remove"); name != "" {
		i := slices.IndexFunc(kept, visitor.Named(name))
		if i < 0 {
			p.Fail("Parameter remove must be the name of a lens that is kept.")
		} else {
			v.Lens, next = *kept[i], url.Values{"removed": {"1"}}
			kept = slices.Delete(kept, i, i+1)
		}
	} else {
		if given := p.Lens(); given != nil {
			v.Lens, v.Failed = *given, prefsfile.CheckLens(m, given)
		} else {
			v.Lens, v.Failed = lensOf(m, p)
		}
		kept = slices.DeleteFunc(kept, func(l *params.Lens) bool { return l.Name == v.Name || l.Name == p.One("was") })
		kept = append(kept, &v.Lens)
	}
	if p.Err != nil {
		return p.Err
	}
	if v.Failed == "" {
		v.Failed = s.keepLenses(c, m, kept)
	}
	if v.Failed != "" {
		return s.lensPage(c, http.StatusBadRequest, v)
	}
	next.Set("lens", v.Encode())
	s.Site.Redirect(c, http.StatusSeeOther, "/lens?"+next.Encode())
	return nil
}

// lensOf reads a lens from the fields of the form. It returns why it cannot, or "".
func lensOf(m *messages.Printer, p *params.Params) (l params.Lens, failed string) {
	l = params.Lens{Name: p.Text("name", 4*params.MaxLensName), Query: p.Text("query", params.MaxLens)}
	for name, list := range map[string]*[]string{"only": &l.Only, "raise": &l.Raise, "block": &l.Block} {
		for _, raw := range strings.FieldsFunc(p.One(name), params.IsListGap) {
			site, ok := text.SiteName(raw)
			if !ok {
				site, failed = raw, prefsfile.NotSite(m, raw)
			}
			if !slices.Contains(*list, site) {
				*list = append(*list, site)
			}
		}
	}
	for _, tag := range p.Values["lang"] {
		if tag = text.LangTag(tag); tag != "" {
			l.Lang = append(l.Lang, tag)
		}
	}
	if failed == "" {
		failed = prefsfile.CheckLens(m, &l)
	}
	return l, failed
}
