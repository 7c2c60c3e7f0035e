package searcher

import (
	"context"
	"errors"
	"math"
	"time"

	"anatomy/disk/rankvector"
	"anatomy/searcher/internal/images"
	"anatomy/searcher/internal/presentation"
	"anatomy/searcher/internal/shard"
	"anatomy/searcher/query"
	"anatomy/searcher/reload"
	"anatomy/searcher/scoring"
	"anatomy/vocab"
	"anatomy/weburl"
)

// A Request is one query of a person or program.
type Request struct {
	Query       string
	Offset      int           // results to skip; at most MaxOffset
	Limit       int           // results wanted, default 10, at most MaxLimit
	Explain     bool          // explain the score of every result
	Bare        bool          // return only Doc, Score and PageRank, and read no text: to measure ranking
	Verbatim    bool          // never answer a corrected query
	Ungrouped   bool          // do not collapse results
	Similar     vocab.DocID   // return the result that shows this page, and all pages collapsed into it; 0 for none
	Strict      bool          // never relax the query
	Preferences *Preferences  // of the person who searches; default none
	Rank        string        // name of the rank vector, default Options.Ranking; NoRank; or NearPrefix and a URL
	Anchors     Anchors       // anchor texts that count, default AllAnchors
	Lang        string        // BCP 47: language of the forms of terms, default that of most pages
	Reads       string        // BCP 47, joined by commas: languages of the person who searches, best first
	Count       Count         // matches that are counted exactly, default CountSome
	Facets      string        // kinds of facets to count, as ParseFacets returns them; default none
	Within      time.Duration // deadline, default 1s; a query that exceeds it sets Partial
}

// Bounds of a request.
const (
	DefaultLimit = 10
	MaxLimit     = 100
	MaxOffset    = 10_000
)

// bounded returns the request with defaults filled in and bounds applied.
func (r Request) bounded() Request {
	if r.Limit <= 0 {
		r.Limit = DefaultLimit
	}
	r.Limit = min(r.Limit, MaxLimit)
	r.Offset = min(max(r.Offset, 0), MaxOffset)
	if r.Within <= 0 {
		r.Within = time.Second
	}
	r.Ungrouped = r.Ungrouped && r.Similar == 0
	return r
}

// NoRank is the Request.Rank for no ranks.
const NoRank = rankvector.None

// NearPrefix followed by a URL is a Request.Rank: PageRank with all teleportation to that page,
// computed for the request. Names of vectors have no colon.
const NearPrefix = "near:"

// Anchors selects the anchor texts that count for a page's score. It does not change which pages
// match; it is for comparing rankings.
type Anchors string

// Values of Anchors.
const (
	AllAnchors   Anchors = ""
	OtherAnchors Anchors = "others" // only links from other sites
	NoAnchors    Anchors = "none"
)

// without returns whether anchor texts of the site itself, and of all sites, do not count.
func (r *Request) without() (own, all bool) { return r.Anchors != AllAnchors, r.Anchors == NoAnchors }

// ParseAnchors parses all, others, none or "", which means all.
func ParseAnchors(name string) (Anchors, error) {
	switch used := Anchors(name); used {
	case "all":
		return AllAnchors, nil
	case AllAnchors, OtherAnchors, NoAnchors:
		return used, nil
	}
	return "", errors.New("must be all, others or none")
}

// Count selects how many matches are counted exactly; Response.Exact is false for a lower bound. It
// does not change the results of a query, but what is decided by the number of matches: spelling
// corrections, whether a word after a minus is an option, and whether there are further results.
type Count string

// Values of Count.
const (
	CountSome Count = ""     // up to Options.CountTo
	CountNone Count = "none" // only as many as the best results need, which is the fastest
	CountAll  Count = "all"
)

// ParseCount parses some, none, all or "", which means some.
func ParseCount(name string) (Count, error) {
	switch c := Count(name); c {
	case "some":
		return CountSome, nil
	case CountSome, CountNone, CountAll:
		return c, nil
	}
	return "", errors.New("must be some, none or all")
}

// to returns the number of matches to count exactly. some is that of CountSome.
func (c Count) to(some int) int {
	switch c {
	case CountNone:
		return 1
	case CountAll:
		return math.MaxInt
	}
	return some
}

