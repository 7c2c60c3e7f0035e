package searcher

import (
	"context"
	"errors"
	"time"

	"anatomy/disk/rankvector"
	"anatomy/searcher/internal/images"
	"anatomy/searcher/internal/presentation"
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
	Bare        bool          // return Doc, Score and PageRank alone, and read no text: to measure ranking
	Verbatim    bool          // never answer a corrected query
	Ungrouped   bool          // do not collapse results
	Similar     vocab.DocID   // return the result that shows this page, and all collapsed into it; 0 for none
	Strict      bool          // never relax the query
	Preferences *Preferences  // of the person who searches; default none
	Rank        string        // name of the rank vector, default rankvector.Default; NoRank; or NearPrefix and a URL
	Anchors     Anchors       // texts of links that count, default AllAnchors
	Lang        string        // BCP 47: the language in which terms have forms, default that of most pages
	Reads       string        // BCP 47, joined by commas: languages of the person who searches, the best first
	Within      time.Duration // deadline, default 1s; a query that exceeds it sets Partial
}

// Bounds of a request.
const (
	DefaultLimit = 10
	MaxLimit     = 100
	MaxOffset    = 10_000
)

// bounded returns the request with defaults, and within its bounds.
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

// NoRank is the name of a rank vector for Request.Rank that has no ranks.
const NoRank = rankvector.None

// NearPrefix begins a Request.Rank with the URL of a page: PageRank with all teleportation to that page,
// computed for the request. Names of vectors have no colon.
const NearPrefix = "near:"

// Anchors says which texts of links to a page count for its score. The pages that match do not depend
// on it: it is for comparing the order of results.
type Anchors string

// Which texts of links count.
const (
	AllAnchors   Anchors = ""
	OtherAnchors Anchors = "others" // of links from other sites
	NoAnchors    Anchors = "none"
)

// ParseAnchors returns which texts of links count, given all, others, none or "", which is all.
func ParseAnchors(name string) (Anchors, error) {
	switch used := Anchors(name); used {
	case "all":
		return AllAnchors, nil
	case AllAnchors, OtherAnchors, NoAnchors:
		return used, nil
	}
	return "", errors.New("must be all, others or none")
}

// Preferences are what a person who searches thinks of sites and languages. A site is written as in
// site: : a host with its subdomains, or a folder of one.
type Preferences struct {
	Raise []string // their pages score Weights.Preference more
	Lower []string // their pages score Weights.Preference less
	Pin   []string // the best MaxPinned pages of each come before all others
	Block []string // their pages are left out, and counted in Response.Hidden
	Lang  string   // pages in this language, the first part of a BCP 47 tag, score Weights.Preference more
}

// Bounds of preferences.
const (
	MaxPreferred = 100 // sites in all; the rest are ignored
	MaxPinned    = 3   // pages of each pinned site
)

// Links is the link database as far as queries read it. Its methods may be called from any number
// of goroutines.
type Links interface {
	// Sources returns documents that link to one of some, both ascending: at most n, and only those
	// found before ctx ended. All reports whether these are all.
	Sources(ctx context.Context, to []vocab.DocID, n int) (from []vocab.DocID, all bool, err error)

	// Canonical returns the document that a URL without one of its own in the index leads to: of a
	// redirect its target, of a copy on another host the page that stands for both. It returns 0 if
	// there is none.
	Canonical(ctx context.Context, u weburl.URL) (vocab.DocID, error)

	// Related returns at most n documents that are linked to together with doc, those first that are
	// most often, for how often they are linked to.
	Related(ctx context.Context, doc vocab.DocID, n int) ([]vocab.DocID, error)

	// Near calls visit with the documents near doc and their ranks, PageRank with all teleportation to
	// doc.
	Near(ctx context.Context, doc vocab.DocID, visit func(doc vocab.DocID, rank float64)) error
}

// A Response answers a Request.
type Response struct {
	Query       string   // as in the request
	Interpreted string   // as understood, in the query language: `"new york" -site:example.org`
	Filters     []Filter // parts of the query that only include or exclude pages
	Cut         []string // what of the query was ignored, for people: "only the first 64 words were used"
	Suggestion  string   // a spelling correction with more results; "" for none
	Corrected   string   // the correction that was answered, as the query has no results: see Why
	Forms       []Forms  // other forms of terms that matched, because too few pages hold the terms
	Words       []string // folded terms that results were matched with, for highlighting
	Results     []Result
	Total       int  // pages that match; see Listed for the number of results
	Folded      int  // pages of Total that are collapsed into others: see Result.Similar, Versions
	Exact       bool // Total is exact, as always up to Options.CountTo; else a lower bound
	Most        int  // results of the relaxed query, besides Total: they have Result.Missing
	Partial     bool // the deadline cut the search short, or a file could not be read: see Damaged
	Damaged     bool // a part of the index could not be read, and pages of it may be missing
	Next        bool // there are results after these
	Hidden      int  // pages that match and are left out because their sites are blocked
	HiddenExact bool // Hidden is exact; otherwise it is a lower bound
	Took        time.Duration
	Documents   int // pages that were searched
	Rank        RankUsed
	State       string      // of the index and ranks: answers with the same state come from the same
	Cached      vocab.DocID // the query is cache: of this page and nothing else; 0 otherwise
	Unknown     []string    // URLs, without their scheme, that the query names and the index lacks
	Why         string      // for people: why results are missing, corrected, relaxed or partial
}

