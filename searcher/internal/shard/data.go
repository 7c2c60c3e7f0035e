package shard

import (
	"slices"
	"strings"

	"anatomy/searcher/internal/presentation"
	"anatomy/searcher/internal/retrieval"
	"anatomy/searcher/query"
	"anatomy/searcher/scoring"
	"anatomy/vocab"
)

// Statistics are the counts over all shards that scores depend on.
type Statistics struct {
	Docs    int   // live documents
	Average int64 // average number of words of a body, over pages that have one
	Ranked  int   // documents with a PageRank
}

// An ExactRequest is everything that exact scores depend on, except the pages.
type ExactRequest struct {
	Statistics
	Terms     *scoring.Terms
	Homes     []Home
	Nearer    map[vocab.DocID]int // by page of related:, how many are nearer to the given page
	Preferred []Preference
	Languages []string // preferred ones
	Rank      string   // for explanations: name of the rank vector, "" for the default one

	OfCollection bool // for explanations: the collection prefers Languages, and not the request
}

// A Home is the home page of a host whose name the query spells.
type Home struct {
	scoring.Candidate
	Host  string
	Share scoring.Milli // share of the name that the query spells
}

// A Preference is a site that the person who searches prefers, dislikes or pins, or that the query
// names by Term.
type Preference struct {
	Site   string
	Term   string `json:",omitzero"`
	Kind   PreferenceKind
	Points scoring.Score
}

// A PreferenceKind is why pages of a site come before or after others.
type PreferenceKind string

// The kinds of preferences.
const (
	Pinned  PreferenceKind = "pinned"
	Raised  PreferenceKind = "raised"
	Lowered PreferenceKind = "lowered"
	Named   PreferenceKind = "named" // by the query
)

// A FirstRequest asks for the best pages of the first phase.
type FirstRequest struct {
	Root    *query.Node
	Terms   retrieval.Terms // the open words, with the points per unit of impact
	K       int             // pages
	CountTo int             // number of matches that are counted exactly
}

// A FirstAnswer has the best pages of one shard or of all, in order, and the number of matches.
type FirstAnswer struct {
	Pages []scoring.Candidate
	Total int
	Exact bool
}

// A Choice is a term that a page may lack, or several alternative terms.
type Choice struct {
	Text string        // in the query language
	IDF  scoring.Score // of the rarest of its terms
	Base []int         // by index in Terms: base of its terms and their forms
}

// A PresentRequest configures the presentation of pages.
type PresentRequest struct {
	Root    *query.Node // for snippets
	Exact   *ExactRequest
	Explain bool
}

// A Presented page has what a result shows.
type Presented struct {
	Info        vocab.DocInfo // without Text
	Passage     presentation.Passage
	Explanation *Explanation // with PresentRequest.Explain
	Unread      bool         // it cannot be read
}

// An Explanation presents a score as the sum of its Parts (BP98 §4.5.1).
type Explanation struct {
	URL     string
	Score   scoring.Score // the sum of the Points of Parts
	Parts   []scoring.Part
	Matches bool     // the page matches the query
	Pinned  bool     // it comes first, because the operator pinned it for the query
	Missing []string // terms of the query that the page lacks
	Folded  *Near    // the result that the page is collapsed into, or nil
}

// A Near page is a near-duplicate of another, or a version of it in another language.
type Near struct {
	Doc      vocab.DocID
	URL      string
	Distance int    // of the two texts' sketches, in bits; above NearDistance if the pages are near-duplicates of a third; 0 for a version
	Lang     string // language of a version
}

// A HostDoc is a document with its host, in the form of URL keys.
type HostDoc struct {
	Doc  vocab.DocID
	Host string
}

// FirstDocs returns the first n documents in the order of URLs, ascending by DocID. all has the
// first n of each shard in that order. No two shards share a host.
func FirstDocs(all [][]HostDoc, n int) (docs []vocab.DocID) {
	merged := slices.Concat(all...)
	if len(all) > 1 {
		slices.SortStableFunc(merged, func(a, b HostDoc) int { return strings.Compare(a.Host, b.Host) })
	}
	for _, d := range merged[:min(n, len(merged))] {
		docs = append(docs, d.Doc)
	}
	slices.Sort(docs)
	return docs
}
