package reader

import (
	"context"

	"anatomy/collection"
	"anatomy/searcher"
	"anatomy/vocab"
)

// A Collection is what the server shows: a data folder, or a fixture in tests. Methods are called
// by many goroutines at once. An unknown URL or document is an error that wraps
// collection.ErrNotFound; collection.ErrNotReady means that no index is open yet.
type Collection interface {
	Index
	Store
	Reports
}

// An Index answers queries.
type Index interface {
	Ready() bool // an index is open
	Search(ctx context.Context, r searcher.Request) (*searcher.Response, error)
	Images(ctx context.Context, r searcher.Request) (*searcher.ImageResponse, error)
	// All passes at most limit results to each, see searcher.Searcher.All.
	All(ctx context.Context, r searcher.Request, limit int,
		each func(*searcher.Result) error) (*searcher.Response, error)
	// Explain explains the score of a URL. It may return nil for a page that does not match.
	Explain(ctx context.Context, r searcher.Request, url string) (*searcher.Explanation, error)
	// Complete returns at most limit queries that begin with typed.
	Complete(typed string, limit int) []string
	AnswerStats() searcher.AnswerStats // of the answer cache
	MissingShards() []int              // numbers of the shards that are not on this machine
}

// A Store has pages as they were fetched.
type Store interface {
	Find(ctx context.Context, url string) (vocab.DocID, error)
	// Page may return nil for a document that was never fetched.
	Page(ctx context.Context, doc vocab.DocID) (*vocab.Page, error)
	Info(ctx context.Context, doc vocab.DocID) (vocab.DocInfo, error) // of the index
	Life(ctx context.Context, doc vocab.DocID) (*collection.Life, error)
	Versions(ctx context.Context, doc vocab.DocID) (*collection.Versions, error)
	Version(ctx context.Context, doc vocab.DocID, place string) (*vocab.Page, error)
	// Image returns an image that a page shows, by its ID within the page.
	Image(ctx context.Context, doc vocab.DocID, id string) (*vocab.Image, error)
	HasIcon(host string) bool
	// Icon returns the icon of a host as its site sent it.
	Icon(host string) ([]byte, error)
}

// Reports describe what the collection knows of a page, a site or itself.
type Reports interface {
	// Links returns at most n links each way, see collection.Site.Links.
	Links(
		ctx context.Context, doc vocab.DocID, n int, titled func(*collection.LinkReport) []vocab.DocID,
	) (*collection.LinkReport, error)
	Trace(ctx context.Context, url string) (*collection.Trace, error)
	Report(ctx context.Context, site string, n int) (*collection.SiteReport, error) // at most n pages
	Stats(ctx context.Context) (any, error)                                         // encoded as JSON
}
