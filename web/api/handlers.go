// Package api answers programs: the project's own API, the APIs of Google's Custom Search, SearXNG
// and Open WebUI, feeds, and the OpenSearch and OpenAPI descriptions.
package api

import (
	"log/slog"
	"time"

	"github.com/gin-gonic/gin"

	"anatomy/web/internal/address"
	"anatomy/web/internal/reader"
	"anatomy/web/internal/respond"
	"anatomy/web/internal/siblings"
)

// Options configure the API.
type Options struct {
	Reader *reader.Reader
	Site   *address.Site
	Log    *slog.Logger
	Now    func() time.Time
	Images bool           // the server shows images
	Name   string         // of the site
	Icon   string         // path of its icon
	Beside *siblings.List // the collections of the process

	SiteSets map[string][]string // sites by the cx parameter of Google's API
}

// Handlers are the handlers for programs.
type Handlers struct {
	v1         *v1
	Google     *google
	Searxng    *searxng
	external   *external
	OpenSearch *openSearch
}

// New returns the handlers.
func New(o Options) *Handlers {
	own := &v1{
		reader: o.Reader, site: o.Site, respond: &respond.Responder{Log: o.Log}, images: o.Images,
		exports: make(chan struct{}, maxExports), now: o.Now, beside: o.Beside,
	}
	return &Handlers{
		v1: own, Google: &google{own, o.SiteSets}, Searxng: &searxng{own, o.Name},
		external: &external{own}, OpenSearch: &openSearch{o.Site, o.Name, o.Icon},
	}
}

// Routes registers the routes, except for /search and /opensearch.xml, which pages share.
func (h *Handlers) Routes(r *gin.Engine) {
	json := h.v1.respond.Handler
	get := func(path string, answer func(*gin.Context) (any, error)) { respond.HandleGet(r, path, json(answer)) }
	post := func(path string, answer func(*gin.Context) (any, error)) { r.POST(path, json(answer)) }
	get("/api/v1/search", h.v1.apiSearch)
	get("/api/v1/collections", h.v1.apiCollections)
	get("/api/v1/suggest", h.v1.apiSuggest)
	get("/api/v1/explain", h.v1.apiExplain)
	get("/api/v1/page", h.v1.apiPage)
	get("/api/v1/links", h.v1.apiLinks)
	get("/api/v1/trace", h.v1.apiTrace)
	get("/api/v1/site", h.v1.apiSite)
	get("/api/v1/stats", h.v1.apiStats)
	post("/api/v1/batch", h.v1.apiBatch)
	post("/external/search", h.external.externalSearch)
	post("/external/pages", h.external.externalPages)
	respond.HandleGet(r, "/api/v1/export", h.v1.apiExport)
	respond.HandleGet(r, "/customsearch/v1", h.Google.customSearch)
	respond.HandleGet(r, "/suggest", h.v1.suggest)
	respond.HandleGet(r, "/openapi.json", h.v1.openAPIFile)
}
