package web

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"anatomy/vocab"
)

// The dashboard is for whoever has the token: what the collection holds, what runs, what went wrong,
// and the levers. Long work belongs to the server, not to the page: a closed tab changes nothing.

// A dashboardView is the dashboard, or the way in.
type dashboardView struct {
	Said    []string
	Failed  bool
	Token   bool   // whether there is a token at all
	Actor   bool   // all below is for those who may act
	Form    string // what a form must send back; "" for programs
	Refresh int    // seconds

	Crawl    *vocab.CrawlStatus // nil where none runs
	Tasks    []taskView
	Holdings *Holdings
	Most     int64    // bytes of the largest structure
	Total    int64    // bytes of all
	Removed  []string // patterns
	Unlisted string   // why they are not known

	SlowAfter  string // "" where slow queries are not kept
	Slow       []slowQuery
	Complaints []complaint
}

type taskView struct {
	Task
	Page  string // address of the report
	Since string
}

func (s *Server) dashboardRoutes(r *gin.Engine, get func(string, gin.HandlerFunc)) {
	if s.o.Desk == nil {
		return
	}
	at := board{"/dashboard", s.showDashboard}
	get("/dashboard", s.html(s.dashboard))
	get("/dashboard/rank/:task", s.html(s.rankPage))
	get("/dashboard/:action", func(c *gin.Context) { s.redirect(c, http.StatusSeeOther, at.path) })
	r.POST("/dashboard/login", s.html(func(c *gin.Context) error { return s.login(c, at) }))
	r.POST("/dashboard/logout", s.html(func(c *gin.Context) error { return s.logout(c, at) }))
	for name, act := range map[string]action{
		"crawl": s.orderCrawl, "rank": s.orderRank, "remove": s.removePages, "restore": s.restorePages,
	} {
		r.POST("/dashboard/"+name, s.acting(at, act))
	}
	if s.o.Crawl != nil {
		r.POST("/dashboard/pause", s.acting(at, s.pause))
		r.POST("/dashboard/resume", s.acting(at, s.resume))
	}
}

// isActor says whether a request may see what is for those who may act.
func (s *Server) isActor(r *http.Request) bool {
	if given, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok {
		return s.isToken(given)
	}
	_, ok := s.session(r)
	return ok
}

func (s *Server) dashboard(c *gin.Context) error {
	if c.Query("part") != "live" {
		return s.showDashboard(c, http.StatusOK, nil, false)
	}
	v, err := s.dashboardView(c)
	if err != nil {
		return err
	}
	if !v.Actor {
		return s.permit(c.Request)
	}
	var b bytes.Buffer
	if err := s.pages.dashboard.ExecuteTemplate(&b, "live", v); err != nil {
		return err
	}
	c.Data(http.StatusOK, htmlType, s.placed(b.Bytes()))
	return nil
}

// showDashboard answers with the dashboard, and with what came of an action.
func (s *Server) showDashboard(c *gin.Context, code int, said []string, failed bool) error {
	v := s.view("Dashboard", "")
	var err error
	if v.Dashboard, err = s.dashboardView(c); err != nil {
		return err
	}
	v.Dashboard.Said, v.Dashboard.Failed = said, failed
	if v.Dashboard.Form != "" {
		if v.Dashboard.Removed, err = s.o.Desk.Removed(c.Request.Context()); err != nil {
			v.Dashboard.Unlisted = err.Error()
		}
	}
	return s.render(c, code, s.pages.dashboard, v)
}

