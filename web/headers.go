package web

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/gin-gonic/gin"
)

// The policies of our pages. Nothing is loaded but from us, nothing is inline, no one frames us.
const (
	pagePolicy = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
	// framePolicy is for the page around a cached page.
	framePolicy = pagePolicy + "; frame-src 'self'"
	dataPolicy  = "default-src 'none'; frame-ancestors 'none'; sandbox"
)

// secure sets the headers that every answer carries. Handlers may replace the policy.
func secure(c *gin.Context) {
	h := c.Writer.Header()
	h.Set("Content-Security-Policy", pagePolicy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "same-origin") // with no-referrer, browsers say of no form where it comes from (Fetch, append a request Origin header)
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=(), interest-cohort=()")
	h.Set("Cache-Control", "private, no-cache")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	if unlisted(c.Request.URL.Path) {
		h.Set("X-Robots-Tag", "noindex")
	}
	if forPrograms(c.Request.URL.Path) {
		openToPrograms(c)
	}
	c.Next()
}

// unlistedPaths begin the addresses of what is no page of ours but shows those of others, or belongs to one visitor:
// crawlers are asked to stay away from it, and search engines not to show it.
var unlistedPaths = []string{"/search", "/image", "/cached", "/explain", "/links", "/page", "/site", "/versions", "/preferences", "/api/", "/crawl", "/dashboard"}

func unlisted(path string) bool {
	return slices.ContainsFunc(unlistedPaths, func(begin string) bool { return strings.HasPrefix(path, begin) })
}

// forPrograms says that whatever is at a path speaks JSON. (/search does where it is asked to.)
func forPrograms(path string) bool {
	return strings.HasPrefix(path, "/api/") || strings.HasPrefix(path, "/customsearch/") || strings.HasPrefix(path, "/external/") || path == "/openapi.json"
}

// openToPrograms lets the scripts of any site read an answer that is data: nothing here depends on
// who asks.
func openToPrograms(c *gin.Context) {
	h := c.Writer.Header()
	h.Set("Content-Security-Policy", dataPolicy)
	h.Set("Access-Control-Allow-Origin", "*")
	h.Set("Cross-Origin-Resource-Policy", "cross-origin")
}

// preflight tells browsers that scripts of other sites may post JSON here.
func preflight(c *gin.Context) {
	h := c.Writer.Header()
	h.Set("Access-Control-Allow-Methods", "POST")
	h.Set("Access-Control-Allow-Headers", "Authorization, Content-Type, X-API-Key")
	h.Set("Access-Control-Max-Age", "86400")
	c.Status(http.StatusNoContent)
}

// logRequest writes one line a request. The query string stays out unless Options.LogQueries asks
// for it: what people search for is theirs.
func (s *Server) logRequest(c *gin.Context) {
	start := time.Now()
	c.Next()
	args := []any{
		"method", c.Request.Method,
		"path", c.Request.URL.Path,
		"status", c.Writer.Status(),
		"bytes", max(c.Writer.Size(), 0),
		"took", time.Since(start),
		"from", asker(c.Request),
	}
	if s.o.LogQueries {
		args = append(args, "query", c.Request.URL.RawQuery)
	}
	s.log.Info("request", args...)
}
