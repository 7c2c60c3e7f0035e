package pages

import (
	"bytes"
	"log/slog"
	"mime"
	"net/http"
	"path"
	"sync"

	"github.com/gin-gonic/gin"

	"anatomy/web/internal/address"
	"anatomy/web/internal/messages"
	"anatomy/web/internal/params"
	"anatomy/web/internal/respond"
	"anatomy/web/internal/siblings"
)

// A frame makes pages: it runs templates within the layout and turns errors into pages.
type frame struct {
	site   *address.Site
	log    *slog.Logger
	Assets assets
	pages  map[*messages.Printer]func() templates // parsed when a language is first used
	name   string                                 // of the site
	beside *siblings.List                         // the collections of the process
	hasBot bool                                   // /bot is there
	busy   []byte                                 // the page of a refusal
}

func newFrame(o *Options) *frame {
	f := &frame{
		site: o.Site, log: o.Log, Assets: loadAssets(), name: o.Name, hasBot: o.Bot != nil, beside: o.Beside,
	}
	f.pages = map[*messages.Printer]func() templates{}
	for _, m := range messages.All() {
		f.pages[m] = sync.OnceValue(func() templates { return parseTemplates(f.Assets, m) })
	}
	f.busy = f.busyPage()
	return f
}

// view returns the view of a page, for the layout, in the language of the request. The title is a
// message.
func (f *frame) view(c *gin.Context, title, query string) *view {
	c.Writer.Header().Add("Vary", "Accept-Language")
	m := messages.For(c.GetHeader("Accept-Language"))
	return &view{
		Site: f.name, HasBot: f.hasBot, Title: m.Text(title), Query: query, Messages: m,
		Collections: f.collections(m, query, false),
	}
}

// htmlType is the content type of a page.
const htmlType = "text/html; charset=utf-8"

// pageBuffers hold pages while they are made.
var pageBuffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// render answers with a page. It sends nothing before the page is complete.
func (f *frame) render(c *gin.Context, status int, page string, v *view) error {
	if v.Visitor == nil {
		v.Visitor = visitorOf(c, params.Read(c))
	}
	b := pageBuffers.Get().(*bytes.Buffer)
	defer pageBuffers.Put(b)
	b.Reset()
	if err := f.pages[v.Messages]()[page].Execute(b, v); err != nil {
		f.log.Error("template failed", "page", page, "err", err)
		c.String(http.StatusInternalServerError, "The page could not be made.\n")
		return nil
	}
	c.Data(status, htmlType, f.site.Place(b.Bytes()))
	return nil
}

// renderPart answers with one part of a page in English, without the layout.
func (f *frame) renderPart(c *gin.Context, page, part string, data any) error {
	var b bytes.Buffer
	if err := f.pages[messages.English]()[page].ExecuteTemplate(&b, part, data); err != nil {
		return err
	}
	c.Data(http.StatusOK, htmlType, f.site.Place(b.Bytes()))
	return nil
}

// Page returns a handler that shows h's error as a page.
func (f *frame) Page(h func(*gin.Context) error) gin.HandlerFunc {
	respond := respond.Responder{Log: f.log}
	return func(c *gin.Context) {
		if err := h(c); err != nil {
			f.Problem(c, respond.Judge(c, err))
		}
	}
}

// Problem answers with a problem as a page.
func (f *frame) Problem(c *gin.Context, p *respond.Problem) {
	if p.Code == respond.Busy {
		c.Data(p.Status, htmlType, f.busy)
		return
	}
	v := f.view(c, p.Title, "")
	v.Body = p
	f.render(c, p.Status, "problem", v)
}

// busyPage makes the page of a refusal once, and too short to be compressed: under overload a
// refusal must cost a small part of an answer.
func (f *frame) busyPage() []byte {
	v := &view{Site: f.name, Body: respond.Of(respond.ErrBusy)}
	var b bytes.Buffer
	if err := f.pages[messages.English]()["busy"].Execute(&b, v); err != nil {
		f.log.Error("template failed", "page", "busy.html", "err", err)
	}
	return f.site.Place(b.Bytes())
}

// static serves one asset.
func (f *frame) static(c *gin.Context) error {
	name := c.Param("file")
	content, ok := f.Assets.Content[name]
	if !ok {
		return respond.NotFound("There is nothing at this address.")
	}
	c.Header("Cache-Control", "public, max-age=31536000, immutable")
	c.Data(http.StatusOK, mime.TypeByExtension(path.Ext(name)), content)
	return nil
}
