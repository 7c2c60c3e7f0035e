package web

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"anatomy/vocab"
)

// A Crawl is the crawl that runs on the collection, maybe in another process. Every method gives
// vocab.ErrNoCrawl where none does; the text of other errors is shown to whoever may act.
type Crawl interface {
	Status(ctx context.Context) (*vocab.CrawlStatus, error)
	Pause(ctx context.Context) error
	Resume(ctx context.Context) error
	Add(ctx context.Context, urls []string) ([]vocab.Added, error)
	Remove(ctx context.Context, pattern string) (uint64, error)
}

// statusTimeout bounds how long a page waits for a crawl to say how it is.
const statusTimeout = 2 * time.Second

// A crawlView is the dashboard of a crawl. The part that changes is a template of its own, which the
// script fetches again and again; without it the page reloads itself.
type crawlView struct {
	Status *vocab.CrawlStatus // nil where no crawl runs
	Said   []string           // what came of an action
	Failed bool               // and that it failed

	Actor   bool   // whether the asker may act
	Token   bool   // whether there is a token at all
	Form    string // what a form must send back
	Refresh int    // seconds
}

// refreshSeconds is how often the page is loaded again without script.
const refreshSeconds = 10

func (s *Server) crawlRoutes(r *gin.Engine, get func(string, gin.HandlerFunc)) {
	if s.o.Crawl == nil {
		return
	}
	get("/crawl", s.html(s.crawl))
	get("/crawl/status", s.json(s.crawlStatus))
	get("/crawl/:action", func(c *gin.Context) { s.redirect(c, http.StatusSeeOther, "/crawl") }) // a form's address, reloaded
	at := board{"/crawl", s.showCrawl}
	r.POST("/crawl/login", s.html(func(c *gin.Context) error { return s.login(c, at) }))
	r.POST("/crawl/logout", s.html(func(c *gin.Context) error { return s.logout(c, at) }))
	for name, act := range map[string]action{
		"pause": s.pause, "resume": s.resume, "add": s.addURLs, "remove": s.removeURLs,
	} {
		r.POST("/crawl/"+name, s.acting(at, act))
	}
}

// status is nil where no crawl runs.
func (s *Server) status(ctx context.Context) (*vocab.CrawlStatus, error) {
	ctx, cancel := context.WithTimeout(ctx, statusTimeout)
	defer cancel()
	st, err := s.o.Crawl.Status(ctx)
	if errors.Is(err, vocab.ErrNoCrawl) {
		return nil, nil
	}
	return st, err
}

func (s *Server) crawl(c *gin.Context) error {
	if c.Query("part") == "live" {
		return s.crawlLive(c)
	}
	return s.showCrawl(c, http.StatusOK, nil, false)
}

// crawlLive is the part that changes, alone.
func (s *Server) crawlLive(c *gin.Context) error {
	st, err := s.status(c.Request.Context())
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := s.pages.crawl.ExecuteTemplate(&b, "live", &crawlView{Status: st}); err != nil {
		return err
	}
	c.Data(http.StatusOK, htmlType, s.placed(b.Bytes()))
	return nil
}

// showCrawl answers with the dashboard, and with what came of an action.
func (s *Server) showCrawl(c *gin.Context, code int, said []string, failed bool) error {
	st, err := s.status(c.Request.Context())
	if err != nil {
		return err
	}
	form, actor := s.session(c.Request)
	v := s.view("Crawl", "")
	v.Crawl = &crawlView{Status: st, Said: said, Failed: failed, Actor: actor, Token: s.o.Token != "", Form: form, Refresh: refreshSeconds}
	return s.render(c, code, s.pages.crawl, v)
}

func (s *Server) crawlStatus(c *gin.Context) (any, error) {
	st, err := s.status(c.Request.Context())
	if err == nil && st == nil {
		err = &problem{http.StatusNotFound, "no_crawl", "No crawl", "No crawl runs on this data folder."}
	}
	return st, err
}

// A board is a page with levers. show answers with it, and with what came of an action.
type board struct {
	path string
	show func(c *gin.Context, code int, said []string, failed bool) error
}

// An action does something to the crawl, and says what came of it.
type action func(ctx context.Context, form url.Values) (said []string, err error)

// maxForm bounds what a form sends.
const maxForm = 256 << 10

// acting lets those act who may: with the cookie of a login and the form that belongs to it, or, for
// programs, with the token as a bearer's, who are answered in JSON.
func (s *Server) acting(at board, act action) gin.HandlerFunc {
	return func(c *gin.Context) {
		program := c.GetHeader("Authorization") != ""
		said, err := s.act(c, act)
		var p *problem
		switch {
		case program && err != nil:
			s.jsonProblem(c, s.judgeAction(c, err))
		case program && said == nil:
			s.writeJSON(c, http.StatusOK, map[string][]string{"said": {}})
		case program:
			s.writeJSON(c, http.StatusOK, map[string][]string{"said": said})
		case errors.As(err, &p):
			s.showProblem(c, p)
		case err != nil:
			s.html(func(c *gin.Context) error { return at.show(c, http.StatusConflict, []string{err.Error()}, true) })(c)
		case len(said) == 0:
			s.redirect(c, http.StatusSeeOther, at.path)
		default:
			s.html(func(c *gin.Context) error { return at.show(c, http.StatusOK, said, false) })(c)
		}
	}
}

