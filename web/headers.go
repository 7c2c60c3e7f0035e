package web

import (
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"anatomy/web/internal/address"
	"anatomy/web/internal/respond"
)

// secure sets the headers of all answers. Handlers may replace the policy.
func secure(c *gin.Context) {
	h := c.Writer.Header()
	h.Set("Content-Security-Policy", respond.PagePolicy)
	h.Set("X-Content-Type-Options", "nosniff")
	// With no-referrer, browsers send no Origin with forms (Fetch, append a request Origin header).
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=(), interest-cohort=()")
	h.Set("Cache-Control", "private, no-cache")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	if path := c.Request.URL.Path; hasPrefix(path, unlistedPaths) {
		h.Set("X-Robots-Tag", "noindex")
	}
	if forPrograms(c.Request.URL.Path) {
		respond.AsData(c)
	}
	c.Next()
}

// unlistedPaths are the prefixes of addresses that show other sites' pages or belong to one visitor.
// Crawlers must not follow them, and search engines must not show them.
var unlistedPaths = []string{
	"/search", "/image", "/icon", "/cached", "/explain", "/links", "/page", "/site", "/versions",
	"/preferences", "/lens", "/api/", "/box/", "/1/indexes/", "/crawl", "/dashboard",
}

// programPaths are the prefixes of addresses that answer in JSON. /search does so on request.
var programPaths = []string{"/api/", "/customsearch/", "/external/"}

// boxPaths are the prefixes of addresses that answer in JSON to scripts of other sites, without a
// key.
var boxPaths = []string{"/box/", "/1/indexes/"}

func hasPrefix(path string, prefixes []string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(path, p) })
}

// forPrograms reports whether a path answers in JSON.
func forPrograms(path string) bool {
	return hasPrefix(path, programPaths) || hasPrefix(path, boxPaths) || path == "/openapi.json"
}

// An accessLog writes one line per request.
type accessLog struct {
	log     *slog.Logger
	queries bool // log query strings, which show what people search for
}

func (l accessLog) observe(c *gin.Context) {
	start := time.Now()
	c.Next()
	args := []any{
		"method", c.Request.Method,
		"path", c.Request.URL.Path,
		"status", c.Writer.Status(),
		"bytes", max(c.Writer.Size(), 0),
		"took", time.Since(start),
		"from", address.ClientAddr(c.Request),
	}
	if l.queries {
		args = append(args, "query", c.Request.URL.RawQuery)
	}
	l.log.Info("request", args...)
}
