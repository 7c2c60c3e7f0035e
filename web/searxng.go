package web

import (
	"bytes"
	"encoding/csv"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/gin-gonic/gin"

	"anatomy/searcher"
)

// The shapes of SearXNG's /search, which programs know how to read, and a feed in Atom. Of
// SearXNG's parameters q, format, pageno, language, time_range and of categories images count, num and start besides;
// safesearch and engines are passed over: there is one engine, and no such filter.

// programFormats are the formats of /search for programs.
var programFormats = set("json csv rss atom")

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
	Published *string   `json:"publishedDate"` // null where the page does not say
	Thumbnail string    `json:"thumbnail"`
	Image     string    `json:"img_src"`

	Resolution string `json:"resolution,omitempty"` // of an image
}

// searchFor answers a program that asks /search for one of programFormats.
func (s *Server) searchFor(c *gin.Context, p *params, r searcher.Request, format string, images bool) {
	openToPrograms(c)
	if err := s.answerProgram(c, p, r, format, images); err != nil {
		s.formatProblem(c, s.judge(c, err), format)
	}
}

// answerProgram counts pages by pageno from 1, or by start.
func (s *Server) answerProgram(c *gin.Context, p *params, r searcher.Request, format string, images bool) error {
	p.required("q", r.Query)
	if images = images || p.imageCategory(); images && format != "json" {
		p.fail("Parameter format must be json or html where images are asked for.")
	}
	if page := p.number("pageno", 0, 1, searcher.MaxOffset/r.Limit+1); page > 0 {
		r.Offset = (page - 1) * r.Limit
	}
	r.Query = narrow(append(language(p.text("language", 64)), p.timeRange(s.o.Now())...), r.Query)
	if p.err != nil {
		return p.err
	}
	base, err := s.publicURL(c.Request)
	if err != nil && (format == "rss" || format == "atom" || images) {
		return err
	}
	if images {
		a, err := s.askImages(c.Request.Context(), r)
		if err == nil {
			s.writeJSON(c, http.StatusOK, s.searxngImages(base, r, a))
		}
		return err
	}
	a, err := s.ask(c.Request.Context(), r)
	if err != nil {
		return err
	}
	switch format {
	case "csv":
		return writeCSV(c, a)
	case "rss":
		return writeXML(c, "application/rss+xml", s.rssFeed(base, r, a))
	case "atom":
		return writeXML(c, "application/atom+xml", s.atomFeed(base, r, a))
	}
	s.writeJSON(c, http.StatusOK, newSearxngAnswer(r, a))
	return nil
}

// formatProblem shows a problem of /search in the format that was asked for.
func (s *Server) formatProblem(c *gin.Context, p *problem, format string) {
	switch {
	case format == "json":
		s.jsonProblem(c, p)
	case programFormats[format]:
		c.String(p.Status, "%s: %s\n", p.Code, p.Message)
	default:
		s.showProblem(c, p)
	}
}

func newSearxngAnswer(r searcher.Request, a *searcher.Response) *searxngAnswer {
	none := []string{}
	answer := &searxngAnswer{a.Query, a.Total, make([]searxngResult, 0, len(a.Results)), none, none, none, none, none}
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
		Content:   plainSnippet(r),
		Engine:    "anatomy",
		Engines:   []string{"anatomy"},
		Category:  "general",
		Template:  "default.html",
		Positions: []int{position},
		Score:     score(r.Score),
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

// plainSnippet is the snippet without its marks.
func plainSnippet(r *searcher.Result) string {
	var b strings.Builder
	for _, f := range r.Snippet {
		b.WriteString(f.Text)
	}
	return b.String()
}

// writeCSV answers with SearXNG's columns, one record a result.
func writeCSV(c *gin.Context, a *searcher.Response) error {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	w.UseCRLF = true
	w.Write([]string{"title", "url", "content", "host", "engine", "score", "type"}) // into memory: see Error
	for i := range a.Results {
		r := &a.Results[i]
		host := ""
		if u, err := url.Parse(r.URL); err == nil {
			host = u.Host
		}
		points, _ := score(r.Score).MarshalJSON() // cannot fail
		w.Write([]string{cell(r.Title), cell(r.URL), cell(plainSnippet(r)), cell(host), "anatomy", string(points), "result"})
	}
	w.Flush()
	if err := w.Error(); err != nil {
		return err
	}
	c.Header("Content-Disposition", `attachment; filename="results.csv"`)
	c.Data(http.StatusOK, "text/csv; charset=utf-8", b.Bytes())
	return nil
}

// cell keeps a text of the web from being a formula where a spreadsheet opens the file: an
// apostrophe goes before what would begin one. Lines are folded into one.
func cell(text string) string {
	text = strings.Join(strings.Fields(xmlText(text)), " ")
	if text != "" && strings.ContainsRune("=+-@", rune(text[0])) {
		return "'" + text
	}
	return text
}

// maxPosted bounds a search that is posted: as much as the header of one that is not.
const maxPosted = maxHeader

// postedSearch makes of a form sent to /search what a query string would be. SearXNG takes both, its
// clients send forms, and a query in a form stays out of the history of a browser and of logs.
func postedSearch(c *gin.Context) {
	r := c.Request
	if r.Method != http.MethodPost || r.URL.Path != "/search" {
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(c.Writer, r.Body, maxPosted))
	if c.ContentType() != "application/x-www-form-urlencoded" || err != nil {
		body = []byte("%") // which params refuses
	}
	moved := *r.URL
	moved.RawQuery = strings.Trim(moved.RawQuery+"&"+string(body), "&")
	r.URL = &moved
}
