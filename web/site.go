package web

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"

	"anatomy/searcher"
	"anatomy/vocab"
)

// A SiteReport tells of one site. Its form in JSON is that of the API.
type SiteReport struct {
	Site      string         `json:"site"`      // as of site:
	Documents int            `json:"documents"` // that can be found
	Crawled   int            `json:"crawled"`   // of them those that were fetched
	PageRank  float64        `json:"pagerank"`  // of all of them; 0 where none is computed
	Pages     []SitePage     `json:"pages"`     // the first by PageRank
	LinksOf   int            `json:"links_of"`  // pages whose links are in what follows, the best of the site
	In        []HostLinks    `json:"in"`        // hosts that link to them
	Out       []HostLinks    `json:"out"`       // hosts that they link to
	Outcomes  map[string]int `json:"outcomes"`  // of fetching its URLs; null where that is not known
	Live      bool           `json:"live"`      // a crawl runs, which is why Outcomes are not known
}

// A SitePage is a page of a site.
type SitePage struct {
	Doc      vocab.DocID `json:"docid"`
	URL      string      `json:"url"`
	Title    string      `json:"title"`
	PageRank float64     `json:"pagerank"`
	Crawled  bool        `json:"crawled"`
}

// HostLinks are links from or to a host.
type HostLinks struct {
	Host  string `json:"host"`
	Links int    `json:"links"`
}

// The bounds of a report.
const (
	defaultSitePages = 50
	maxSitePages     = 1000
)

type siteReportView struct {
	*SiteReport
	Rows     []siteRow
	Incoming []hostRow
	Outgoing []hostRow
	Tally    []tallied
	Rank     string
	More     string // address with more pages; "" where all are shown
	JSON     string
	Search   string
	HasRank  bool
}

type siteRow struct {
	Href, Title string // "" where the URL may not be linked
	Crumbs      []string
	Info        string
	Share       string // of the rank of the site
	Bar         int
	Crawled     bool
}

type hostRow struct {
	Host  string
	Href  string // "" where it is no site
	Links int
	Share int // of the most, in a thousand
}

// sitePage explores /site/example.org or /site/example.org/docs.
func (s *Server) sitePage(c *gin.Context) error {
	site, num, err := s.siteAsked(c, strings.TrimPrefix(c.Param("site"), "/"))
	if err != nil {
		return err
	}
	r, err := s.siteReport(c, site, num)
	if err != nil {
		return err
	}
	v := s.view("Site", "")
	v.SiteReport = newSiteReportView(r, num)
	return s.render(c, http.StatusOK, s.pages.site, v)
}

func (s *Server) apiSite(c *gin.Context) (any, error) {
	site, num, err := s.siteAsked(c, c.Query("site"))
	if err != nil {
		return nil, err
	}
	return s.siteReport(c, site, num)
}

func (s *Server) siteAsked(c *gin.Context, raw string) (site string, num int, err error) {
	p := readParams(c)
	p.one("site")
	num = p.number("num", defaultSitePages, 1, maxSitePages)
	site, ok := siteName(raw)
	if !ok {
		p.fail("%q is no site: write example.org, or example.org/docs.", shorten(visible(raw), 80))
	}
	return site, num, p.err
}

func (s *Server) siteReport(c *gin.Context, site string, num int) (*SiteReport, error) {
	if s.o.Site == nil {
		return nil, notFound("Sites are not shown here.")
	}
	ctx, cancel := context.WithTimeout(c.Request.Context(), linksTimeout)
	defer cancel()
	if err := s.gate.enter(ctx); err != nil {
		return nil, err
	}
	defer s.gate.leave()
	r, err := s.o.Site(ctx, site, num)
	if err != nil && problemOf(err).Status == http.StatusNotFound {
		err = notFound("Nothing is known of " + site + ".")
	}
	return r, err
}

func newSiteReportView(r *SiteReport, num int) *siteReportView {
	v := &siteReportView{
		SiteReport: r, Incoming: hostRows(r.In), Outgoing: hostRows(r.Out), HasRank: r.PageRank > 0,
		JSON: "/api/v1/site?" + url.Values{"site": {r.Site}}.Encode(), Search: searchHref("/search", searcher.Request{Query: "site:" + r.Site}, 0),
	}
	if v.HasRank {
		v.Rank = percent(r.PageRank)
	}
	for _, p := range r.Pages {
		row := siteRow{Href: linkable(p.URL), Title: shorten(cmp.Or(strings.TrimSpace(p.Title), p.URL), maxTitle), Crumbs: breadcrumb(p.URL), Info: traceHref(p.URL), Crawled: p.Crawled}
		if v.HasRank {
			row.Share, row.Bar = percent(p.PageRank/r.PageRank), int(1000*p.PageRank/max(r.Pages[0].PageRank, 1e-300))
		}
		v.Rows = append(v.Rows, row)
	}
	counts := map[string]int64{}
	for what, n := range r.Outcomes {
		counts[what] = int64(n)
	}
	v.Tally = tally(counts)
	if num < maxSitePages && len(r.Pages) < r.Documents {
		v.More = fmt.Sprintf("%s?num=%d", siteHref(r.Site), maxSitePages)
	}
	return v
}

func hostRows(all []HostLinks) (rows []hostRow) {
	most := 1
	if len(all) > 0 {
		most = slices.MaxFunc(all, func(a, b HostLinks) int { return cmp.Compare(a.Links, b.Links) }).Links
	}
	for _, h := range all {
		row := hostRow{Host: shorten(visible(h.Host), 64), Links: h.Links, Share: 1000 * h.Links / max(most, 1)}
		if site, ok := siteName(h.Host); ok {
			row.Href = siteHref(site)
		}
		rows = append(rows, row)
	}
	return rows
}

// siteHref is the address of the report of a site.
func siteHref(site string) string { return (&url.URL{Path: "/site/" + site}).EscapedPath() }
