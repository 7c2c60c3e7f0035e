// Package frame has the layout, templates and assets of pages, and makes pages with them.
package frame

import (
	"bytes"
	"html/template"
	"log/slog"
	"mime"
	"net/http"
	"net/url"
	"path"
	"strings"
	"sync"

	"github.com/gin-gonic/gin"

	"anatomy/web/internal/address"
	"anatomy/web/internal/look"
	"anatomy/web/internal/messages"
	"anatomy/web/internal/params"
	"anatomy/web/internal/respond"
	"anatomy/web/internal/siblings"
	"anatomy/web/internal/visitor"
)

// A Frame makes pages: it runs templates within the layout and turns errors into pages.
type Frame struct {
	Site   *address.Site
	Log    *slog.Logger
	Beside *siblings.List // the collections of the process
	Assets assets
	name   string                                 // of the site
	hasBot bool                                   // /bot is there
	pages  map[*messages.Printer]func() templates // parsed when a language is first used
	busy   map[*messages.Printer]func() []byte    // the pages of a refusal
}

// Options configure a Frame.
type Options struct {
	Site      *address.Site
	Log       *slog.Logger
	Name      string // of the site
	Look      look.Look
	Beside    *siblings.List
	HasBot    bool        // /bot is there
	Functions []Functions // that templates may call
}

// Functions returns functions of templates in one language.
type Functions func(f *Frame, m *messages.Printer) template.FuncMap

// New returns a frame.
func New(o Options) *Frame {
	f := &Frame{Site: o.Site, Log: o.Log, Beside: o.Beside, Assets: loadAssets(&o.Look), name: o.Name, hasBot: o.HasBot}
	f.pages = map[*messages.Printer]func() templates{}
	for _, m := range messages.All() {
		f.pages[m] = sync.OnceValue(func() templates {
			var functions []template.FuncMap
			for _, of := range o.Functions {
				functions = append(functions, of(f, m))
			}
			return parseTemplates(f.Assets, m, functions)
		})
	}
	f.busy = map[*messages.Printer]func() []byte{}
	for _, m := range messages.All() {
		f.busy[m] = sync.OnceValue(func() []byte { return f.busyPage(m) })
	}
	return f
}

// View returns the view of a page, for the layout, in the language of the request. The title is a
// message.
func (f *Frame) View(c *gin.Context, title, query string) *View {
	m := Messages(c)
	return &View{
		Site: f.name, HasBot: f.hasBot, Title: m.Text(title), Query: query, Messages: m,
		Collections: f.Links(m, query, false),
	}
}

// Messages returns the texts in the language of a request, which its answer depends on.
func Messages(c *gin.Context) *messages.Printer {
	c.Writer.Header().Add("Vary", "Accept-Language")
	return messages.For(c.GetHeader("Accept-Language"))
}

// HTMLType is the content type of a page.
const HTMLType = "text/html; charset=utf-8"

// pageBuffers are for pages while they are made.
var pageBuffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// Render answers with a page. It sends nothing before the page is complete.
func (f *Frame) Render(c *gin.Context, status int, page string, v *View) error {
	if v.Visitor == nil {
		v.Visitor = visitor.Of(c, params.Read(c))
	}
	b := pageBuffers.Get().(*bytes.Buffer)
	defer pageBuffers.Put(b)
	b.Reset()
	if err := f.pages[v.Messages]()[page].Execute(b, v); err != nil {
		f.Log.Error("template failed", "page", page, "err", err)
		c.String(http.StatusInternalServerError, "The page could not be made.\n")
		return nil
	}
	c.Data(status, HTMLType, f.Site.Rebase(b.Bytes()))
	return nil
}

// RenderPart answers with one part of a page, without the layout.
func (f *Frame) RenderPart(c *gin.Context, page, part string, data any) error {
	var b bytes.Buffer
	if err := f.pages[Messages(c)]()[page].ExecuteTemplate(&b, part, data); err != nil {
		return err
	}
	c.Data(http.StatusOK, HTMLType, f.Site.Rebase(b.Bytes()))
	return nil
}