// Preferences are the preferences of the person who searches. A site is written as in site:, a host
// with its subdomains, or a folder of one.
type Preferences struct {
	Raise []string // pages of these score Weights.Preference more
	Lower []string // pages of these score Weights.Preference less
	Pin   []string // the best MaxPinned pages of each come before all others
	Block []string // pages of these are omitted, and counted in Response.Hidden

	// Lang has BCP 47 tags, joined by commas. Pages in one of these languages, of any region,
	// score Weights.Preference more.
	Lang string

	// Filters that all results pass, see CheckFilters: others are not results, and not counted. A
	// text that is not a filter is ignored.
	Filters string
}

// CheckFilters returns why a text cannot be [Preferences.Filters], or nil.
func CheckFilters(text string) error {
	_, err := query.ParseFilters(text)
	return err
}

// Bounds of preferences.
const (
	MaxPreferred = 100 // sites in total; the rest are ignored
	MaxPinned    = 3   // pages per pinned site
	MaxLanguages = 20  // in Lang; the rest are ignored
)

// Links is the interface of the link database for queries. It is safe for concurrent use.
type Links interface {
	// Sources returns documents that link to one of to, both ascending: at most n, and only those
	// found before ctx ended. all reports whether the list is complete.
	Sources(ctx context.Context, to []vocab.DocID, n int) (from []vocab.DocID, all bool, err error)

	// Canonical returns the document that a URL leads to which is not in the index itself: the
	// target of a redirect, or the canonical document of a duplicate on another host. It returns 0
	// if there is none.
	Canonical(u weburl.URL) (vocab.DocID, error)

	// Related returns at most n documents that are linked to together with doc, ordered by how
	// often they are, relative to how often they are linked to.
	Related(ctx context.Context, doc vocab.DocID, n int) ([]vocab.DocID, error)

	// Near calls visit with the documents near doc and their ranks: PageRank with all teleportation
	// to doc.
	Near(ctx context.Context, doc vocab.DocID, visit func(doc vocab.DocID, rank float64)) error
}

// A Response is the answer to a Request.
type Response struct {
	Query       string   // as in the request
	Interpreted string   // the interpretation in the query language: `"new york" -site:example.org`
	Filters     []Filter // parts of the query that are more than words, see query.Query.Parts
	Plain       string   // the query without Filters, "" if nothing is left
	Cut         []string // ignored parts of the query, for display: "only the first 64 words were used"
	Suggestion  string   // a spelling correction with more results; "" for none
	Corrected   string   // the correction that was answered because the query has no results: see Why
	Forms       []Forms  // forms of terms that also matched, because too few pages contain the terms
	Words       []string // folded terms used for matching, for highlighting
	Results     []Result
	Facets      []Facet       // see Request.Facets; none without values
	Total       int           // number of matching pages; see Listed for the number of results
	Folded      int           // pages of Total that are collapsed into others: see Result.Similar, Versions
	Exact       bool          // Total is exact, as always up to Options.CountTo; otherwise a lower bound
	Most        int           // results of the relaxed query, in addition to Total: they have Result.Missing
	Partial     bool          // the deadline cut the search short, or a part of the index is Damaged or Missing
	Damaged     bool          // a part of the index could not be read, and pages of it may be missing
	Missing     []int         // numbers of the shards that are not on this machine, so pages of them are missing
	Next        bool          // there are more results
	Hidden      int           // matching pages that are omitted because their sites are blocked
	HiddenExact bool          // Hidden is exact; otherwise it is a lower bound
	Took        time.Duration // of the search
	Reused      bool          // the answer is from the cache: Took is the time of the search that made it
	Documents   int           // number of pages searched
	NoPages     bool          // the index has no page
	Services    bool          // some of them define web services, see type:service
	Rank        RankUsed
	State       string      // identifies the state of the index and ranks
	Cached      vocab.DocID // the query is cache: of this page and nothing else; 0 otherwise
	Absent      []string    // folded terms that no page has, if no page matches all of the query
	Unknown     []string    // URLs, without their scheme, that the query names and the index lacks
	Why         string      // for display: why results are missing, corrected, relaxed or partial
}

// Listed returns the number of results on all pages of results: without collapsed pages, and with
// the results of the relaxed query. Like Total it is a lower bound unless Exact.
func (r *Response) Listed() int { return r.Total - r.Folded + r.Most }

// A Filter is a part of a query, in the query language.
type Filter struct {
	Text    string // "site:example.org"
	Without string // the query without it, or ""
}

// RankUsed is the rank vector that was used. The zero value means none.
type RankUsed struct {
	Name         string
	Computed     time.Time
	Personalized string // pages that it favours, "" for none
}

