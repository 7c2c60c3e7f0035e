// Package web shows what the searcher answers: pages for people, complete without JavaScript, and
// JSON for programs. It keeps no state of its own; every answer is one call of [Search] or [Pages].
//
// Everything that comes from the web or from the asker is hostile here. Pages go through
// html/template under a Content-Security-Policy that allows our own style sheet and script and
// nothing else; cached pages go through an allow-list besides, and into a sandbox (cached.go,
// filter.go).
package web

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"runtime"
	"strings"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/klauspost/compress/gzhttp"

	"anatomy/searcher"
	"anatomy/vocab"
)

// A Search answers queries. Explain gives ErrNotFound, or nil, where the URL is not in the index
// or does not match the query.
type Search interface {
	Search(ctx context.Context, r searcher.Request) (*searcher.Response, error)
	Explain(ctx context.Context, r searcher.Request, url string) (*searcher.Explanation, error)
}

// Pages gives pages back as they were fetched. Page gives ErrNotFound, or nil, where the document
// is unknown or was never fetched.
type Pages interface {
	Page(ctx context.Context, doc vocab.DocID) (*vocab.Page, error)
}

// What implementations of Search, Pages and the functions of Options answer, possibly wrapped,
// where something is missing rather than broken.
var (
	ErrNotFound = errors.New("not found")       // 404
	ErrNotReady = errors.New("index not ready") // 503
	ErrBadURL   = errors.New("no web address")  // 400
)

// The bounds of a request.
const (
	MaxQuery = 2048 // bytes of a query
	MaxURL   = 2048 // bytes of a URL in a parameter
)

// The bounds of a connection.
const (
	headerTimeout = 5 * time.Second
	readTimeout   = 10 * time.Second
	writeTimeout  = 30 * time.Second
	idleTimeout   = 60 * time.Second
	maxHeader     = 32 << 10 // bytes; a query of MaxQuery bytes takes 6 KiB percent-encoded
)

// Options are what a Server needs. Search alone is required.
type Options struct {
	Search Search
	Pages  Pages // default nil: no cached pages

	Find       func(ctx context.Context, url string) (vocab.DocID, error)                                                              // the document of a URL; default nil: pages are asked for by number alone
	Links      func(ctx context.Context, doc vocab.DocID, n int) (*LinkReport, error)                                                  // at most n links each way; default nil: links are not shown
	Trace      func(ctx context.Context, url string) (*Trace, error)                                                                   // why a page is in the index or not; default nil: it is not told
	Site       func(ctx context.Context, site string, n int) (*SiteReport, error)                                                      // a site with at most n pages; default nil: sites are not shown
	Versions   func(ctx context.Context, doc vocab.DocID) (*Versions, error)                                                           // pages that are kept of a document; default nil: none are shown
	VersionAt  func(ctx context.Context, doc vocab.DocID, place string) (*vocab.Page, error)                                           // one of them, by its place
	Stats      func(ctx context.Context) (any, error)                                                                                  // figures of the collection, encoded as JSON; default nil: /api/v1/stats is not there
	Complete   func(typed string, limit int) []string                                                                                  // queries that begin with what was typed; default nil: none are proposed
	Export     func(ctx context.Context, r searcher.Request, limit int, each func(*searcher.Result) error) (*searcher.Response, error) // all results, see searcher.Searcher.All; default nil: there are no exports
	Images     func(ctx context.Context, r searcher.Request) (*searcher.ImageResponse, error)                                          // images of the pages that match; default nil: none are looked for
	Image      func(ctx context.Context, doc vocab.DocID, id string) (*vocab.Image, error)                                             // one that a page shows, by its ID
	FetchImage func(ctx context.Context, url string) (*vocab.Page, error)                                                              // an image as it is now, its type told by its bytes; default nil: images are shown by their words alone
	Answers    func() searcher.AnswerStats                                                                                             // of Search, for the metrics; default nil: it is not told
	Ready      func() bool                                                                                                             // whether a snapshot is open; default nil: always

	PublicURL  string        // scheme, host and path under which people reach us, see ParsePublicURL; default: those of the request
	Name       string        // of the site, at most 16 characters; default "anatomy"
	Version    string        // of the program, for tools
	Log        *slog.Logger  // one line a request; default: none
	LogQueries bool          // put query strings into the log; default false
	Grace      time.Duration // for running requests when Run ends; default 10s

	Proxies     []netip.Prefix // whose X-Forwarded-For, -Proto and -Host are believed; default none
	Connections int            // open at once, see connections; default 4096

	Bot   *Bot             // the crawler, told of at /bot; default nil: that is not there
	Crawl Crawl            // that may run on the collection; default nil: /crawl is not there
	Token string           // with which people may act on it, at least MinToken bytes; default none: nobody may
	Now   func() time.Time // default time.Now

	Desk        Desk          // what the dashboard works on; default nil: /dashboard is not there
	SlowQueries time.Duration // keep the last searches that took so long, for the dashboard; default 0: none, as they tell what people search for

	Keys        []string            // of the API; default none: it is open
	MaxSearches int                 // at once; eight times as many wait, for half a second at most, the rest get 429; default 4 for each processor
	SiteSets    map[string][]string // the sites, as of site:, that a cx of /customsearch/v1 stands for; others stand for all
}

