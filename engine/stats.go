package engine

import (
	"cmp"
	"net/http"
	"slices"
	"time"

	"anatomy/disk/docindex"
	"anatomy/vocab"
)

// CrawlStats counts the work of a crawl. Pages, Known, Queued, Outcomes and Traps are those of the
// data folder, over all runs. The other fields are of this run.
type CrawlStats struct {
	Elapsed          time.Duration    `json:"elapsed_ns"`
	Pages            int64            `json:"pages"`       // kept, each body once
	Duplicates       int64            `json:"duplicates"`  // pages of this run with the body of another page
	CanonicalChanges int64            `json:"represented"` // clusters whose canonical document changed
	Known            int64            `json:"known"`       // URLs seen in links and sitemaps
	Queued           int64            `json:"queued"`
	InFlight         int64            `json:"in_flight"`
	Outcomes         map[string]int64 `json:"outcomes"` // of visits, by vocab.Outcome
	Hosts            int64            `json:"hosts"`
	Waiting          map[string]int64 `json:"waiting"`  // sites that wait, by reason
	Traps            map[string]int64 `json:"traps"`    // URLs refused, by docindex.Trap
	Refusals         []Refusal        `json:"refusals"` // refused parts of sites, by descending number of URLs

	Down      int64      `json:"down"`       // hosts given up in this run: no answer, or only failures
	DownHosts []DownHost `json:"down_hosts"` // some of them, by name

	Revisits RevisitStats   `json:"revisits"`
	Harvest  *vocab.Harvest `json:"harvest,omitempty"` // of a focused crawl

	Leases          int64   `json:"leases"`            // granted in this run
	Requests        int64   `json:"requests"`          // including robots.txt and sitemaps
	RequestsPerPage float64 `json:"requests_per_page"` // of this run, without duplicates; 0 without pages
	Bytes           int64   `json:"bytes"`             // received, after decompression
	Kept            int64   `json:"kept"`              // bytes of page bodies, including duplicates
	Truncated       int64   `json:"truncated"`         // pages of this run whose body is truncated
	Rendered        int64   `json:"rendered"`          // pages of this run whose body their scripts made

	DNSHits    int64 `json:"dns_hits"`
	DNSMisses  int64 `json:"dns_misses"`
	DNSQueries int64 `json:"dns_queries"` // sent
	URLHits    int64 `json:"url_hits"`    // seen tests answered by the cache
	URLMisses  int64 `json:"url_misses"`

	Documents  int           `json:"documents"`  // in the index, including those only known from links
	Searchable int           `json:"searchable"` // of these, fetched pages
	Segments   int           `json:"segments"`
	Batches    int           `json:"batches"`
	Merges     int           `json:"merges"`
	SortTime   time.Duration `json:"sort_ns"`
	MergeTime  time.Duration `json:"merge_ns"`
	Links      int           `json:"links"`
}

// A Refusal is a part of a site whose further URLs are not fetched.
type Refusal struct {
	Why     string `json:"why"`     // for display
	Refused uint64 `json:"refused"` // URLs
}

// A DownHost is a host that was given up.
type DownHost struct {
	Host string `json:"host"`
	Why  string `json:"why"` // for display
}

// Bounds of lists of CrawlStats.
const (
	maxRefusals  = 5
	maxDownHosts = 5
)

// RevisitStats counts the documents that this run revisited. Visited is the sum of Unchanged,
// Changed, Left, Absent and Unconfirmed.
type RevisitStats struct {
	Visited     int64 `json:"visited"`
	Unchanged   int64 `json:"unchanged"`    // 304, the same body, or the same redirect
	NotModified int64 `json:"not_modified"` // of these, 304
	Changed     int64 `json:"changed"`      // a new version was stored, or the outcome of a URL without a page changed
	Left        int64 `json:"left"`         // now not found, forbidden, redirected, or a duplicate of another page than its own duplicate
	Absent      int64 `json:"absent"`       // no page, as before: a dead link, forbidden, unsupported
	Unconfirmed int64 `json:"unconfirmed"`  // not found; the page is kept until another visit confirms it
}

// DeadLinks returns the number of fetches of pages that do not exist.
func (s *CrawlStats) DeadLinks() int64 { return s.Outcomes["gone"] }

// Errors returns the number of fetches that failed or were refused. Dead links are not errors.
func (s *CrawlStats) Errors() int64 {
	n := int64(0)
	for _, name := range []string{"too large", "refused", "no such name", "failed"} {
		n += s.Outcomes[name]
	}
	return n
}

