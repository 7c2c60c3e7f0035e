// Package marks has what operators say about results of a query: that a page is right or wrong for it.
package marks

// A Mark is what is said about a page of a query.
type Mark string

// The marks.
const (
	Right Mark = "right" // the page is relevant
	Wrong Mark = "wrong" // the page is not relevant
	None  Mark = "none"  // nothing is said
)

// A Judged is a query with the pages that have a mark.
type Judged struct {
	Query string   `json:"query"`
	Right []string `json:"right"` // URLs
	Wrong []string `json:"wrong"` // URLs
}

// A Source knows the marks of results.
type Source interface {
	// Marks returns the marks of pages of a query, given by their URLs: one for each.
	Marks(query string, urls []string) ([]Mark, error)
}
