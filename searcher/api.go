package searcher

import (
	"time"

	"anatomy/vocab"
)

// A Request is one query as a person or program asks it.
type Request struct {
	Query       string
	Offset      int           // results to pass over; at most MaxOffset
	Limit       int           // results wanted, default 10, at most MaxLimit
	Explain     bool          // give every result its Explanation
	Bare        bool          // give of every result its Doc, Score and PageRank alone, and read no text: to measure ranking
	Verbatim    bool          // never answer another spelling of the query than the one that was asked
	Ungrouped   bool          // show each page by its score alone: near-duplicates apart, a host as often as it comes
	Similar     vocab.DocID   // show the result that this page is or is folded into, and all that are folded into it; 0 for none
	Strict      bool          // give no pages that hold only most of the words
	Preferences *Preferences  // of the asker; default none
	Rank        string        // name of the rank vector that counts, default rankvector.Default
	Lang        string        // BCP 47: the language in which words of the query have forms, default that of most pages
	Within      time.Duration // deadline, default 1s; a query that runs out of it says so in Partial
}

// The bounds of a request.
const (
	DefaultLimit = 10
	MaxLimit     = 100
	MaxOffset    = 10_000
)

// A Response answers a Request.
type Response struct {
	Query       string   // as asked
	Interpreted string   // as understood, in the query language: `"new york" -site:example.org`
	Filters     []Filter // what of the query keeps to some pages or refuses some
	Cut         []string // what of the query was left out, for people: "only the first 64 words were used"
	Suggestion  string   // another spelling of the query that has more results; "" for none
	Corrected   string   // the other spelling that was answered, because the query as asked has no results: Why says so
	Forms       []Forms  // the other forms of words that counted, as too few pages hold the words as they are
	Words       []string // the folded words that results were matched with, for highlighting
	Results     []Result
	Total       int  // pages that match
	Folded      int  // pages of Total that are folded into others, among the best; Result.Similar counts them
	Exact       bool // Total is exact, as it always is up to Options.CountTo; otherwise there are at least so many
	Most        int  // results besides those that match: pages that hold most of the words, as too few hold all; see Result.Missing
	Partial     bool // the deadline cut the search short, or a file could not be read: see Why
	Next        bool // there are results after these
	Hidden      int  // pages that match and are left out because their sites are blocked
	HiddenExact bool // Hidden is exact; otherwise there are at least so many
	Took        time.Duration
	Documents   int // pages that were searched
	Rank        RankUsed
	State       string      // the same for answers from the same index and ranks
	Cached      vocab.DocID // the query is cache: of this page and nothing else; 0 otherwise
	Unknown     []string    // URLs, without their scheme, that the query names and the index does not know
	Why         string      // on no results, with Corrected and with Most: why, for people; also what of the index could not be read
}

// A Filter is a part of a query, in the query language.
type Filter struct {
	Text    string // "site:example.org"
	Without string // the query without it, "" where nothing is left
}

// RankUsed is the rank vector that counted; the zero value says that there is none.
type RankUsed struct {
	Name         string
	Computed     time.Time
	Personalized string // what it favours, "" for all pages alike
}

// Forms are those of one word of a query.
type Forms struct {
	Word  string   // folded
	Forms []string // those that the index knows, without the word itself
}

// A Result is one page that matches.
type Result struct {
	Doc         vocab.DocID
	URL         string
	Title       string // the page's own, else the commonest anchor text, else the URL
	Snippet     []Fragment
	Lang        string // BCP 47, "" where unknown
	Score       Score
	PageRank    float64   // share of all rank, sums to 1 over the collection; 0 where none is computed
	Fetched     time.Time // zero for a page that is known by its links alone
	Crawled     bool
	Medium      vocab.Medium
	Date        vocab.Day    // when the page says that it was changed or published; 0 where that is not known
	Missing     []string     // words of the query, as asked, that are not on the page; see Weights.Missing
	Pinned      bool         // it stands where it does because its site is pinned
	Similar     int          // pages that say nearly the same, folded into this one: Request.Similar shows them
	More        int          // with the last of a host among ten results: how many of it stand further down, to let other hosts speak
	Explanation *Explanation // with Request.Explain
}

// A Fragment is a piece of a snippet. It is text, never HTML.
type Fragment struct {
	Text string
	Mark bool // holds words of the query
}

// A Score is counted in millionths, in integers, so that the parts of an Explanation add up to it
// exactly.
type Score int64

// Points is the score as people see it.
func (s Score) Points() float64 { return float64(s) / 1e6 }

// An Explanation shows a score as the sum of its Parts (BP98 §4.5.1).
type Explanation struct {
	URL     string
	Score   Score // the sum of the Points of Parts
	Parts   []Part
	Matches bool     // whether the page is a result of the query at all
	Missing []string // words of the query that are not on the page
	Folded  *Near    // of a result that is folded into another: that one
}

// A Part is one term of the sum.
type Part struct {
	Name   string // what counted: "title", "plain", "proximity", "pagerank"
	Word   string // the query word or pair of words, where the part has one
	Detail string // how the number came about, for people: "3 hits, count weight 2.1, idf 4.07, type weight 6"
	Points Score
}