// A Server shows one collection.
type Server struct {
	o       Options
	log     *slog.Logger
	pages   pages
	busy    []byte // the page of a refusal
	metrics *metrics
	assets  assets
	base    string // path before all of ours as people see them, "" or "/find"
	gate    *gate

	pictures *pictures // nil where none are fetched
	keys     keys
	handler  http.Handler

	connections *connections
	exports     chan struct{} // one for each that runs
	slow        ring[slowQuery]
	complaints  ring[complaint]

	sameOrigin http.CrossOriginProtection // of what acts
}

// New makes a server; it does not listen.
func New(o Options) *Server {
	if o.Name == "" {
		o.Name = "anatomy"
	}
	if o.Grace == 0 {
		o.Grace = 10 * time.Second
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Connections <= 0 {
		o.Connections = DefaultConnections
	}
	if o.MaxSearches <= 0 {
		o.MaxSearches = 4 * runtime.GOMAXPROCS(0)
	}
	s := &Server{o: o, gate: newGate(o.MaxSearches, waitFactor*o.MaxSearches), connections: newConnections(o.Connections), exports: make(chan struct{}, maxExports), keys: newKeys(o.Keys), log: o.Log, assets: loadAssets()}
	if o.FetchImage != nil {
		s.pictures = newPictures(o.FetchImage, o.Now)
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	s.log = slog.New(complaints{s.log.Handler(), &s.complaints, nil})
	s.pages = parsePages(s.assets)
	s.metrics = newMetrics(o.Crawl, o.Answers)
	if o.PublicURL != "" {
		s.setPublic()
	}
	s.busy = s.busyPage()
	s.handler = s.arrive(gzhttp.GzipHandler(s.routes()))
	return s
}

// setPublic takes base path and origin from the public URL.
func (s *Server) setPublic() {
	u, err := ParsePublicURL(s.o.PublicURL)
	if err == nil {
		s.base = strings.TrimRight(u.Path, "/")
		err = s.sameOrigin.AddTrustedOrigin(u.Scheme + "://" + u.Host)
	}
	if err != nil {
		s.log.Warn("the public URL cannot be used as it is", "error", err)
	}
}

// Handler is the server as a handler, for tests and for embedding.
func (s *Server) Handler() http.Handler { return s.handler }

// Run serves the listener until the context ends, then lets running requests finish for at most
// Options.Grace, and cuts off those that do not. It closes the listener, and returns nil when it was
// ended by the context.
func (s *Server) Run(ctx context.Context, l net.Listener) error {
	server := &http.Server{
		Handler:           s.handler,
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
	}
	s.connections.watch(server)
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.o.Grace)
	defer cancel()
	if err := server.Shutdown(grace); err != nil {
		s.log.Warn("requests were cut off", "error", err)
		server.Close()
	}
	<-ended
	return nil
}

// routes is the table of what is where. Routes answer GET and HEAD, but for the batch, the tools and
// what is external.
func (s *Server) routes() *gin.Engine {
	gin.SetMode(gin.ReleaseMode)
	r := gin.New()
	r.RedirectTrailingSlash = false
	r.HandleMethodNotAllowed = true
	r.SetTrustedProxies(nil) // an empty list cannot be malformed
	r.Use(s.logRequest, s.metrics.observe, s.recoverPanic, secure, postedSearch, s.needKey)

	get := func(path string, h gin.HandlerFunc) { r.Match([]string{http.MethodGet, http.MethodHead}, path, h) }
	get("/", s.html(s.home))
	get("/search", s.html(s.search))
	r.POST("/search", s.html(s.search))
	get("/image", s.html(s.image))
	get("/explain", s.html(s.explain))
	get("/links", s.html(s.linksPage))
	get("/page", s.html(s.tracePage))
	get("/site/*site", s.html(s.sitePage))
	get("/versions", s.html(s.versionsPage))
	get("/help", s.html(s.help))
	if s.o.Bot != nil {
		get("/bot", s.html(s.botPage))
	}
	get("/advanced", s.html(s.advanced))
	get("/preferences", s.html(s.preferencesPage))
	r.POST("/preferences", s.html(s.savePreferences))
	r.POST("/preferences/site", s.html(s.preferSite))
	get("/cached", s.html(s.cached))
	get("/cached/page", s.html(s.cachedPage))
	get("/opensearch.xml", s.html(s.openSearch))
	get("/suggest", s.suggest)
	get("/robots.txt", s.robots)
	get("/static/:file", s.html(s.static))

	get("/api", s.html(s.api))
	get("/openapi.json", s.openAPIFile)
	get("/api/v1/search", s.json(s.apiSearch))
	get("/api/v1/export", s.apiExport)
	get("/api/v1/suggest", s.json(s.apiSuggest))
	r.POST("/api/v1/batch", s.json(s.apiBatch))
	r.OPTIONS("/api/v1/batch", preflight)
	get("/api/v1/explain", s.json(s.apiExplain))
	get("/api/v1/page", s.json(s.apiPage))
	get("/api/v1/links", s.json(s.apiLinks))
	get("/api/v1/trace", s.json(s.apiTrace))
	get("/api/v1/site", s.json(s.apiSite))
	get("/api/v1/stats", s.json(s.apiStats))
	get("/customsearch/v1", s.customSearch)
	r.POST("/external/search", s.json(s.externalSearch))
	r.OPTIONS("/external/search", preflight)
	r.POST("/external/pages", s.json(s.externalPages))
	r.OPTIONS("/external/pages", preflight)
	r.Any("/mcp", gin.WrapH(overHTTP(s.Tools())))
	s.crawlRoutes(r, get)
	s.dashboardRoutes(r, get)
	get("/metrics", gin.WrapH(s.metrics.handler()))
	get("/healthz", s.healthz)
	get("/readyz", s.readyz)

	r.NoRoute(s.noRoute)
	r.NoMethod(s.noMethod)
	return r
}

// healthz says that the process lives.
func (s *Server) healthz(c *gin.Context) { c.String(http.StatusOK, "ok\n") }

// readyz says whether there is something to search.
func (s *Server) readyz(c *gin.Context) {
	if !s.ready() {
		c.Header("Retry-After", "1")
		c.String(http.StatusServiceUnavailable, "no snapshot is open yet\n")
		return
	}
	c.String(http.StatusOK, "ready\n")
}

func (s *Server) ready() bool { return s.o.Ready == nil || s.o.Ready() }

// robots keeps crawlers off the pages that would have them crawl the web through us.
func (s *Server) robots(c *gin.Context) {
	text := "User-agent: *\n"
	for _, path := range unlistedPaths {
		text += "Disallow: " + s.path(path) + "\n"
	}
	c.String(http.StatusOK, text)
}
