package engine

import (
	"fmt"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"anatomy/crawler"
	"anatomy/vocab"
)

// Status says what the crawl does now, and why each host waits.
func (c *Crawl) Status() *vocab.CrawlStatus {
	now := time.Now()
	stats, fetched, outlook := c.Stats(), c.crawler.Stats(), c.urls.Outlook(now, vocab.MaxHostStatus)
	rate, rates := c.pace.read()
	st := &vocab.CrawlStatus{
		State: c.visits.state(), Process: os.Getpid(), Began: c.began, At: now,
		Pages: stats.Pages, Known: stats.Known, Queued: stats.Queued, InFlight: stats.InFlight,
		Rate: rate, Rates: rates,
		Bound: outlook.Bound, Bounded: outlook.Bounded, Unbound: outlook.Unbound, MaxHosts: c.o.Connections,
		Hosts: outlook.Hosts, HostCount: outlook.Count, Waiting: stats.Waiting, Removed: outlook.Removed,
		Errors: c.errors.read(), Outcomes: stats.Outcomes,
		Requests: stats.Requests, Bytes: stats.Bytes, Duplicates: stats.Duplicates,
		DNSHits: stats.DNSHits, DNSMisses: stats.DNSMisses, DNSQueries: stats.DNSQueries,
		DNSFailed: int64(fetched.DNS.NoNames + fetched.DNS.Timeouts + fetched.DNS.Failures),
		URLHits:   stats.URLHits, URLMisses: stats.URLMisses,
		Searchable: stats.Searchable, Segments: stats.Segments, Links: int64(stats.Links),
	}
	st.Scrubbed, st.Scrubs, st.Damaged = c.scrub.read()
	maps.DeleteFunc(st.Outcomes, func(_ string, n int64) bool { return n == 0 })
	explain(st, c.crawler.Visits())
	return st
}

// explain puts what the visits are at in the place of what the URL server knows: that a host is read.
func explain(st *vocab.CrawlStatus, visits []crawler.VisitStatus) {
	at := make(map[string]crawler.VisitStatus, len(visits))
	for _, v := range visits {
		at[v.Host] = v
	}
	for _, v := range visits {
		if v.Doing != "" && st.Waiting[beingRead] > 0 {
			st.Waiting[beingRead]--
			st.Waiting[doing(v)]++
		}
	}
	maps.DeleteFunc(st.Waiting, func(_ string, n int64) bool { return n == 0 })
	for i := range st.Hosts {
		h := &st.Hosts[i]
		v, ok := at[h.Host]
		switch {
		case ok && v.Doing != "":
			h.Why, h.Until = doing(v), time.Time{}
			if v.Doing == "delay" {
				h.Until = v.Since.Add(h.Delay)
			}
		case st.State == vocab.Paused && h.Why == "its turn":
			h.Why = "the crawl is paused"
		}
	}
}

// beingRead is the URL server's word for a host whose lease is out.
const beingRead = "being read"

// doing says for people what a visit is at.
func doing(v crawler.VisitStatus) string {
	if v.Doing == "delay" {
		return "delay between requests"
	}
	return v.Doing
}

// A pace remembers how many pages each of the last seconds brought.
type pace struct {
	mu    sync.Mutex
	last  time.Time
	pages int64
	rates []float64
}

// rateSpan is over how many seconds a rate is the mean.
const rateSpan = 10

// note takes down a total, about every second.
func (p *pace) note(now time.Time, pages int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if passed := now.Sub(p.last).Seconds(); !p.last.IsZero() && passed > 0 {
		p.rates = append(p.rates, float64(pages-p.pages)/passed)
		p.rates = p.rates[max(0, len(p.rates)-vocab.RateSeconds):]
	}
	p.last, p.pages = now, pages
}

func (p *pace) read() (rate float64, rates []float64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	recent := p.rates[max(0, len(p.rates)-rateSpan):]
	for _, r := range recent {
		rate += r / float64(len(recent))
	}
	return rate, slices.Clone(p.rates)
}

// A tally counts fetches that brought no page, by kind.
type tally struct {
	mu    sync.Mutex
	kinds map[string]int64
}

const (
	maxKinds   = 60 // reasons come from servers too
	otherKinds = "other"
)

func (t *tally) note(f *vocab.Fetch) {
	switch f.Outcome {
	case vocab.Fetched, vocab.Redirected, vocab.Unmodified, vocab.Skipped:
		return
	}
	kind := errorKind(f)
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.kinds == nil {
		t.kinds = map[string]int64{}
	}
	if _, known := t.kinds[kind]; !known && len(t.kinds) >= maxKinds {
		kind = otherKinds
	}
	t.kinds[kind]++
}

func (t *tally) read() map[string]int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.kinds == nil {
		return map[string]int64{}
	}
	return maps.Clone(t.kinds)
}

// errorKind names what went wrong without the host it went wrong with: the status, or the end of the
// reason, which is the cause of all before it.
func errorKind(f *vocab.Fetch) string {
	switch f.Outcome {
	case vocab.Forbidden, vocab.NoName, vocab.TooLarge, vocab.Unsupported:
		return f.Outcome.String()
	}
	if f.Status >= 400 {
		return strings.TrimSpace(fmt.Sprintf("%s: %d %s", f.Outcome, f.Status, http.StatusText(f.Status)))
	}
	cause := f.Reason[strings.LastIndex(f.Reason, ": ")+1:]
	if cause = strings.TrimSpace(cause); len(cause) > 80 {
		cause = cause[:80]
	}
	return f.Outcome.String() + ": " + strings.ToValidUTF8(cause, "")
}
