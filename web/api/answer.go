package api

import (
	"bytes"
	"time"

	"anatomy/collection"
	"anatomy/searcher"
	"anatomy/vocab"
	"anatomy/web/internal/address"
	"anatomy/web/internal/params"
	"anatomy/web/internal/text"
)

// The shapes of the JSON API. Field names are stable, and fields may be added. Texts are plain
// text, never HTML: a snippet is a list of fragments with marks. Scores have at most six decimals
// and add up exactly as decimals.

type searchAnswer struct {
	Query       string         `json:"query"`
	Interpreted string         `json:"interpreted"`
	Suggestion  string         `json:"suggestion,omitempty"` // a spelling with more results
	Corrected   string         `json:"corrected,omitempty"`  // the spelling that was searched; Reason says why
	Filters     []filterAnswer `json:"filters,omitempty"`    // parts of the query that are more than words
	Cut         []string       `json:"cut,omitempty"`        // parts of the query that were ignored
	Forms       []formsAnswer  `json:"forms,omitempty"`      // other forms of terms that matched
	Total       TotalAnswer    `json:"total"`
	Tokens      int            `json:"tokens,omitempty"` // with max_tokens: of titles, URLs and passages, estimated
	TookMS      float64        `json:"took_ms"`
	Folded      int            `json:"folded,omitempty"` // near-duplicates, collapsed into others, not in Total
	Partial     bool           `json:"partial"`          // the search timed out, or part of the index is damaged or missing
	Shards      []int          `json:"missing_shards,omitempty"`
	Rank        *rankAnswer    `json:"rank"`             // the rank vector, or null
	Reason      string         `json:"reason,omitempty"` // why there are no results, or others
	Most        int            `json:"most,omitempty"`   // results of Total that miss some terms
	Hidden      int            `json:"hidden,omitempty"` // matching pages of blocked sites
	Facets      []facetAnswer  `json:"facets,omitempty"` // with parameter facets
	Results     []resultAnswer `json:"results"`
	Images      []imageAnswer  `json:"images,omitzero"`       // with type=image, instead of Results
	Next        *string        `json:"next"`                  // address of the next results, or null
	NextCursor  string         `json:"next_cursor,omitempty"` // for parameter cursor, which fails after the index changed
}

type filterAnswer struct {
	Text    string `json:"text"`
	Without string `json:"without"`
}

// A facetAnswer counts the pages that match by one property.
type facetAnswer struct {
	Name     string             `json:"name"`     // "site"
	Relation string             `json:"relation"` // "eq", or "gte": counts are lower bounds, as the time ran out
	Distinct int                `json:"distinct"` // values in all
	Values   []facetValueAnswer `json:"values"`   // see searcher.MaxFacetValues
}

