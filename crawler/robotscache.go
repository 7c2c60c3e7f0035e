package crawler

import (
	"context"
	"sync"
	"time"

	"anatomy/crawler/robots"
	"anatomy/lru"
)

// A robotsCache caches the rules of origins within a memory bound. Visits that need the same rules
// at the same time share one request.
type robotsCache struct {
	rules *lru.Cache[string, cachedRules] // by origin

	mu      sync.Mutex
	reading map[string]chan struct{} // origins whose robots.txt is requested now; closed when it was
}

type cachedRules struct {
	rules   *robots.Rules
	expires time.Time
}

// newRobotsCache returns a cache of about limit bytes.
func newRobotsCache(limit int) *robotsCache {
	return &robotsCache{
		rules: lru.New(limit, func(origin string, c cachedRules) int {
			return 256 + len(origin) + c.rules.Size()
		}),
		reading: map[string]chan struct{}{},
	}
}

// get returns the rules of an origin, nil if there are none or they have expired.
func (c *robotsCache) get(origin string, now time.Time) *robots.Rules {
	cached, ok := c.rules.Get(origin)
	if !ok || !now.Before(cached.expires) {
		return nil
	}
	return cached.rules
}

func (c *robotsCache) put(origin string, rules *robots.Rules, expires time.Time) {
	c.rules.Put(origin, cachedRules{rules, expires})
}

// begin is called before the robots.txt of an origin is requested. If another visit is requesting
// it, begin blocks until that one calls end, or ctx ends. The caller then checks the cache again,
// sends a request if there are no rules yet, and calls end.
func (c *robotsCache) begin(ctx context.Context, origin string) (end func()) {
	c.mu.Lock()
	if other := c.reading[origin]; other != nil {
		c.mu.Unlock()
		select {
		case <-other:
		case <-ctx.Done():
		}
		return func() {}
	}
	defer c.mu.Unlock()
	done := make(chan struct{})
	c.reading[origin] = done
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.reading, origin)
		close(done)
	}
}
