package pages

import (
	"net/url"
	"strconv"

	"github.com/gin-gonic/gin"

	"anatomy/searcher"
	"anatomy/web/internal/marks"
	"anatomy/web/internal/session"
)

// A markForm is what the forms send that mark results, for visitors who may act.
type markForm struct {
	Form    string // value of the session
	Query   string
	Back    string // query string of the page
	Missing string // address to add a page that the search should have found, or ""
}

// A marking adds marks to pages of results.
type marking struct {
	sessions *session.Sessions
	marks    marks.Source // nil: results are not marked
}

// add adds the marks of results, and forms to change them, to a page for visitors who may act.
func (s *marking) add(c *gin.Context, v *resultsView, r searcher.Request) error {
	form, ok := s.sessions.Form(c.Request)
	if !ok || s.marks == nil {
		return nil
	}
	v.Marking = &markForm{form, r.Query, c.Request.URL.RawQuery, "/crawl?" + url.Values{"missing": {r.Query}}.Encode() + "#act"}
	if len(v.Blocked) > 0 || excludesOnly(r.Query) {
		v.Marking.Missing = "" // no page is missing
	}
	if len(v.Results) == 0 || v.ByDate || r.Similar != 0 {
		return nil
	}
	urls := make([]string, len(v.Results))
	for i := range v.Results {
		urls[i] = v.Results[i].page
	}
	all, err := s.marks.Marks(r.Query, urls)
	if err != nil {
		return err
	}
	for i := range all {
		v.Results[i].Mark = all[i]
	}
	return nil
}

// judge writes the buttons that mark a result as right or wrong for the query.
func (m *markup) judge(v *resultView) {
	if v.Mark == "" {
		return
	}
	m.raw(`<div class="choices" role="group"`)
	m.attr("aria-label", m.messages.Text("For this query"))
	m.raw(">")
	for _, c := range []struct {
		mark  marks.Mark
		label string
	}{
		{marks.Right, m.messages.Text("right for this query")}, {marks.Wrong, m.messages.Text("wrong for this query")},
		{marks.None, m.messages.Text("take back the mark")},
	} {
		if c.mark == v.Mark {
			continue
		}
		m.raw(`<button form="mark" formaction="/crawl/mark?at=` + strconv.Itoa(v.Number) + `" name="set"`)
		m.attr("value", string(c.mark)+" "+v.page)
		m.element(">", c.label, "</button>")
	}
	m.raw("</div>")
}

// marked returns what the visitor said about a result.
func (m *markup) marked(v *resultView) string {
	switch v.Mark {
	case marks.Right:
		return m.messages.Text("you marked this right")
	case marks.Wrong:
		return m.messages.Text("you marked this wrong")
	}
	return ""
}
