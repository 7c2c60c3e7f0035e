package web

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"anatomy/searcher"
)

// An explainView shows a score as a sum: each part's bar begins where the one before ended, so
// that the last ends at the score.
type explainView struct {
	URL    string // "" where it is not one that may be linked
	Crumbs []string
	Score  searcher.Score
	Sum    searcher.Score // of the parts as shown
	Parts  []partView
	Folded *searcher.Near // of a result that is folded into another
}

// A partView is a searcher.Part with its bar, From and Width of barScale.
type partView struct {
	searcher.Part
	From, Width int64
	Minus       bool
	Share       string // of the score: "27 %"
}

const barScale = 1000

func (s *Server) explain(c *gin.Context) error {
	query, target, e, err := s.explanation(c)
	if err != nil {
		return err
	}
	v := s.view("Why this result", query)
	v.Explain = newExplainView(target, e)
	return s.render(c, http.StatusOK, s.pages.explain, v)
}

// explanation asks the searcher why the page of parameter url answers q.
func (s *Server) explanation(c *gin.Context) (query, target string, e *searcher.Explanation, err error) {
	p := readParams(c)
	preferred := p.preferred()
	if !forPrograms(c.Request.URL.Path) {
		preferred = s.visitor(c, p).Preferences
	}
	query, target = p.text("q", MaxQuery), p.text("url", MaxURL)
	rank := p.text("rank", maxRankParameter)
	p.required("q", query)
	p.required("url", target)
	if p.err != nil {
		return "", "", nil, p.err
	}
	if !s.ready() {
		return "", "", nil, ErrNotReady
	}
	if err := s.gate.enter(c.Request.Context()); err != nil {
		return "", "", nil, err
	}
	defer s.gate.leave()
	e, err = s.o.Search.Explain(c.Request.Context(), searcher.Request{Query: query, Preferences: taste(preferred, true), Rank: rank}, target)
	if err == nil && e == nil {
		err = ErrNotFound
	}
	if err != nil && problemOf(err).Status == http.StatusNotFound {
		err = notFound("That page is not in the index, or it does not match the query.")
	}
	return query, target, e, err
}

func newExplainView(target string, e *searcher.Explanation) *explainView {
	v := &explainView{URL: linkable(target), Crumbs: breadcrumb(target), Score: e.Score, Folded: e.Folded}
	var low, high searcher.Score // of the running sum: the ends of the scale
	for _, p := range e.Parts {
		v.Sum += p.Points
		low, high = min(low, v.Sum), max(high, v.Sum)
	}
	span := float64(max(high-low, 1))
	at := func(s searcher.Score) int64 { return int64(float64(s-low) / span * barScale) }
	var sum searcher.Score
	for _, p := range e.Parts {
		from, to := at(sum), at(sum+p.Points)
		sum += p.Points
		row := partView{Part: p, From: min(from, to), Width: max(max(from, to)-min(from, to), 3), Minus: p.Points < 0}
		row.From = min(row.From, barScale-row.Width)
		if e.Score > 0 {
			row.Share = strings.Replace(fmt.Sprintf("%.0f %%", float64(p.Points)/float64(e.Score)*100), "-", "−", 1)
		}
		v.Parts = append(v.Parts, row)
	}
	return v
}
