// Package box lets other sites show results: a script with a search box, the search that the script
// calls, and results for the client of DocSearch. Pages of origins that the operator allows can use
// it, as long as the collection needs no login: see doc/own-site.md.
package box

import (
	"github.com/gin-gonic/gin"

	"anatomy/web/internal/reader"
	"anatomy/web/internal/respond"
)

// Handlers are the handlers for other sites.
type Handlers struct {
	box       *box
	docSearch *docSearch
}

// New returns the handlers. A name of siteSets is the name of an index; indexes with other names
// contain all pages.
func New(
	read *reader.Reader, r *respond.Responder, siteSets map[string][]string,
) *Handlers {
	return &Handlers{&box{read, r}, &docSearch{read, r, siteSets}}
}

// Routes registers the routes.
func (h *Handlers) Routes(r *gin.Engine) {
	respond.HandleGet(r, "/box.js", h.box.serveScript)
	respond.HandleGet(r, "/box/search", h.box.respond.Handler(h.box.search))
	r.POST("/1/indexes/:index/queries", h.docSearch.queries)
}

// DocSearchProblem answers with an error as DocSearch's client reads it.
func (h *Handlers) DocSearchProblem(c *gin.Context, p *respond.Problem) {
	h.docSearch.problem(c, p)
}
