package api

import (
	"context"
	"fmt"
	"html"
	"mime"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/gin-gonic/gin"

	"anatomy/internal/plural"
	"anatomy/searcher"
	"anatomy/web/internal/address"
	"anatomy/web/internal/params"
	"anatomy/web/internal/reader"
	"anatomy/web/internal/respond"
	"anatomy/web/internal/text"
)

// A google answers like Google's Custom Search JSON API.
type google struct {
	*v1
	siteSets map[string][]string // sites by the cx parameter
}

// The answers of Google's Custom Search JSON API, so that its clients work with this server.
// Unknown parameters are ignored.

type customAnswer struct {
	Kind    string                   `json:"kind"`
	URL     customURL                `json:"url"`
	Queries map[string][]customQuery `json:"queries"` // request, nextPage, previousPage
	Context customContext            `json:"context"`
	Info    customInfo               `json:"searchInformation"`
	Items   []CustomItem             `json:"items,omitempty"` // absent without results, as in Google's API
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

type CustomItem struct {
	Kind             string `json:"kind"`
	Title            string `json:"title"`
	HTMLTitle        string `json:"htmlTitle"`
	Link             string `json:"link"`
	DisplayLink      string `json:"displayLink"` // the host
	Snippet          string `json:"snippet"`
	HTMLSnippet      string `json:"htmlSnippet"`
	CacheID          string `json:"cacheId,omitempty"` // docID, for /cached?doc=
	FormattedURL     string `json:"formattedUrl"`
	HTMLFormattedURL string `json:"htmlFormattedUrl"`

	PageMap *customPageMap `json:"pagemap,omitempty"`

	MIME  string       `json:"mime,omitempty"` // of an image
	Image *customImage `json:"image,omitempty"`
}

// A customPageMap has what a page states about itself, here its date and language. In Google's
// answers it has meta elements.
type customPageMap struct {
	MetaTags [1]customMetaTags `json:"metatags"`
}

type customMetaTags struct {
	Date string `json:"date,omitempty"` // "2024-05-06"
	Lang string `json:"language,omitempty"`
}

const maxCustom = 10 // results per page, Google's limit

func (s *google) customSearch(c *gin.Context) {
	answer, err := s.customAnswer(c)
	if err != nil {
		s.CustomProblem(c, s.respond.Judge(c, err))
		return
	}
	s.respond.JSON(c, http.StatusOK, answer)
}

func (s *google) customAnswer(c *gin.Context) (*customAnswer, error) {
	p := params.Read(c)
	terms, engine := p.Text("q", params.MaxQuery), p.Text("cx", 256)
	p.Required("q", terms)
	r := searcher.Request{
		Query:  narrowed(p, terms, s.siteSets[engine], s.now()),
		Offset: p.Number("start", 1, 1, searcher.MaxOffset+1) - 1,
		Limit:  p.Number("num", searcher.DefaultLimit, 1, maxCustom),

		Ungrouped: p.Filter(),
	}
	images := searchType(p)
	if p.Err != nil {
		return nil, p.Err
	}
	base, err := s.site.URL(c.Request)
	if err != nil {
		return nil, err
	}
	if images {
		return s.imagesAnswer(c.Request.Context(), base, terms, engine, r)
	}
	a, err := s.reader.Search(c.Request.Context(), r)
	if err != nil {
		return nil, err
	}
	return newCustomAnswer(base, terms, engine, r, a), nil
}

// narrowed puts the filters of Google's parameters before the query, so that cutting a long query
// keeps them.
func narrowed(p *params.Params, query string, sites []string, now time.Time) string {
	parts := params.OfSites(sites)
	if site := siteAsked(p, "siteSearch"); site != "" {
		switch p.One("siteSearchFilter") {
		case "", "i":
			parts = append(parts, "site:"+site)
		case "e":
			parts = append(parts, "-site:"+site)
		default:
			p.Fail("Parameter siteSearchFilter must be i, to include, or e, to exclude.")
		}
	}
	if exact := plainWords(p, "exactTerms"); len(exact) > 0 {
		parts = append(parts, `"`+strings.Join(exact, " ")+`"`)
	}
	for _, word := range plainWords(p, "excludeTerms") {
		parts = append(parts, "-("+word+")")
	}
	if either := plainWords(p, "orTerms"); len(either) > 0 {
		parts = append(parts, "("+strings.Join(either, " OR ")+")")
	}
	var languages []string
	for tag := range strings.SplitSeq(p.Text("lr", 64), "|") {
		languages = append(languages, params.Language(strings.TrimPrefix(tag, "lang_"))...)
	}
	parts = append(parts, params.AnyOf(languages)...)
	if kind := plainWords(p, "fileType"); len(kind) > 0 {
		parts = append(parts, "filetype:"+kind[0])
	}
	if sort, _, _ := strings.Cut(p.One("sort"), ":"); sort == "date" {
		parts = append(parts, "sort:date")
	}
	return params.Narrow(append(parts, dateRestrict(p, now)...), query)
}

// siteAsked returns the host, or host and path, of a parameter, without scheme and Google's
// wildcards.
func siteAsked(p *params.Params, name string) string {
	v := p.Text(name, params.MaxURL)
	v = strings.TrimPrefix(strings.TrimPrefix(v, "https://"), "http://")
	v = strings.TrimRight(strings.TrimPrefix(v, "*."), "/*")
	for i, r := range v {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && (i == 0 || !strings.ContainsRune("-._~%/:", r)) {
			p.Fail("Parameter %s must be a host, or a host and a path: example.org/docs.", name)
			return ""
		}
	}
	return v
}

// plainWords returns the words of a parameter without operators, quotes and parentheses.
func plainWords(p *params.Params, name string) []string {
	var plain []string
	for word := range strings.FieldsFuncSeq(p.Text(name, params.MaxQuery), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r)
	}) {
		if word != "OR" {
			plain = append(plain, word)
		}
	}
	return plain
}

