package pages

import (
	"context"
	"html/template"
	"net/http"
	"sync"
	"time"

	"github.com/gin-gonic/gin"

	"anatomy/searcher"
	"anatomy/vocab"
	"anatomy/web/internal/frame"
	"anatomy/web/internal/marks"
	"anatomy/web/internal/messages"
	"anatomy/web/internal/picture"
	"anatomy/web/internal/reader"
	"anatomy/web/internal/recent"
	"anatomy/web/internal/respond"
	"anatomy/web/internal/session"
)

// Options configure the pages.
type Options struct {
	Reader   *reader.Reader
	Frame    *frame.Frame
	Sessions *session.Sessions
	Searches *recent.Searches // nil: not counted
	Marks    marks.Source     // of results, for visitors who may act; default nil: none
	Bot      *Bot             // default nil: no /bot
	Now      func() time.Time

	Crawling func(ctx context.Context) bool // whether a crawl adds pages to the collection; default nil: never

	FetchImage func(ctx context.Context, url string) (*vocab.Page, error) // default nil: no images
}

// Handlers are the handlers of all pages but the admin page.
type Handlers struct {
	*frame.Frame
	search      *searchPages
	documents   *documentPages
	preferences *preferencesPages
	images      *imagePages
	icons       *iconPages
	bot         *botPage // nil: no /bot
	login       *loginPages
}

// New returns the handlers.
func New(o Options) *Handlers {
	f := o.Frame
	sameOrigin := f.Site.SameOrigin(f.Log)
	offer := &renewed[offer]{now: o.Now, find: func(ctx context.Context) *offer { return findOffer(ctx, o.Reader) }}
	h := &Handlers{
		Frame: f,
		search: &searchPages{
			Frame: f, reader: o.Reader, now: o.Now, images: o.FetchImage != nil, searches: o.Searches, crawling: o.Crawling, sameOrigin: sameOrigin, marking: &marking{o.Sessions, o.Marks},
			examples: &renewed[[]helpExample]{now: o.Now, find: func(ctx context.Context) *[]helpExample {
				return findExamples(ctx, o.Reader)
			}},
			offer: offer,
		},
		documents:   &documentPages{f, o.Reader},
		preferences: &preferencesPages{f, sameOrigin, offer},
		images:      &imagePages{Frame: f, reader: o.Reader},
		icons:       newIconPages(f, o.Reader),
		login:       &loginPages{f, o.Sessions},
	}
	if o.FetchImage != nil {
		h.images.pictures = picture.NewPictures(o.FetchImage, o.Now)
	}
	if o.Bot != nil {
		h.bot = &botPage{f, o.Bot}
	}
	return h
}

// Functions are those that the templates of these pages call.
func Functions(f *frame.Frame, m *messages.Printer) template.FuncMap {
	return template.FuncMap{
		"resultList": func(results []resultView, tab bool) template.HTML { return resultList(m, results, tab) },
		"tools":      func(v *resultsView) template.HTML { return tools(m, v) },
		"points":     func(s searcher.Score) string { return points(m, s) },

		// The same on every page of results, of which it took a third.
		"tips": sync.OnceValue(func() template.HTML { return f.Part(m, "operators", plainExamples) }),
	}
}

// Routes registers the pages. They answer GET and HEAD; forms are posted.
func (h *Handlers) Routes(r *gin.Engine) {
	get := func(path string, page func(*gin.Context) error) { respond.HandleGet(r, path, h.Page(page)) }
	get("/", h.search.home)
	get("/explain", h.search.explain)
	get("/help", h.search.help)
	get("/advanced", h.search.advanced)
	get("/api", h.search.api)
	get("/cached", h.documents.cached)
	get("/cached/page", h.documents.cachedPage)
	get("/versions", h.documents.versionsPage)
	get("/links", h.documents.linksPage)
	get("/page", h.documents.tracePage)
	get("/site/*site", h.documents.sitePage)
	get("/image", h.images.image)
	get("/icon", h.icons.icon)
	get("/preferences", h.preferences.preferencesPage)
	get("/lens", h.preferences.showLens)
	r.POST("/lens", h.Page(h.preferences.keepLens))
	get("/preferences/export", h.preferences.exportPreferences)
	r.POST("/preferences/import", h.Page(h.preferences.importPreferences))
	r.POST("/preferences", h.Page(h.preferences.savePreferences))
	r.POST("/preferences/site", h.Page(h.preferences.preferSite))
	get("/static/:file", h.Static)
	get("/login", h.login.show)
	r.POST("/login", h.Page(h.login.logIn))
	if h.search.searches != nil {
		r.POST("/opened", h.search.opened)
	}
	if h.bot != nil {
		get("/bot", h.bot.show)
	}
}

// AskLogin answers with the form for the token.
func (h *Handlers) AskLogin(c *gin.Context) {
	h.Page(func(c *gin.Context) error { return h.login.ask(c, http.StatusUnauthorized, "") })(c)
}

// Search shows the results of a query.
func (h *Handlers) Search(c *gin.Context) { h.Page(h.search.search)(c) }
