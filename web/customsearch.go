package web

import (
	"fmt"
	"html"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/gin-gonic/gin"

	"anatomy/searcher"
)

// The shape of Google's Custom Search JSON API, so that its clients go on working when they are
// pointed here. key and whatever else Google knows and we do not are passed over.

type customAnswer struct {
	Kind    string                   `json:"kind"`
	URL     customURL                `json:"url"`
	Queries map[string][]customQuery `json:"queries"` // request, nextPage, previousPage: one each
	Context customContext            `json:"context"`
	Info    customInfo               `json:"searchInformation"`
	Items   []customItem             `json:"items,omitempty"` // absent where there is none, as Google has it
}

type customURL struct {
	Type     string `json:"type"`
	Template string `json:"template"`
}

type customContext struct {
	Title string `json:"title"`
}

type customQuery struct {
	Title        string `json:"title"`
	TotalResults string `json:"totalResults"`
	SearchTerms  string `json:"searchTerms"`
	Count        int    `json:"count"`
	StartIndex   int    `json:"startIndex"` // from 1
	InEncoding   string `json:"inputEncoding"`
	OutEncoding  string `json:"outputEncoding"`
	Safe         string `json:"safe"`
	Engine       string `json:"cx,omitempty"`
}

type customInfo struct {
	Time           float64 `json:"searchTime"` // seconds
	FormattedTime  string  `json:"formattedSearchTime"`
	Total          string  `json:"totalResults"`
	FormattedTotal string  `json:"formattedTotalResults"`
}

type customItem struct {
	Kind             string `json:"kind"`
	Title            string `json:"title"`
	HTMLTitle        string `json:"htmlTitle"`
	Link             string `json:"link"`
	DisplayLink      string `json:"displayLink"` // the host
	Snippet          string `json:"snippet"`
	HTMLSnippet      string `json:"htmlSnippet"`
	CacheID          string `json:"cacheId,omitempty"` // the document's number, for /cached?doc=
	FormattedURL     string `json:"formattedUrl"`
	HTMLFormattedURL string `json:"htmlFormattedUrl"`

	MIME  string       `json:"mime,omitempty"` // of an image
	Image *customImage `json:"image,omitempty"`
}

const maxCustom = 10 // results a page, Google's bound

func (s *Server) customSearch(c *gin.Context) {
	answer, err := s.customAnswer(c)
	if err != nil {
		s.customProblem(c, s.judge(c, err))
		return
	}
	s.writeJSON(c, http.StatusOK, answer)
}

func (s *Server) customAnswer(c *gin.Context) (*customAnswer, error) {
	p := readParams(c)
	terms, engine := p.text("q", MaxQuery), p.text("cx", 256)
	p.required("q", terms)
	r := searcher.Request{
		Query:  p.narrowed(terms, s.o.SiteSets[engine], s.o.Now()),
		Offset: p.number("start", 1, 1, searcher.MaxOffset+1) - 1,
		Limit:  p.number("num", searcher.DefaultLimit, 1, maxCustom),

		Ungrouped: p.filter(),
	}
	images := p.searchType()
	if p.err != nil {
		return nil, p.err
	}
	base, err := s.publicURL(c.Request)
	if err != nil {
		return nil, err
	}
	if images {
		return s.customImages(c.Request.Context(), base, terms, engine, r)
	}
	a, err := s.ask(c.Request.Context(), r)
	if err != nil {
		return nil, err
	}
	return newCustomAnswer(base, terms, engine, r, a), nil
}

// narrowed is the query with what Google's parameters add to it put first, so that it is never
// what a query that is too long loses.
func (p *params) narrowed(query string, sites []string, now time.Time) string {
	var parts []string
	if len(sites) > 0 {
		parts = append(parts, "(site:"+strings.Join(sites, " OR site:")+")")
	}
	if site := p.site("siteSearch"); site != "" {
		switch p.one("siteSearchFilter") {
		case "", "i":
			parts = append(parts, "site:"+site)
		case "e":
			parts = append(parts, "-site:"+site)
		default:
			p.fail("Parameter siteSearchFilter must be i, to include, or e, to exclude.")
		}
	}
	if exact := p.plainWords("exactTerms"); len(exact) > 0 {
		parts = append(parts, `"`+strings.Join(exact, " ")+`"`)
	}
	for _, word := range p.plainWords("excludeTerms") {
		parts = append(parts, "-("+word+")")
	}
	if either := p.plainWords("orTerms"); len(either) > 0 {
		parts = append(parts, "("+strings.Join(either, " OR ")+")")
	}
	var languages []string
	for tag := range strings.SplitSeq(p.text("lr", 64), "|") {
		languages = append(languages, language(strings.TrimPrefix(tag, "lang_"))...)
	}
	parts = append(parts, anyOf(languages)...)
	if kind := p.plainWords("fileType"); len(kind) > 0 {
		parts = append(parts, "filetype:"+kind[0])
	}
	if sort, _, _ := strings.Cut(p.one("sort"), ":"); sort == "date" {
		parts = append(parts, "sort:date")
	}
	return narrow(append(parts, p.dateRestrict(now)...), query)
}

