package web

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"anatomy/searcher"
	"anatomy/vocab"
)

// The JSON API. Field names are stable; fields may be added. Text is text, never HTML: snippets
// are fragments with marks. Scores are decimal numbers of at most six places that add up exactly
// when they are added as decimals.

type searchAnswer struct {
	Query       string         `json:"query"`
	Interpreted string         `json:"interpreted"`
	Suggestion  string         `json:"suggestion,omitempty"` // another spelling that has more results
	Corrected   string         `json:"corrected,omitempty"`  // the other spelling that these are the results of: reason says why
	Filters     []filterAnswer `json:"filters,omitempty"`    // parts of the query that keep to some pages or refuse some
	Cut         []string       `json:"cut,omitempty"`        // what was left out of the query, or not looked at
	Forms       []formsAnswer  `json:"forms,omitempty"`      // other forms of words that counted
	Total       totalAnswer    `json:"total"`
	TookMS      float64        `json:"took_ms"`
	Folded      int            `json:"folded,omitempty"` // pages of total that are folded into others
	Partial     bool           `json:"partial"`          // the deadline cut the search short
	Rank        *rankAnswer    `json:"rank"`             // the vector that counted, or null
	Reason      string         `json:"reason,omitempty"` // on no results, with corrected and with most: why
	Most        int            `json:"most,omitempty"`   // results besides the total: pages that hold most of the words
	Hidden      int            `json:"hidden,omitempty"` // pages that match and are of blocked sites
	Results     []resultAnswer `json:"results"`
	Images      []imageAnswer  `json:"images,omitzero"`       // with type=image, in place of results
	Next        *string        `json:"next"`                  // address of the results after these, or null
	NextCursor  string         `json:"next_cursor,omitempty"` // for parameter cursor: results after these, or an error where the index has changed
}

type filterAnswer struct {
	Text    string `json:"text"`
	Without string `json:"without"`
}

type formsAnswer struct {
	Word  string   `json:"word"`
	Forms []string `json:"forms"`
}

type rankAnswer struct {
	Name         string    `json:"name"`
	Computed     time.Time `json:"computed"`
	Personalized string    `json:"personalized,omitempty"`
}

type totalAnswer struct {
	Value    int    `json:"value"`
	Relation string `json:"relation"` // "eq", or "gte": at least
}

type resultAnswer struct {
	URL         string             `json:"url"`
	Title       string             `json:"title"`
	Snippet     []fragmentAnswer   `json:"snippet"`
	Score       score              `json:"score"`
	Doc         vocab.DocID        `json:"docid"`
	PageRank    float64            `json:"pagerank"`
	Missing     []string           `json:"missing,omitempty"` // words of the query that are not on the page
	FetchedAt   *time.Time         `json:"fetched_at"`        // null for a page known by its links alone
	Lang        string             `json:"lang"`
	Date        string             `json:"date,omitempty"`     // "2024-05-06"
	Filetype    string             `json:"filetype,omitempty"` // "html"
	Crawled     bool               `json:"crawled"`
	Cached      string             `json:"cached,omitempty"`         // address of the page as it was fetched
	Similar     *groupAnswer       `json:"similar,omitempty"`        // pages folded into it
	More        *groupAnswer       `json:"more_from_host,omitempty"` // pages of its host further down
	Explanation *explanationAnswer `json:"explanation,omitempty"`
}

type fragmentAnswer struct {
	Text string `json:"text"`
	Mark bool   `json:"mark"`
}

type explanationAnswer struct {
	URL   string       `json:"url"`
	Score score        `json:"score"` // the sum of points
	Parts []partAnswer `json:"parts"`

	Folded *NearPage `json:"folded,omitempty"` // of a result that is folded into another
}

type partAnswer struct {
	Name   string `json:"name"`
	Word   string `json:"word,omitempty"`
	Detail string `json:"detail,omitempty"`
	Points score  `json:"points"`
}

type pageAnswer struct {
	Doc          vocab.DocID `json:"docid"`
	URL          string      `json:"url"`
	Title        string      `json:"title"`
	Lang         string      `json:"lang"` // Content-Language
	ContentType  string      `json:"content_type"`
	LastModified string      `json:"last_modified"`
	FetchedAt    *time.Time  `json:"fetched_at"`
	Bytes        int         `json:"bytes"`     // of the page as fetched
	Text         string      `json:"text"`      // paragraphs parted by "\n"
	Truncated    bool        `json:"truncated"` // there was more text
}

// A score is written as an exact decimal, in points.
type score searcher.Score

// MarshalJSON writes 12.345678, -0.5 or 3.
func (s score) MarshalJSON() ([]byte, error) {
	var b []byte
	if s < 0 {
		b, s = append(b, '-'), -s
	}
	b = append(b, points(searcher.Score(s))...)
	b = bytes.TrimRight(b, "0")
	return bytes.TrimSuffix(b, []byte(".")), nil
}

func (s *Server) apiSearch(c *gin.Context) (any, error) {
	p := readParams(c)
	r := p.request()
	r.Preferences = taste(p.preferred(), false)
	images := p.wantsImages(&r)
	p.required("q", r.Query)
	state := p.resume(&r)
	if p.err != nil {
		return nil, p.err
	}
	return s.answerTo(c.Request.Context(), r, images, state)
}

// answerTo answers with images or with pages, these from a state of the index; "" is any.
func (s *Server) answerTo(ctx context.Context, r searcher.Request, images bool, state string) (*searchAnswer, error) {
	if images {
		a, err := s.askImages(ctx, r)
		if err != nil {
			return nil, err
		}
		return s.imagesAnswer(r, a), nil
	}
	a, err := s.ask(ctx, r)
	if err != nil {
		return nil, err
	}
	if state != "" && state != a.State {
		return nil, errChanged
	}
	return s.answer(r, a), nil
}

