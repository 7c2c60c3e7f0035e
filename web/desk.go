package web

import (
	"context"
	"time"
)

// A Desk is what the dashboard works on, beside the crawl that runs. The text of its errors is shown
// to whoever may act.
type Desk interface {
	// Holdings measures the collection.
	Holdings(ctx context.Context) (*Holdings, error)

	// Begin begins work that takes long, and goes on when nobody looks: a crawl, or new ranks. One
	// runs at a time.
	Begin(o Order) error

	// Tasks are the works that runs and those that ran, the newest first.
	Tasks() []Task

	// RankPage is the report of a task that ranked, as a whole page of HTML, or nil.
	RankPage(task int) []byte

	// Remove takes pages out of the results for good, and Restore brings them back; both say what came
	// of it. Removed lists the patterns that are out.
	Remove(ctx context.Context, targets []string) (said string, err error)
	Restore(ctx context.Context, targets []string) (said string, err error)
	Removed(ctx context.Context) ([]string, error)
}

// Holdings are what a collection holds and what room it takes.
type Holdings struct {
	Pages     int // that were fetched
	Uncrawled int // known by links alone
	Words     int64
	Postings  int64
	Links     int64
	Segments  []SegmentHolding // oldest first
	Disk      []DiskHolding
	Free      int64 // bytes left on the disk, 0 where unknown
	Ranks     []RankHolding
}

// A SegmentHolding is a segment of the index.
type SegmentHolding struct {
	Name      string
	Documents int
	Bytes     int64
}

// A DiskHolding is the size of one structure.
type DiskHolding struct {
	Name  string
	Bytes int64
}

// A RankHolding is a vector of ranks.
type RankHolding struct {
	Name     string
	About    string // how it was computed
	Computed time.Time
	Used     bool // by the searcher, where nobody asks for another
}

// An Order is work to begin: a crawl of URLs, or of what is left where there are none, or new ranks.
type Order struct {
	Rank     bool
	Damping  float64  // of Rank, 0 for the default
	URLs     []string // of a crawl
	Scope    string   // of a crawl: domain, host, dir, page, any; "" for domain
	MaxPages uint64   // of a crawl, 0 for no limit
	Recrawl  bool     // visit again what is due
}

// A Task is work that was begun from the dashboard.
type Task struct {
	Number  int
	Name    string // "crawl of https://example.org/"
	Began   time.Time
	Ended   time.Time // zero while it runs
	Said    string    // how far it is, or what came of it
	Failed  bool
	HasPage bool // see RankPage
}
