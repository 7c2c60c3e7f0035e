package web

import (
	"context"
	"fmt"
	"mime"
	"net/url"
	"path"
	"strings"

	"anatomy/searcher"
)

// Images in the shapes of others: SearXNG's category images, and Google's searchType=image.

// imageCategory says whether SearXNG's categories ask for images and nothing else.
func (p *params) imageCategory() bool { return strings.TrimSpace(p.one("categories")) == "images" }

// searchType says whether Google's parameter asks for images.
func (p *params) searchType() bool {
	switch p.one("searchType") {
	case "":
		return false
	case "image":
		return true
	}
	p.fail("Parameter searchType must be image, or absent.")
	return false
}

// searxngImages is an answer of images as SearXNG has them; base is where we are.
func (s *Server) searxngImages(base string, r searcher.Request, a *searcher.ImageResponse) *searxngAnswer {
	answer := newSearxngAnswer(r, &searcher.Response{Query: a.Query, Suggestion: a.Suggestion, Total: a.Found})
	for i := range a.Images {
		m := &a.Images[i]
		page := &searcher.Result{URL: m.Page, Title: said(m), Snippet: []searcher.Fragment{{Text: m.Named}}, Score: m.Score}
		one := newSearxngResult(page, r.Offset+i+1)
		one.Category, one.Template, one.Image, one.Thumbnail = "images", "images.html", m.URL, s.proxyAt(base, m)
		if m.Width > 0 && m.Height > 0 {
			one.Resolution = fmt.Sprintf("%d x %d", m.Width, m.Height)
		}
		answer.Results = append(answer.Results, one)
	}
	return answer
}

// proxyAt is where we show an image, as an address of its own; "" where we do not.
func (s *Server) proxyAt(base string, m *searcher.ImageResult) string {
	if !s.shows() {
		return ""
	}
	return base + imageHref(m)
}

// A customImage is Google's for an image.
type customImage struct {
	Context   string `json:"contextLink"`
	Height    int    `json:"height"` // as declared, 0 where it is not
	Width     int    `json:"width"`
	Thumbnail string `json:"thumbnailLink,omitempty"`
}

// customImages is an answer of images as Google has them.
func (s *Server) customImages(ctx context.Context, base, terms, engine string, r searcher.Request) (*customAnswer, error) {
	a, err := s.askImages(ctx, r)
	if err != nil {
		return nil, err
	}
	pages := imagesAsPages(a)
	answer := newCustomAnswer(base, terms, engine, r, pages)
	bold := newMarker(a.Words)
	for i := range a.Images {
		m := &a.Images[i]
		if linkable(m.URL) == "" || linkable(m.Page) == "" { // clients make links of what they get
			continue
		}
		item := newCustomItem(&searcher.Result{URL: m.URL, Title: said(m), Snippet: []searcher.Fragment{{Text: m.Named}}}, bold)
		item.MIME = mimeOf(m.URL)
		item.Image = &customImage{m.Page, m.Height, m.Width, s.proxyAt(base, m)}
		answer.Items = append(answer.Items, item)
	}
	return answer, nil
}

// mimeOf is the media type that the name of an image speaks of.
func mimeOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "image/"
	}
	if kind := mime.TypeByExtension(path.Ext(u.Path)); strings.HasPrefix(kind, "image/") {
		return kind
	}
	return "image/"
}
