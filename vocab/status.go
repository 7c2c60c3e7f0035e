package vocab

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// ErrNoCrawl is the error of operations on a data folder without a running crawl.
var ErrNoCrawl = errors.New("no crawl runs on this data folder")

// A CrawlStatus is the state of a running crawl. The crawling process sends it as JSON to those that
// show it.
type CrawlStatus struct {
	State   string    `json:"state"`          // one of the constants below
	Phase   Phase     `json:"phase,omitzero"` // at its end
	Process int       `json:"process"`
	Began   time.Time `json:"began"`
	At      time.Time `json:"at"` // of this status

	Pages    int64 `json:"pages"`  // kept, over all runs
	Known    int64 `json:"known"`  // URLs
	Queued   int64 `json:"queued"` // URLs to be fetched, those that wait for a retry included
	InFlight int64 `json:"in_flight"`

	Rate  float64   `json:"pages_per_second"` // over the last ten seconds
	Rates []float64 `json:"rates"`            // pages in each of the last seconds, oldest first, at most RateSeconds

	Bound    float64 `json:"bound_pages_per_second"` // upper bound from the delays of all bounded sites
	Bounded  int     `json:"bounded_sites"`          // sites with URLs to fetch and a delay
	Unbound  int     `json:"unbounded_sites"`        // sites with URLs to fetch and no delay
	MaxHosts int     `json:"max_hosts"`              // hosts visited at once

	NextRetry time.Time `json:"next_retry,omitzero"` // of the URLs of hosts that only have URLs to retry

	RateLimit int64 `json:"rate_limit,omitempty"` // bytes a second that each crawler receives at most; 0 for no limit

	Harvest *Harvest `json:"harvest,omitempty"` // of a focused crawl

	Crawlers []CrawlerStatus `json:"crawlers,omitempty"` // on other machines

	Hosts     []HostStatus     `json:"hosts"`      // with URLs to fetch, longest queue first; at most MaxHostStatus
	HostCount int              `json:"host_count"` // all hosts with URLs to fetch
	Waiting   map[string]int64 `json:"waiting"`    // hosts that get no request now, by reason
	Errors    map[string]int64 `json:"errors"`     // fetches of this run without a page, by kind

	// ErrorExamples has the newest URL of each kind in Errors. The server shows it to operators only.
	ErrorExamples map[string]string `json:"error_examples,omitempty"`

	Outcomes map[string]int64 `json:"outcomes"` // of the last fetch of each URL, by Outcome, over all runs
	Removed  []string         `json:"removed"`  // patterns of URLs that were blocked in this run

	Requests   int64 `json:"requests"` // of this run, robots.txt and sitemaps included
	Bytes      int64 `json:"bytes"`    // received in this run, after decompression
	Duplicates int64 `json:"duplicates"`
	Truncated  int64 `json:"truncated"` // pages of this run whose body was cut short

	RequestsPerPage float64 `json:"requests_per_page"` // for each page kept in this run; 0 without pages

	DNSHits    int64 `json:"dns_hits"`
	DNSMisses  int64 `json:"dns_misses"`
	DNSQueries int64 `json:"dns_queries"` // sent
	DNSFailed  int64 `json:"dns_failures"`
	URLHits    int64 `json:"url_hits"` // seen tests answered by the cache
	URLMisses  int64 `json:"url_misses"`

	Searchable int   `json:"searchable"` // pages
	Segments   int   `json:"segments"`
	Links      int64 `json:"links"`

	Scrubbed int64 `json:"scrubbed_bytes"` // of the repository, verified in this run
	Scrubs   int64 `json:"scrubs"`         // passes over the whole repository
	Damaged  int64 `json:"damaged"`        // problems of the folder, to be repaired by anatomy check --repair
}

