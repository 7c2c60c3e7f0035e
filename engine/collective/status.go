package collective

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"anatomy/control"
	"anatomy/engine"
	"anatomy/vocab"
	"anatomy/weburl"
)

// Stats returns the sum over all shards. A URL that several shards know counts once.
func (c *Crawl) Stats() engine.CrawlStats {
	sum := c.shards[0].crawl.Stats()
	for _, s := range c.shards[1:] {
		more := s.crawl.Stats()
		sum.Add(&more)
	}
	sum.Known -= c.foreign.count()
	if pages := sum.Pages - c.before; pages > 0 {
		sum.RequestsPerPage = float64(sum.Requests) / float64(pages)
	}
	return sum
}

// Phase returns the phase of the shard that is furthest behind, after nothing is left to fetch. Its
// name is empty before.
func (c *Crawl) Phase() vocab.Phase {
	least := c.shards[0].crawl.Phase()
	for _, s := range c.shards[1:] {
		if p := s.crawl.Phase(); p.Step < least.Step {
			least = p
		}
	}
	return least
}

// Trace returns the records of a URL in its shard.
func (c *Crawl) Trace(url string) ([]control.Step, error) {
	s, err := c.shardOf(url)
	if err != nil {
		return nil, err
	}
	return s.crawl.Trace(url)
}

// shardOf returns the shard of a URL as typed by a user.
func (c *Crawl) shardOf(url string) (*shard, error) {
	u, err := weburl.ParseTyped(url)
	if err != nil {
		return nil, err
	}
	return c.shards[c.to.Of(&u)], nil
}

// Status returns the combined status of all shards.
func (c *Crawl) Status() *vocab.CrawlStatus {
	sum := c.shards[0].crawl.Status()
	for _, s := range c.shards[1:] {
		add(sum, s.crawl.Status())
	}
	sum.Known -= c.foreign.count()
	sum.Phase = c.Phase()
	sum.RequestsPerPage = c.Stats().RequestsPerPage
	slices.SortStableFunc(sum.Hosts, func(a, b vocab.HostStatus) int {
		return cmp.Or(cmp.Compare(b.Queued, a.Queued), strings.Compare(a.Host, b.Host))
	})
	sum.Hosts = sum.Hosts[:min(len(sum.Hosts), vocab.MaxHostStatus)]
	return sum
}

// add adds the status of another shard. Connections and the DNS client are shared.
func add(sum, s *vocab.CrawlStatus) {
	sum.State = together(sum.State, s.State)
	for _, n := range [...]struct{ to, more *int64 }{
		{&sum.Pages, &s.Pages}, {&sum.Known, &s.Known}, {&sum.Queued, &s.Queued},
		{&sum.InFlight, &s.InFlight}, {&sum.Requests, &s.Requests}, {&sum.Bytes, &s.Bytes},
		{&sum.Duplicates, &s.Duplicates}, {&sum.Truncated, &s.Truncated},
		{&sum.URLHits, &s.URLHits}, {&sum.URLMisses, &s.URLMisses}, {&sum.Links, &s.Links},
		{&sum.Scrubbed, &s.Scrubbed}, {&sum.Scrubs, &s.Scrubs},
	} {
		*n.to += *n.more
	}
	for _, n := range [...]struct{ to, more *int }{
		{&sum.Bounded, &s.Bounded}, {&sum.Unbound, &s.Unbound}, {&sum.HostCount, &s.HostCount},
		{&sum.Searchable, &s.Searchable}, {&sum.Segments, &s.Segments},
	} {
		*n.to += *n.more
	}
	for _, m := range [...]struct{ to, more map[string]int64 }{
		{sum.Waiting, s.Waiting}, {sum.Errors, s.Errors}, {sum.Outcomes, s.Outcomes},
	} {
		for name, count := range m.more {
			m.to[name] += count
		}
	}
	maps.Copy(sum.ErrorExamples, s.ErrorExamples)
	sum.Rate, sum.Bound = sum.Rate+s.Rate, sum.Bound+s.Bound
	sum.Rates = addRates(sum.Rates, s.Rates)
	sum.Hosts = append(sum.Hosts, s.Hosts...)
	for _, pattern := range s.Removed {
		if !slices.Contains(sum.Removed, pattern) {
			sum.Removed = append(sum.Removed, pattern)
		}
	}
}

// together returns the combined state of two shards: they are paused and end together.
func together(a, b string) string {
	if a == vocab.Finishing {
		return b
	}
	return a
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
