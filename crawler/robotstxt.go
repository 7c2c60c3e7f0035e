package crawler

import (
	"container/list"
	"context"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"anatomy/crawler/robots"
	"anatomy/vocab"
	"anatomy/weburl"
)

const (
	robotsTTL       = 24 * time.Hour // RFC 9309 §2.4
	robotsRedirects = 5              // §2.3.1.2
)

// An origin is scheme and host with their robots.txt, during one visit.
type origin struct {
	name  string        // "https://example.org:8443"
	rules *robots.Rules // nil where they could not be had: then

	outcome    vocab.Outcome // what becomes of its targets
	reason     string
	retryAfter time.Duration
	told       bool // one target was Failed for it
}

// origin gives the rules of u's origin, from memory or by asking for them.
func (v *visit) origin(ctx context.Context, u *weburl.URL, tries uint8) *origin {
	name := originOf(u)
	if o := v.origins[name]; o != nil {
		return o
	}
	o := &origin{name: name}
	if o.rules = v.c.robots.get(name, v.c.o.Now()); o.rules != nil {
		v.c.count.robotsHits.Add(1)
	} else {
		v.askRobots(ctx, o, tries)
	}
	if o.rules != nil {
		v.heed(o.rules, u)
	}
	v.origins[name] = o
	return o
}

// askRobots fetches robots.txt, along its redirects, and keeps what it says.
func (v *visit) askRobots(ctx context.Context, o *origin, tries uint8) {
	u, err := weburl.Parse(o.name + "/robots.txt")
	if err != nil {
		o.outcome, o.reason = vocab.Refused, err.Error()
		return
	}
	for hops := 0; ; hops++ {
		if !v.pace(ctx) {
			return
		}
		v.doing("robots.txt")
		next := v.robotsHop(ctx, &u, o, tries)
		if next == nil {
			break
		}
		if hops == robotsRedirects {
			o.rules = robots.AllowAll() // §2.3.1.2: as if there were none
			break
		}
		u = *next
	}
	if o.rules != nil {
		v.c.robots.put(o.name, o.rules, v.c.o.Now().Add(robotsTTL))
	}
}

// robotsHop asks once. It fills in o, or gives the URL where it was sent on.
func (v *visit) robotsHop(ctx context.Context, u *weburl.URL, o *origin, tries uint8) (next *weburl.URL) {
	c := v.c
	c.count.robots.Add(1)
	begun := c.o.Now()
	guarded, g := c.guard(ctx)
	defer g.stop()
	resp, err := c.get(guarded, u, vocab.Validators{})
	if err != nil {
		v.robotsTrouble(ctx, guarded, u, o, err)
		return nil
	}
	defer resp.Body.Close()
	g.answered()
	next, err = v.robotsAnswer(u, resp, g, o, tries)
	if err != nil {
		v.robotsTrouble(ctx, guarded, u, o, err)
		return nil
	}
	v.answered(c.o.Now().Sub(begun), resp.Close)
	return next
}

// robotsAnswer goes by the status (RFC 9309 §2.3.1). 429 is no "unavailable" file but a request to
// slow down.
func (v *visit) robotsAnswer(u *weburl.URL, resp *http.Response, g *guard, o *origin, tries uint8) (*weburl.URL, error) {
	code, location := resp.StatusCode, resp.Header.Get("Location")
	switch {
	case code >= 200 && code < 300:
		return nil, v.readRobots(resp, g, o)
	case code >= 500 || code == http.StatusTooManyRequests:
		o.outcome, o.reason = vocab.Failed, "robots.txt: "+statusReason(code)
		o.retryAfter = retryAfter(resp.Header, v.c.o.Now())
		v.slowDown(o.retryAfter, o.reason, tries)
	case code >= 300 && code < 400 && location != "":
		if to, err := u.Join(location); err == nil {
			drain(resp.Body, g)
			return &to, nil
		}
		o.rules = robots.AllowAll()
	default:
		o.rules = robots.AllowAll()
	}
	drain(resp.Body, g)
	return nil, nil
}

// readRobots reads the first 500 KiB; what comes after is left on the wire.
func (v *visit) readRobots(resp *http.Response, g *guard, o *origin) error {
	resp.ContentLength = min(resp.ContentLength, robots.MaxBytes) // a longer file is cut, not refused
	b, err := v.c.unpack(resp, g, robots.MaxBytes+1)
	if err != nil {
		return err
	}
	defer b.release()
	text, err := io.ReadAll(io.LimitReader(b, robots.MaxBytes))
	if err != nil {
		return err
	}
	o.rules = robots.Parse(text, v.c.o.Product)
	return nil
}

// robotsTrouble is when no answer could be had. What is wrong for good is said of every target;
// what may pass makes the first one Failed, so that the URL server tries the host again later.
func (v *visit) robotsTrouble(ctx, guarded context.Context, u *weburl.URL, o *origin, err error) {
	if ctx.Err() != nil {
		return
	}
	outcome, reason := v.c.verdict(guarded, u, err)
	o.outcome, o.reason = outcome, fmt.Sprintf("robots.txt: %s", reason)
	switch {
	case outcome == vocab.Refused, outcome == vocab.NoName && originOf(u) == o.name:
		o.reason = reason
		v.last = v.c.o.Now()
	default:
		o.outcome = vocab.Failed
		v.unanswered(o.reason)
	}
}

// A robotsCache holds the rules of origins, the least recently used out first, within a bound on
// memory.
type robotsCache struct {
	mu    sync.Mutex
	rules map[string]*list.Element
	lru   *list.List // of *cachedRules, the latest used in front
	size  int
	limit int
}

type cachedRules struct {
	origin  string
	rules   *robots.Rules
	expires time.Time
}

func newRobotsCache(limit int) *robotsCache {
	return &robotsCache{rules: map[string]*list.Element{}, lru: list.New(), limit: limit}
}

func (c *robotsCache) get(origin string, now time.Time) *robots.Rules {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.rules[origin]
	if e == nil {
		return nil
	}
	if r := e.Value.(*cachedRules); now.Before(r.expires) {
		c.lru.MoveToFront(e)
		return r.rules
	}
	c.drop(e)
	return nil
}

func (c *robotsCache) put(origin string, rules *robots.Rules, expires time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.rules[origin]; e != nil {
		c.drop(e)
	}
	r := &cachedRules{origin, rules, expires}
	c.rules[origin] = c.lru.PushFront(r)
	for c.size += r.bytes(); c.size > c.limit && c.lru.Len() > 1; {
		c.drop(c.lru.Back())
	}
}

func (c *robotsCache) drop(e *list.Element) {
	r := c.lru.Remove(e).(*cachedRules)
	delete(c.rules, r.origin)
	c.size -= r.bytes()
}

func (r *cachedRules) bytes() int { return 256 + len(r.origin) + r.rules.Size() }
