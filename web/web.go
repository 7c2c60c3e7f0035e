// Package web serves a collection: pages for people, which are complete without JavaScript, an API
// for programs, and tools for language models.
//
// Text from crawled pages and from clients is hostile. Pages have a Content-Security-Policy that
// allows the server's own style sheet and script only. Their HTML comes from html/template, except
// for lists of results and cached pages, which web/pages writes itself and escapes. Cached pages
// pass an allow-list of elements and are shown in a sandbox.
//
// The server keeps no state on disk but counts of searches, see Server.KeepSearches. In memory it
// keeps small images, the newest warnings, and, if the operator enables it, slow searches.
package web

import (
	"cmp"
	"compress/gzip"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/klauspost/compress/gzhttp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"anatomy/vocab"
	"anatomy/web/admin"
	"anatomy/web/api"
	"anatomy/web/box"
	"anatomy/web/internal/access"
	"anatomy/web/internal/address"
	"anatomy/web/internal/frame"
	"anatomy/web/internal/marks"
	"anatomy/web/internal/reader"
	"anatomy/web/internal/recent"
	"anatomy/web/internal/respond"
	"anatomy/web/internal/session"
	"anatomy/web/internal/siblings"
	"anatomy/web/mcp"
	"anatomy/web/pages"
)

// Limits of a connection.
const (
	headerTimeout = 5 * time.Second
	readTimeout   = 10 * time.Second
	writeTimeout  = 30 * time.Second
	idleTimeout   = 60 * time.Second
)

// Options configure a Server. Only Collection is required.
type Options struct {
	Collection reader.Collection

	// FetchImage fetches an image and sets its type from its bytes. Default nil: results for images
	// have words only.
	FetchImage func(ctx context.Context, url string) (*vocab.Page, error)

	Name      string         // of the collection, for display; default "anatomy"
	Look      Look           // of its pages; default the usual one
	Path      string         // below which another server answers with this one, see Mount; default none
	Beside    *Collections   // of the process, to which New adds this one; default: it is the only one
	Version   string         // of the program, for MCP clients
	PublicURL string         // URL of the server for clients, see ParsePublicURL; default: the request's
	Proxies   []netip.Prefix // whose X-Forwarded-For, -Proto and -Host are trusted; default none

	// Hosts are the names under which the server answers, beside loopback and the host of PublicURL:
	// a host name, *.NAME, or an IP address; "", 0.0.0.0 and :: mean every IP address. Others
	// get status 421. Default none.
	Hosts []string

	// Certificate returns the certificate of the server, which is renewed now and then. The server
	// answers under its host names, too. Default nil: there is none.
	Certificate func() *x509.Certificate

	// Origins are those of other sites whose scripts may read answers (CORS), such as
	// https://app.example.org; "*" means all. Default none.
	Origins []string

	// BoxOrigins are further ones, whose scripts may read what the search box needs, while the collection
	// is not Private. Default none.
	BoxOrigins []string

	Bot *pages.Bot // the crawler, shown at /bot; default nil: no such page

	// Private reports whether the collection has pages that not everybody may read. Then everything
	// but loginFree needs a login: the token of Admin, an API key, or LoginHeader. Default: it does not.
	Private func() bool

	// PublicOnly makes the server answer only while the collection is not Private, and require no
	// login.
	PublicOnly bool

	// LoginHeader is a header field that a trusted proxy sets for people who logged in there. From
	// other clients it is ignored. Default: no field.
	LoginHeader string

	Admin  admin.Options
	API    APIOptions
	Limits Limits

	// Damage returns the number of problems of each structure that readers of the data folder have
	// found. Default nil: not known.
	Damage func() map[string]int

	Log        *slog.Logger     // one line per request; default none
	LogQueries bool             // log query strings; default false
	Now        func() time.Time // default time.Now
}

// Collections are those that one process serves, each by a Server. The first one has no Path.
type Collections = siblings.List

// APIOptions configure the API for programs.
type APIOptions struct {
	Keys []string // accepted API keys; default none: everybody may use the API

	// SiteSets are the sites, as in site:, that a value of parameter cx of /customsearch/v1 searches.
	// Other values search the whole collection.
	SiteSets map[string][]string
}

// Limits bound what a Server does at once.
type Limits struct {
	Connections int // open connections; default 4096

	// Searches that run at once; default 4 per processor. Eight times as many wait, for at most 0.5 s.
	// The server refuses others with status 429.
	Searches int

	// Searches that a client may send in a minute. Default 0: access.DefaultRate for clients on other
	// machines; below 0: any number.
	Rate int

	Grace time.Duration // for requests in flight when Run ends; default 10 s
}

