package pages

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"anatomy/searcher"
	"anatomy/web/internal/address"
	"anatomy/web/internal/frame"
	"anatomy/web/internal/messages"
	"anatomy/web/internal/params"
	"anatomy/web/internal/reader"
	"anatomy/web/internal/recent"
	"anatomy/web/internal/text"
	"anatomy/web/internal/visitor"
)

// searchPages are the home page, results, and help on queries.
type searchPages struct {
	*frame.Frame
	reader *reader.Reader
	now    func() time.Time
	images bool // the server shows images

	marking *marking

	searches   *recent.Searches               // nil: not counted
	crawling   func(ctx context.Context) bool // nil: never
	sameOrigin *http.CrossOriginProtection

	examples *renewed[[]helpExample]
	offer    *renewed[offer]
}

// home shows the home page. With parameter q it redirects to the results, since clients of SearXNG
// may know the address of the site only.
func (s *searchPages) home(c *gin.Context) error {
	if c.Request.URL.Query().Has("q") {
		s.Site.Redirect(c, http.StatusPermanentRedirect, "/search?"+c.Request.URL.RawQuery)
		return nil
	}
	v := s.View(c, "", "")
	body := homeView{Scope: offered(c, s.offer)}
	if body.Examples = s.examplesFor(c.Request.Context()); body.Examples == nil {
		a, err := s.reader.Search(c.Request.Context(), searcher.Request{Query: examplesQuery, Limit: 1})
		body.Examples, body.NoPages = plainExamples, err == nil && a.NoPages
		body.Crawling = body.NoPages && s.isCrawling(c.Request.Context())
	}
	v.Body = body
	return s.Render(c, http.StatusOK, "home", v)
}

// A homeView is the home page.
type homeView struct {
	Examples []helpExample
	Scope    *offer // what is searched
	NoPages  bool   // the index has no page
	Crawling bool   // it has none, and a crawl runs
	Again    string // "": there is no search to repeat
}

// isCrawling reports whether a crawl adds pages to the collection.
func (s *searchPages) isCrawling(ctx context.Context) bool {
	return s.crawling != nil && s.crawling(ctx)
}

// examplesFor returns queries that find something in this collection, nil while there are none.
func (s *searchPages) examplesFor(ctx context.Context) []helpExample {
	if made := s.examples.get(ctx); made != nil {
		return *made
	}
	return nil
}

// search shows the results of a query.
func (s *searchPages) search(c *gin.Context) error {
	p := params.Read(c)
	r := p.Request()
	r.Explain = false // the page has links to explanations
	visitor, shown := visitor.Of(c, p), p.Flag("blocked")
	images := p.ApplyType(&r)
	if r.Facets = p.Facets(); images {
		r.Facets = "" // there are none of images
	}
	if format := p.One("format"); format != "" && format != "html" {
		p.Fail("Parameter format must be html, json, csv, rss or atom.")
	}
	if p.Err != nil {
		return p.Err
	}
	if r.Query == "" {
		s.Site.Redirect(c, http.StatusSeeOther, "/")
		return nil
	}
	if visitor.Num > 0 && p.One("num") == "" && !images {
		r.Limit = visitor.Num
	}
	r.Preferences = params.OfSearch(visitor.Searched(), shown)
	if p.One("in") == frame.AllCollections && s.Beside.HasSeveral() {
		return s.together(c, r, visitor)
	}
	if images {
		return s.imageResults(c, r, visitor, shown)
	}
	response, err := s.reader.Search(c.Request.Context(), r)
	if err != nil {
		return err
	}
	s.reader.Count(r, response)
	if response.Cached != 0 && len(response.Results) == 1 && response.Results[0].Crawled {
		s.Site.Redirect(c, http.StatusSeeOther, address.CachedHref(uint64(response.Cached), "", false))
		return nil
	}
	v := s.View(c, "", r.Query)
	v.Title, v.Visitor = r.Query, visitor
	v.CarryToCollections()
	if r.Limit != searcher.DefaultLimit {
		v.Num = r.Limit
	}
	v.Rank, v.Anchors, v.Kinds = r.Rank, string(r.Anchors), kinds(v.Messages, r, response, "", visitor)
	results := newResultsView(v.Messages, r, response)
	results.prefer(visitor, c.Request.URL.RawQuery, shown)
	addIcons(results.Results, s.reader.Collection.HasIcon)
	results.Opened = s.searches != nil
	if len(response.Results) == 0 {
		results.Crawling = s.isCrawling(c.Request.Context())
		results.Scope = offered(c, s.offer)
		s.addEmptySites(c.Request.Context(), results, response)
	}
	if err := s.marking.add(c, results, r); err != nil {
		return err
	}
	v.Body = results
	return s.Render(c, http.StatusOK, "results", v)
}

