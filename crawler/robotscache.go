package crawler

import (
	"time"

	"anatomy/crawler/robots"
	"anatomy/lru"
)

// A robotsCache holds the rules of origins within a bound on memory.
type robotsCache struct {
	rules *lru.Cache[string, cachedRules] // by origin
}

type cachedRules struct {
	rules   *robots.Rules
	expires time.Time
}

// newRobotsCache returns a cache of about limit bytes.
func newRobotsCache(limit int) *robotsCache {
	return &robotsCache{lru.New(limit, func(origin string, c cachedRules) int {
		return 256 + len(origin) + c.rules.Size()
	})}
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