// setDefaults replaces zero values.
func (o *Options) setDefaults() {
	o.Name = cmp.Or(o.Name, "anatomy")
	o.Limits.Grace = cmp.Or(o.Limits.Grace, 10*time.Second)
	if o.Limits.Connections <= 0 {
		o.Limits.Connections = DefaultConnections
	}
	if o.Limits.Searches <= 0 {
		o.Limits.Searches = 4 * runtime.GOMAXPROCS(0)
	}
	if o.Private == nil {
		o.Private = func() bool { return false }
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
}

// A Server shows one collection. Its fields do not change after New.
type Server struct {
	o      Options
	log    *slog.Logger
	site   *address.Site
	reader *reader.Reader
	pages  *pages.Handlers
	admin  *admin.Handlers // nil: no admin page

	sessions *session.Sessions
	keys     keys

	api   *api.Handlers
	box   *box.Handlers
	tools *sdk.Server

	hosts   *access.Hosts
	origins *access.Origins

	searches    *recent.Searches // nil: not counted
	metrics     *metrics
	connections *connections
	routes      *gin.Engine
	mounted     []*Server    // see Mount
	answer      http.Handler // to requests whose path begins at the root of this server
	handler     http.Handler
}

// New returns a server. It does not listen.
func New(o Options) *Server {
	o.setDefaults()
	warnings := &recent.Ring[recent.Complaint]{}
	log := slog.New(recent.KeepComplaints(o.Log.Handler(), warnings))
	var slow *recent.SlowQueries
	if o.Admin.SlowQueries > 0 {
		slow = &recent.SlowQueries{Limit: o.Admin.SlowQueries}
	}
	site, err := address.NewSite(o.PublicURL, o.Path, o.Proxies)
	if err != nil {
		log.Warn("the public URL cannot be used", "error", err)
	}
	hosts, origins, err := newAccess(&o)
	if err != nil {
		log.Warn("the server answers on loopback alone", "error", err)
	}
	beside := o.Beside
	if beside == nil {
		beside = &Collections{}
	}
	var searches *recent.Searches
	if o.Admin.Searches {
		searches = &recent.Searches{}
	}
	read := reader.New(o.Collection, o.Limits.Searches, slow, searches, o.Now)
	page := frame.New(frame.Options{
		Site: site, Log: log, Name: o.Name, Look: o.Look, Beside: beside, HasBot: o.Bot != nil,
		Functions: []frame.Functions{pages.Functions, admin.Functions},
	})
	sessions := session.New(session.Options{
		Token: o.Admin.Token, ReadToken: o.Admin.ReadToken, Site: site, Now: o.Now,
		Log: log, Audit: o.Log, Keep: o.Admin.Audit,
	})
	var marked marks.Source // of the admin page
	if o.Admin.Crawl != nil && o.Admin.Tuning != nil {
		marked = o.Admin.Tuning
	}
	var crawling func(ctx context.Context) bool
	if o.Admin.Crawl != nil {
		crawling = func(ctx context.Context) bool {
			_, err := o.Admin.Crawl.Status(ctx)
			return err == nil
		}
	}
	s := &Server{
		o: o, log: log, sessions: sessions, keys: newKeys(o.API.Keys), searches: searches, site: site, reader: read, hosts: hosts, origins: origins,
		pages: pages.New(pages.Options{
			Reader: read, Frame: page, Sessions: sessions, Searches: searches, Marks: marked, Bot: o.Bot, Now: o.Now, Crawling: crawling, FetchImage: o.FetchImage,
		}),
		tools:       mcp.New(read, log, o.Name, o.Version),
		connections: newConnections(o.Limits.Connections),
		metrics:     newMetrics(o.Admin.Crawl, o.Collection.AnswerStats, o.Collection.MissingShards, o.Damage, o.Admin.Cluster),
	}
	if o.Admin.Crawl != nil {
		s.admin = admin.New(page, sessions, o.Admin, admin.Records{
			Slow: slow, Searches: searches, Complaints: warnings, Damage: o.Damage,
		}, o.Now)
	}
	s.api = api.New(api.Options{
		Reader: read, Site: site, Log: log, Now: o.Now, Images: o.FetchImage != nil,
		Name: o.Name, Icon: s.pages.Assets.Icon(), SiteSets: o.API.SiteSets, Beside: beside,
	})
	s.box = box.New(read, &respond.Responder{Log: log}, o.API.SiteSets)
	mayRead := mayReadRule{&s.o, site, s.keys, sessions.PermitRead}
	beside.Add(&siblings.Collection{
		Name: o.Name, Path: o.Path, Reader: read, Site: site, MayRead: mayRead.allows,
	})
	s.routes = s.newRoutes(mayRead)
	s.answer = compressed(s.routes)
	s.handler = site.Forward(http.HandlerFunc(s.dispatch))
	return s
}

// Mount makes s answer the requests below the Path of another server with that server. It must be called
// before Run. It returns an error if s itself answers requests there.
func (s *Server) Mount(other *Server) error {
	first := func(path string) string {
		name, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
		return name
	}
	for _, route := range s.routes.Routes() {
		if first(route.Path) == first(other.o.Path) {
			return fmt.Errorf("the server has pages of its own at /%s", first(route.Path))
		}
	}
	for _, m := range s.mounted {
		if m.o.Path == other.o.Path {
			return fmt.Errorf("two collections at %s/", m.o.Path)
		}
	}
	s.mounted = append(s.mounted, other)
	return nil
}

// dispatch answers a request by the server to which its path belongs.
func (s *Server) dispatch(w http.ResponseWriter, r *http.Request) {
	for _, m := range s.mounted {
		switch rest, below := strings.CutPrefix(r.URL.Path, m.o.Path); {
		case below && rest == "":
			http.Redirect(w, r, m.site.Path("/"), http.StatusPermanentRedirect)
			return
		case below && rest[0] == '/':
			http.StripPrefix(m.o.Path, m.answer).ServeHTTP(w, r)
			return
		}
	}
	s.answer.ServeHTTP(w, r)
}

// compressed returns a handler that compresses answers at the lowest level: with the default level a page
// of results takes 1.14 times the processor time in all, and has .91 of the bytes.
func compressed(h http.Handler) http.Handler {
	compress, err := gzhttp.NewWrapper(gzhttp.CompressionLevel(gzip.BestSpeed))
	if err != nil {
		panic(err) // the options are constants
	}
	return compress(h)
}

// newAccess returns the rules of access to the server. If it returns an error, they admit loopback
// alone.
func newAccess(o *Options) (*access.Hosts, *access.Origins, error) {
	names := o.Hosts
	if u, err := ParsePublicURL(o.PublicURL); err == nil {
		names = append(slices.Clip(names), u.Host)
	}
	hosts, err := access.NewHosts(names)
	if err != nil {
		hosts, _ = access.NewHosts(nil) // no name cannot be malformed
	}
	hosts.Certificate = o.Certificate
	origins, badOrigin := access.NewOrigins(o.Origins, o.PublicURL)
	if badOrigin != nil {
		origins, _ = access.NewOrigins(nil, o.PublicURL)
	}
	box, badBox := access.NewOrigins(o.BoxOrigins, "")
	if badBox == nil {
		origins.BoxOnly, origins.Private = box, o.Private
	}
	return hosts, origins, errors.Join(err, badOrigin, badBox)
}

// Tools returns the collection as a server of the Model Context Protocol.
func (s *Server) Tools() *sdk.Server { return s.tools }

// Handler returns the server as a handler, for tests and embedding.
func (s *Server) Handler() http.Handler { return s.handler }

// A SearchStore keeps the counts of searches while no server runs.
type SearchStore interface {
	ReadSearches() ([]byte, error) // none if nothing was written
	WriteSearches([]byte) error
}

// searchesEvery is the interval at which changed counts of searches are written.
const searchesEvery = time.Minute

// KeepSearches begins with the counts of a store, and writes changed counts to it until ctx ends. Counts
// that cannot be read are logged, and stay as they are. It does nothing if searches are not counted.
func (s *Server) KeepSearches(ctx context.Context, store SearchStore) {
	if s.searches == nil {
		return
	}
	content, err := store.ReadSearches()
	if err == nil && len(content) > 0 {
		err = s.searches.Decode(content)
	}
	if err != nil {
		s.log.Error("the kept counts of searches cannot be read, so that new ones are not kept", "error", err)
		return
	}
	ticker := time.NewTicker(searchesEvery)
	defer ticker.Stop()
	for ended := false; !ended; {
		select {
		case <-ctx.Done():
			ended = true
		case <-ticker.C:
		}
		if content, changed := s.searches.Encode(); changed {
			if err := store.WriteSearches(content); err != nil {
				s.log.Warn("counts of searches are not written", "error", err)
			}
		}
	}
}

// Run serves the listener until the context ends, then waits for requests in flight for at most
// Limits.Grace. It closes the listener and returns nil if the context ended it.
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
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.o.Limits.Grace)
	defer cancel()
	if err := server.Shutdown(grace); err != nil {
		s.log.Warn("requests were cut off", "error", err)
		server.Close()
	}
	<-ended
	return nil
}