// Stats returns the counts so far.
func (c *Crawl) Stats() CrawlStats {
	urls, fetched, built := c.urls.Stats(), c.visitor.Stats(), c.builder.Stats()
	s := CrawlStats{
		Elapsed: time.Since(c.began),
		Pages:   int64(urls.Pages), Known: int64(urls.Known),
		Queued: int64(urls.Queued + urls.Retrying), InFlight: int64(urls.InFlight),
		Duplicates: c.store.Stats().Duplicates, CanonicalChanges: c.committer.canonicalChanges.Load(),
		Outcomes: map[string]int64{}, Waiting: map[string]int64{}, Traps: map[string]int64{},
		Hosts:    int64(urls.Hosts),
		Revisits: c.committer.revisits.stats(), Harvest: c.harvest(),
		Leases:   c.fetcher.granted.Load(),
		Requests: int64(fetched.Requests),
		Bytes:    int64(fetched.Unpacked), Kept: c.intake.bodyBytes.Load(),
		Truncated: c.intake.truncated.Load(), Rendered: c.intake.rendered.Load(),
		DNSHits: int64(fetched.DNS.Hits), DNSQueries: int64(fetched.DNS.Queries),
		DNSMisses: int64(fetched.DNS.Misses + fetched.DNS.Joined),
		URLHits:   int64(urls.Seen.Cache), URLMisses: int64(urls.Seen.Disk + urls.Seen.New),
		Segments: built.Segments, Links: built.Links,
		Batches: built.Batches, SortTime: built.SortTime,
		Merges: built.Merges, MergeTime: built.MergeTime,
		Documents: built.Searchable, Searchable: built.Indexed,
	}
	for o, n := range urls.Outcomes {
		s.Outcomes[vocab.Outcome(o).String()] = int64(n)
	}
	s.Outcomes[vocab.NotFound.String()] -= urls.Logins
	s.Outcomes[vocab.NotFound.Name(http.StatusUnauthorized)] = max(0, urls.Logins)
	for t, n := range urls.Traps {
		if n > 0 {
			s.Traps[docindex.Trap(t).String()] = int64(n)
		}
	}
	for _, r := range c.urls.Refusals(maxRefusals) {
		s.Refusals = append(s.Refusals, Refusal(r))
	}
	down, total := c.urls.DownHosts(maxDownHosts)
	for _, h := range down {
		s.DownHosts = append(s.DownHosts, DownHost(h))
	}
	s.Down = int64(total)
	if pages := s.Pages - c.before; pages > 0 {
		s.RequestsPerPage = float64(s.Requests) / float64(pages)
	}
	for reason, n := range urls.Waiting {
		s.Waiting[reason] = int64(n)
	}
	return s
}

// Add adds the counts of the crawl of another shard. Both use one DNS client, so its counts are not
// added.
func (s *CrawlStats) Add(t *CrawlStats) {
	for _, n := range [...]struct{ to, more *int64 }{
		{&s.Pages, &t.Pages}, {&s.Duplicates, &t.Duplicates}, {&s.CanonicalChanges, &t.CanonicalChanges},
		{&s.Known, &t.Known}, {&s.Queued, &t.Queued}, {&s.InFlight, &t.InFlight},
		{&s.Hosts, &t.Hosts}, {&s.Down, &t.Down}, {&s.Requests, &t.Requests}, {&s.Bytes, &t.Bytes},
		{&s.Kept, &t.Kept}, {&s.Truncated, &t.Truncated}, {&s.Rendered, &t.Rendered}, {&s.URLHits, &t.URLHits},
		{&s.URLMisses, &t.URLMisses}, {&s.Revisits.Visited, &t.Revisits.Visited},
		{&s.Revisits.Unchanged, &t.Revisits.Unchanged},
		{&s.Revisits.NotModified, &t.Revisits.NotModified},
		{&s.Revisits.Changed, &t.Revisits.Changed}, {&s.Revisits.Left, &t.Revisits.Left},
		{&s.Revisits.Absent, &t.Revisits.Absent}, {&s.Revisits.Unconfirmed, &t.Revisits.Unconfirmed},
	} {
		*n.to += *n.more
	}
	for _, n := range [...]struct{ to, more *int }{
		{&s.Documents, &t.Documents}, {&s.Searchable, &t.Searchable}, {&s.Segments, &t.Segments},
		{&s.Batches, &t.Batches}, {&s.Merges, &t.Merges}, {&s.Links, &t.Links},
	} {
		*n.to += *n.more
	}
	for _, m := range [...]struct{ to, more map[string]int64 }{
		{s.Outcomes, t.Outcomes}, {s.Waiting, t.Waiting}, {s.Traps, t.Traps},
	} {
		for name, count := range m.more {
			m.to[name] += count
		}
	}
	s.SortTime, s.MergeTime = s.SortTime+t.SortTime, s.MergeTime+t.MergeTime
	s.DownHosts = append(s.DownHosts, t.DownHosts...)
	s.DownHosts = s.DownHosts[:min(len(s.DownHosts), maxDownHosts)]
	s.Refusals = append(s.Refusals, t.Refusals...)
	slices.SortStableFunc(s.Refusals, func(a, b Refusal) int { return cmp.Compare(b.Refused, a.Refused) })
	s.Refusals = s.Refusals[:min(len(s.Refusals), maxRefusals)]
}
