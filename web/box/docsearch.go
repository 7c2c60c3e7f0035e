package box

import (
	"cmp"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/gin-gonic/gin"

	"anatomy/searcher"
	"anatomy/web/internal/access"
	"anatomy/web/internal/params"
	"anatomy/web/internal/reader"
	"anatomy/web/internal/respond"
	"anatomy/web/internal/text"
)

// The requests and answers of Algolia's search API, as far as DocSearch's client uses them. All
// texts of hits are HTML, which the client inserts unchanged.

// A docSearch answers DocSearch's client.
type docSearch struct {
	reader   *reader.Reader
	respond  *respond.Responder
	siteSets map[string][]string // sites by the name of an index
}

type queries struct {
	Requests []query `json:"requests"`
}

// A query is one search. Params of older clients has the other fields as a query string.
type query struct {
	Index   string `json:"indexName"`
	Query   string `json:"query"`
	Hits    *int   `json:"hitsPerPage"`
	Page    int    `json:"page"` // from 0
	PreTag  string `json:"highlightPreTag"`
	PostTag string `json:"highlightPostTag"`
	Params  string `json:"params"`
}

type answers struct {
	Results []answer `json:"results"`
}

type answer struct {
	Hits    []hit  `json:"hits"`
	Total   int    `json:"nbHits"` // pages
	Exact   bool   `json:"exhaustiveNbHits"`
	Page    int    `json:"page"`
	Pages   int    `json:"nbPages"`
	PerPage int    `json:"hitsPerPage"`
	TookMS  int64  `json:"processingTimeMS"`
	Query   string `json:"query"`
	Params  string `json:"params"`
	Index   string `json:"index"`
}

// A hit is a page, of type lvl1, the text of a page or of a section, of type content, or the
// heading of a section, of the type of its level.
type hit struct {
	ID        string     `json:"objectID"`
	Type      string     `json:"type"`
	URL       string     `json:"url"`
	Page      string     `json:"url_without_anchor"`
	Anchor    *string    `json:"anchor"`
	Content   *string    `json:"content"`
	Hierarchy levels     `json:"hierarchy"`
	Highlight markedText `json:"_highlightResult"`
	Snippet   markedText `json:"_snippetResult"`
}

// levels are the headings by level, "lvl0" to "lvl6", null for a missing one: lvl1 is the title.
// DocSearch groups hits by lvl0 and shows five of a group, so lvl0 is the path to the page.
type levels map[string]*string

// markedText has the texts of a hit, with the words of the query between tags.
type markedText struct {
	Hierarchy map[string]marked `json:"hierarchy"`
	Content   *marked           `json:"content,omitempty"`
}

type marked struct {
	Value string   `json:"value"`
	Level string   `json:"matchLevel"` // none, partial or full
	Words []string `json:"matchedWords"`
}

const (
	deepest     = 6  // level of a heading
	defaultHits = 20 // per answer, as at Algolia
	maxQueries  = 20 // of a request
	maxTag      = 100
)

// queries answers POST /1/indexes/*/queries.
func (s *docSearch) queries(c *gin.Context) {
	a, err := s.answers(c)
	if err != nil {
		s.problem(c, s.respond.Judge(c, err))
		return
	}
	s.respond.JSON(c, http.StatusOK, a)
}

// problem answers with an error as Algolia's clients read it.
func (s *docSearch) problem(c *gin.Context, p *respond.Problem) {
	s.respond.JSON(c, p.Status, map[string]any{"message": p.Message, "status": p.Status})
}

func (s *docSearch) answers(c *gin.Context) (*answers, error) {
	if c.Param("index") != "*" {
		return nil, respond.NotFound("There is nothing at this address. Post to /1/indexes/*/queries.")
	}
	var asked queries
	if err := params.DecodeJSON(c, &asked); err != nil { // of any type: browsers send text/plain
		return nil, err
	}
	n := len(asked.Requests)
	if n == 0 || n > maxQueries {
		return nil, respond.BadParameter(
			fmt.Sprintf("The body has %d requests. Send 1 to %d.", n, maxQueries))
	}
	err := access.ClientOf(c.Request.Context()).Spend(c.Writer.Header(), n-1) // one is counted
	if err != nil {
		return nil, err
	}
	all := &answers{Results: make([]answer, 0, n)}
	for i := range asked.Requests {
		q := &asked.Requests[i]
		if err := q.readParams(); err != nil {
			return nil, err
		}
		one, err := s.answer(c, q)
		if err != nil {
			return nil, err
		}
		all.Results = append(all.Results, *one)
	}
	return all, nil
}

// readParams sets the fields that Params names.
func (q *query) readParams() error {
	values, err := url.ParseQuery(q.Params)
	if err != nil {
		return respond.BadParameter("Field params is not a query string.")
	}
	for name, field := range map[string]*string{
		"query": &q.Query, "highlightPreTag": &q.PreTag, "highlightPostTag": &q.PostTag,
	} {
		*field = cmp.Or(values.Get(name), *field)
	}
	if n, err := strconv.Atoi(values.Get("hitsPerPage")); err == nil {
		q.Hits = &n
	}
	if n, err := strconv.Atoi(values.Get("page")); err == nil {
		q.Page = n
	}
	return nil
}