// newRoutes registers all routes. Pages and the API register their own.
func (s *Server) newRoutes(mayRead mayReadRule) *gin.Engine {
	gin.SetMode(gin.ReleaseMode)
	r := gin.New()
	r.RedirectTrailingSlash = false
	r.HandleMethodNotAllowed = true
	r.SetTrustedProxies(nil) // an empty list cannot be malformed
	refuse := &refuser{s.log, &respond.Responder{Log: s.log}, s.pages, s.api, s.box}
	r.Use(accessLog{s.log, s.o.LogQueries}.observe, s.metrics.observe, refuse.recoverPanic, secure,
		refuse.admit(s.hosts, s.origins), refuse.limit(access.NewQuota(s.o.Limits.Rate, s.o.Now)),
		postedSearch, refuse.needKey(s.keys, s.sessions), refuse.needLogin(mayRead))

	s.pages.Routes(r)
	if s.admin != nil {
		s.admin.Routes(r)
	}
	s.api.Routes(r)
	s.box.Routes(r)
	respond.HandleGet(r, "/search", s.search)
	r.POST("/search", s.search)
	r.Any("/mcp", gin.WrapH(s.toolsHandler()))
	respond.HandleGet(r, "/opensearch.xml", s.pages.Page(s.api.OpenSearch.Show))
	respond.HandleGet(r, "/robots.txt", s.robots)
	respond.HandleGet(r, "/metrics", gin.WrapH(s.metrics.handler()))
	respond.HandleGet(r, "/healthz", s.healthz)
	respond.HandleGet(r, "/readyz", s.readyz)

	r.NoRoute(refuse.noRoute)
	r.NoMethod(refuse.noMethod)
	return r
}