// Listed returns how many results all pages of results have together: without the pages that are
// collapsed into others, and with the results of the relaxed query. Like Total it is a lower bound
// unless Exact.
func (r *Response) Listed() int { return r.Total - r.Folded + r.Most }

// A Filter is a part of a query, in the query language.
type Filter struct {
	Text    string // "site:example.org"
	Without string // the query without it, "" if nothing is left
}

// RankUsed is the rank vector that counted; the zero value means that there is none.
type RankUsed struct {
	Name         string
	Computed     time.Time
	Personalized string // what it favours, "" for all pages alike
}

// Forms are those of one term of a query.
type Forms struct {
	Word  string   // folded
	Forms []string // those of the index, without the term itself
}

// A Result is one page that matches.
type Result struct {
	Doc         vocab.DocID
	URL         string
	Title       string // the page's own, else the commonest anchor text, else the URL
	Snippet     []Fragment
	Section     Section   // of the snippet; without Heading if the page as a whole is the answer
	Sections    []Section // further sections that answer the query, best first
	Lang        string    // BCP 47, "" if unknown
	Score       Score
	PageRank    float64   // share of all rank, sums to 1 over the collection; 0 if none is computed
	Fetched     time.Time // zero for a page that is known by links alone
	Crawled     bool
	NoArchive   bool // its publisher wants no copy of it shown
	Medium      vocab.Medium
	Date        vocab.Day    // when the page says that it was changed or published; 0 if unknown
	Missing     []string     // of a relaxed query: its terms, as typed, that the page lacks
	Pinned      bool         // it comes first because its site is pinned
	Similar     int          // near-duplicates collapsed into it: Request.Similar returns them
	Versions    []Version    // of the page in other languages, whether they match or not
	More        int          // of the last result of a host among ten: results of the host that come later
	Explanation *Explanation // with Request.Explain
}

// HasCopy reports whether there is a cached page to show.
func (r *Result) HasCopy() bool { return r.Crawled && !r.NoArchive }

// Link returns the URL of the section of the result, or of the page if it has none.
func (r *Result) Link() string {
	if r.Section.Heading == "" {
		return r.URL
	}
	return r.SectionURL(&r.Section)
}

// SectionURL returns the URL of a section of the result. It is that of the page if no link leads to
// the section: browsers find text only on pages of HTML and plain text.
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

// Parts of results, explanations and options.
type (
	Fragment = presentation.Fragment
	Section  = presentation.Section

	SectionPart = presentation.SectionPart
	Score       = scoring.Score
	Part        = scoring.Part
	Milli       = scoring.Milli
	Weights     = scoring.Weights
)

// Bounds of results.
const (
	NearDistance = scoring.NearDistance // of the sketches of near-duplicates
	MaxRelated   = scoring.MaxRelated   // pages that related: finds
)

// An Explanation shows a score as the sum of its Parts (BP98 §4.5.1).
type Explanation struct {
	URL     string
	Score   Score // the sum of the Points of Parts
	Parts   []Part
	Matches bool     // the page matches the query
	Missing []string // terms of the query that the page lacks
	Folded  *Near    // the result that the page is collapsed into, nil if it is shown itself
}

// A Near page is a near-duplicate of another, or a version of it in another language.
type Near struct {
	Doc      vocab.DocID
	URL      string
	Distance int    // of the sketches of the two, at most NearDistance; 0 for a version
	Lang     string // of a version: its language
}

// Images are found by [Searcher.Images].
type (
	// An ImageResult is one image, with the best of the pages that show it.
	ImageResult = images.Result

	// ImagesOf returns the images that a page shows, in its order. An error ends the search; a page
	// that cannot be read has no images.
	ImagesOf func(info *vocab.DocInfo) ([]vocab.Image, error)
)

// ImagePages is how many pages that match are searched for images.
const ImagePages = images.MaxPages

// An ImageResponse answers a request for images. Its Response is about the pages that match, but
// for Next and Took; it has no Results.
type ImageResponse struct {
	Response
	Images []ImageResult
	Found  int // images in all, on the pages that were searched
	Looked int // pages that were searched: the best ones, at most ImagePages
}