// answer answers one query. Half of the hits of an answer may be sections.
func (s *docSearch) answer(c *gin.Context, q *query) (*answer, error) {
	hits := defaultHits
	if q.Hits != nil {
		hits = min(*q.Hits, searcher.MaxLimit)
	}
	p := params.Read(c)
	r := p.Request()
	r.Query, r.Limit = text.Clean(q.Query), (hits+1)/2
	a := &answer{
		Hits: []hit{}, Page: q.Page, PerPage: hits, Query: q.Query, Params: q.Params, Index: q.Index,
	}
	if r.Query == "" || hits <= 0 { // a client that asks for facets, which there are none of
		return a, nil
	}
	r.Offset = q.Page * r.Limit
	err := cmp.Or(params.CheckQuery("query", q.Query, r.Query),
		params.CheckNumber("page", q.Page, 0, searcher.MaxOffset/r.Limit))
	if err != nil {
		return nil, err
	}
	found, err := searchTyped(
		c.Request.Context(), s.reader, r, params.OfSites(s.siteSets[q.Index]), true)
	if err != nil {
		return nil, err
	}
	a.Total, a.Exact, a.TookMS = found.Listed(), found.Exact, found.Took.Milliseconds()
	a.Pages = (min(a.Total, searcher.MaxOffset+r.Limit) + r.Limit - 1) / r.Limit
	a.Hits = newHits(found, hits, newTags(q, found.Words))
	return a, nil
}

// newHits returns at most most hits: all pages, and of the first ones their texts and sections.
func newHits(a *searcher.Response, most int, t *tags) []hit {
	hits := make([]hit, 0, most)
	for i := range a.Results {
		r := &a.Results[i]
		if text.Linkable(r.URL) == "" { // clients make it a link
			continue
		}
		rest := len(a.Results) - 1 - i
		of := t.hits(r)
		hits = append(hits, of[:min(len(of), most-rest-len(hits))]...)
	}
	return hits
}

// tags convert texts to HTML, with the words of a query between two tags.
type tags struct {
	before, after string
	words         *text.Marker
}

func newTags(q *query, words []string) *tags {
	t := &tags{"<em>", "</em>", text.NewMarker(words)}
	if q.PreTag != "" && len(q.PreTag)+len(q.PostTag) <= maxTag {
		t.before, t.after = q.PreTag, q.PostTag
	}
	return t
}

// hits returns a page, its text, and its further sections.
func (t *tags) hits(r *searcher.Result) []hit {
	id := strconv.FormatUint(uint64(r.Doc), 10)
	page := hit{ID: id, Type: "lvl1", URL: r.URL, Page: r.URL}
	t.set(&page, r, nil)
	all := []hit{page}
	if len(r.Snippet) > 0 {
		h := page
		if r.Section.Heading != "" {
			h = t.section(r, &r.Section)
		}
		h.ID, h.Type = id+"/text", "content"
		t.setContent(&h, r)
		all = append(all, h)
	}
	for i := range r.Sections {
		all = append(all, t.section(r, &r.Sections[i]))
	}
	return all
}

// section returns the hit of a section.
func (t *tags) section(r *searcher.Result, s *searcher.Section) hit {
	var headings []string
	for i, heading := range append(slices.Clone(s.Path), s.Heading) {
		heading = trim(heading)
		if i > 0 || len(s.Path) == 0 || !strings.HasPrefix(r.Title, heading) {
			headings = append(headings, heading)
		}
	}
	headings = headings[max(0, len(headings)-(deepest-1)):]
	h := hit{Type: fmt.Sprintf("lvl%d", len(headings)+1), URL: r.SectionURL(s), Page: r.URL}
	_, anchor, _ := strings.Cut(h.URL, "#")
	h.ID, h.Anchor = fmt.Sprintf("%d#%s", r.Doc, anchor), &anchor
	t.set(&h, r, headings)
	return h
}

// trim removes white space, and the zero-width space that links to headings often have.
func trim(heading string) string {
	return strings.TrimFunc(heading, func(r rune) bool { return unicode.IsSpace(r) || r == '\u200b' })
}

// setContent sets the text of a hit.
func (t *tags) setContent(h *hit, r *searcher.Result) {
	plain, content := "", marked{Level: "none", Words: []string{}}
	for _, f := range r.Snippet {
		plain += html.EscapeString(f.Text)
		t.add(&content, f.Text, f.Mark)
	}
	h.Content, h.Highlight.Content, h.Snippet.Content = &plain, &content, &content
}

// set sets the levels of a hit: those of its page, and the headings of a section.
func (t *tags) set(h *hit, r *searcher.Result, headings []string) {
	headings = append([]string{strings.Join(text.Breadcrumb(r.URL), " › "), r.Title}, headings...)
	h.Hierarchy = levels{}
	h.Highlight.Hierarchy = map[string]marked{}
	for i := range deepest + 1 {
		level := fmt.Sprintf("lvl%d", i)
		h.Hierarchy[level] = nil
		if i >= len(headings) {
			continue
		}
		plain := html.EscapeString(headings[i])
		h.Hierarchy[level] = &plain
		m := marked{Level: "none", Words: []string{}}
		t.words.Each(headings[i], func(piece string, mark bool) { t.add(&m, piece, mark && i > 0) })
		h.Highlight.Hierarchy[level] = m
	}
	h.Snippet.Hierarchy = h.Highlight.Hierarchy
}

// add adds a piece of text. Not all words need occur in one text, so a match is partial.
func (t *tags) add(m *marked, piece string, mark bool) {
	if !mark || piece == "" {
		m.Value += html.EscapeString(piece)
		return
	}
	m.Value += t.before + html.EscapeString(piece) + t.after
	m.Level = "partial"
	m.Words = append(m.Words, strings.ToLower(piece))
}
