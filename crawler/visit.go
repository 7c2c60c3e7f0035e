package crawler

import (
	"context"
	"strings"
	"time"

	"anatomy/crawler/robots"
	"anatomy/vocab"
	"anatomy/weburl"
)

// A visit is one lease being worked off.
type visit struct {
	c       *Crawler
	lease   *vocab.Lease
	report  vocab.HostReport
	origins map[string]*origin

	delay   time.Duration // between the end of one answer and the next request
	last    time.Time     // end of the last answer; zero before the first request
	answers int
	closed  int           // connections that the server ended with an answer
	took    time.Duration // of all answers
	opened  opened

	stop   string // why the rest of the lease is given back; empty while it goes on
	silent int    // requests without any answer, in a row

	done func() // see Options.Ready; nil where there is none
}

// tooSilent is how many requests in a row may go without answer before the lease is given back.
const tooSilent = 2

// Visit works off a lease: robots.txt first, then each URL in turn, with the lease's delay or the
// host's Crawl-delay between, whichever is longer, if that delay is not fixed. It calls handle exactly once for every target,
// in their order, from the calling goroutine; Page.Body belongs to the receiver. When ctx is done,
// or the host is to be left alone, the targets that remain are Skipped.
//
// Where robots.txt cannot be had the first target that needs it is Failed, so that its tries are
// counted and a dead host comes to an end some day; the others of that origin are Skipped.
func (c *Crawler) Visit(ctx context.Context, lease vocab.Lease, handle func(vocab.Fetch)) vocab.HostReport {
	v := &visit{c: c, lease: &lease, delay: lease.Delay, origins: map[string]*origin{}}
	v.report.Lease = lease.ID
	ctx = context.WithValue(ctx, openedKey{}, &v.opened)
	c.visits.begin(v)
	defer c.visits.end(v)
	if c.o.Admit != nil {
		v.admit(ctx)
	}
	for i, t := range lease.URLs {
		c.visits.next(v, len(lease.URLs)-i)
		f := v.target(ctx, t)
		c.count.outcomes[f.Outcome].Add(1)
		handle(f)
		v.handled()
	}
	v.finish()
	return v.report
}

// admit asks whether the host may be visited at the addresses that it has. One without any is told by its first fetch.
func (v *visit) admit(ctx context.Context) {
	v.doing("DNS")
	addrs, err := v.c.dns.Lookup(ctx, strings.Trim(hostname(v.lease.Host), "[]"))
	if err == nil && !v.c.o.Admit(v.lease.ID, addrs) {
		v.stop = "its address has visitors enough"
	}
}

func (v *visit) finish() {
	v.report.Connect = v.opened.mean()
	v.report.Requests, v.report.Closed = v.answers, v.closed
	if v.answers > 0 {
		v.report.Answer = v.took / time.Duration(v.answers)
	}
}

// target says what becomes of one URL.
func (v *visit) target(ctx context.Context, t vocab.Target) vocab.Fetch {
	f := vocab.Fetch{Target: t}
	if v.skips(ctx, &f) {
		return f
	}
	u, err := weburl.Parse(t.URL)
	if err != nil {
		return ended(f, vocab.Refused, err.Error())
	}
	o := v.origin(ctx, &u, t.Tries)
	switch {
	case o.rules == nil && ctx.Err() != nil:
		return ended(f, vocab.Skipped, "interrupted")
	case o.rules == nil && o.told:
		return ended(f, vocab.Skipped, o.reason)
	case o.rules == nil:
		o.told = o.outcome == vocab.Failed // once; what is final is said of every target
		f.RetryAfter = o.retryAfter
		return ended(f, o.outcome, o.reason)
	case !o.rules.Allowed(pathAndQuery(&u)):
		return ended(f, vocab.Forbidden, "robots.txt forbids it")
	}
	if v.skips(ctx, &f) || !v.pace(ctx) || !v.ready(ctx) {
		return ended(f, vocab.Skipped, "interrupted")
	}
	v.fetch(ctx, &u, &f)
	return f
}

// skips gives the target back where the visit is over.
func (v *visit) skips(ctx context.Context, f *vocab.Fetch) bool {
	switch {
	case v.stop != "":
		f.Outcome, f.Reason = vocab.Skipped, v.stop
	case ctx.Err() != nil:
		f.Outcome, f.Reason = vocab.Skipped, "interrupted"
	default:
		return false
	}
	return true
}

func ended(f vocab.Fetch, outcome vocab.Outcome, reason string) vocab.Fetch {
	f.Outcome, f.Reason = outcome, reason
	return f
}

// pace waits until the host may be asked again. It is false when ctx is done.
func (v *visit) pace(ctx context.Context) bool {
	if v.last.IsZero() || v.delay <= 0 {
		return ctx.Err() == nil
	}
	if wait := v.delay - v.c.o.Now().Sub(v.last); wait > 0 {
		v.doing("delay")
		return v.c.o.Sleep(ctx, wait) == nil
	}
	return ctx.Err() == nil
}

// ready waits until those have room who take pages in. It is false when ctx is done.
func (v *visit) ready(ctx context.Context) bool {
	if v.c.o.Ready == nil {
		return true
	}
	v.doing("processor")
	done, err := v.c.o.Ready(ctx)
	v.done = done
	return err == nil
}

// handled says so of a page that ready had waited for.
func (v *visit) handled() {
	if v.done != nil {
		v.done()
		v.done = nil
	}
}

// answered notes the end of a request that was answered; closed says that its connection is at its end.
func (v *visit) answered(took time.Duration, closed bool) {
	if closed {
		v.closed++
	}
	v.last = v.c.o.Now()
	v.answers++
	v.took += took
	v.silent = 0
}

// unanswered notes the end of a request that failed before any answer, and ends the visit after some
// in a row. The site is not held for it: other hosts of it may well be up. The URL server waits
// longer each time before it tries this one again.
func (v *visit) unanswered(reason string) {
	v.last = v.c.o.Now()
	if v.silent++; v.silent >= tooSilent {
		v.stop = "host does not answer: " + reason
	}
}

// hold asks the URL server to leave the site alone for a while.
func (v *visit) hold(d time.Duration, reason string) {
	if d >= v.report.HoldFor {
		v.report.HoldFor, v.report.Reason = d, reason
	}
}

// backoff is how long a host is held that says that it is overloaded and not for how long.
func backoff(tries uint8) time.Duration {
	return min(firstHold<<min(tries, 10), maxHold)
}

const (
	firstHold = 30 * time.Second
	maxHold   = time.Hour
)

// heed takes what robots.txt says about the host as a whole into the report.
func (v *visit) heed(rules *robots.Rules, base *weburl.URL) {
	v.report.Crawl = max(v.report.Crawl, rules.CrawlDelay)
	if !v.lease.Fixed {
		v.delay = max(v.delay, min(rules.CrawlDelay, v.c.o.MaxCrawlDelay))
	}
	for _, s := range rules.Sitemaps {
		if u, err := base.Join(s); err == nil {
			v.report.Sitemaps = append(v.report.Sitemaps, u.String())
		}
	}
}

// pathAndQuery is what follows the host in a canonical URL.
func pathAndQuery(u *weburl.URL) string { return u.String()[originLen(u):] }

// originOf is scheme and host: "https://example.org:8443".
func originOf(u *weburl.URL) string { return u.String()[:originLen(u)] }

func originLen(u *weburl.URL) int { return len(u.Scheme()) + len("://") + len(u.Host()) }
