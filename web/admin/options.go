package admin

import (
	"context"
	"time"

	"anatomy/collection"
	"anatomy/vocab"
	"anatomy/web/internal/session"
)

// An Action is a login, an action of the admin page or the use of a wrong API key.
type Action = session.Action

// MinToken is the minimum length of a token in bytes.
const MinToken = session.MinToken

// Options configure the admin page.
type Options struct {
	Crawl Crawl  // the running crawl, if any; default nil: no admin page
	Jobs  Jobs   // default nil: the admin page begins no jobs and does not show the collection
	Token string // opens the actions, at least MinToken bytes; default none: nobody may act

	// ReadToken opens private pages and nothing else, at least MinToken bytes. Default: none does.
	ReadToken string

	// Audit records logins and actions, successful or not, but no login with a wrong token. Default
	// nil: nothing is recorded.
	Audit func(Action)

	// SlowQueries keeps the newest searches that took so long. Default 0: none, since they record what
	// people search for.
	SlowQueries time.Duration

	// Searches counts queries that found nothing, and results below the first that people opened,
	// without who and when. Default false: none, since they show what people search for.
	Searches bool

	Tuning Tuning // default nil: the admin page changes no synonyms, pins and judged queries

	Settings Settings // default nil: the admin page does not show and change the rules of the collection

	Cluster Cluster // of which this machine is a part; default nil: none
}

// A Cluster is the machines that share the collection.
type Cluster interface {
	// Status returns the state of the cluster, which may be some seconds old.
	Status(ctx context.Context) (*vocab.ClusterStatus, error)

	// Copied returns when this machine and the bucket last had the same state; zero for never.
	Copied() time.Time
}

// A Crawl is the crawl that runs on the collection, perhaps in another process. Without one,
// methods return vocab.ErrNoCrawl. The admin page shows the text of other errors to visitors who
// may act.
type Crawl interface {
	Status(ctx context.Context) (*vocab.CrawlStatus, error)
	Pause(ctx context.Context) error
	Resume(ctx context.Context) error
	Add(ctx context.Context, urls []string) ([]vocab.AddResult, error)
	Remove(ctx context.Context, pattern string) (uint64, error)
}

// Jobs run long work in the server: a job continues when its page is closed. The admin page shows
// the text of errors to visitors who may act.
type Jobs interface {
	// Holdings measures the collection.
	Holdings(ctx context.Context) (*collection.Holdings, error)

	// Begin begins a job: a crawl, the computation of ranks, or learning. One job runs at a time.
	Begin(o JobOptions) error

	// List returns the running job and earlier ones, newest first.
	List() []Job

	// RankPage returns the report of a job that computed ranks, as an HTML page, or nil.
	RankPage(job int) []byte

	// Remove blocks pages, and Restore unblocks them; both return a sentence about the result. Removed
	// returns the blocked patterns.
	Remove(ctx context.Context, targets []string) (result string, err error)
	Restore(ctx context.Context, targets []string) (result string, err error)
	Removed(ctx context.Context) ([]string, error)
}

// JobOptions describe a job to begin: computing ranks, learning weights, or a crawl.
type JobOptions struct {
	Learn    bool     // learn weights from the judged queries
	Rank     bool     // compute ranks; else crawl
	Damping  float64  // of ranks; 0 for the default
	URLs     []string // seeds of a crawl; none to continue the last crawl
	Scope    string   // of a crawl: domain, host, dir, page, any; "" for domain
	MaxPages uint64   // of a crawl; 0 for no limit
	Recrawl  bool     // of a crawl: visit again what is due
}

// A Job is the state of a job.
type Job struct {
	Number  int
	Name    string // "crawl of https://example.org/"
	Began   time.Time
	Ended   time.Time // zero while it runs
	Said    string    // progress, or the result
	Failed  bool
	HasPage bool // RankPage has its report
	Learns  bool // it learns weights
}
