package api

import (
	"context"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"

	"anatomy/collection"
	"anatomy/searcher"
	"anatomy/vocab"
	"anatomy/web/internal/address"
	"anatomy/web/internal/params"
	"anatomy/web/internal/passages"
	"anatomy/web/internal/reader"
	"anatomy/web/internal/respond"
	"anatomy/web/internal/siblings"
)

// A v1 answers the project's own API, /api/v1.
type v1 struct {
	reader  *reader.Reader
	site    *address.Site
	respond *respond.Responder
	images  bool          // the server shows images
	exports chan struct{} // holds one value per running export
	now     func() time.Time
	beside  *siblings.List // the collections of the process
}

func (s *v1) apiSearch(c *gin.Context) (any, error) {
	p := params.Read(c)
	r := p.Request()
	r.Preferences = params.OfSearch(p.Searched(), false)
	images := p.ApplyType(&r)
	r.Facets, r.Count = p.Facets(), p.Count()
	p.Required("q", r.Query)
	state, budget := resume(p, &r), 0
	if p.One("max_tokens") != "" && !images {
		budget = p.Number("max_tokens", 0, passages.MinTokens, passages.MaxTokens)
	}
	if p.Err != nil {
		return nil, p.Err
	}
	if budget > 0 {
		return s.packed(c.Request.Context(), r, state, budget)
	}
	return s.answerTo(c.Request.Context(), r, images, state)
}

// packed answers with as many results, and passages of them, as the budget of a language model has room for.
func (s *v1) packed(ctx context.Context, r searcher.Request, state string, budget int) (*searchAnswer, error) {
	a, err := s.found(ctx, r, state)
	if err != nil {
		return nil, err
	}
	all, tokens := passages.Pack(ctx, s.reader, a.Results, budget)
	if n := len(all); n < len(a.Results) {
		short := *a // others may read the response
		short.Results, short.Next = a.Results[:n:n], true
		a, r.Limit = &short, n
	}
	answer := s.answer(r, a)
	for i, passage := range all {
		answer.Results[i].Passage = passage
	}
	if answer.Tokens = tokens; answer.Next != nil {
		*answer.Next += "&max_tokens=" + strconv.Itoa(budget)
	}
	return answer, nil
}

// found searches for pages. A state other than "" must be the state of the index.
func (s *v1) found(ctx context.Context, r searcher.Request, state string) (*searcher.Response, error) {
	a, err := s.reader.Search(ctx, r)
	if err != nil {
		return nil, err
	}
	if state != "" && state != a.State {
		return nil, errChanged
	}
	s.reader.Count(r, a)
	return a, nil
}

// answerTo answers with images or pages. A state other than "" must be the state of the index.
func (s *v1) answerTo(ctx context.Context, r searcher.Request, images bool, state string) (*searchAnswer, error) {
	if images {
		a, err := s.reader.Images(ctx, r)
		if err != nil {
			return nil, err
		}
		return s.imagesAnswer(r, a), nil
	}
	a, err := s.found(ctx, r, state)
	if err != nil {
		return nil, err
	}
	return s.answer(r, a), nil
}

// answer returns an answer with public addresses.
func (s *v1) answer(r searcher.Request, a *searcher.Response) *searchAnswer {
	answer := newSearchAnswer(r, a)
	if answer.Next != nil {
		*answer.Next = s.site.Path(*answer.Next)
	}
	for i := range answer.Results {
		s.place(&answer.Results[i])
	}
	return answer
}

// place makes the address of the cached page public.
func (s *v1) place(r *resultAnswer) {
	if r.Cached != "" {
		r.Cached = s.site.Path(r.Cached)
	}
}

// imagesAnswer returns an answer for images with public addresses.
func (s *v1) imagesAnswer(r searcher.Request, a *searcher.ImageResponse) *searchAnswer {
	answer := newImagesAnswer(r, a, s.proxyOf)
	if answer.Next != nil {
		*answer.Next = s.site.Path(*answer.Next)
	}
	return answer
}

// proxyOf returns the path of the small image, or "" if the server shows no images.
func (s *v1) proxyOf(m *searcher.ImageResult) string {
	if !s.images {
		return ""
	}
	return s.site.Path(address.ImageHref(m))
}

func (s *v1) apiExplain(c *gin.Context) (any, error) {
	p := params.Read(c)
	_, e, err := s.reader.ExplanationAsked(c.Request.Context(), p, p.Searched())
	if err != nil {
		return nil, err
	}
	return newExplanationAnswer(e), nil
}

