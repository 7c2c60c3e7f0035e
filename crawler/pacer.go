package crawler

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"

	"anatomy/crawler/robots"
	"anatomy/vocab"
	"anatomy/weburl"
)

// A pacer has the state for the politeness of a visit: when the next request may be sent, how the host
// has answered, and whether the rest of the lease is returned.
type pacer struct {
	o        *Options
	activity *activity
	report   vocab.HostReport

	fixed   bool          // the delay is the operator's: Crawl-delay does not count
	delay   time.Duration // from the end of an answer to the next request
	last    time.Time     // end of the last request; zero before the first
	answers int
	closed  int           // connections that the server closed with an answer
	took    time.Duration // sum of all answer times

	stop       string            // why the rest of the lease is returned; "" while the visit continues
	unanswered map[string]int    // by origin: requests without any answer, in a row
	silent     map[string]string // by origin: why the rest of its targets is returned
}

const (
	maxUnanswered = 2                // requests to an origin without an answer, in a row
	firstHold     = 30 * time.Second // for an overloaded host that states no time; doubled each time
	maxHold       = time.Hour
	maxRetryAfter = 24 * time.Hour
)

// wait blocks until the next request may be sent. It returns false if ctx is done.
func (p *pacer) wait(ctx context.Context) bool {
	if !p.last.IsZero() && p.delay > 0 {
		if wait := p.delay - p.o.Now().Sub(p.last); wait > 0 {
			p.activity.set("delay")
			return p.o.Sleep(ctx, wait) == nil
		}
	}
	return ctx.Err() == nil
}

// ended records the end of a request, from which the delay counts.
func (p *pacer) ended() { p.last = p.o.Now() }

// answered records the end of a request that an origin answered. closed reports that the server
// closes its connection.
func (p *pacer) answered(origin string, took time.Duration, closed bool) {
	if closed {
		p.closed++
	}
	p.ended()
	p.answers++
	p.took += took
	delete(p.unanswered, origin)
}

// failed records the end of a request without any answer and, after several in a row, ends the
// visit to that origin. The site is not held, because its other hosts and the other origin of this
// one may be up; the URL server backs off from this one.
func (p *pacer) failed(origin, reason string) {
	p.ended()
	if p.unanswered == nil {
		p.unanswered, p.silent = map[string]int{}, map[string]string{}
	}
	if p.unanswered[origin]++; p.unanswered[origin] >= maxUnanswered {
		p.silent[origin] = "host does not answer: " + reason
	}
}

// slowDown holds the site and stops the visit: a 429 or 503 applies to the whole host. wait is the
// host's Retry-After; 0 means a back-off.
func (p *pacer) slowDown(wait time.Duration, reason string, tries uint8) {
	if wait == 0 {
		wait = min(firstHold<<min(tries, 10), maxHold)
	}
	if wait >= p.report.HoldFor {
		p.report.HoldFor, p.report.Reason = wait, reason
	}
	p.stop = "host asked for a pause: " + reason
}

// applyRobots applies the Crawl-delay and the sitemaps of a robots.txt.
func (p *pacer) applyRobots(rules *robots.Rules, base *weburl.URL) {
	p.report.CrawlDelay = max(p.report.CrawlDelay, rules.CrawlDelay)
	if !p.fixed {
		p.delay = max(p.delay, min(rules.CrawlDelay, p.o.MaxCrawlDelay))
	}
	for _, s := range rules.Sitemaps {
		if u, err := base.Join(s); err == nil {
			p.report.Sitemaps = append(p.report.Sitemaps, u.String())
		}
	}
}

// retryAfter reads Retry-After, in seconds or as a date (RFC 9110 §10.2.3): at least a second, at
// most maxRetryAfter, and 0 if the field is missing or not valid.
func retryAfter(h http.Header, now time.Time) time.Duration {
	value := strings.TrimSpace(h.Get("Retry-After"))
	var wait time.Duration
	if seconds, err := strconv.ParseUint(value, 10, 32); err == nil {
		wait = time.Duration(seconds) * time.Second
	} else if at, err := http.ParseTime(value); err == nil {
		wait = at.Sub(now)
	} else {
		return 0
	}
	return min(max(wait, time.Second), maxRetryAfter)
}
