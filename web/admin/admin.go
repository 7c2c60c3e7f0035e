// Package admin has the page on which operators watch and steer a collection, and its forms.
package admin

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"anatomy/vocab"
	"anatomy/web/internal/frame"
	"anatomy/web/internal/recent"
	"anatomy/web/internal/respond"
	"anatomy/web/internal/session"
	"anatomy/web/internal/text"
)

// Handlers are the handlers of the admin page and its forms. Everybody sees the state of the crawl.
// Visitors with the token also see the collection, jobs, slow searches and warnings, and may act.
type Handlers struct {
	*frame.Frame
	respond    *respond.Responder
	sessions   *session.Sessions
	actions    *actions
	slow       *recent.SlowQueries
	cluster    Cluster // nil for none
	complaints *recent.Ring[recent.Complaint]
	settings   Settings // nil: rules and past crawls are not shown
	damage     func() map[string]int
	now        func() time.Time
}

// Records are what a server remembers, in memory.
type Records struct {
	Slow       *recent.SlowQueries            // nil: not kept
	Searches   *recent.Searches               // nil: not counted
	Complaints *recent.Ring[recent.Complaint] // newest warnings and errors of the log
	Damage     func() map[string]int          // problems that readers have found, by structure; nil: not known
}

// New returns the handlers. o must have a Crawl.
func New(f *frame.Frame, sessions *session.Sessions, o Options, r Records, now func() time.Time) *Handlers {
	return &Handlers{
		Frame: f, respond: &respond.Responder{Log: f.Log}, sessions: sessions,
		actions: &actions{o.Crawl, o.Jobs, o.Tuning, r.Searches},
		slow:    r.Slow, complaints: r.Complaints, cluster: o.Cluster, settings: o.Settings, damage: r.Damage, now: now,
	}
}

// Routes registers the admin page at /crawl. The addresses below /dashboard are those of an earlier
// second page.
func (s *Handlers) Routes(r *gin.Engine) {
	get := func(path string, h gin.HandlerFunc) { respond.HandleGet(r, path, h) }
	back := func(c *gin.Context) { s.Site.Redirect(c, http.StatusSeeOther, "/crawl") }
	get("/crawl", s.Page(s.page))
	get("/crawl/status", s.respond.Handler(s.statusJSON))
	if s.actions.searches != nil {
		get("/crawl/searches", s.respond.Handler(s.searchesJSON))
	}
	if s.settings != nil {
		get("/crawl/config", s.Page(s.settingsPage))
		r.POST("/crawl/config", s.Page(s.keepSettings))
		get("/crawl/history", s.Page(s.historyPage))
	}
	get("/crawl/:action", back) // the address of a form, reloaded
	get("/dashboard", back)
	get("/dashboard/:action", back)
	for _, base := range []string{"/crawl/", "/dashboard/"} {
		r.POST(base+"login", s.Page(s.login))
		r.POST(base+"logout", s.Page(s.logout))
		if s.actions.jobs != nil {
			get(base+"rank/:job", s.Page(s.rankPage))
		}
	}
	table := s.actions.table()
	for name, act := range table {
		r.POST("/crawl/"+name, s.acting(name, act, s.crawlForms()))
	}
	if s.actions.tuning != nil {
		get("/crawl/judged", s.Page(s.judgedPage))
		for name, act := range s.actions.judging() {
			r.POST("/crawl/"+name, s.acting(name, act, s.judgedForms()))
		}
	}
	for old, name := range map[string]string{
		"crawl": "begin", "rank": "rank", "remove": "block", "restore": "unblock", "pause": "pause", "resume": "resume",
	} {
		if act := table[name]; act != nil {
			r.POST("/dashboard/"+old, s.acting(name, act, s.crawlForms()))
		}
	}
}

// page shows the admin page or, with part=live, the part that changes.
func (s *Handlers) page(c *gin.Context) error {
	if c.Query("part") != "live" {
		return s.show(c, http.StatusOK, nil, false)
	}
	v, err := s.adminView(c)
	if err != nil {
		return err
	}
	return s.RenderPart(c, "admin", "live", v)
}

// show answers with the admin page and the result of an action.
func (s *Handlers) show(c *gin.Context, code int, result []string, failed bool) error {
	admin, err := s.adminView(c)
	if err != nil {
		return err
	}
	admin.Said, admin.Failed = result, failed
	if admin.Form != "" && s.actions.jobs != nil {
		if admin.Removed, err = s.actions.jobs.Removed(c.Request.Context()); err != nil {
			admin.Unlisted = err.Error()
		}
		admin.Removed = sitesOf(admin.Removed)
	}
	admin.Tunes = s.actions.tuning != nil
	admin.Query, admin.Page = text.Clean(c.Query("query")), text.Clean(c.Query("page"))
	admin.Missing = text.Shorten(text.Clean(cmp.Or(c.Query("missing"), c.Request.PostForm.Get("missing"))), maxMissing)
	v := s.View(c, "Crawl", "")
	v.Body = admin
	return s.Render(c, code, "admin", v)
}

