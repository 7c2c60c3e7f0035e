package web

import (
	"errors"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strings"

	"github.com/gin-gonic/gin"

	"anatomy/web/api"
	"anatomy/web/box"
	"anatomy/web/internal/access"
	"anatomy/web/internal/address"
	"anatomy/web/internal/respond"
	"anatomy/web/internal/session"
	"anatomy/web/internal/text"
	"anatomy/web/pages"
)

// A refuser answers requests that no handler answers, in the format of their path.
type refuser struct {
	log     *slog.Logger
	respond *respond.Responder
	pages   *pages.Handlers
	api     *api.Handlers
	box     *box.Handlers
}

// refuse answers with a problem: JSON for programs, else a page.
func (r *refuser) refuse(c *gin.Context, p *respond.Problem) {
	switch path := c.Request.URL.Path; {
	case strings.HasPrefix(path, "/customsearch/"):
		r.api.Google.CustomProblem(c, p)
	case strings.HasPrefix(path, "/1/indexes/"):
		r.box.DocSearchProblem(c, p)
	case forPrograms(path):
		r.respond.Problem(c, p)
	case path == "/search" && api.ProgramFormats[c.Query("format")]:
		r.api.Searxng.FormatProblem(c, p, c.Query("format"))
	default:
		r.pages.Problem(c, p)
	}
}

// noRoute answers a request for an unknown path.
func (r *refuser) noRoute(c *gin.Context) {
	r.refuse(c, respond.NotFound("There is nothing at this address."))
}

// noMethod refuses methods that a path does not have. The header Allow lists those that it has.
func (r *refuser) noMethod(c *gin.Context) {
	r.refuse(c, respond.NewProblem(http.StatusMethodNotAllowed, "method_not_allowed", "Not allowed",
		"This address answers only "+c.Writer.Header().Get("Allow")+"."))
}

// recoverPanic turns the panic of a handler into a problem, so that the process continues.
func (r *refuser) recoverPanic(c *gin.Context) {
	defer func() {
		v := recover()
		if v == nil {
			return
		}
		if v == http.ErrAbortHandler {
			panic(v)
		}
		r.log.Error("request panicked", "path", c.Request.URL.Path, "panic", v, "stack", string(debug.Stack()))
		c.Abort()
		if !c.Writer.Written() {
			r.refuse(c, respond.Of(errors.New("panic")))
		}
	}()
	c.Next()
}

// admit refuses requests under a foreign name and from scripts of other sites, and answers
// preflight requests of origins that may read answers. It runs before every handler.
func (r *refuser) admit(hosts *access.Hosts, origins *access.Origins) gin.HandlerFunc {
	return func(c *gin.Context) {
		err := hosts.Check(c.Request)
		if err == nil {
			err = origins.Check(c.Request)
		}
		if err != nil {
			r.refuse(c, respond.Of(err))
			c.Abort()
			return
		}
		if origins.Open(c.Writer.Header(), c.Request) {
			c.AbortWithStatus(http.StatusNoContent)
		}
	}
}

// freeRoutes answer without searching (/ almost always): requests for them are not counted.
var freeRoutes = text.Set("/ /help /advanced /api /bot /preferences /preferences/site /preferences/export /preferences/import /lens /static/:file " +
	"/openapi.json /box.js /opensearch.xml /robots.txt /metrics /healthz /readyz /crawl /crawl/status /crawl/:action " +
	"/dashboard /dashboard/:action")

// limit refuses clients that send too many searches. It attaches the client to the request.
func (r *refuser) limit(quota *access.Quota) gin.HandlerFunc {
	return func(c *gin.Context) {
		client := access.NewClient(address.ClientAddr(c.Request), quota)
		c.Request = c.Request.WithContext(access.WithClient(c.Request.Context(), client))
		if freeRoutes[c.FullPath()] || c.FullPath() == "" {
			return
		}
		if err := client.Spend(c.Writer.Header(), 1); err != nil {
			r.refuse(c, respond.Of(err))
			c.Abort()
		}
	}
}

// loginFree are the routes of a private collection that need no login. Their answers do not depend on
// the collection.
var loginFree = text.Set("/login /static/:file /robots.txt /bot /healthz /readyz")

// A mayReadRule decides who may read a collection.
type mayReadRule struct {
	o      *Options
	site   *address.Site
	keys   keys
	permit func(*http.Request) error // see session.Sessions.PermitRead
}

// allows reports whether the sender of a request may read the collection.
func (m *mayReadRule) allows(r *http.Request) bool { return m.check(r) == nil }

// check returns nil if the sender of a request may read the collection.
func (m *mayReadRule) check(r *http.Request) error {
	switch {
	case !m.o.Private():
		return nil
	case m.o.PublicOnly:
		return respond.NewProblem(http.StatusServiceUnavailable, "private", "Not available",
			"This collection holds pages that not everybody may read.")
	case m.o.LoginHeader != "" && m.site.FromProxy(r) && r.Header.Get(m.o.LoginHeader) != "":
		return nil
	case len(m.keys) > 0 && isProgram(r) && m.keys.has(keyOf(r)): // as needKey requires
		return nil
	}
	err := m.permit(r)
	if errors.Is(err, session.ErrNoLogin) {
		err = respond.NewProblem(http.StatusUnauthorized, "not_logged_in", "Not logged in",
			"Some pages of this collection are not for everybody: send the token of the server as Authorization: Bearer.")
	}
	return err
}

// needLogin returns a middleware that keeps people and programs out that are not logged in, while
// the collection is private. Public pages alone cannot be served from such a collection: results,
// counts, suggestions and ranks are computed from all pages.
func (r *refuser) needLogin(rule mayReadRule) gin.HandlerFunc {
	return func(c *gin.Context) {
		if loginFree[c.FullPath()] || !rule.o.Private() {
			return
		}
		err := rule.check(c.Request)
		if err == nil {
			c.Set(respond.PrivateKey, true)
			return
		}
		defer c.Abort()
		respond.RetryAfter(c, err)
		p := respond.Of(err)
		if p.Status == http.StatusUnauthorized {
			c.Header("WWW-Authenticate", `Bearer realm="anatomy"`)
			path := c.Request.URL.Path
			if !isProgram(c.Request) && !forPrograms(path) && !respond.WantsJSON(c.Request) && path != "/suggest" && path != "/metrics" {
				r.pages.AskLogin(c)
				return
			}
		}
		r.refuse(c, p)
	}
}

// needKey returns a middleware that refuses programs without an API key, and records wrong keys. Pages
// need no key.
func (r *refuser) needKey(k keys, sessions *session.Sessions) gin.HandlerFunc {
	return func(c *gin.Context) {
		if len(k) == 0 || !isProgram(c.Request) {
			return
		}
		key := keyOf(c.Request)
		if k.has(key) {
			return
		}
		if key != "" {
			sessions.RecordKey(c.Request, errors.New("no such key"))
		}
		c.Header("WWW-Authenticate", `Bearer realm="anatomy"`)
		r.refuse(c, respond.NewProblem(http.StatusUnauthorized, "no_key", "API key required",
			"This API requires a key: send it as Authorization: Bearer, as X-API-Key, or as the parameter key."))
		c.Abort()
	}
}
