package api

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"

	"anatomy/searcher"
	"anatomy/web/internal/address"
	"anatomy/web/internal/params"
	"anatomy/web/internal/respond"
	"anatomy/web/internal/text"
)

// A searxng answers like SearXNG's /search.
type searxng struct {
	*v1
	name string // of the site
}

// The answers of SearXNG's /search, which many programs can read, and feeds. Of SearXNG's
// parameters q, format, pageno, language, time_range and categories=images work, and num and start
// too; safesearch and engines are ignored.

// ProgramFormats are the formats of /search for programs.
var ProgramFormats = text.Set("json csv rss atom")

type searxngAnswer struct {
	Query       string          `json:"query"`
	Total       int             `json:"number_of_results"`
	Results     []searxngResult `json:"results"`
	Answers     []string        `json:"answers"`
	Corrections []string        `json:"corrections"`
	Infoboxes   []string        `json:"infoboxes"`
	Suggestions []string        `json:"suggestions"`
	Silent      []string        `json:"unresponsive_engines"`
}

type searxngResult struct {
	URL       string    `json:"url"`
	Title     string    `json:"title"`
	Content   string    `json:"content"`
	Engine    string    `json:"engine"`
	Engines   []string  `json:"engines"`
	Category  string    `json:"category"`
	Template  string    `json:"template"`
	ParsedURL [6]string `json:"parsed_url"` // scheme, host, path, parameters, query, fragment
	Positions []int     `json:"positions"`
	Score     score     `json:"score"`
	Published *string   `json:"publishedDate"` // null if unknown
	Lang      string    `json:"lang,omitempty"`
	Thumbnail string    `json:"thumbnail"`
	Image     string    `json:"img_src"`

	Resolution string `json:"resolution,omitempty"` // of an image
}

// Search answers a request of a program to /search.
func (s *searxng) Search(c *gin.Context) {
	respond.AsData(c)
	p := params.Read(c)
	r := p.Request()
	r.Explain = false
	if slices.ContainsFunc(params.PreferenceNames, p.Values.Has) {
		p.Preferences() // checked, but without effect
	}
	r.Preferences = params.OfSearch(p.Lens().Over(searcher.Preferences{}), false)
	images, format := p.ApplyType(&r), p.One("format")
	if err := s.answerProgram(c, p, r, format, images); err != nil {
		s.FormatProblem(c, s.respond.Judge(c, err), format)
	}
}

// answerProgram answers in a format. Pages are selected by pageno, from 1, or by start.
func (s *searxng) answerProgram(c *gin.Context, p *params.Params, r searcher.Request, format string, images bool) error {
	p.Required("q", r.Query)
	if images = images || imageCategory(p); images && format != "json" {
		p.Fail("Parameter format must be json or html for images.")
	}
	if page := p.Number("pageno", 0, 1, searcher.MaxOffset/r.Limit+1); page > 0 {
		r.Offset = (page - 1) * r.Limit
	}
	r.Query = params.Narrow(append(params.Language(p.Text("language", 64)), p.TimeRange(s.now())...), r.Query)
	if p.Err != nil {
		return p.Err
	}
	base, err := s.site.URL(c.Request)
	if err != nil && (format == "rss" || format == "atom" || images) {
		return err
	}
	links := feedLinks{base, p.Lens().Tail()}
	if images {
		a, err := s.reader.Images(c.Request.Context(), r)
		if err == nil {
			s.respond.JSON(c, http.StatusOK, s.searxngImages(base, r, a))
		}
		return err
	}
	a, err := s.reader.Search(c.Request.Context(), r)
	if err != nil {
		return err
	}
	switch format {
	case "csv":
		return writeCSV(c, a)
	case "rss":
		return writeXML(c, "application/rss+xml", rssFeedOf(s.name, links, r, a))
	case "atom":
		return writeXML(c, "application/atom+xml", atomFeedOf(s.name, links, r, a))
	}
	s.respond.JSON(c, http.StatusOK, newSearxngAnswer(r, a))
	return nil
}

