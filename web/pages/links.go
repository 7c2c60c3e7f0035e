package pages

import (
	"fmt"
	"net/http"
	"net/url"

	"github.com/gin-gonic/gin"

	"anatomy/collection"
	"anatomy/web/internal/address"
	"anatomy/web/internal/params"
	"anatomy/web/internal/reader"
	"anatomy/web/internal/text"
)

// A linksView is the page with the links of a document.
type linksView struct {
	*collection.LinkReport
	Link     string // "" if it must not become a link
	Crumbs   []string
	Rank     string
	Brought  string // the part of Rank from links
	In       []inView
	Out      []outView
	More     string // address with more links, or ""
	JSON     string
	HasRank  bool
	InHidden int
}

type inView struct {
	Href   string // of its links page
	Crumbs []string
	Texts  string
	Share  string // share of the document's rank
	Bar    int    // 0 to 1000: share of the largest
	Away   bool
}

type outView struct {
	Href   string
	Crumbs []string
	Note   string
}

// linksPage shows the links to and from a document.
func (s *documentPages) linksPage(c *gin.Context) error {
	r, num, err := s.reader.LinksAsked(c.Request.Context(), params.Read(c))
	if err != nil {
		return err
	}
	v := s.view(c, "Links", "")
	v.Body = newLinksView(r, num)
	return s.render(c, http.StatusOK, "links", v)
}

func newLinksView(r *collection.LinkReport, num int) *linksView {
	v := &linksView{
		LinkReport: r, Link: text.Linkable(r.URL), Crumbs: text.Breadcrumb(r.URL), HasRank: r.Rank > 0, InHidden: r.InCount - len(r.In),
		JSON: "/api/v1/links?" + url.Values{"url": {r.URL}}.Encode(),
	}
	if v.HasRank {
		v.Rank, v.Brought = fmt.Sprintf("%.3g", r.Rank), text.Percent(r.FromLinks/r.Rank)
	}
	for _, in := range r.In {
		one := inView{Href: address.LinksHref(in.URL), Crumbs: text.Breadcrumb(in.URL), Texts: text.Quotations(in.Texts), Away: in.OffSite}
		if v.HasRank {
			one.Share, one.Bar = text.Percent(in.Share/r.Rank), int(1000*in.Share/r.In[0].Share)
		}
		v.In = append(v.In, one)
	}
	for _, out := range r.Out {
		one := outView{Href: address.LinksHref(out.URL), Crumbs: text.Breadcrumb(out.URL)}
		switch {
		case out.Broken:
			one.Href, one.Note = "", "does not exist"
		case out.NoFollow:
			one.Note = "nofollow: passes on no rank"
		}
		v.Out = append(v.Out, one)
	}
	if num < reader.MaxLinks && (r.InCount > len(r.In) || r.OutCount > len(r.Out)) {
		v.More = address.LinksHref(r.URL) + fmt.Sprintf("&num=%d", reader.MaxLinks)
	}
	return v
}
