package pages

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"

	"anatomy/collection"
	"anatomy/searcher"
	"anatomy/vocab"
	"anatomy/web/internal/address"
	"anatomy/web/internal/messages"
	"anatomy/web/internal/params"
	"anatomy/web/internal/reader"
	"anatomy/web/internal/text"
)

type siteReportView struct {
	*collection.SiteReport
	Rows      []siteRow
	Incoming  []hostRow
	Outgoing  []hostRow
	Tally     []text.Tallied
	Rank      string
	More      string // address with more pages, or ""
	JSON      string
	Search    string
	HasRank   bool
	IsBlocked bool // the operator blocked all its known pages
}

type siteRow struct {
	Href, Title string // "" if it must not become a link
	Crumbs      []string
	Info        string
	Share       string // share of the site's rank
	Bar         int
	Crawled     bool
}

type hostRow struct {
	Host  string
	Href  string // "" if it is no site
	Links int
	Share int // thousandths of the largest
}

// sitePage shows the report of /site/example.org or /site/example.org/docs.
func (s *documentPages) sitePage(c *gin.Context) error {
	r, num, err := s.reader.SiteAsked(c.Request.Context(), params.Read(c), strings.TrimPrefix(c.Param("site"), "/"))
	if err != nil {
		return err
	}
	v := s.View(c, "Site", "")
	v.Body = newSiteReportView(v.Messages, r, num)
	return s.Render(c, http.StatusOK, "site", v)
}

func newSiteReportView(m *messages.Printer, r *collection.SiteReport, num int) *siteReportView {
	v := &siteReportView{
		SiteReport: r, Incoming: hostRows(r.In), Outgoing: hostRows(r.Out), HasRank: r.PageRank > 0,
		JSON: "/api/v1/site?" + url.Values{"site": {r.Site}}.Encode(), Search: address.SearchHref("/search", searcher.Request{Query: "site:" + r.Site}, 0),
	}
	v.IsBlocked = isBlocked(r)
	if v.HasRank {
		v.Rank = m.Percent(r.PageRank)
	}
	for _, p := range r.Pages {
		row := siteRow{Href: text.Linkable(p.URL), Title: text.Shorten(cmp.Or(strings.TrimSpace(p.Title), p.URL), text.MaxTitle), Crumbs: text.Breadcrumb(p.URL), Info: address.TraceHref(p.URL), Crawled: p.Crawled}
		if v.HasRank {
			row.Share, row.Bar = share(m, p.PageRank/r.PageRank), int(1000*p.PageRank/max(r.Pages[0].PageRank, 1e-300))
		}
		v.Rows = append(v.Rows, row)
	}
	counts := map[string]int64{}
	for what, n := range r.Outcomes {
		counts[what] = int64(n)
	}
	v.Tally = text.Tally(counts)
	if num < reader.MaxSitePages && len(r.Pages) < r.Documents {
		v.More = fmt.Sprintf("%s?num=%d", address.SiteHref(r.Site), reader.MaxSitePages)
	}
	return v
}

// isBlocked reports whether the operator blocked all known pages of a site.
func isBlocked(r *collection.SiteReport) bool {
	return r.Documents == 0 && len(r.Outcomes) == 1 && r.Outcomes[vocab.Blocked.String()] > 0
}

func hostRows(all []collection.HostLinks) (rows []hostRow) {
	most := 1
	if len(all) > 0 {
		most = slices.MaxFunc(all, func(a, b collection.HostLinks) int { return cmp.Compare(a.Links, b.Links) }).Links
	}
	for _, h := range all {
		row := hostRow{Host: text.Shorten(text.Visible(h.Host), 64), Links: h.Links, Share: 1000 * h.Links / max(most, 1)}
		if site, ok := text.SiteName(h.Host); ok {
			row.Href = address.SiteHref(site)
		}
		rows = append(rows, row)
	}
	return rows
}
