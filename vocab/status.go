package vocab

import (
	"errors"
	"time"
)

// ErrNoCrawl says that no crawl runs on a data folder.
var ErrNoCrawl = errors.New("no crawl runs on this data folder")

// A CrawlStatus is what a running crawl says of itself: what it does, and why it waits. It goes as
// JSON from the process that crawls to those that show it.
type CrawlStatus struct {
	State   string    `json:"state"` // one of the constants below
	Process int       `json:"process"`
	Began   time.Time `json:"began"`
	At      time.Time `json:"at"` // when this was true

	Pages    int64 `json:"pages"`  // kept, over all runs
	Known    int64 `json:"known"`  // URLs
	Queued   int64 `json:"queued"` // to be fetched, those that wait for another try among them
	InFlight int64 `json:"in_flight"`

	Rate  float64   `json:"pages_per_second"` // over the last ten seconds
	Rates []float64 `json:"rates"`            // pages of each of the last seconds, oldest first, at most RateSeconds

	Bound    float64 `json:"bound_pages_per_second"` // what delays allow the sites with a delay together
	Bounded  int     `json:"bounded_sites"`          // sites with URLs and a delay to keep
	Unbound  int     `json:"unbounded_sites"`        // and those without a delay
	MaxHosts int     `json:"max_hosts"`              // hosts visited at once

	Hosts     []HostStatus     `json:"hosts"`      // with URLs to fetch, the longest queue first; at most MaxHostStatus
	HostCount int              `json:"host_count"` // all with URLs to fetch
	Waiting   map[string]int64 `json:"waiting"`    // hosts that are not asked now, by reason
	Errors    map[string]int64 `json:"errors"`     // fetches of this run that brought no page, by kind
	Outcomes  map[string]int64 `json:"outcomes"`   // of the last fetch of each URL, by Outcome, over all runs
	Removed   []string         `json:"removed"`    // patterns taken out of this run

	Requests   int64 `json:"requests"` // of this run, robots.txt and sitemaps among them
	Bytes      int64 `json:"bytes"`    // received by this run, after decompression
	Duplicates int64 `json:"duplicates"`

	DNSHits    int64 `json:"dns_hits"`
	DNSMisses  int64 `json:"dns_misses"`
	DNSQueries int64 `json:"dns_queries"` // sent
	DNSFailed  int64 `json:"dns_failures"`
	URLHits    int64 `json:"url_hits"` // seen tests answered by the cache
	URLMisses  int64 `json:"url_misses"`

	Searchable int   `json:"searchable"`
	Segments   int   `json:"segments"`
	Links      int64 `json:"links"`

	Scrubbed int64 `json:"scrubbed_bytes"` // of the repository, read again by this run to prove it
	Scrubs   int64 `json:"scrubs"`         // how often all of it was
	Damaged  int64 `json:"damaged"`        // places that could not be read: anatomy check --repair mends them
}

// The states of a crawl.
const (
	Crawling  = "crawling"
	Paused    = "paused"    // until it is resumed; nothing is asked of anyone
	Finishing = "finishing" // nothing is left to fetch: indexing and ranking what came last
)

// The bounds of a CrawlStatus.
const (
	RateSeconds   = 120
	MaxHostStatus = 100
)

// A HostStatus says how it stands with one host.
type HostStatus struct {
	Host     string        `json:"host"`
	Queued   int64         `json:"queued"`
	InFlight int64         `json:"in_flight,omitempty"`
	Pages    int64         `json:"pages"`               // kept of it, over all runs
	Why      string        `json:"why"`                 // it waits, for people: "politeness", "429 Too Many Requests", "robots.txt"
	Until    time.Time     `json:"until,omitzero"`      // nothing is asked before
	Delay    time.Duration `json:"delay_ns,omitempty"`  // between requests
	Answer   time.Duration `json:"answer_ns,omitempty"` // time of the last answers
	Fails    int           `json:"fails,omitempty"`     // rounds of trouble, one after the other
}

// An Added is what became of a URL that was given to a running crawl.
type Added struct {
	URL   string `json:"url"`
	State string `json:"state"` // "queued", "finished", "out of scope" …
}