// site is the host, with a path if there is one, that a parameter names; Google's wildcards and a
// scheme are taken off.
func (p *params) site(name string) string {
	v := p.text(name, MaxURL)
	v = strings.TrimPrefix(strings.TrimPrefix(v, "https://"), "http://")
	v = strings.TrimRight(strings.TrimPrefix(v, "*."), "/*")
	for i, r := range v {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && (i == 0 || !strings.ContainsRune("-._~%/:", r)) {
			p.fail("Parameter %s must be a host, or a host and a path: example.org/docs.", name)
			return ""
		}
	}
	return v
}

// plainWords are the words of a parameter, of which none is an operator, quote or parenthesis.
func (p *params) plainWords(name string) []string {
	var plain []string
	for word := range strings.FieldsFuncSeq(p.text(name, MaxQuery), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r)
	}) {
		if word != "OR" {
			plain = append(plain, word)
		}
	}
	return plain
}

func newCustomAnswer(base, terms, engine string, r searcher.Request, a *searcher.Response) *customAnswer {
	total := strconv.Itoa(a.Total)
	query := func(offset, n int) []customQuery {
		return []customQuery{{"Custom Search - " + terms, total, terms, n, offset + 1, "utf8", "utf8", "off", engine}}
	}
	answer := &customAnswer{
		Kind:    "customsearch#search",
		URL:     customURL{"application/json", base + "/customsearch/v1?q={searchTerms}&num={count?}&start={startIndex?}&cx={cx?}&siteSearch={siteSearch?}&siteSearchFilter={siteSearchFilter?}&exactTerms={exactTerms?}&excludeTerms={excludeTerms?}&orTerms={orTerms?}&alt=json"},
		Queries: map[string][]customQuery{"request": query(r.Offset, len(a.Results))},
		Context: customContext{"anatomy"},
		Info:    customInfo{a.Took.Seconds(), fmt.Sprintf("%.2f", a.Took.Seconds()), total, count(a.Total)},
	}
	if next, ok := nextOffset(r, a); ok {
		answer.Queries["nextPage"] = query(next, r.Limit)
	}
	if r.Offset > 0 {
		answer.Queries["previousPage"] = query(max(0, r.Offset-r.Limit), r.Limit)
	}
	bold := newMarker(a.Words)
	for i := range a.Results {
		if linkable(a.Results[i].URL) != "" { // clients make links of what they get
			answer.Items = append(answer.Items, newCustomItem(&a.Results[i], bold))
		}
	}
	return answer
}

func newCustomItem(r *searcher.Result, m *marker) customItem {
	item := customItem{
		Kind: "customsearch#result", Title: r.Title, HTMLTitle: boldHTML(r.Title, m), Link: r.URL,
		Snippet: plainSnippet(r), FormattedURL: r.URL, HTMLFormattedURL: boldHTML(r.URL, m),
	}
	if r.Crawled {
		item.CacheID = strconv.FormatUint(uint64(r.Doc), 10)
	}
	if u, err := url.Parse(r.URL); err == nil {
		item.DisplayLink = u.Host
	}
	for _, f := range r.Snippet {
		item.HTMLSnippet += boldIf(f.Mark, f.Text)
	}
	return item
}

// boldHTML is a text as HTML, with the words of m in b elements.
func boldHTML(text string, m *marker) string {
	var b strings.Builder
	m.each(text, func(piece string, mark bool) { b.WriteString(boldIf(mark, piece)) })
	return b.String()
}

func boldIf(bold bool, text string) string {
	text = html.EscapeString(text)
	if bold && text != "" {
		return "<b>" + text + "</b>"
	}
	return text
}

// customStatus names a status as Google's error envelope does: its status and its reason.
func customStatus(status int) (name, reason string) {
	switch status {
	case http.StatusBadRequest:
		return "INVALID_ARGUMENT", "badRequest"
	case http.StatusNotFound, http.StatusMethodNotAllowed:
		return "NOT_FOUND", "notFound"
	case http.StatusTooManyRequests:
		return "RESOURCE_EXHAUSTED", "rateLimitExceeded"
	case http.StatusServiceUnavailable:
		return "UNAVAILABLE", "backendError"
	case http.StatusGatewayTimeout:
		return "DEADLINE_EXCEEDED", "backendError"
	}
	return "INTERNAL", "backendError"
}

// customProblem answers with Google's error envelope.
func (s *Server) customProblem(c *gin.Context, p *problem) {
	type cause struct {
		Message string `json:"message"`
		Domain  string `json:"domain"`
		Reason  string `json:"reason"`
	}
	type body struct {
		Code    int     `json:"code"`
		Message string  `json:"message"`
		Errors  []cause `json:"errors"`
		Status  string  `json:"status"`
	}
	name, reason := customStatus(p.Status)
	s.writeJSON(c, p.Status, map[string]body{"error": {p.Status, p.Message, []cause{{p.Message, "global", reason}}, name}})
}
