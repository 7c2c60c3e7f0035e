package crawler

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"time"

	"anatomy/crawler/internal/reason"
	"anatomy/crawler/robots"
	"anatomy/vocab"
	"anatomy/weburl"
)

const (
	robotsTTL       = 24 * time.Hour // RFC 9309 §2.4
	robotsRedirects = 5              // §2.3.1.2
)

// origins fetch the robots.txt files that one visit needs.
type origins struct {
	*client
	*pacer
	cache  *robotsCache
	byName map[string]*origin
}

// An origin is the robots.txt of scheme and host, during one visit.
type origin struct {
	name  string        // "https://example.org:8443"
	rules *robots.Rules // nil if they could not be read, for the reason in the fields below

	outcome    vocab.Outcome // of the targets
	reason     string
	retryAfter time.Duration
	reported   bool // a target was Failed because of it
}

// get returns the rules of u's origin, from the cache or by a request. It waits for another visit
// that is requesting them, and sends its own request only if that one got none.
func (s *origins) get(ctx context.Context, u *weburl.URL, tries uint8) *origin {
	name := u.Origin()
	if o := s.byName[name]; o != nil {
		return o
	}
	o := &origin{name: name}
	o.rules = s.cache.get(name, s.client.o.Now())
	if o.rules == nil {
		s.activity.set("robots.txt")
		end := s.cache.begin(ctx, name)
		defer end()
		o.rules = s.cache.get(name, s.client.o.Now())
	}
	if o.rules != nil {
		s.count.robotsHits.Add(1)
	} else {
		s.fetch(ctx, o, tries)
	}
	if o.rules != nil {
		s.applyRobots(o.rules, u)
	}
	s.byName[name] = o
	return o
}

// fetch requests robots.txt, follows its redirects, and caches its rules.
func (s *origins) fetch(ctx context.Context, o *origin, tries uint8) {
	u, err := weburl.Parse(o.name + "/robots.txt")
	if err != nil {
		o.outcome, o.reason = vocab.Refused, err.Error()
		return
	}
	for hops := 0; ; hops++ {
		if !s.wait(ctx) {
			return
		}
		s.activity.set("robots.txt")
		next := s.request(ctx, &u, o, tries)
		if next == nil {
			break
		}
		if hops == robotsRedirects {
			o.rules = robots.AllowAll() // §2.3.1.2: as if there were no file
			break
		}
		u = *next
	}
	if o.rules != nil {
		s.cache.put(o.name, o.rules, s.client.o.Now().Add(robotsTTL))
	}
}

// request sends one request. It fills in o, or returns the URL of a redirect.
func (s *origins) request(
	ctx context.Context, u *weburl.URL, o *origin, tries uint8,
) (next *weburl.URL) {
	s.count.robots.Add(1)
	guarded, g := newGuard(ctx, s.client.o)
	defer g.stop()
	begun := s.client.o.Now()
	resp, err := s.client.get(guarded, u, vocab.Validators{})
	if err == nil {
		defer resp.Body.Close()
		g.answered()
		next, err = s.judge(u, resp, g, o, tries)
	}
	if err != nil {
		s.noAnswer(ctx, guarded, u, o, err)
		return nil
	}
	s.answered(u.Origin(), s.client.o.Now().Sub(begun), resp.Close)
	return next
}

// judge determines the rules from the status (RFC 9309 §2.3.1). A 429 does not mean an
// "unavailable" file, but is a request to slow down.
func (s *origins) judge(
	u *weburl.URL, resp *http.Response, g *guard, o *origin, tries uint8,
) (*weburl.URL, error) {
	code, location := resp.StatusCode, resp.Header.Get("Location")
	switch {
	case code >= 200 && code < 300:
		return nil, s.read(resp, g, o)
	case code >= 500 || code == http.StatusTooManyRequests || code == http.StatusProxyAuthRequired:
		o.outcome, o.reason = vocab.Failed, "robots.txt: "+reason.Status(code)
		o.retryAfter = retryAfter(resp.Header, s.client.o.Now())
		s.slowDown(o.retryAfter, o.reason, tries)
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

// read reads the first 500 KiB of the file.
func (s *origins) read(resp *http.Response, g *guard, o *origin) error {
	resp.ContentLength = min(resp.ContentLength, robots.MaxBytes) // a longer file is cut, not refused
	r, release, err := s.open(resp, g, robots.MaxBytes+1)
	if err != nil {
		return err
	}
	defer release()
	text, err := io.ReadAll(io.LimitReader(r, robots.MaxBytes))
	if err != nil {
		return err
	}
	o.rules = robots.Parse(text, s.client.o.Product)
	return nil
}

// noAnswer records that no answer could be read. Permanent errors apply to every target. Other
// errors make the first target Failed, so that the URL server retries the host later.
func (s *origins) noAnswer(ctx, guarded context.Context, u *weburl.URL, o *origin, err error) {
	if ctx.Err() != nil {
		return
	}
	outcome, why := verdict(guarded, u, err, s.client.o.MaxHeader)
	if outcome == vocab.Refused || outcome == vocab.NoName && u.Origin() == o.name {
		o.outcome, o.reason = outcome, why
		s.ended()
		return
	}
	o.outcome, o.reason = vocab.Failed, fmt.Sprintf("robots.txt: %s", why)
	s.failed(u.Origin(), o.reason)
}