// maxMissing bounds the query of a missing page, in characters.
const maxMissing = 200

func (s *Handlers) adminView(c *gin.Context) (*adminView, error) {
	status, err := s.status(c.Request.Context())
	if err != nil {
		return nil, err
	}
	v := &adminView{
		Status: status, Actor: s.sessions.IsActor(c.Request), Token: s.sessions.HasToken(),
		Refresh: refreshSeconds,
	}
	if status == nil && s.settings != nil {
		if past, _, err := s.settings.Crawls(); err == nil && len(past) > 0 {
			v.Last = &past[0]
		}
	}
	v.Form, _ = s.sessions.Form(c.Request)
	if v.Actor {
		v.Server, err = s.serverView(c.Request.Context())
	}
	return v, err
}

// serverView returns the part that only actors see.
func (s *Handlers) serverView(ctx context.Context) (*serverView, error) {
	v := &serverView{Complaints: s.complaints.Newest()}
	if s.slow != nil {
		v.SlowAfter, v.Slow = s.slow.Limit, s.slow.Newest()
	}
	if kept := s.actions.searches; kept != nil {
		v.Counts, v.Fruitless, v.Opened = true, kept.Fruitless(), kept.Opened()
	}
	if s.cluster != nil {
		ctx, cancel := context.WithTimeout(ctx, StatusTimeout)
		defer cancel()
		st, err := s.cluster.Status(ctx)
		if v.Cluster = st; err != nil {
			v.Unreached = err.Error()
		}
	}
	s.addCollection(v)
	if s.actions.jobs == nil {
		return v, nil
	}
	holdings, err := s.actions.jobs.Holdings(ctx)
	if err != nil {
		return nil, err
	}
	v.Holdings = holdings
	for _, d := range holdings.Disk {
		v.Most, v.Total = max(v.Most, d.Bytes), v.Total+d.Bytes
	}
	for _, j := range s.actions.jobs.List() {
		v.Jobs = append(v.Jobs, newJobView(j, s.now()))
	}
	return v, nil
}

// addCollection adds the crawls, the damage and the neighbours of the collection.
func (s *Handlers) addCollection(v *serverView) {
	if s.damage != nil {
		counts := map[string]int64{}
		for structure, n := range s.damage() {
			counts[structure] = int64(n)
		}
		v.Damage = text.Tally(counts)
	}
	if s.Beside.HasSeveral() {
		for _, of := range s.Beside.All {
			v.Beside = append(v.Beside, frame.Tab{Label: of.Name, Href: of.Site.Path("/crawl"), Current: of.Site == s.Site})
		}
	}
	if v.Rules = s.settings != nil; !v.Rules {
		return
	}
	past, next, err := s.settings.Crawls()
	if err != nil {
		v.Unread = err.Error()
	}
	if !next.IsZero() {
		v.NextCrawl = &next
	}
	v.Past = past[:min(len(past), pastShown)]
}

// pastShown is the number of past crawls on the admin page.
const pastShown = 5

// StatusTimeout bounds the wait for the status of a crawl.
const StatusTimeout = 2 * time.Second

// status returns nil if no crawl runs.
func (s *Handlers) status(ctx context.Context) (*vocab.CrawlStatus, error) {
	ctx, cancel := context.WithTimeout(ctx, StatusTimeout)
	defer cancel()
	st, err := s.actions.crawl.Status(ctx)
	if errors.Is(err, vocab.ErrNoCrawl) {
		return nil, nil
	}
	return st, err
}

func (s *Handlers) statusJSON(c *gin.Context) (any, error) {
	st, err := s.status(c.Request.Context())
	if err == nil && st == nil {
		err = respond.NewProblem(http.StatusNotFound, "no_crawl", "No crawl", "No crawl runs on this data folder.")
	}
	if st != nil && !s.sessions.IsActor(c.Request) {
		st.ErrorExamples = nil
	}
	return st, err
}

// searchesJSON answers with what was counted of searches.
func (s *Handlers) searchesJSON(c *gin.Context) (any, error) {
	if !s.sessions.IsActor(c.Request) {
		return nil, s.sessions.Permit(c.Request)
	}
	kept := s.actions.searches
	return map[string]any{"fruitless": kept.Fruitless(), "opened": kept.Opened()}, nil
}