// Part returns a part that the layout has, in one language. It panics if that fails: the layout is part
// of the program.
func (f *Frame) Part(m *messages.Printer, part string, data any) template.HTML {
	var b strings.Builder
	if err := f.pages[m]()["home"].ExecuteTemplate(&b, part, data); err != nil {
		panic(err)
	}
	return template.HTML(b.String())
}

// Page returns a handler that shows h's error as a page.
func (f *Frame) Page(h func(*gin.Context) error) gin.HandlerFunc {
	respond := respond.Responder{Log: f.Log}
	return func(c *gin.Context) {
		if err := h(c); err != nil {
			f.Problem(c, respond.Judge(c, err))
		}
	}
}

// Problem answers with a problem as a page, or as JSON to a program.
func (f *Frame) Problem(c *gin.Context, p *respond.Problem) {
	if respond.WantsJSON(c.Request) {
		(&respond.Responder{Log: f.Log}).Problem(c, p)
		return
	}
	if p.Code == respond.Busy {
		c.Data(p.Status, HTMLType, f.busy[Messages(c)]())
		return
	}
	v := f.View(c, p.Title, "")
	v.Body = &problemView{p, missingPage(c, p)}
	f.Render(c, p.Status, "problem", v)
}

// A problemView is a problem as a page shows it.
type problemView struct {
	*respond.Problem
	Trace string // address of the information about the page that is not in the index, or ""
}

// missingPage returns the address of the information about the page or site that a request for a part
// of the index names and the index does not have, else "".
func missingPage(c *gin.Context, p *respond.Problem) string {
	missing := c.Query("url")
	if site, ok := strings.CutPrefix(c.Request.URL.Path, "/site/"); ok {
		missing = "http://" + site
	}
	if p.Status != http.StatusNotFound || missing == "" {
		return ""
	}
	return address.TraceHref(missing)
}

// busyPage makes the page of a refusal, once in each language, and too short to be compressed: under
// overload a refusal must cost a small part of an answer.
func (f *Frame) busyPage(m *messages.Printer) []byte {
	v := &View{Site: f.name, Body: respond.Of(respond.ErrBusy)}
	var b bytes.Buffer
	if err := f.pages[m]()["busy"].Execute(&b, v); err != nil {
		f.Log.Error("template failed", "page", "busy.html", "err", err)
	}
	return f.Site.Rebase(b.Bytes())
}

// Static serves one asset.
func (f *Frame) Static(c *gin.Context) error {
	name := c.Param("file")
	content, ok := f.Assets.Content[name]
	if !ok {
		return respond.NotFound("There is nothing at this address.")
	}
	c.Header("Cache-Control", "public, max-age=31536000, immutable")
	c.Data(http.StatusOK, mime.TypeByExtension(path.Ext(name)), content)
	return nil
}

// AllCollections is the value of the parameter in for a search of all collections.
const AllCollections = "all"

// CarryToCollections adds the preferences and the lens in the address to the links to other collections,
// on a page of results.
func (v *View) CarryToCollections() {
	for i := range v.Collections {
		v.Collections[i].Href += v.Visitor.Tail()
	}
}

// Links returns links to the collections of the process: to the results of a query there, or to the
// start pages for none. all reports whether the page has results of all. It returns none of one collection.
func (f *Frame) Links(m *messages.Printer, query string, all bool) []Tab {
	if !f.Beside.HasSeveral() {
		return nil
	}
	var tabs []Tab
	for _, of := range f.Beside.All {
		tab := Tab{Label: of.Name, Href: of.Site.Path("/"), Current: !all && of.Site == f.Site}
		if query != "" {
			tab.Href = of.Site.Path("/search?" + url.Values{"q": {query}}.Encode())
		}
		tabs = append(tabs, tab)
	}
	if query == "" || len(query) > params.MaxQuery {
		return tabs
	}
	together := tabs[0].Href + "&in=" + AllCollections
	return append(tabs, Tab{Label: m.Text("All collections"), Href: together, Current: all})
}
