package admin

import (
	"time"

	"anatomy/web/internal/marks"
)

// A Mark is what an operator says about a page of a query, and a Judged has the marks of a query.
type (
	Mark   = marks.Mark
	Judged = marks.Judged
)

// The marks.
const (
	Right = marks.Right
	Wrong = marks.Wrong
	None  = marks.None
)

// Tuning changes what searches find. Methods return a sentence about the result. The admin page shows
// the text of errors to visitors who may act.
type Tuning interface {
	// AddSynonyms adds a line of words that find each other's pages: postgres = PostgreSQL.
	AddSynonyms(line string) (result string, err error)

	// AddPin pins the page at a URL to a query.
	AddPin(query, url, title, note string) (result string, err error)

	Judging
	Learning
}

// Judging keeps marks of results, for measuring and learning.
type Judging interface {
	marks.Source

	// SetMark marks a page of a query, or takes its mark back.
	SetMark(query, url string, mark Mark) (result string, err error)

	// DropJudged takes back all marks of a query.
	DropJudged(query string) (result string, err error)

	// Judged returns the judged queries, in the order of their first marks.
	Judged() ([]Judged, error)
}

// Learning has the weights of the ranking, which a job of JobOptions.Learn learns from the judged
// queries.
type Learning interface {
	// Proposal returns the newest weights that were learnt, until they are kept or discarded; nil for
	// none.
	Proposal() *Proposal

	// KeepWeights makes the weights of a proposal, given by its number, those of the collection.
	KeepWeights(number int) (result string, err error)

	// DiscardWeights forgets a proposal.
	DiscardWeights(number int) error

	// HasWeights reports whether the collection has weights of its own, and DropWeights makes the
	// default ones count again.
	HasWeights() bool
	DropWeights() (result string, err error)
}

// A Proposal is weights that were learnt, and their effect.
type Proposal struct {
	Number  int       `json:"number"`
	At      time.Time `json:"at"`
	Queries int       `json:"queries"`           // that were learnt from
	Left    int       `json:"left,omitempty"`    // older queries that were not
	Cut     bool      `json:"cut,omitempty"`     // learning was cut short because it took too long
	Changed []Changed `json:"changed,omitempty"` // weights

	Before Measures  `json:"before"`
	After  Measures  `json:"after"`
	Others *Measures `json:"others,omitempty"` // of weights of one half of the queries on the other half
	Low    float64   `json:"low,omitempty"`    // of the difference of MRR@10 between Before and Others,
	High   float64   `json:"high,omitempty"`   // the ends of the 95 % interval

	Orders []Order `json:"orders"`
	Same   int     `json:"same"` // queries whose first results stay as they are
}

// Measures are those of eval.
type Measures struct {
	Queries  int     `json:"queries"` // that have a right page
	Success1 float64 `json:"success@1"`
	MRR10    float64 `json:"mrr@10"`
	NDCG10   float64 `json:"ndcg@10"`
}

// A Changed is a weight with its value before and after, in thousandths.
type Changed struct {
	Name string `json:"name"`
	From int    `json:"from"`
	To   int    `json:"to"`
}

// An Order is the first results of a query before and after.
type Order struct {
	Query  string  `json:"query"`
	Before []Place `json:"before"`
	After  []Place `json:"after"`
}

// A Place is a page among the first results.
type Place struct {
	URL   string `json:"url"`
	Other int    `json:"other"` // its place in the other list, from 1; 0 for none
	Mark  Mark   `json:"mark,omitempty"`
}
