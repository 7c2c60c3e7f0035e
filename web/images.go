package web

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"

	"anatomy/searcher"
	"anatomy/vocab"
)

// Images of the pages that match are a second kind of results, which type=image asks for, or type:image in
// the query. Browsers get them from us: /image names an image by the document that shows it and its ID among that
// document's images, so that we fetch nothing that no page of the index shows.

// imagesLimit is how many images a page of results has where nobody says.
const imagesLimit = 30

// An imageView is one image on the page of results.
type imageView struct {
	Thumb  string // address of the image, small; "" where it is not shown
	Page   string // address of the page that shows it
	Source string // of the image itself, on its own host
	Says   string // what is said of it
	Title  string // of the page
	Host   string
	Size   string // "640 × 480", "" where it is not declared
}

// A tabView is a link to the results of one kind.
type tabView struct {
	Label, Href string
	Current     bool
}

// wantsImages says whether images are asked for, and takes that out of the query.
func (p *params) wantsImages(r *searcher.Request) bool {
	images, ok := imagesAsked(r, p.one("type"))
	if !ok {
		p.fail("Parameter type must be page or image.")
	}
	if images && p.one("num") == "" {
		r.Limit = imagesLimit
	}
	return images
}

// imagesAsked says whether a request is for images, by its query, which it takes that out of, or by the kind of
// results that is named; ok says that there is such a kind.
func imagesAsked(r *searcher.Request, kind string) (images, ok bool) {
	r.Query, images = searcher.ForImages(r.Query)
	switch kind {
	case "", "all", "page":
		return images, true
	case "image", "images":
		return true, true
	}
	return false, false
}

// askImages puts a request to the searcher once there is an index.
func (s *Server) askImages(ctx context.Context, r searcher.Request) (*searcher.ImageResponse, error) {
	switch {
	case s.o.Images == nil:
		return nil, notFound("Images are not searched here.")
	case !s.ready():
		return nil, ErrNotReady
	}
	if err := s.gate.enter(ctx); err != nil {
		return nil, err
	}
	defer s.gate.leave()
	a, err := s.o.Images(ctx, r)
	if err == nil && s.o.SlowQueries > 0 && a.Took >= s.o.SlowQueries {
		s.slow.put(slowQuery{s.o.Now(), r.Query, duration(a.Took), a.Found})
	}
	return a, err
}

// images shows the images of r.
func (s *Server) images(c *gin.Context, r searcher.Request, visitor *visitor, shown bool) error {
	a, err := s.askImages(c.Request.Context(), r)
	if err != nil {
		return err
	}
	v := s.view(r.Query+" – images", r.Query)
	v.Visitor, v.Rank, v.Type, v.Kinds = visitor, r.Rank, "image", s.kinds(r, true, visitor)
	if r.Limit != imagesLimit {
		v.Num = r.Limit
	}
	v.Results = s.resultsView(r, imagesAsPages(a))
	v.Results.Total, v.Results.Results, v.Results.Hints = imagesText(a), nil, nil
	v.Results.carry(url.Values{"type": {"image"}})
	v.Results.prefer(visitor, c.Request.URL.RawQuery, shown, false)
	for i := range a.Images {
		v.Results.Images = append(v.Results.Images, s.imageView(&a.Images[i]))
	}
	return s.render(c, http.StatusOK, s.pages.images, v)
}

// imagesAsPages is the answer with images counted where pages are, for what both have: the pages of results.
func imagesAsPages(a *searcher.ImageResponse) *searcher.Response {
	r := a.Response
	r.Total, r.Folded, r.Results = a.Found, 0, make([]searcher.Result, len(a.Images))
	return &r
}

// imagesText says how many images there are, and where it was looked.
func imagesText(a *searcher.ImageResponse) string {
	text := count(a.Found) + " images"
	if a.Found == 1 {
		text = "1 image"
	}
	if a.Looked < a.Total || !a.Exact {
		return text + " on the " + count(a.Looked) + " best pages"
	}
	return text
}

func (s *Server) imageView(m *searcher.ImageResult) imageView {
	v := imageView{
		Page: linkable(m.Page), Source: linkable(m.URL), Says: shorten(visible(said(m)), maxTitle), Title: shorten(visible(m.Named), 80),
		Host: shorten(visible(hostOf(m.Page)), 64),
	}
	if s.shows() {
		v.Thumb = imageHref(m)
	}
	if m.Width > 0 && m.Height > 0 {
		v.Size = fmt.Sprintf("%d × %d", m.Width, m.Height)
	}
	return v
}

// said is what best says in words what an image shows.
func said(m *searcher.ImageResult) string {
	return cmp.Or(m.Alt, m.Caption, m.Title, fileOf(m.URL), m.Named)
}

// fileOf is the name of a file in an address.
func fileOf(address string) string {
	u, err := url.Parse(address)
	if err != nil || strings.HasSuffix(u.Path, "/") {
		return ""
	}
	return path.Base(u.Path)
}