func newCustomAnswer(base, terms, engine string, r searcher.Request, a *searcher.Response) *customAnswer {
	total := strconv.Itoa(a.Listed())
	query := func(offset, n int) []customQuery {
		return []customQuery{{"Custom Search - " + terms, total, terms, n, offset + 1, "utf8", "utf8", "off", engine}}
	}
	answer := &customAnswer{
		Kind:    "customsearch#search",
		URL:     customURL{"application/json", base + "/customsearch/v1?q={searchTerms}&num={count?}&start={startIndex?}&cx={cx?}&siteSearch={siteSearch?}&siteSearchFilter={siteSearchFilter?}&exactTerms={exactTerms?}&excludeTerms={excludeTerms?}&orTerms={orTerms?}&alt=json"},
		Queries: map[string][]customQuery{"request": query(r.Offset, len(a.Results))},
		Context: customContext{"anatomy"},
		Info:    customInfo{a.Took.Seconds(), fmt.Sprintf("%.2f", a.Took.Seconds()), total, plural.Commas(a.Listed())},
	}
	if next, ok := address.NextOffset(r, a); ok {
		answer.Queries["nextPage"] = query(next, r.Limit)
	}
	if r.Offset > 0 {
		answer.Queries["previousPage"] = query(max(0, r.Offset-r.Limit), r.Limit)
	}
	bold := text.NewMarker(a.Words)
	for i := range a.Results {
		if text.Linkable(a.Results[i].URL) != "" { // clients turn it into a link
			answer.Items = append(answer.Items, newCustomItem(&a.Results[i], bold))
		}
	}
	return answer
}