// answer is Answer with addresses as the asker sees them.
func (s *Server) answer(r searcher.Request, a *searcher.Response) *searchAnswer {
	answer := newSearchAnswer(r, a)
	if answer.Next != nil {
		*answer.Next = s.path(*answer.Next)
	}
	for i := range answer.Results {
		s.place(&answer.Results[i])
	}
	return answer
}

// place makes the address of the cached page one on this server.
func (s *Server) place(r *resultAnswer) {
	switch {
	case s.o.Pages == nil:
		r.Cached = ""
	case r.Cached != "":
		r.Cached = s.path(r.Cached)
	}
}

// Answer is what the API answers to a request, to be encoded as JSON.
func Answer(r searcher.Request, a *searcher.Response) any { return newSearchAnswer(r, a) }

func newSearchAnswer(r searcher.Request, a *searcher.Response) *searchAnswer {
	after := cursorAfter(r, a)
	r = answered(r, a)
	answer := &searchAnswer{
		Query:       a.Query,
		Interpreted: a.Interpreted,
		Cut:         a.Cut,
		Suggestion:  a.Suggestion,
		Corrected:   a.Corrected,
		Total:       newTotal(a),
		TookMS:      float64(a.Took.Microseconds()) / 1e3,
		Folded:      a.Folded,
		Partial:     a.Partial,
		Reason:      a.Why,
		Most:        a.Most,
		Hidden:      a.Hidden,
		NextCursor:  after,
		Results:     make([]resultAnswer, 0, len(a.Results)),
	}
	if !a.Rank.Computed.IsZero() {
		answer.Rank = &rankAnswer{a.Rank.Name, a.Rank.Computed, a.Rank.Personalized}
	}
	for _, f := range a.Filters {
		answer.Filters = append(answer.Filters, filterAnswer(f))
	}
	for _, f := range a.Forms {
		answer.Forms = append(answer.Forms, formsAnswer(f))
	}
	for i := range a.Results {
		answer.Results = append(answer.Results, newResultAnswer(r, &a.Results[i]))
	}
	if next, ok := nextOffset(r, a); ok {
		href := searchHref("/api/v1/search", r, next)
		if r.Explain {
			href += "&explain=1"
		}
		if r.Preferences != nil {
			href += "&" + (&preferences{Preferences: *r.Preferences}).values().Encode()
		}
		answer.Next = &href
	}
	return answer
}

func newResultAnswer(asked searcher.Request, r *searcher.Result) resultAnswer {
	answer := resultAnswer{
		URL:         r.URL,
		Title:       r.Title,
		Snippet:     make([]fragmentAnswer, 0, len(r.Snippet)),
		Score:       score(r.Score),
		Doc:         r.Doc,
		PageRank:    r.PageRank,
		Missing:     r.Missing,
		FetchedAt:   moment(r.Fetched),
		Lang:        r.Lang,
		Date:        r.Date.String(),
		Filetype:    r.Medium.String(),
		Crawled:     r.Crawled,
		Similar:     similarAnswer(asked, r),
		More:        moreAnswer(asked, r),
		Explanation: newExplanationAnswer(r.Explanation),
	}
	if r.Crawled {
		answer.Cached = cachedHref(uint64(r.Doc), "", false)
	}
	for _, f := range r.Snippet {
		answer.Snippet = append(answer.Snippet, fragmentAnswer(f))
	}
	return answer
}

func newExplanationAnswer(e *searcher.Explanation) *explanationAnswer {
	if e == nil {
		return nil
	}
	answer := &explanationAnswer{URL: e.URL, Score: score(e.Score), Parts: make([]partAnswer, 0, len(e.Parts))}
	if f := e.Folded; f != nil {
		answer.Folded = &NearPage{f.Doc, f.URL, f.Distance}
	}
	for _, p := range e.Parts {
		answer.Parts = append(answer.Parts, partAnswer{p.Name, p.Word, p.Detail, score(p.Points)})
	}
	return answer
}

// moment is a time in UTC, nil for the zero time.
func moment(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}

func (s *Server) apiExplain(c *gin.Context) (any, error) {
	_, _, e, err := s.explanation(c)
	if err != nil {
		return nil, err
	}
	return newExplanationAnswer(e), nil
}

func (s *Server) apiPage(c *gin.Context) (any, error) {
	page, err := s.stored(c.Request.Context(), readParams(c), "")
	if err != nil {
		return nil, err
	}
	plain := textOf(page)
	return &pageAnswer{
		Doc:          page.Doc,
		URL:          page.URL,
		Title:        plain.Title,
		Lang:         langTag(page.Language),
		ContentType:  page.ContentType,
		LastModified: page.LastModified,
		FetchedAt:    moment(page.Fetched),
		Bytes:        len(page.Body),
		Text:         plain.Text,
		Truncated:    plain.Cut,
	}, nil
}

func (s *Server) apiStats(c *gin.Context) (any, error) {
	if s.o.Stats == nil {
		return nil, notFound("There are no figures here.")
	}
	return s.o.Stats(c.Request.Context())
}

// writeJSON answers with a value as one line of JSON.
func (s *Server) writeJSON(c *gin.Context, status int, value any) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // nosniff: no browser reads it as HTML, and addresses stay readable
	if err := e.Encode(value); err != nil {
		s.log.Error("answer not made", "path", c.Request.URL.Path, "err", err)
		status = http.StatusInternalServerError
		b.Reset()
		b.WriteString(`{"error":{"code":"internal","message":"The answer could not be made."}}` + "\n")
	}
	c.Data(status, "application/json; charset=utf-8", b.Bytes())
}