// shows says whether images are fetched at all.
func (s *Server) shows() bool { return s.o.Image != nil && s.pictures != nil }

// imageHref is the address under which we show an image.
func imageHref(m *searcher.ImageResult) string {
	return "/image?" + url.Values{"doc": {strconv.FormatUint(uint64(m.Doc), 10)}, "id": {m.ID()}}.Encode()
}

// kinds are the links between pages and images; none where there are no images.
func (s *Server) kinds(r searcher.Request, images bool, visitor *visitor) []tabView {
	if s.o.Images == nil {
		return nil
	}
	r.Limit, r.Similar, r.Ungrouped = 0, 0, false
	tail := ""
	if visitor != nil && len(visitor.Carry) > 0 {
		tail = "&" + visitor.Carry.Encode()
	}
	all := searchHref("/search", r, 0)
	return []tabView{{"All", all + tail, !images}, {"Images", all + "&type=image" + tail, images}}
}

// noPicture stands for an image that cannot be had: a frame with a mountain, crossed out, in a grey for both themes.
const noPicture = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 192 144" fill="none" stroke="#8a919a" stroke-width="2" stroke-linejoin="round">` +
	`<path d="M72 54h48v36H72zM72 84l15-15 12 12 6-6 15 12M66 96 126 48"/></svg>`

// image shows one image, small: parameters doc and id. An image that cannot be had is not there.
func (s *Server) image(c *gin.Context) error {
	p := readParams(c)
	doc, id := p.doc("doc"), p.text("id", 16)
	p.required("id", id)
	switch {
	case p.err != nil:
		return p.err
	case !s.shows():
		return notFound("Images are not fetched here.")
	}
	m, err := s.o.Image(c.Request.Context(), doc, id)
	if err != nil {
		return err
	}
	small, err := s.pictures.get(c.Request.Context(), m.URL)
	if err != nil {
		if c.Request.Context().Err() == nil {
			s.log.Debug("image not shown", "image", m.URL, "err", err)
			c.Header("Cache-Control", "private, max-age=600")
			if c.GetHeader("Sec-Fetch-Dest") == "image" { // a page's, which shows what comes with an error
				c.Header("Content-Security-Policy", dataPolicy)
				c.Data(http.StatusNotFound, svgType, []byte(noPicture))
				return nil
			}
			err = notFound("That image cannot be had.")
		}
		return err
	}
	c.Header("Content-Security-Policy", dataPolicy)          // also where it is opened by itself
	c.Header("Cross-Origin-Resource-Policy", "cross-origin") // programs show what the API names
	c.Header("Cache-Control", "public, max-age=86400")
	c.Data(http.StatusOK, small.kind, small.body)
	return nil
}

// An imageAnswer is an image as the API gives it.
type imageAnswer struct {
	Source  string      `json:"src"`
	Page    string      `json:"page"`
	Title   string      `json:"title"` // of the page
	Alt     string      `json:"alt"`
	Caption string      `json:"caption"`
	Width   int         `json:"width,omitempty"` // as declared
	Height  int         `json:"height,omitempty"`
	Proxy   string      `json:"proxy,omitempty"` // address at which we show it, small
	Doc     vocab.DocID `json:"docid"`
	Score   score       `json:"score"`
}

// AnswerImages is what the API answers to a request for images, to be encoded as JSON.
func AnswerImages(r searcher.Request, a *searcher.ImageResponse) any {
	return newImagesAnswer(r, a, func(*searcher.ImageResult) string { return "" })
}

// newImagesAnswer is an answer with images in place of results; total counts them.
func newImagesAnswer(r searcher.Request, a *searcher.ImageResponse, proxy func(*searcher.ImageResult) string) *searchAnswer {
	pages := imagesAsPages(a)
	pages.Exact, pages.Results = a.Exact && a.Looked >= a.Total && !a.Partial, nil
	answer := newSearchAnswer(r, pages)
	answer.NextCursor = ""
	if answer.Next != nil {
		*answer.Next += "&type=image"
	}
	answer.Images = make([]imageAnswer, 0, len(a.Images))
	for i := range a.Images {
		m := &a.Images[i]
		answer.Images = append(answer.Images, imageAnswer{
			Source: m.URL, Page: m.Page, Title: m.Named, Alt: m.Alt, Caption: m.Caption, Width: m.Width, Height: m.Height,
			Proxy: proxy(m), Doc: m.Doc, Score: score(m.Score),
		})
	}
	return answer
}

// imagesAnswer is newImagesAnswer with addresses as the asker sees them.
func (s *Server) imagesAnswer(r searcher.Request, a *searcher.ImageResponse) *searchAnswer {
	answer := newImagesAnswer(r, a, s.proxyOf)
	if answer.Next != nil {
		*answer.Next = s.path(*answer.Next)
	}
	return answer
}

// proxyOf is the path at which we show an image, "" where we do not.
func (s *Server) proxyOf(m *searcher.ImageResult) string {
	if !s.shows() {
		return ""
	}
	return s.path(imageHref(m))
}