// toolsHandler serves tools to programs, and to scripts of this site and of allowed origins.
func (s *Server) toolsHandler() http.Handler {
	tools := mcp.OverHTTP(s.toolsFor)
	protected := s.site.SameOrigin(s.log).Handler(tools)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.origins.Allow(access.Origin(r)) {
			tools.ServeHTTP(w, r)
			return
		}
		protected.ServeHTTP(w, r)
	})
}

// toolsFor returns the tools of a request: those that read and, if Authorization has the server's token
// and the request comes from no script, also the tool crawl.
func (s *Server) toolsFor(r *http.Request) *sdk.Server {
	token, ok := respond.BearerToken(r)
	if s.admin == nil || !ok || s.keys.has(token) || r.Header.Get("Origin") != "" || !s.sessions.IsActor(r) {
		return s.tools
	}
	tools := mcp.New(s.reader, s.log, s.o.Name, s.o.Version)
	mcp.AddCrawl(tools, func(ctx context.Context, urls []string) ([]string, error) {
		return s.admin.Crawl(r.WithContext(ctx), urls)
	})
	return tools
}

// search answers /search: a page, or, for programs, one of api.ProgramFormats.
func (s *Server) search(c *gin.Context) {
	if values := c.Request.URL.Query()["format"]; len(values) == 1 && api.ProgramFormats[values[0]] {
		s.api.Searxng.Search(c)
		return
	}
	s.pages.Search(c)
}

// healthz answers that the process runs.
func (s *Server) healthz(c *gin.Context) { c.String(http.StatusOK, "ok\n") }

// readyz reports whether an index is open with all shards, and the damage of the data folder: a line
// for each structure. Damage leaves the server ready, because the rest can be searched. A server
// without some shards answers, but is not ready, so that a load balancer prefers others.
func (s *Server) readyz(c *gin.Context) {
	if !s.o.Collection.Ready() {
		c.Header("Retry-After", "1")
		c.String(http.StatusServiceUnavailable, "no index is open yet\n")
		return
	}
	if missing := s.o.Collection.MissingShards(); len(missing) > 0 {
		c.Header("Retry-After", "1")
		c.String(http.StatusServiceUnavailable, "shards that are not on this machine yet: %v\n", missing)
		return
	}
	text := "ready\n"
	if s.o.Damage != nil {
		damage := s.o.Damage()
		for _, structure := range slices.Sorted(maps.Keys(damage)) {
			text += fmt.Sprintf("damaged: %s (problems: %d); anatomy check --repair repairs it\n", structure, damage[structure])
		}
	}
	c.String(http.StatusOK, text)
}

// robots keeps crawlers away from pages that show other sites' pages.
func (s *Server) robots(c *gin.Context) {
	text := "User-agent: *\n"
	for _, path := range unlistedPaths {
		text += "Disallow: " + s.site.Path(path) + "\n"
	}
	c.String(http.StatusOK, text)
}