func (s *Server) act(c *gin.Context, act action) ([]string, error) {
	c.Request.Body = http.MaxBytesReader(c.Writer, c.Request.Body, maxForm)
	if err := c.Request.ParseForm(); err != nil {
		return nil, badParameter("The form could not be read, or is too long.")
	}
	if err := s.permit(c.Request); err != nil {
		return nil, err
	}
	return act(c.Request.Context(), c.Request.PostForm)
}

// judgeAction is an error of an action as a program sees it, who may know all of it.
func (s *Server) judgeAction(c *gin.Context, err error) *problem {
	var p *problem
	if errors.As(err, &p) {
		return p
	}
	return &problem{http.StatusConflict, "refused", "Refused", err.Error()}
}

func (s *Server) pause(ctx context.Context, _ url.Values) ([]string, error) {
	return nil, s.o.Crawl.Pause(ctx)
}

func (s *Server) resume(ctx context.Context, _ url.Values) ([]string, error) {
	return nil, s.o.Crawl.Resume(ctx)
}

func (s *Server) addURLs(ctx context.Context, form url.Values) (said []string, err error) {
	urls := strings.Fields(form.Get("urls"))
	if len(urls) == 0 {
		return nil, errors.New("No URL was given.")
	}
	added, err := s.o.Crawl.Add(ctx, urls)
	for _, a := range added {
		said = append(said, a.URL+": "+a.State)
	}
	return said, err
}

func (s *Server) removeURLs(ctx context.Context, form url.Values) ([]string, error) {
	pattern := strings.TrimSpace(form.Get("pattern"))
	left, err := s.o.Crawl.Remove(ctx, pattern)
	if err != nil {
		return nil, err
	}
	return []string{fmt.Sprintf("%s: %s URLs left the queues", pattern, count(int(left)))}, nil
}

// What the template shows of a status.

// Kinds are the errors by kind, the commonest first.
func (v *crawlView) Kinds() []tallied { return tally(v.Status.Errors) }

// Reasons are why hosts wait, the commonest first.
func (v *crawlView) Reasons() []tallied { return tally(v.Status.Waiting) }

type tallied struct {
	Name  string
	Count int64
	Share int // of the greatest, in a thousand
}

func tally(counts map[string]int64) (all []tallied) {
	most := int64(1)
	for name, n := range counts {
		if n > 0 {
			all = append(all, tallied{Name: name, Count: n})
			most = max(most, n)
		}
	}
	for i := range all {
		all[i].Share = int(1000 * all[i].Count / most)
	}
	slices.SortFunc(all, func(a, b tallied) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Name, b.Name))
	})
	return all
}

// Reached is how much of what politeness allows is reached, in a thousand; -1 where it sets no bound.
func (v *crawlView) Reached() int {
	if v.Status.Unbound > 0 || v.Status.Bound <= 0 {
		return -1
	}
	return int(1000 * min(1, v.Status.Rate/v.Status.Bound))
}

// Since is how long the crawl has run.
func (v *crawlView) Since() string { return long(v.Status.At.Sub(v.Status.Began)) }

// Left is how long a host is still left alone, "" where it is not.
func (v *crawlView) Left(h vocab.HostStatus) string {
	if d := h.Until.Sub(v.Status.At); d > 0 {
		return long(d)
	}
	return ""
}

// Size of the line of pages a second, in its own units.
const lineWidth, lineHeight = 600, 60

// Line is the points of the pages a second over the last minutes, oldest left, and their most.
func (v *crawlView) Line() string {
	rates := v.Status.Rates
	most := v.Peak()
	var b strings.Builder
	for i, r := range rates {
		x := lineWidth - lineWidth*float64(len(rates)-1-i)/(vocab.RateSeconds-1)
		fmt.Fprintf(&b, "%.1f,%.1f ", x, lineHeight-1-(lineHeight-2)*r/most)
	}
	return strings.TrimSpace(b.String())
}

// Peak is the most pages that a second brought, or 1.
func (v *crawlView) Peak() float64 {
	if len(v.Status.Rates) == 0 {
		return 1
	}
	return max(1, slices.Max(v.Status.Rates))
}

// span writes a delay or the time of an answer, "–" for none.
func span(d time.Duration) string {
	if d <= 0 {
		return "–"
	}
	return long(d)
}

// long writes a time of the order of a crawl's: 850 ms, 4.2 s, 12 min, 3 h 20 min.
func long(d time.Duration) string {
	switch {
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < 10*time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < 2*time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < 2*time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h %d min", int(d.Hours()), int(d.Minutes())%60)
	}
	return fmt.Sprintf("%d days", int(d.Hours()/24))
}

// rate writes pages a second: 0.25, 3.4, 120.
func rate(r float64) string {
	switch {
	case r == 0:
		return "0"
	case r < 1:
		return fmt.Sprintf("%.2f", r)
	case r < 20:
		return fmt.Sprintf("%.1f", r)
	}
	return count(int(math.Round(r)))
}

// hits writes how many look-ups of a cache were right.
func hits(hit, miss int64) string {
	if hit+miss == 0 {
		return "–"
	}
	return fmt.Sprintf("%.1f %%", 100*float64(hit)/float64(hit+miss))
}

// megabytes writes a number of bytes.
func megabytes(n int64) string {
	switch mb := float64(n) / 1e6; {
	case mb < 10:
		return fmt.Sprintf("%.1f MB", mb)
	case mb < 10_000:
		return count(int(mb)) + " MB"
	default:
		return count(int(mb/1000)) + " GB"
	}
}