func (s *Server) dashboardView(c *gin.Context) (*dashboardView, error) {
	v := &dashboardView{Token: s.o.Token != "", Actor: s.isActor(c.Request), Refresh: refreshSeconds}
	if !v.Actor {
		return v, nil
	}
	v.Form, _ = s.session(c.Request)
	ctx := c.Request.Context()
	if s.o.Crawl != nil {
		st, err := s.status(ctx)
		if err != nil {
			return nil, err
		}
		v.Crawl = st
	}
	var err error
	if v.Holdings, err = s.o.Desk.Holdings(ctx); err != nil {
		return nil, err
	}
	for _, d := range v.Holdings.Disk {
		v.Most, v.Total = max(v.Most, d.Bytes), v.Total+d.Bytes
	}
	for _, t := range s.o.Desk.Tasks() {
		v.Tasks = append(v.Tasks, s.taskView(t))
	}
	if s.o.SlowQueries > 0 {
		v.SlowAfter, v.Slow = duration(s.o.SlowQueries), s.slow.newest()
	}
	v.Complaints = s.complaints.newest()
	return v, nil
}

func (s *Server) taskView(t Task) taskView {
	v := taskView{Task: t}
	end := t.Ended
	if end.IsZero() {
		end = s.o.Now()
	}
	v.Since = long(max(0, end.Sub(t.Began)))
	if t.HasPage {
		v.Page = "/dashboard/rank/" + strconv.Itoa(t.Number)
	}
	return v
}

// Share is how large a structure is beside the largest, in a thousand.
func (v *dashboardView) Share(bytes int64) int { return int(1000 * bytes / max(1, v.Most)) }

// rankPage is the report of a task. Its style is in the page, which may do nothing else.
func (s *Server) rankPage(c *gin.Context) error {
	if !s.isActor(c.Request) {
		return s.permit(c.Request)
	}
	number, err := strconv.Atoi(c.Param("task"))
	page := s.o.Desk.RankPage(number)
	if err != nil || page == nil {
		return notFound("There is no such report: the newest are kept until the server ends.")
	}
	c.Header("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox; frame-ancestors 'none'")
	c.Data(http.StatusOK, htmlType, page)
	return nil
}

// orderCrawl gives URLs to the crawl that runs, or begins one.
func (s *Server) orderCrawl(ctx context.Context, form url.Values) ([]string, error) {
	urls := strings.Fields(form.Get("urls"))
	if s.o.Crawl != nil && len(urls) > 0 {
		if said, err := s.addURLs(ctx, form); !errors.Is(err, vocab.ErrNoCrawl) {
			return said, err
		}
	}
	o := Order{URLs: urls, Scope: form.Get("scope"), Recrawl: form.Get("recrawl") != ""}
	if most := form.Get("max"); most != "" {
		n, err := strconv.ParseUint(most, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("%q is no number of pages.", most)
		}
		o.MaxPages = n
	}
	return nil, s.o.Desk.Begin(o)
}

func (s *Server) orderRank(_ context.Context, form url.Values) ([]string, error) {
	o := Order{Rank: true}
	if text := form.Get("damping"); text != "" {
		d, err := strconv.ParseFloat(text, 64)
		if err != nil || !(d > 0 && d < 1) {
			return nil, fmt.Errorf("%q is no number between 0 and 1.", text)
		}
		o.Damping = d
	}
	return nil, s.o.Desk.Begin(o)
}

func (s *Server) removePages(ctx context.Context, form url.Values) ([]string, error) {
	return changePages(ctx, form, s.o.Desk.Remove)
}

func (s *Server) restorePages(ctx context.Context, form url.Values) ([]string, error) {
	return changePages(ctx, form, s.o.Desk.Restore)
}

// changeTimeout bounds how long a removal may take: it writes to the index.
const changeTimeout = 25 * time.Second

func changePages(ctx context.Context, form url.Values, change func(context.Context, []string) (string, error)) ([]string, error) {
	targets := strings.Fields(form.Get("targets"))
	if len(targets) == 0 {
		return nil, errors.New("No page and no site was given.")
	}
	ctx, cancel := context.WithTimeout(ctx, changeTimeout)
	defer cancel()
	said, err := change(ctx, targets)
	if err != nil {
		return nil, err
	}
	return []string{said}, nil
}
