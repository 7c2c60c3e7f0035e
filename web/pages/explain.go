package pages

import (
	"cmp"
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
	URL    string // "" if it must not become a link
	Crumbs []string
	Score  searcher.Score
	Sum    searcher.Score // of Parts
	Parts  []partView
	Folded *searcher.Near // of a result that was collapsed into another
	Pinned bool           // by the operator, for the query
	Info   string         // address of the page information
	Links  string         // address of its links
}

// A partView is a searcher.Part with its bar: From and Width in units of 1/barScale.
type partView struct {
	searcher.Part
	From, Width int64
	Minus       bool
	Share       string // share of the score: "27 %"
}

const barScale = 1000

func (s *searchPages) explain(c *gin.Context) error {
	p := params.Read(c)
	query, e, err := s.reader.ExplanationAsked(c.Request.Context(), p, visitor.Of(c, p).Searched())
	if err != nil {
		return err
	}
	v := s.View(c, "Why this result", query)
	v.Body = newExplainView(e)
	return s.Render(c, http.StatusOK, "explain", v)
}

// points returns a score with three decimals.
func points(m *messages.Printer, s searcher.Score) string {
	return m.Decimal(strings.Replace(fmt.Sprintf("%.3f", s.Points()), "-", "−", 1))
}

func newExplainView(e *searcher.Explanation) *explainView {
	v := &explainView{
		URL: text.Linkable(e.URL), Crumbs: text.Breadcrumb(e.URL), Score: e.Score, Folded: e.Folded, Pinned: e.Pinned,
		Info: address.TraceHref(e.URL), Links: address.LinksHref(e.URL),
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
		if e.Score > 0 {
			row.Share = strings.Replace(fmt.Sprintf("%.0f %%", float64(p.Points)/float64(e.Score)*100), "-", "−", 1)
		}
		v.Parts = append(v.Parts, row)
	}
	return v
}