type pageAnswer struct {
	Doc          vocab.DocID `json:"docid"`
	URL          string      `json:"url"`
	Title        string      `json:"title"`
	Lang         string      `json:"lang"`
	ContentType  string      `json:"content_type"`
	LastModified string      `json:"last_modified"`
	FetchedAt    *time.Time  `json:"fetched_at"`
	Bytes        int         `json:"bytes"`     // of the fetched body
	Text         string      `json:"text"`      // paragraphs, separated by "\n", or Markdown
	Truncated    bool        `json:"truncated"` // the text was cut

	// BodyTruncated says why only the first Bytes of the body were kept, "" if all were: see
	// collection.TraceFetch.
	BodyTruncated string `json:"body_truncated,omitempty"`

	Service *collection.Life `json:"service,omitempty"` // of the definition of a web service
}

func (s *v1) apiPage(c *gin.Context) (any, error) {
	p := params.Read(c)
	format := p.One("format")
	if format != "" && format != "text" && format != "markdown" {
		p.Fail("Parameter format must be text or markdown.")
	}
	if p.Err != nil {
		return nil, p.Err
	}
	page, err := s.reader.PageAsked(c.Request.Context(), p, "")
	if err != nil {
		return nil, err
	}
	read := page.Plain
	if format == "markdown" {
		read = page.Markdown
	}
	plain, err := read()
	if err != nil {
		return nil, err
	}
	return &pageAnswer{
		Doc:          page.Doc,
		URL:          page.URL,
		Title:        plain.Title,
		Lang:         page.Lang,
		ContentType:  page.ContentType,
		LastModified: page.LastModified,
		FetchedAt:    moment(page.Fetched),
		Bytes:        len(page.Body),
		Text:         plain.Text,
		Truncated:    plain.Cut,

		BodyTruncated: page.Truncated.String(),
		Service:       page.Life,
	}, nil
}

func (s *v1) apiStats(c *gin.Context) (any, error) {
	return s.reader.Collection.Stats(c.Request.Context())
}

func (s *v1) apiLinks(c *gin.Context) (any, error) {
	p := params.Read(c)
	return s.reader.LinksAsked(c.Request.Context(), p, reader.LinksNumber(p), nil)
}

func (s *v1) apiTrace(c *gin.Context) (any, error) {
	_, t, err := s.reader.TraceAsked(c.Request.Context(), params.Read(c))
	return t, err
}

func (s *v1) apiSite(c *gin.Context) (any, error) {
	r, _, err := s.reader.SiteAsked(c.Request.Context(), params.Read(c), c.Query("site"))
	return r, err
}

type collectionsAnswer struct {
	Collections []collectionAnswer `json:"collections"`
}

// A collectionAnswer is one of the collections of the server.
type collectionAnswer struct {
	Name   string            `json:"name"`
	Path   string            `json:"path"`             // of its start page, which its API is below: "/", "/wiki/"
	Login  bool              `json:"login,omitempty"`  // it shows the sender nothing without a login
	Answer *searchAnswer     `json:"answer,omitempty"` // with parameter q
	Error  *respond.APIError `json:"error,omitempty"`  // instead of Answer
}

// apiCollections lists the collections of the server, with their answers to a query if there is one.
func (s *v1) apiCollections(c *gin.Context) (any, error) {
	p := params.Read(c)
	r := p.Request()
	r.Preferences = params.OfSearch(p.Searched(), false)
	if p.Err != nil {
		return nil, p.Err
	}
	list := &collectionsAnswer{Collections: []collectionAnswer{}}
	for _, of := range s.beside.All {
		list.Collections = append(list.Collections, collectionAnswer{
			Name: of.Name, Path: of.Site.Path("/"), Login: !of.MayRead(c.Request),
		})
	}
	if r.Query == "" {
		return list, nil
	}
	answers, err := s.beside.Search(c.Request, c.Writer.Header(), r)
	if err != nil {
		return nil, err
	}
	for i, a := range answers {
		to := &list.Collections[i]
		switch {
		case a.Login:
		case a.Err != nil:
			to.Error = &respond.ErrorOf(s.respond.Judge(c, a.Err)).Error
		default:
			to.Answer = (&v1{site: a.From.Site}).answer(r, a.Response)
		}
	}
	return list, nil
}