// addEmptySites adds sites without an indexed page that the query is limited to: those whose known
// pages the operator blocked, and the first of the others. It drops hints for these sites.
func (s *searchPages) addEmptySites(ctx context.Context, v *resultsView, a *searcher.Response) {
	sites := sitesNamed(a)
	for _, site := range sites[:min(len(sites), triedSites)] {
		of, err := s.reader.Search(ctx, searcher.Request{Query: "site:" + site, Limit: 1, Verbatim: true})
		if err != nil || of.Total > 0 || of.Hidden > 0 || of.Partial {
			continue
		}
		v.Hints = slices.DeleteFunc(v.Hints, func(h hint) bool { return strings.Contains(h.Query, "site:"+site) })
		if report, err := s.reader.Site(ctx, site, 1); err == nil && isBlocked(report) {
			v.Blocked = append(v.Blocked, site)
		} else if v.NoSite == "" {
			v.NoSite = site
		}
	}
}

// triedSites is the number of sites of a query that addEmptySites looks at, because each takes a search.
const triedSites = 4

// opened counts that the visitor opened a result. The script of a page of results of this server sends
// it. Pages that the collection does not have are not counted.
func (s *searchPages) opened(c *gin.Context) {
	c.Request.Body = http.MaxBytesReader(c.Writer, c.Request.Body, maxOpened)
	c.Status(http.StatusNoContent)
	if s.sameOrigin.Check(c.Request) != nil || c.Request.ParseForm() != nil {
		return
	}
	query, url := text.Clean(c.Request.PostForm.Get("q")), c.Request.PostForm.Get("url")
	place, err := strconv.Atoi(c.Request.PostForm.Get("place"))
	if err != nil || query == "" || len(query) > params.MaxQuery {
		return
	}
	if _, err := s.reader.Collection.Find(c.Request.Context(), url); err == nil {
		s.searches.AddOpened(query, url, place)
	}
}

// maxOpened bounds the form of an opened result, in bytes.
const maxOpened = 16 << 10

// imageResults shows the images of a query.
func (s *searchPages) imageResults(c *gin.Context, r searcher.Request, visitor *visitor.Visitor, shown bool) error {
	a, err := s.reader.Images(c.Request.Context(), r)
	if err != nil {
		return err
	}
	v := s.View(c, "", r.Query)
	v.Title = r.Query + " – " + v.Messages.Text("Images")
	v.Visitor, v.Rank, v.Type, v.Kinds = visitor, r.Rank, "image", kinds(v.Messages, r, &a.Response, "image", visitor)
	if r.Limit != params.ImagesLimit {
		v.Num = r.Limit
	}
	results := newResultsView(v.Messages, r, reader.ImagesAsPages(a))
	results.Total, results.Results, results.Hints = imagesText(v.Messages, a), nil, nil
	results.carry(url.Values{"type": {"image"}})
	results.prefer(visitor, c.Request.URL.RawQuery, shown)
	for i := range a.Images {
		results.Images = append(results.Images, s.imageView(&a.Images[i]))
	}
	v.Body = results
	return s.Render(c, http.StatusOK, "images", v)
}

// imagesText returns the number of images, and of pages if not all were searched.
func imagesText(m *messages.Printer, a *searcher.ImageResponse) string {
	found := m.Text("%d images", a.Found)
	if a.Looked < a.Total || !a.Exact {
		return found + " " + m.Text("on the %d best pages", a.Looked)
	}
	return found
}

func (s *searchPages) imageView(m *searcher.ImageResult) imageView {
	v := imageView{
		Page: text.Linkable(m.Page), Source: text.Linkable(m.URL), Says: text.Shorten(text.Visible(text.ImageText(m)), text.MaxTitle), Title: text.Shorten(text.Visible(m.Named), 80),
		Host: text.Shorten(text.Visible(text.HostOf(m.Page)), 64),
	}
	if s.images {
		v.Thumb = address.ImageHref(m)
	}
	if m.Width > 0 && m.Height > 0 {
		v.Size = fmt.Sprintf("%d × %d", m.Width, m.Height)
	}
	return v
}

// kinds returns the links to results of other kinds: pages, images and, if the collection has some,
// services. shown is "" or "image".
func kinds(
	m *messages.Printer, r searcher.Request, a *searcher.Response, shown string, visitor *visitor.Visitor,
) []frame.Tab {
	r.Limit, r.Similar, r.Ungrouped = 0, 0, false
	tail := ""
	if visitor != nil && len(visitor.Carry) > 0 {
		tail = "&" + visitor.Carry.Encode()
	}
	services := r
	services.Query = params.Narrow([]string{params.ServiceFilter}, r.Query)
	for _, f := range a.Filters {
		if f.Text == params.ServiceFilter && f.Without != "" {
			services, r.Query = r, f.Without
			if shown == "" {
				shown = "service"
			}
		}
	}
	all := address.SearchHref("/search", r, 0)
	tabs := []frame.Tab{
		{Label: m.Text("All"), Href: all + tail, Current: shown == ""},
		{Label: m.Text("Images"), Href: all + "&type=image" + tail, Current: shown == "image"},
	}
	if a.Services && len(services.Query) <= params.MaxQuery {
		tabs = append(tabs, frame.Tab{Label: m.Text("Services"), Href: address.SearchHref("/search", services, 0) + tail, Current: shown == "service"})
	}
	return tabs
}