func (s *Handlers) login(c *gin.Context) error {
	if err := s.sessions.LogIn(c, true); err != nil {
		p := s.respond.Judge(c, err)
		if !respond.AsksAgain(c.Request, p) {
			return err
		}
		return s.show(c, p.Status, []string{p.Message}, true)
	}
	s.Site.Redirect(c, http.StatusSeeOther, "/crawl")
	return nil
}

func (s *Handlers) logout(c *gin.Context) error {
	if err := s.sessions.LogOut(c); err != nil {
		return err
	}
	s.Site.Redirect(c, http.StatusSeeOther, "/crawl")
	return nil
}

// rankPage shows the report of a job. The report has its style inside and may load nothing.
func (s *Handlers) rankPage(c *gin.Context) error {
	if !s.sessions.IsActor(c.Request) {
		return s.sessions.Permit(c.Request)
	}
	number, err := strconv.Atoi(c.Param("job"))
	page := s.actions.jobs.RankPage(number)
	if err != nil || page == nil {
		return respond.NotFound("There is no such report. The server keeps the newest reports until it ends.")
	}
	c.Header("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox; frame-ancestors 'none'")
	c.Data(http.StatusOK, frame.HTMLType, page)
	return nil
}

// MaxForm bounds a posted form, in bytes.
const MaxForm = session.MaxForm

// The forms of a page are what follows an action of one of them.
type forms struct {
	// show answers with the page and the result of the action.
	show func(c *gin.Context, code int, result []string, failed bool) error

	// target returns the address that a successful action leads to; "" to show its result.
	target func(c *gin.Context, name string, result []string) string
}

// crawlForms are the forms of the admin page.
func (s *Handlers) crawlForms() forms {
	return forms{s.show, func(c *gin.Context, _ string, result []string) string {
		if len(result) > 0 {
			return ""
		}
		if missing := c.Request.PostForm.Get("missing"); missing != "" {
			return "/crawl?" + url.Values{"missing": {missing}}.Encode()
		}
		return "/crawl"
	}}
}

// acting returns a handler that runs an action for visitors who may act. Browsers get the page of its
// form; programs get JSON.
func (s *Handlers) acting(name string, act action, of forms) gin.HandlerFunc {
	return func(c *gin.Context) {
		result, err := s.act(c, name, act)
		if respond.WantsJSON(c.Request) {
			s.answerProgram(c, result, err)
			return
		}
		var p *respond.Problem
		switch {
		case errors.As(err, &p):
			s.Problem(c, s.respond.Judge(c, err))
			return
		case err != nil:
			s.Page(func(c *gin.Context) error { return of.show(c, http.StatusConflict, []string{err.Error()}, true) })(c)
			return
		}
		if target := of.target(c, name, result); target != "" {
			s.Site.Redirect(c, http.StatusSeeOther, target)
			return
		}
		s.Page(func(c *gin.Context) error { return of.show(c, http.StatusOK, result, false) })(c)
	}
}

// Crawl adds URLs to the running crawl, or begins one, for a program whose request may act.
func (s *Handlers) Crawl(r *http.Request, urls []string) ([]string, error) {
	form := url.Values{"urls": {strings.Join(urls, "\n")}}
	act := s.actions.add
	if s.actions.jobs != nil {
		act = s.actions.begin
	}
	result, err := act(r.Context(), form)
	asked := r.Clone(r.Context())
	asked.PostForm = form
	s.sessions.RecordAction(asked, "begin", err)
	return result, err
}

func (s *Handlers) act(c *gin.Context, name string, act action) ([]string, error) {
	c.Request.Body = http.MaxBytesReader(c.Writer, c.Request.Body, MaxForm)
	if err := c.Request.ParseForm(); err != nil {
		return nil, respond.BadParameter("The form is malformed or too long.")
	}
	if err := s.sessions.Permit(c.Request); err != nil {
		return nil, err
	}
	result, err := act(c.Request.Context(), c.Request.PostForm)
	s.sessions.RecordAction(c.Request, name, err)
	return result, err
}

// answerProgram answers with the result of an action, or with the text of any error.
func (s *Handlers) answerProgram(c *gin.Context, result []string, err error) {
	var p *respond.Problem
	switch {
	case errors.As(err, &p):
		s.respond.Problem(c, s.respond.Judge(c, err))
	case err != nil:
		s.respond.Problem(c, respond.NewProblem(http.StatusConflict, "refused", "Refused", err.Error()))
	default:
		s.respond.JSON(c, http.StatusOK, map[string][]string{"said": append([]string{}, result...)})
	}
}
