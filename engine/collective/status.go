package collective

import (
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
		sum.Add(s.crawl.Status())
	}
	sum.Known -= c.foreign.count()
	sum.Phase = c.Phase()
	sum.RequestsPerPage = c.Stats().RequestsPerPage
	return sum
}
