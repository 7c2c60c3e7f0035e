package engine

import (
	"sync/atomic"
	"time"

	"anatomy/disk/docindex"
	"anatomy/vocab"
)

// CrawlStats count what a crawl did. Pages, Known, Queued, Outcomes and Traps are those of the data folder,
// over all runs; the rest is of this run.
type CrawlStats struct {
	Elapsed     time.Duration    `json:"elapsed_ns"`
	Pages       int64            `json:"pages"`       // kept, each body once
	Duplicates  int64            `json:"duplicates"`  // URLs of this run whose body another page has
	Represented int64            `json:"represented"` // bodies for which another URL stands now than the one that came first
	Known       int64            `json:"known"`       // URLs seen in links and sitemaps
	Queued      int64            `json:"queued"`
	InFlight    int64            `json:"in_flight"`
	Outcomes    map[string]int64 `json:"outcomes"` // of fetches, by vocab.Outcome
	Hosts       int64            `json:"hosts"`
	Waiting     map[string]int64 `json:"waiting"` // sites that wait, by reason
	Traps       map[string]int64 `json:"traps"`   // URLs refused as traps, by docindex.Trap; over all runs

	Revisits RevisitStats `json:"revisits"`

	Requests int64 `json:"requests"` // robots.txt and sitemaps among them
	Bytes    int64 `json:"bytes"`    // received, after decompression
	Kept     int64 `json:"kept"`     // bytes of the pages' bodies, duplicates among them

	DNSHits    int64 `json:"dns_hits"`
	DNSMisses  int64 `json:"dns_misses"`
	DNSQueries int64 `json:"dns_queries"` // sent
	URLHits    int64 `json:"url_hits"`    // seen tests answered by the cache
	URLMisses  int64 `json:"url_misses"`

	Searchable int           `json:"searchable"` // documents in the index, those known by links alone among them
	Indexed    int           `json:"indexed"`    // of these, pages that were fetched
	Segments   int           `json:"segments"`
	Batches    int           `json:"batches"`
	Merges     int           `json:"merges"`
	SortTime   time.Duration `json:"sort_ns"`
	MergeTime  time.Duration `json:"merge_ns"`
	Links      int           `json:"links"`
}

// RevisitStats count what came of the documents that this run visited again.
type RevisitStats struct {
	Visited     int64 `json:"visited"`
	Unchanged   int64 `json:"unchanged"`    // by a 304, or because it came as it was
	NotModified int64 `json:"not_modified"` // of them by a 304
	Changed     int64 `json:"changed"`      // a new version was stored
	Left        int64 `json:"left"`         // are no pages any more: gone, forbidden, redirected, a duplicate
}

// revisitCounters count for RevisitStats.
type revisitCounters struct {
	visited, unchanged, notModified, changed, left atomic.Int64
}

func (n *revisitCounters) stats() RevisitStats {
	return RevisitStats{n.visited.Load(), n.unchanged.Load(), n.notModified.Load(), n.changed.Load(), n.left.Load()}
}

// Errors is the number of fetches that brought no page for a reason that is somebody's fault.
func (s *CrawlStats) Errors() int64 {
	n := int64(0)
	for _, name := range []string{"gone", "too large", "refused", "no such name", "failed"} {
		n += s.Outcomes[name]
	}
	return n
}

// Stats counts what the crawl has done so far.
func (c *Crawl) Stats() CrawlStats {
	urls, fetched, built := c.urls.Stats(), c.crawler.Stats(), c.builder.Stats()
	s := CrawlStats{
		Elapsed: time.Since(c.began),
		Pages:   int64(urls.Pages), Known: int64(urls.Known), Queued: int64(urls.Queued + urls.Retrying), InFlight: int64(urls.InFlight),
		Duplicates: c.store.Stats().Duplicates, Represented: c.represented.Load(),
		Outcomes: map[string]int64{}, Hosts: int64(urls.Hosts), Waiting: map[string]int64{}, Traps: map[string]int64{},
		Revisits: c.revisits.stats(),
		Requests: int64(fetched.Requests), Bytes: int64(fetched.Unpacked), Kept: c.bytes.Load(),
		DNSHits: int64(fetched.DNS.Hits), DNSMisses: int64(fetched.DNS.Misses + fetched.DNS.Joined), DNSQueries: int64(fetched.DNS.Queries),
		URLHits: int64(urls.Seen.Cache), URLMisses: int64(urls.Seen.Disk + urls.Seen.New),
		Segments: built.Segments, Batches: built.Batches, Merges: built.Merges, SortTime: built.SortTime, MergeTime: built.MergeTime, Links: built.Links,
		Searchable: built.Searchable, Indexed: built.Indexed,
	}
	for o, n := range urls.Outcomes {
		s.Outcomes[vocab.Outcome(o).String()] = int64(n)
	}
	for t, n := range urls.Traps {
		if n > 0 {
			s.Traps[docindex.Trap(t).String()] = int64(n)
		}
	}
	for reason, n := range urls.Waiting {
		s.Waiting[reason] = int64(n)
	}
	return s
}