type facetValueAnswer struct {
	Value    string `json:"value"`
	Count    int    `json:"count"`
	Selected bool   `json:"selected"` // the query has the filter
	Filter   string `json:"filter"`
	Query    string `json:"query"` // the query with the filter, without it if it is selected
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

type TotalAnswer struct {
	Value    int    `json:"value"`
	Relation string `json:"relation"` // "eq", or "gte": at least
}

type resultAnswer struct {
	URL         string             `json:"url"`
	Title       string             `json:"title"`
	Pinned      bool               `json:"pinned,omitempty"` // first, because the operator pinned it for the query
	Note        string             `json:"note,omitempty"`   // of the operator, about a pinned page
	Snippet     []fragmentAnswer   `json:"snippet"`
	Section     *sectionAnswer     `json:"section,omitempty"`  // of the snippet; absent if that is of the page as a whole
	Sections    []sectionAnswer    `json:"sections,omitempty"` // further sections that answer the query, best first
	Passage     string             `json:"passage,omitempty"`  // with max_tokens: Markdown, see passages.Pack
	Score       score              `json:"score"`
	Doc         vocab.DocID        `json:"docid"`
	PageRank    float64            `json:"pagerank"`
	Missing     []string           `json:"missing,omitempty"` // terms of the query that the page misses
	FetchedAt   *time.Time         `json:"fetched_at"`        // null for a page that was never fetched
	Lang        string             `json:"lang"`
	Date        string             `json:"date,omitempty"`     // "2024-05-06"
	Filetype    string             `json:"filetype,omitempty"` // "html"
	Crawled     bool               `json:"crawled"`
	Cached      string             `json:"cached,omitempty"`         // address of the cached page
	Similar     *groupAnswer       `json:"similar,omitempty"`        // near-duplicates collapsed into it
	Versions    []versionAnswer    `json:"also_in,omitempty"`        // of the page in other languages
	More        *groupAnswer       `json:"more_from_host,omitempty"` // results of its host further down
	Explanation *explanationAnswer `json:"explanation,omitempty"`
}

// A versionAnswer is a page in another language.
type versionAnswer struct {
	Lang string      `json:"lang"`
	Name string      `json:"name"` // of the language, in itself
	URL  string      `json:"url"`
	Doc  vocab.DocID `json:"docid"`
}

type fragmentAnswer struct {
	Text string `json:"text"`
	Mark bool   `json:"mark"`
}

type sectionAnswer struct {
	URL     string              `json:"url"` // of the section
	Heading string              `json:"heading"`
	Path    []string            `json:"path,omitempty"`  // headings of the sections around it, outermost first
	ID      string              `json:"id,omitempty"`    // of the element that URL leads to
	Score   score               `json:"score"`           // among the sections of the page
	Parts   []sectionPartAnswer `json:"parts,omitempty"` // with explain=1; they add up to Score
}

type sectionPartAnswer struct {
	Word   string `json:"word,omitempty"` // as it is on the page; absent if it is in the title alone
	Where  string `json:"where"`
	Points score  `json:"points"`
}

type explanationAnswer struct {
	URL   string       `json:"url"`
	Score score        `json:"score"` // the sum of points
	Parts []partAnswer `json:"parts"`

	Folded *collection.NearPage `json:"folded,omitempty"` // of a result that was collapsed into another
	Pinned bool                 `json:"pinned,omitempty"` // it comes first, because the operator pinned it
}

type partAnswer struct {
	Name   string `json:"name"`
	Word   string `json:"word,omitempty"`
	Detail string `json:"detail,omitempty"`
	Points score  `json:"points"`
}

// A score is written in points, as an exact decimal.
type score searcher.Score

// MarshalJSON writes 12.345678, -0.5 or 3.
func (s score) MarshalJSON() ([]byte, error) {
	var b []byte
	if s < 0 {
		b, s = append(b, '-'), -s
	}
	b = append(b, text.Points(searcher.Score(s))...)
	b = bytes.TrimRight(b, "0")
	return bytes.TrimSuffix(b, []byte(".")), nil
}

// Answer returns the value that the API encodes as JSON for a response.
func Answer(r searcher.Request, a *searcher.Response) any { return newSearchAnswer(r, a) }

// AnswerWithPassages is Answer with URLs, of pages or sections, that lead to the passage of the snippet
// in a browser.
func AnswerWithPassages(r searcher.Request, a *searcher.Response) any {
	answer := newSearchAnswer(r, a)
	for i := range answer.Results {
		result, passage := &answer.Results[i], a.Results[i].PassageURL()
		if result.Section != nil {
			result.Section.URL = passage
		} else {
			result.URL = passage
		}
	}
	return answer
}

func newSearchAnswer(r searcher.Request, a *searcher.Response) *searchAnswer {
	after := cursorAfter(r, a)
	r = address.Answered(r, a)
	r.Facets = "" // of the next results, which have the same
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
		Shards:      a.Missing,
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
	for i := range a.Facets {
		answer.Facets = append(answer.Facets, newFacetAnswer(&a.Facets[i]))
	}
	for i := range a.Results {
		answer.Results = append(answer.Results, newResultAnswer(r, &a.Results[i]))
	}
	if next, ok := address.NextOffset(r, a); ok {
		href := address.SearchHref("/api/v1/search", r, next)
		if r.Explain {
			href += "&explain=1"
		}
		if r.Preferences != nil {
			href += "&" + (&params.Preferences{Preferences: *r.Preferences}).Values().Encode()
		}
		answer.Next = &href
	}
	return answer
}

// newTotal returns the number of results, and marks a lower bound.
func newTotal(a *searcher.Response) TotalAnswer {
	if a.Exact {
		return TotalAnswer{a.Listed(), "eq"}
	}
	return TotalAnswer{a.Listed(), "gte"}
}

func newFacetAnswer(f *searcher.Facet) facetAnswer {
	answer := facetAnswer{Name: string(f.Kind), Relation: "eq", Distinct: f.Of}
	if !f.Exact {
		answer.Relation = "gte"
	}
	for _, v := range f.Values {
		answer.Values = append(answer.Values, facetValueAnswer{v.Value, v.Count, v.Selected, v.Filter, v.Query})
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
	if r.Pin != nil {
		answer.Pinned, answer.Note = true, r.Pin.Note
	}
	if r.HasCopy() {
		answer.Cached = address.CachedHref(uint64(r.Doc), "", false)
	}
	for _, v := range r.Versions {
		answer.Versions = append(answer.Versions, versionAnswer{v.Lang, text.LanguageName(v.Lang), v.URL, v.Doc})
	}
	for _, f := range r.Snippet {
		answer.Snippet = append(answer.Snippet, fragmentAnswer(f))
	}
	if r.Section.Heading != "" {
		section := newSectionAnswer(r, &r.Section)
		answer.Section = &section
	}
	for i := range r.Sections {
		answer.Sections = append(answer.Sections, newSectionAnswer(r, &r.Sections[i]))
	}
	return answer
}

func newSectionAnswer(r *searcher.Result, s *searcher.Section) sectionAnswer {
	answer := sectionAnswer{URL: r.SectionURL(s), Heading: s.Heading, Path: s.Path, ID: s.ID, Score: score(s.Score)}
	for _, p := range s.Parts {
		answer.Parts = append(answer.Parts, sectionPartAnswer{p.Word, p.Where, score(p.Points)})
	}
	return answer
}

func newExplanationAnswer(e *searcher.Explanation) *explanationAnswer {
	if e == nil {
		return nil
	}
	answer := &explanationAnswer{
		URL: e.URL, Score: score(e.Score), Parts: make([]partAnswer, 0, len(e.Parts)), Pinned: e.Pinned,
	}
	if f := e.Folded; f != nil {
		answer.Folded = &collection.NearPage{Doc: f.Doc, URL: f.URL, Distance: f.Distance, Lang: f.Lang}
	}
	for _, p := range e.Parts {
		answer.Parts = append(answer.Parts, partAnswer{p.Name, p.Word, p.Detail, score(p.Points)})
	}
	return answer
}

// moment returns a time in UTC, nil for the zero time.
func moment(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}

// A groupAnswer counts results that are not shown and names the search that shows them.
type groupAnswer struct {
	Count int    `json:"count"`
	Href  string `json:"href"`
}

func similarAnswer(r searcher.Request, result *searcher.Result) *groupAnswer {
	if result.Similar == 0 {
		return nil
	}
	return &groupAnswer{result.Similar, address.SimilarHref("/api/v1/search", r, result)}
}

func moreAnswer(r searcher.Request, result *searcher.Result) *groupAnswer {
	if result.More == 0 {
		return nil
	}
	return &groupAnswer{result.More, address.HostHref("/api/v1/search", r, text.HostOf(result.URL))}
}
