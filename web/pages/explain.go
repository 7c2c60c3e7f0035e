package pages

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"

	"anatomy/searcher"
	"anatomy/web/internal/address"
	"anatomy/web/internal/messages"
	"anatomy/web/internal/params"
	"anatomy/web/internal/text"
	"anatomy/web/internal/visitor"
)

// An explainView shows a score as a sum, its largest part first. The bar of each part begins
// where the previous one ended, so the last one ends at the score.
type explainView struct {
	URL     string // "" if it must not become a link
	Title   string // "" if it is not known
	Crumbs  []string
	Matches bool     // it is a result: it has all parts of the query, or is pinned
	Lacking []string // of a page that is none: words of the query that give it no points
	Most    []shareView
	Results string // address of the results
	Score   searcher.Score
	Sum     searcher.Score // of Parts
	Parts   []partView
	Folded  *searcher.Near // of a result that was collapsed into another
	Pinned  bool           // by the operator, for the query
	Info    string         // address of the page information
	Links   string         // address of its links
}

// A partView is a searcher.Part with its bar: From and Width in units of 1/barScale.
type partView struct {
	searcher.Part
	From, Width int64
	Minus       bool
	Share       string // share of the score: "27 %"
}

const barScale = 1000

// A shareView is the share of the parts of one name in the score.
type shareView struct {
	Name   string
	Share  string // "27 %"
	points searcher.Score
}

// mostShares is the number of shares that a page names before the table.
const mostShares = 3

func (s *searchPages) explain(c *gin.Context) error {
	p := params.Read(c)
	query, e, err := s.reader.ExplanationAsked(c.Request.Context(), p, visitor.Of(c, p).Searched())
	if err != nil {
		return err
	}
	v := s.View(c, "Why this result", query)
	body := newExplainView(v.Messages, e, query)
	if !body.Matches {
		v.Title = v.Messages.Text("Why this page does not match")
	}
	body.Title = s.titleOf(c.Request.Context(), e.URL)
	v.Body = body
	return s.Render(c, http.StatusOK, "explain", v)
}

// titleOf returns the title of the page at a URL, or "".
func (s *searchPages) titleOf(ctx context.Context, page string) string {
	query := "info:" + page
	if len(query) > params.MaxQuery || strings.ContainsAny(query, ` "`) {
		return ""
	}
	a, err := s.reader.Search(ctx, searcher.Request{Query: query, Limit: 1, Verbatim: true})
	if err != nil || len(a.Results) == 0 {
		return ""
	}
	return text.Shorten(a.Results[0].Title, text.MaxTitle)
}

// points returns a score with three decimals.
func points(m *messages.Printer, s searcher.Score) string {
	return m.Decimal(strings.Replace(fmt.Sprintf("%.3f", s.Points()), "-", "−", 1))
}

func newExplainView(m *messages.Printer, e *searcher.Explanation, query string) *explainView {
	v := &explainView{
		URL: text.Linkable(e.URL), Crumbs: text.Breadcrumb(e.URL), Score: e.Score, Folded: e.Folded, Pinned: e.Pinned,
		Info: address.TraceHref(e.URL), Links: address.LinksHref(e.URL), Matches: e.Matches || e.Pinned,
		Results: address.SearchHref("/search", searcher.Request{Query: query}, 0),
	}
	if v.Matches {
		v.Most = shares(m, e)
	} else {
		v.Lacking = e.Missing
	}
	parts := slices.Clone(e.Parts)
	slices.SortStableFunc(parts, func(a, b searcher.Part) int { return cmp.Compare(b.Points, a.Points) })
	var low, high searcher.Score // the range of the running sum
	for _, p := range parts {
		v.Sum += p.Points
		low, high = min(low, v.Sum), max(high, v.Sum)
	}
	span := float64(max(high-low, 1))
	at := func(s searcher.Score) int64 { return int64(float64(s-low) / span * barScale) }
	var sum searcher.Score
	for _, p := range parts {
		from, to := at(sum), at(sum+p.Points)
		sum += p.Points
		row := partView{Part: p, From: min(from, to), Width: max(max(from, to)-min(from, to), 3), Minus: p.Points < 0}
		row.From = min(row.From, barScale-row.Width)
		row.Share = shareOf(m, p.Points, e.Score)
		v.Parts = append(v.Parts, row)
	}
	return v
}

// shareOf returns a part of a score as "27 %", or "" for a score that has no parts.
func shareOf(m *messages.Printer, part, of searcher.Score) string {
	if of <= 0 {
		return ""
	}
	return m.WholePercent(float64(part) / float64(of))
}

// shares returns the largest shares of a score, by the names of its parts.
func shares(m *messages.Printer, e *searcher.Explanation) (all []shareView) {
	for _, p := range e.Parts {
		i := slices.IndexFunc(all, func(s shareView) bool { return s.Name == p.Name })
		if i < 0 {
			i, all = len(all), append(all, shareView{Name: p.Name})
		}
		all[i].points += p.Points
	}
	all = slices.DeleteFunc(all, func(s shareView) bool { return s.points <= 0 })
	slices.SortStableFunc(all, func(a, b shareView) int { return cmp.Compare(b.points, a.points) })
	all = all[:min(mostShares, len(all))]
	for i := range all {
		all[i].Share = shareOf(m, all[i].points, e.Score)
	}
	return all
}