// Add adds the status of the crawl of another shard, which shares connections and the DNS client.
// Known counts a URL once for each shard that knows it, and RequestsPerPage becomes 0, for unknown.
func (s *CrawlStatus) Add(o *CrawlStatus) {
	if s.State == Finishing { // shards are paused and end together
		s.State = o.State
	}
	if o.Began.Before(s.Began) {
		s.Began = o.Began
	}
	s.RequestsPerPage = 0
	for _, n := range [...]struct{ to, more *int64 }{
		{&s.Pages, &o.Pages}, {&s.Known, &o.Known}, {&s.Queued, &o.Queued},
		{&s.InFlight, &o.InFlight}, {&s.Requests, &o.Requests}, {&s.Bytes, &o.Bytes},
		{&s.Duplicates, &o.Duplicates}, {&s.Truncated, &o.Truncated},
		{&s.URLHits, &o.URLHits}, {&s.URLMisses, &o.URLMisses}, {&s.Links, &o.Links},
		{&s.Scrubbed, &o.Scrubbed}, {&s.Scrubs, &o.Scrubs}, {&s.Damaged, &o.Damaged},
	} {
		*n.to += *n.more
	}
	for _, n := range [...]struct{ to, more *int }{
		{&s.Bounded, &o.Bounded}, {&s.Unbound, &o.Unbound}, {&s.HostCount, &o.HostCount},
		{&s.Searchable, &o.Searchable}, {&s.Segments, &o.Segments},
	} {
		*n.to += *n.more
	}
	s.Waiting, s.Errors = addCounts(s.Waiting, o.Waiting), addCounts(s.Errors, o.Errors)
	s.Outcomes = addCounts(s.Outcomes, o.Outcomes)
	if s.ErrorExamples == nil {
		s.ErrorExamples = o.ErrorExamples
	} else {
		maps.Copy(s.ErrorExamples, o.ErrorExamples)
	}
	s.Rate, s.Bound = s.Rate+o.Rate, s.Bound+o.Bound
	s.Rates = addRates(s.Rates, o.Rates)
	if s.NextRetry.IsZero() || !o.NextRetry.IsZero() && o.NextRetry.Before(s.NextRetry) {
		s.NextRetry = o.NextRetry
	}
	s.Hosts = append(s.Hosts, o.Hosts...)
	slices.SortStableFunc(s.Hosts, func(a, b HostStatus) int {
		return cmp.Or(cmp.Compare(b.Queued, a.Queued), strings.Compare(a.Host, b.Host))
	})
	s.Hosts = s.Hosts[:min(len(s.Hosts), MaxHostStatus)]
	for _, pattern := range o.Removed {
		if !slices.Contains(s.Removed, pattern) {
			s.Removed = append(s.Removed, pattern)
		}
	}
}

// addRates adds the rates of the last seconds. Both slices end at the same second.
func addRates(a, b []float64) []float64 {
	if len(a) < len(b) {
		a, b = b, a
	}
	sum := slices.Clone(a)
	for i, n := range b {
		sum[len(a)-len(b)+i] += n
	}
	return sum
}

// A Harvest counts the pages of a topic that a focused crawl has fetched.
type Harvest struct {
	Pages    int64 `json:"pages"`    // judged: in this run, and the last of the runs before
	Relevant int64 `json:"relevant"` // of these
	Recent   int64 `json:"recent"`   // of the last RecentPages
}

// RecentPages is the number of pages that Harvest.Recent covers.
const RecentPages = 1000

// String returns the counts for people.
func (h *Harvest) String() string {
	all, recent := h.Ratio()
	return fmt.Sprintf("Topic: %d of %d pages are relevant (%.0f %%), of the last %d %.0f %%",
		h.Relevant, h.Pages, 100*all, min(h.Pages, RecentPages), 100*recent)
}

// Ratio returns the harvest ratio of all pages, and of the last RecentPages.
func (h *Harvest) Ratio() (all, recent float64) {
	if h.Pages == 0 {
		return 0, 0
	}
	last := min(h.Pages, RecentPages)
	return float64(h.Relevant) / float64(h.Pages), float64(h.Recent) / float64(last)
}

// The states of a crawl.
const (
	Crawling  = "crawling"
	Paused    = "paused"    // no requests until it is resumed
	Finishing = "finishing" // nothing is left to fetch; the last pages are indexed and ranked
)

// The bounds of a CrawlStatus.
const (
	RateSeconds   = 120
	MaxHostStatus = 100
)

// A HostStatus is the state of one host.
type HostStatus struct {
	Host     string        `json:"host"`
	Queued   int64         `json:"queued"`
	InFlight int64         `json:"in_flight,omitempty"`
	Pages    int64         `json:"pages"`               // kept, over all runs
	Why      string        `json:"why"`                 // it waits, for people: "politeness", "429 Too Many Requests"
	Until    time.Time     `json:"until,omitzero"`      // no request before
	Delay    time.Duration `json:"delay_ns,omitempty"`  // between requests
	Answer   time.Duration `json:"answer_ns,omitempty"` // smoothed time of an answer
	Fails    int           `json:"fails,omitempty"`     // leases with failures, in a row
}

// A CrawlerStatus is the state of a crawler on another machine.
type CrawlerStatus struct {
	Name    string    `json:"name"` // of its machine, with a number
	Version string    `json:"version"`
	Joined  time.Time `json:"joined"`
	Heard   time.Time `json:"heard"` // its last message
	Leases  int       `json:"leases"`
	Pages   int64     `json:"pages"`
	Bytes   int64     `json:"bytes"` // of these pages
}

// An AddResult is the state of a URL that was added to a running crawl.
type AddResult struct {
	URL   string `json:"url"`
	State string `json:"state"` // "queued", "finished", "out of scope" …
}