// FormatProblem writes a problem in the format of the request.
func (s *searxng) FormatProblem(c *gin.Context, p *respond.Problem, format string) {
	switch {
	case format == "json":
		s.respond.Problem(c, p)
	default:
		c.String(p.Status, "%s: %s\n", p.Code, p.Message)
	}
}

func newSearxngAnswer(r searcher.Request, a *searcher.Response) *searxngAnswer {
	none := []string{}
	answer := &searxngAnswer{a.Query, a.Listed(), make([]searxngResult, 0, len(a.Results)), none, none, none, none, none}
	if a.Suggestion != "" {
		answer.Corrections = []string{a.Suggestion}
	}
	for i := range a.Results {
		answer.Results = append(answer.Results, newSearxngResult(&a.Results[i], r.Offset+i+1))
	}
	return answer
}

func newSearxngResult(r *searcher.Result, position int) searxngResult {
	answer := searxngResult{
		URL:       r.URL,
		Title:     r.Title,
		Content:   text.Snippet(r),
		Engine:    "anatomy",
		Engines:   []string{"anatomy"},
		Category:  "general",
		Template:  "default.html",
		Positions: []int{position},
		Score:     score(r.Score),
		Lang:      r.Lang,
	}
	if r.Date != 0 {
		day := r.Date.Time().Format("2006-01-02T15:04:05")
		answer.Published = &day
	}
	if u, err := url.Parse(r.URL); err == nil {
		answer.ParsedURL = [6]string{u.Scheme, u.Host, u.EscapedPath(), "", u.RawQuery, u.Fragment}
	}
	return answer
}

// writeCSV writes SearXNG's columns, and then the date and the language, one record per result.
func writeCSV(c *gin.Context, a *searcher.Response) error {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	w.UseCRLF = true
	w.Write([]string{"title", "url", "content", "host", "engine", "score", "type", "publishedDate", "lang"}) // into memory: see Error
	for i := range a.Results {
		r := &a.Results[i]
		host := ""
		if u, err := url.Parse(r.URL); err == nil {
			host = u.Host
		}
		points, _ := score(r.Score).MarshalJSON() // cannot fail
		w.Write([]string{
			cell(r.Title), cell(r.URL), cell(text.Snippet(r)), cell(host), "anatomy", string(points), "result",
			r.Date.String(), cell(r.Lang),
		})
	}
	w.Flush()
	if err := w.Error(); err != nil {
		return err
	}
	c.Header("Content-Disposition", `attachment; filename="results.csv"`)
	c.Data(http.StatusOK, "text/csv; charset=utf-8", b.Bytes())
	return nil
}

// cell prevents spreadsheets from reading a text as a formula: it puts an apostrophe before the
// characters that begin one. It joins lines.
func cell(text string) string {
	text = strings.Join(strings.Fields(xmlText(text)), " ")
	if text != "" && strings.ContainsRune("=+-@", rune(text[0])) {
		return "'" + text
	}
	return text
}

// imageCategory reports whether categories selects images only.
func imageCategory(p *params.Params) bool { return strings.TrimSpace(p.One("categories")) == "images" }

// searxngImages returns images in SearXNG's format; base is the public URL.
func (s *searxng) searxngImages(base string, r searcher.Request, a *searcher.ImageResponse) *searxngAnswer {
	answer := newSearxngAnswer(r, &searcher.Response{Query: a.Query, Suggestion: a.Suggestion, Total: a.Found})
	for i := range a.Images {
		m := &a.Images[i]
		page := &searcher.Result{URL: m.Page, Title: text.ImageText(m), Snippet: []searcher.Fragment{{Text: m.Named}}, Score: m.Score}
		one := newSearxngResult(page, r.Offset+i+1)
		one.Category, one.Template, one.Image, one.Thumbnail = "images", "images.html", m.URL, s.proxyAt(base, m)
		if m.Width > 0 && m.Height > 0 {
			one.Resolution = fmt.Sprintf("%d x %d", m.Width, m.Height)
		}
		answer.Results = append(answer.Results, one)
	}
	return answer
}

// proxyAt returns the address of the small image, or "" if the server shows no images.
func (s *v1) proxyAt(base string, m *searcher.ImageResult) string {
	if !s.images {
		return ""
	}
	return base + address.ImageHref(m)
}
