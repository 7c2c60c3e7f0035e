package web

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"anatomy/vocab"
)

// A LinkReport is what is known of the links of one document. Its form in JSON is that of the API
// and of "anatomy links --json".
type LinkReport struct {
	Doc  vocab.DocID `json:"docid"`
	URL  string      `json:"url"`
	Rank float64     `json:"pagerank"` // share of all rank; 0 where none is computed

	// FromLinks is the part of Rank that the links to the document bring: the sum of their Shares. The
	// rest comes from the bored surfer, and from pages without links (BP98 §2.1.2).
	FromLinks float64 `json:"from_links"`

	In       []InLink  `json:"in"` // the largest shares first; as many as were asked for
	InCount  int       `json:"in_count"`
	OffSite  int       `json:"in_off_site"` // of InCount: those from other sites
	Out      []OutLink `json:"out"`         // by document; as many as were asked for
	OutCount int       `json:"out_count"`
	Broken   int       `json:"out_broken"` // of OutCount: those to documents that do not exist
}

// An InLink is a page that links to the document. Pages with nofollow links alone are not among them.
type InLink struct {
	Doc     vocab.DocID `json:"docid"`
	URL     string      `json:"url"`
	Texts   []string    `json:"texts"` // of its links, none where they have no words
	OffSite bool        `json:"off_site"`
	Share   float64     `json:"share"` // of all rank, that it passes on to the document: its rank × damping ÷ its links
}

// An OutLink is a document that the document links to.
type OutLink struct {
	Doc      vocab.DocID `json:"docid"`
	URL      string      `json:"url"`
	NoFollow bool        `json:"nofollow"`
	Broken   bool        `json:"broken"` // it does not exist: 404, 410, no such name
}

// The bounds of a report: links each way.
const (
	defaultLinks = 25
	maxLinks     = 1000
	linksTimeout = 5 * time.Second // a page that half of the web links to takes a walk over the whole graph
)

// A linksView is the page of a document's links.
type linksView struct {
	*LinkReport
	Link     string // "" where the URL may not be linked
	Crumbs   []string
	Rank     string
	Brought  string // by links, of Rank
	In       []inView
	Out      []outView
	More     string // address with more links; "" where all are shown
	JSON     string
	HasRank  bool
	InHidden int
}

type inView struct {
	Href   string // of its own page of links
	Crumbs []string
	Texts  string
	Share  string // of the document's rank
	Bar    int    // 0 to 1000, of the largest share
	Away   bool
}

type outView struct {
	Href   string
	Crumbs []string
	Note   string
}

// linksPage shows what links to a page and what it links to.
func (s *Server) linksPage(c *gin.Context) error {
	r, num, err := s.linkReport(c)
	if err != nil {
		return err
	}
	v := s.view("Links", "")
	v.Links = newLinksView(r, num)
	return s.render(c, http.StatusOK, s.pages.links, v)
}

func (s *Server) apiLinks(c *gin.Context) (any, error) {
	r, _, err := s.linkReport(c)
	return r, err
}

// linkReport answers parameters doc or url, and num.
func (s *Server) linkReport(c *gin.Context) (r *LinkReport, num int, err error) {
	p := readParams(c)
	doc, address := p.doc("doc"), p.text("url", MaxURL)
	num = p.number("num", defaultLinks, 1, maxLinks)
	if doc == 0 && address == "" {
		p.required("url", "")
	}
	if p.err != nil {
		return nil, 0, p.err
	}
	r, err = s.linksOf(c.Request.Context(), doc, address, num)
	return r, num, err
}

// linksOf reports the links of a document, or where doc is 0, of an address.
func (s *Server) linksOf(ctx context.Context, doc vocab.DocID, address string, num int) (*LinkReport, error) {
	if s.o.Links == nil || doc == 0 && s.o.Find == nil {
		return nil, notFound("Links are not kept here.")
	}
	if err := s.gate.enter(ctx); err != nil {
		return nil, err
	}
	defer s.gate.leave()
	if doc == 0 {
		found, err := s.o.Find(ctx, address)
		if err != nil {
			return nil, err
		}
		doc = found
	}
	ctx, cancel := context.WithTimeout(ctx, linksTimeout)
	defer cancel()
	r, err := s.o.Links(ctx, doc, num)
	if err == nil && r.URL == "" {
		return nil, notFound("There is no such document.")
	}
	return r, err
}

func newLinksView(r *LinkReport, num int) *linksView {
	v := &linksView{
		LinkReport: r, Link: linkable(r.URL), Crumbs: breadcrumb(r.URL), HasRank: r.Rank > 0, InHidden: r.InCount - len(r.In),
		JSON: "/api/v1/links?" + url.Values{"url": {r.URL}}.Encode(),
	}
	if v.HasRank {
		v.Rank, v.Brought = fmt.Sprintf("%.3g", r.Rank), percent(r.FromLinks/r.Rank)
	}
	for _, in := range r.In {
		one := inView{Href: linksHref(in.URL), Crumbs: breadcrumb(in.URL), Texts: quotations(in.Texts), Away: in.OffSite}
		if v.HasRank {
			one.Share, one.Bar = percent(in.Share/r.Rank), int(1000*in.Share/r.In[0].Share)
		}
		v.In = append(v.In, one)
	}
	for _, out := range r.Out {
		one := outView{Href: linksHref(out.URL), Crumbs: breadcrumb(out.URL)}
		switch {
		case out.Broken:
			one.Href, one.Note = "", "does not exist"
		case out.NoFollow:
			one.Note = "nofollow: passes on no rank"
		}
		v.Out = append(v.Out, one)
	}
	if num < maxLinks && (r.InCount > len(r.In) || r.OutCount > len(r.Out)) {
		v.More = linksHref(r.URL) + fmt.Sprintf("&num=%d", maxLinks)
	}
	return v
}

func linksHref(address string) string { return "/links?" + url.Values{"url": {address}}.Encode() }

func percent(share float64) string { return fmt.Sprintf("%.1f %%", 100*share) }

// maxQuotations bounds the wordings shown of one page's links.
const maxQuotations = 4

// quotations are the words of links, each in quotes.
func quotations(texts []string) string {
	shown := slices.Clone(texts[:min(len(texts), maxQuotations)])
	for i, text := range shown {
		shown[i] = "“" + shorten(text, 80) + "”"
	}
	if len(texts) > maxQuotations {
		shown = append(shown, "…")
	}
	return strings.Join(shown, " ")
}
