package admin

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"

	"anatomy/web/internal/respond"
	"anatomy/web/internal/text"
)

// Bounds of the page of judged queries.
const (
	shownJudged = 50  // queries, unless the request is for all
	fewJudged   = 30  // queries below which the page warns that learning may not help
	maxShownURL = 120 // characters
)

// A judgedView is the page of judged queries.
type judgedView struct {
	Form   string   // value that forms send back
	Said   []string // result of an action
	Failed bool     // the action failed

	Queries, Right, Wrong int      // numbers of queries and pages
	Shown                 []Judged // the newest first
	Few                   bool     // the queries are fewer than learning should have

	Learns   bool     // a job can learn weights
	Job      *jobView // the newest job that learnt, nil for none
	Own      bool     // the collection has weights of its own
	Proposal *Proposal
}

// Runs reports whether learning runs.
func (v *judgedView) Runs() bool { return v.Job != nil && v.Job.Ended.IsZero() }

// judging returns the actions of the page of judged queries by path below /crawl.
func (a *actions) judging() map[string]action {
	t := a.tuning
	if t == nil {
		return nil
	}
	number := func(f url.Values) int {
		n, _ := strconv.Atoi(f.Get("number")) // 0 is no number of a proposal
		return n
	}
	all := map[string]action{
		"mark":            tune(func(f url.Values) (string, error) { return setMark(t, f) }),
		"unjudge":         tune(func(f url.Values) (string, error) { return t.DropJudged(f.Get("query")) }),
		"keep-weights":    tune(func(f url.Values) (string, error) { return t.KeepWeights(number(f)) }),
		"default-weights": tune(func(url.Values) (string, error) { return t.DropWeights() }),
		"discard-weights": tune(func(f url.Values) (string, error) {
			return "The weights that were learnt are discarded.", t.DiscardWeights(number(f))
		}),
	}
	if a.jobs != nil {
		all["learn"] = func(context.Context, url.Values) ([]string, error) {
			return []string{"Learning began."}, a.jobs.Begin(JobOptions{Learn: true})
		}
	}
	return all
}

// setMark marks a page by the field set of a form: "right https://example.org/".
func setMark(t Tuning, form url.Values) (string, error) {
	mark, page, _ := strings.Cut(form.Get("set"), " ")
	if !slices.Contains([]Mark{Right, Wrong, None}, Mark(mark)) || page == "" {
		return "", errors.New("The field set must be right, wrong or none, and a URL.")
	}
	return t.SetMark(form.Get("query"), page, Mark(mark))
}

// judgedPage shows the judged queries to those who may act; to programs as JSON.
func (s *Handlers) judgedPage(c *gin.Context) error {
	if !s.sessions.IsActor(c.Request) {
		return s.sessions.Permit(c.Request)
	}
	if !respond.WantsJSON(c.Request) {
		return s.showJudged(c, http.StatusOK, nil, false)
	}
	t := s.actions.tuning
	all, err := t.Judged()
	if err != nil {
		return err
	}
	s.respond.JSON(c, http.StatusOK, map[string]any{
		"queries": append([]Judged{}, all...), "own_weights": t.HasWeights(), "proposal": t.Proposal(),
	})
	return nil
}

// showJudged answers with the page of judged queries and the result of an action.
func (s *Handlers) showJudged(c *gin.Context, code int, result []string, failed bool) error {
	t := s.actions.tuning
	all, err := t.Judged()
	if err != nil {
		return err
	}
	v := &judgedView{
		Said: result, Failed: failed, Queries: len(all), Few: len(all) < fewJudged,
		Own: t.HasWeights(), Proposal: t.Proposal(), Learns: s.actions.jobs != nil,
	}
	v.Form, _ = s.sessions.Form(c.Request)
	for _, j := range all {
		v.Right, v.Wrong = v.Right+len(j.Right), v.Wrong+len(j.Wrong)
	}
	if c.Query("all") == "" {
		all = all[max(0, len(all)-shownJudged):]
	}
	slices.Reverse(all)
	v.Shown = all
	if v.Learns {
		for _, j := range s.actions.jobs.List() {
			if j.Learns {
				view := newJobView(j, s.now())
				v.Job = &view
				break
			}
		}
	}
	page := s.View(c, "Judged queries", "")
	page.Body = v
	return s.Render(c, code, "judged", page)
}

// judgedForms are the forms of the page of judged queries. One with the query string of a search in the
// field back leads back to that search.
func (s *Handlers) judgedForms() forms {
	return forms{s.showJudged, func(c *gin.Context, name string, _ []string) string {
		back, err := url.ParseQuery(c.Request.PostForm.Get("back"))
		switch {
		case err == nil && len(back) > 0:
			return "/search?" + back.Encode() + resultAnchor(c.Query("at"))
		case name == "learn":
			return "/crawl/judged"
		}
		return ""
	}}
}

// resultAnchor returns the fragment of a result, given by its number on the page.
func resultAnchor(number string) string {
	if n, err := strconv.Atoi(number); err == nil && n > 0 {
		return fmt.Sprintf("#r%d", n)
	}
	return ""
}

// Shown returns the URL of a place for display.
func (p Place) Shown() string { return text.Shorten(text.Visible(p.URL), maxShownURL) }

// Now describes where a page of the list before is now, given its index there; "" if it has not moved.
func (p Place) Now(i int) string {
	switch {
	case p.Other == i+1:
		return ""
	case p.Other == 0:
		return "× out"
	case p.Other < i+1:
		return fmt.Sprintf("↑ to %d", p.Other)
	}
	return fmt.Sprintf("↓ to %d", p.Other)
}

// Was describes where a page of the list after was, given its index there; "" if it has not moved.
func (p Place) Was(i int) string {
	switch {
	case p.Other == i+1:
		return ""
	case p.Other == 0:
		return "+ new"
	case p.Other > i+1:
		return fmt.Sprintf("↑ from %d", p.Other)
	}
	return fmt.Sprintf("↓ from %d", p.Other)
}

// Thousandths returns n thousandths as a decimal number.
func (c Changed) Thousandths(n int) string { return strconv.FormatFloat(float64(n)/1000, 'f', -1, 64) }

// Measure returns a measure with three decimals.
func (m Measures) Measure(of float64) string { return strconv.FormatFloat(of, 'f', 3, 64) }