func newCustomItem(r *searcher.Result, m *text.Marker) CustomItem {
	item := CustomItem{
		Kind: "customsearch#result", Title: r.Title, HTMLTitle: boldHTML(r.Title, m), Link: r.URL,
		Snippet: text.Snippet(r), FormattedURL: r.URL, HTMLFormattedURL: boldHTML(r.URL, m),
	}
	if r.HasCopy() {
		item.CacheID = strconv.FormatUint(uint64(r.Doc), 10)
	}
	if tags := (customMetaTags{r.Date.String(), r.Lang}); tags != (customMetaTags{}) {
		item.PageMap = &customPageMap{[1]customMetaTags{tags}}
	}
	if u, err := url.Parse(r.URL); err == nil {
		item.DisplayLink = u.Host
	}
	for _, f := range r.Snippet {
		item.HTMLSnippet += boldIf(f.Mark, f.Text)
	}
	return item
}

// boldHTML returns a text as HTML with the words of m in b elements.
func boldHTML(text string, m *text.Marker) string {
	var b strings.Builder
	m.Each(text, func(piece string, mark bool) { b.WriteString(boldIf(mark, piece)) })
	return b.String()
}

func boldIf(bold bool, text string) string {
	text = html.EscapeString(text)
	if bold && text != "" {
		return "<b>" + text + "</b>"
	}
	return text
}

// customStatus returns the status and the reason of Google's error envelope.
func customStatus(status int) (name, reason string) {
	switch status {
	case http.StatusBadRequest:
		return "INVALID_ARGUMENT", "badRequest"
	case http.StatusUnauthorized:
		return "UNAUTHENTICATED", "required"
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

// CustomProblem answers with Google's error envelope.
func (s *google) CustomProblem(c *gin.Context, p *respond.Problem) {
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
	s.respond.JSON(c, p.Status, map[string]body{"error": {p.Status, p.Message, []cause{{p.Message, "global", reason}}, name}})
}

// searchType reports whether Google's parameter selects images.
func searchType(p *params.Params) bool {
	switch p.One("searchType") {
	case "":
		return false
	case "image":
		return true
	}
	p.Fail("Parameter searchType must be image, or absent.")
	return false
}

// A customImage is an image in Google's answer.
type customImage struct {
	Context   string `json:"contextLink"`
	Height    int    `json:"height"` // as declared, or 0
	Width     int    `json:"width"`
	Thumbnail string `json:"thumbnailLink,omitempty"`
}

// imagesAnswer returns images in Google's format.
func (s *google) imagesAnswer(ctx context.Context, base, terms, engine string, r searcher.Request) (*customAnswer, error) {
	a, err := s.reader.Images(ctx, r)
	if err != nil {
		return nil, err
	}
	pages := reader.ImagesAsPages(a)
	answer := newCustomAnswer(base, terms, engine, r, pages)
	bold := text.NewMarker(a.Words)
	for i := range a.Images {
		m := &a.Images[i]
		if text.Linkable(m.URL) == "" || text.Linkable(m.Page) == "" { // clients make links of what they get
			continue
		}
		item := newCustomItem(&searcher.Result{URL: m.URL, Title: text.ImageText(m), Snippet: []searcher.Fragment{{Text: m.Named}}}, bold)
		item.MIME = mimeOf(m.URL)
		item.Image = &customImage{m.Page, m.Height, m.Width, s.proxyAt(base, m)}
		answer.Items = append(answer.Items, item)
	}
	return answer, nil
}

// mimeOf returns the media type that the extension of an address names.
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

// maxRestrict limits the number in dateRestrict.
const maxRestrict = 1000

// dateRestrict converts Google's dateRestrict (d7, w2, m6, y1) to filters.
func dateRestrict(p *params.Params, now time.Time) []string {
	v := p.One("dateRestrict")
	if v == "" {
		return nil
	}
	if n, err := strconv.Atoi(v[1:]); err == nil && 1 <= n && n <= maxRestrict {
		switch v[0] {
		case 'd':
			return params.Since(now, 0, 0, n)
		case 'w':
			return params.Since(now, 0, 0, 7*n)
		case 'm':
			return params.Since(now, 0, n, 0)
		case 'y':
			return params.Since(now, n, 0, 0)
		}
	}
	p.Fail("Parameter dateRestrict must be d, w, m or y and a number up to %d: m6 is the last six months.", maxRestrict)
	return nil
}
