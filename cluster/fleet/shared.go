package fleet

import (
	"context"
	"net/netip"
	"slices"
	"sync"

	"anatomy/crawler"
	"anatomy/vocab"
)

// A Shared is a Fleet used by several crawls of this process, one for each shard of a collection.
// Each worker works for all of them. Leases and documents have numbers of their own at the workers,
// which identify the crawl. The crawls have the same crawler options, except for the functions.
type Shared struct {
	start func(crawler.Options) (*Fleet, error)

	mu     sync.RWMutex // guards what follows
	fleet  *Fleet       // nil until the first crawl has joined
	crawls []*Sharer
	open   int // number of crawls that have not left
}

// NewShared returns a Shared. start makes its Fleet when the first crawl joins.
func NewShared(start func(crawler.Options) (*Fleet, error)) *Shared { return &Shared{start: start} }

// Join adds a crawl with the crawler options of its engine and returns its visitor.
func (s *Shared) Join(o crawler.Options) (*Sharer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := &Sharer{shared: s, number: len(s.crawls), o: o, hosts: map[string]int{}}
	if s.fleet == nil {
		if o.Confirm != nil {
			o.Confirm = s.confirm
		}
		if o.Admit != nil {
			o.Admit = s.admit
		}
		var err error
		if s.fleet, err = s.start(o); err != nil {
			return nil, err
		}
	}
	c.fleet = s.fleet
	s.crawls = append(s.crawls, c)
	s.open++
	return c, nil
}

// maxSharers exceeds the number of crawls that can share a Fleet: a collection has at most 256
// shards.
const maxSharers = 1 << 10

func (s *Shared) confirm(doc vocab.DocID) bool {
	number, doc := doc.Shard()
	return s.crawl(number).o.Confirm(doc)
}

func (s *Shared) admit(lease uint64, addrs []netip.Addr) bool {
	return s.crawl(int(lease%maxSharers)).o.Admit(lease/maxSharers, addrs)
}

func (s *Shared) crawl(number int) *Sharer {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.crawls[number]
}

// A Sharer visits hosts for one of the crawls that share a Fleet. It is an engine.Visitor.
type Sharer struct {
	shared *Shared
	fleet  *Fleet
	number int
	o      crawler.Options

	mu    sync.Mutex     // guards hosts
	hosts map[string]int // visits in progress
}

// Visit has a worker visit a host, see [Fleet.Visit].
func (c *Sharer) Visit(ctx context.Context, lease vocab.Lease, handle func(vocab.Fetch)) vocab.HostReport {
	c.count(lease.Host, 1)
	defer c.count(lease.Host, -1)
	outer := lease
	outer.ID = lease.ID*maxSharers + uint64(c.number)
	outer.URLs = slices.Clone(lease.URLs)
	for i := range outer.URLs {
		outer.URLs[i].Doc = vocab.Outer(c.number, outer.URLs[i].Doc)
	}
	report := c.fleet.Visit(ctx, outer, func(f vocab.Fetch) {
		_, f.Doc = f.Doc.Shard()
		if f.Page != nil {
			f.Page.Doc = f.Doc
		}
		handle(f)
	})
	report.Lease = lease.ID
	return report
}

// count updates the number of visits to a host.
func (c *Sharer) count(host string, n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.hosts[host] += n; c.hosts[host] == 0 {
		delete(c.hosts, host)
	}
}

// Prefetch does nothing, see [Fleet.Prefetch].
func (c *Sharer) Prefetch(...string) {}

// Stats returns the statistics of all crawls to the first one, and zero to the others: workers do
// not count by crawl.
func (c *Sharer) Stats() (s crawler.Stats) {
	if c.number == 0 {
		s = c.fleet.Stats()
	}
	return s
}

// Crawlers returns the state of each worker. Workers serve all crawls.
func (c *Sharer) Crawlers() []vocab.CrawlerStatus { return c.fleet.Crawlers() }

// Visits returns the status of every visit for this crawl.
func (c *Sharer) Visits() []crawler.VisitStatus {
	all := c.fleet.Visits()
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.DeleteFunc(all, func(v crawler.VisitStatus) bool { return c.hosts[v.Host] == 0 })
}

// Close closes the Fleet when all crawls have left.
func (c *Sharer) Close() error {
	c.shared.mu.Lock()
	defer c.shared.mu.Unlock()
	if c.shared.open--; c.shared.open > 0 {
		return nil
	}
	return c.fleet.Close()
}
