package pages

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"anatomy/vocab"
	"anatomy/web/internal/address"
	"anatomy/web/internal/picture"
	"anatomy/web/internal/reader"
	"anatomy/web/internal/recent"
	"anatomy/web/internal/respond"
	"anatomy/web/internal/session"
	"anatomy/web/internal/siblings"
)

// Options configure the pages.
type Options struct {
	Reader *reader.Reader
	Site   *address.Site
	Log    *slog.Logger
	Audit  *slog.Logger   // a line for each login and action
	Name   string         // of the site
	Beside *siblings.List // the collections of the process
	Bot    *Bot           // default nil: no /bot
	Now    func() time.Time

	FetchImage func(ctx context.Context, url string) (*vocab.Page, error) // default nil: no images

	Admin      AdminOptions
	Slow       *recent.SlowQueries            // nil: not kept
	Searches   *recent.Searches               // nil: not counted
	Complaints *recent.Ring[recent.Complaint] // newest warnings and errors of the log
}

// Handlers are the handlers of all pages.
type Handlers struct {
	*frame
	search      *searchPages
	documents   *documentPages
	preferences *preferencesPages
	images      *imagePages
	bot         *botPage    // nil: no /bot
	admin       *adminPages // nil: no admin page
	login       *loginPages
}

// New returns the handlers.
func New(o Options) *Handlers {
	f := newFrame(&o)
	sameOrigin := o.Site.SameOrigin(o.Log)
	h := &Handlers{
		frame: f,
		search: &searchPages{
			frame: f, reader: o.Reader, now: o.Now, images: o.FetchImage != nil, searches: o.Searches, sameOrigin: sameOrigin,
			examples: &renewed[[]helpExample]{now: o.Now, find: func(ctx context.Context) *[]helpExample {
				return findExamples(ctx, o.Reader)
			}},
		},
		documents: &documentPages{f, o.Reader},
		preferences: &preferencesPages{f, sameOrigin, &renewed[offer]{now: o.Now, find: func(ctx context.Context) *offer {
			return findOffer(ctx, o.Reader)
		}}},
		images: &imagePages{frame: f, reader: o.Reader},
	}
	if o.FetchImage != nil {
		h.images.pictures = picture.NewPictures(o.FetchImage, o.Now)
	}
	if o.Bot != nil {
		h.bot = &botPage{f, o.Bot}
	}
	sessions := session.New(session.Options{
		Token: o.Admin.Token, ReadToken: o.Admin.ReadToken, Site: o.Site, Now: o.Now,
		Log: o.Log, Audit: o.Audit, Keep: o.Admin.Audit,
	})
	h.login = &loginPages{f, sessions}
	if o.Admin.Crawl != nil {
		h.admin = &adminPages{
			frame: f, respond: &respond.Responder{Log: o.Log},
			sessions: sessions,
			actions:  &actions{o.Admin.Crawl, o.Admin.Jobs, o.Admin.Tuning, o.Searches},
			slow:     o.Slow, complaints: o.Complaints, cluster: o.Admin.Cluster, now: o.Now,
		}
	}
	return h
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
	get("/preferences", h.preferences.preferencesPage)
	get("/lens", h.preferences.showLens)
	r.POST("/lens", h.Page(h.preferences.keepLens))
	get("/preferences/export", h.preferences.exportPreferences)
	r.POST("/preferences/import", h.Page(h.preferences.importPreferences))
	r.POST("/preferences", h.Page(h.preferences.savePreferences))
	r.POST("/preferences/site", h.Page(h.preferences.preferSite))
	get("/static/:file", h.static)
	get("/login", h.login.show)
	r.POST("/login", h.Page(h.login.logIn))
	if h.search.searches != nil {
		r.POST("/opened", h.search.opened)
	}
	if h.bot != nil {
		get("/bot", h.bot.show)
	}
	if h.admin != nil {
		h.admin.Routes(r)
	}
}

// MayRead reports whether a request comes from someone who is logged in: it has a token, or the
// cookie of a session.
func (h *Handlers) MayRead(r *http.Request) bool { return h.login.sessions.MayRead(r) }

// RecordKey records that a request came with a wrong API key.
func (h *Handlers) RecordKey(r *http.Request, err error) {
	h.login.sessions.RecordKey(r, err)
}

// AskLogin answers with the form for the token.
func (h *Handlers) AskLogin(c *gin.Context) {
	h.Page(func(c *gin.Context) error { return h.login.ask(c, http.StatusUnauthorized, "") })(c)
}

// Search shows the results of a query.
func (h *Handlers) Search(c *gin.Context) { h.Page(h.search.search)(c) }