// Forms are the forms of one term of a query.
type Forms struct {
	Word  string   // folded
	Forms []string // forms in the index, without the term itself
}

// A Result is one page that matches.
type Result struct {
	Doc         vocab.DocID
	URL         string
	Title       string // the page's own, or the commonest anchor text, or the URL
	Snippet     []Fragment
	Section     Section   // of the snippet; without Heading if the whole page is the answer
	Sections    []Section // further sections that answer the query, best first
	Lang        string    // BCP 47, "" if unknown
	Score       Score
	PageRank    float64   // share of the sum of all ranks; 0 if none is computed
	Fetched     time.Time // zero for a page that is only known from links
	Crawled     bool
	NoArchive   bool // its publisher forbids showing a cached copy
	Medium      vocab.Medium
	Date        vocab.Day    // when the page was changed or published, according to itself; 0 if unknown
	Missing     []string     // for a relaxed query: terms, as typed, that the page lacks
	Pinned      bool         // it comes first because its site is pinned
	Pin         *Pin         // it comes first because the operator pinned it for the query; nil if not
	Similar     int          // number of near-duplicates collapsed into it: Request.Similar returns them
	Versions    []Version    // of the page in other languages, whether or not they match
	More        int          // for the last result of a host among ten: later results of the host
	Explanation *Explanation // with Request.Explain
}

// A Pin is the operator's note on a page that is pinned for a query. The title of the result is the
// pin's, if it has one.
type Pin struct {
	Note string // "" for none
}

// HasCopy reports whether there is a cached page to show.
func (r *Result) HasCopy() bool { return r.Crawled && !r.NoArchive }

// Link returns the URL of the section of the result, or of the page.
func (r *Result) Link() string {
	if r.Section.Heading == "" {
		return r.URL
	}
	return r.SectionURL(&r.Section)
}

// PassageURL returns the URL of Link with a fragment directive that has browsers scroll to the marked
// words of the snippet and highlight them. Where the page lacks them, they go to the section, if it
// has an id.
func (r *Result) PassageURL() string {
	words := presentation.Directives(r.Snippet)
	switch {
	case words == "" || r.Medium != vocab.HTML && r.Medium != vocab.PlainText:
		return r.Link()
	case r.Section.ID == "":
		return r.URL + "#" + words
	}
	return r.Link() + words
}

// SectionURL returns the URL of a section of the result. It returns that of the page if no link can
// lead to the section: browsers find text only on pages of HTML and plain text.
func (r *Result) SectionURL(s *Section) string {
	if s.ID == "" && r.Medium != vocab.HTML && r.Medium != vocab.PlainText {
		return r.URL
	}
	return r.URL + s.Fragment()
}

// A Version is a page in another language.
type Version struct {
	Doc  vocab.DocID
	URL  string
	Lang string // BCP 47, lower case
}

// Types used in results, explanations and options.
type (
	Explanation = shard.Explanation
	Near        = shard.Near

	Fragment = presentation.Fragment
	Section  = presentation.Section

	SectionPart = presentation.SectionPart
	Score       = scoring.Score
	Part        = scoring.Part
	Milli       = scoring.Milli
	Weights     = scoring.Weights

	TunedWeights = reload.File[*scoring.Weights] // a file of weights that may be changed while it is in use
	Ranking      = reload.File[string]           // a file that names the rank vector of requests that name none, or ""
	Languages    = reload.File[string]           // a file with Preferences.Lang of requests that name none
)

// Bounds of results.
const (
	NearDistance = scoring.NearDistance // maximum distance of the sketches of near-duplicates
	MaxRelated   = scoring.MaxRelated   // number of pages that related: finds
)

// Types of [Searcher.Images].
type (
	// An ImageResult is one image, with the best page that shows it.
	ImageResult = images.Result

	// ImagesOf returns the images on a page, in page order. An error ends the search; an unreadable
	// page has no images.
	ImagesOf func(info *vocab.DocInfo) ([]vocab.Image, error)
)

// ImagePages is the number of matching pages whose images are ranked.
const ImagePages = images.MaxPages

// An ImageResponse answers a request for images. Its Response is about the matching pages, except
// for Next and Took; it has no Results.
type ImageResponse struct {
	Response
	Images []ImageResult
	Found  int // total number of images on these pages
	Looked int // number of pages whose images were ranked, at most ImagePages
}
