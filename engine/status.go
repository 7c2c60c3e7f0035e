package engine

import (
	"maps"
	"os"
	"time"

	"anatomy/crawler"
	"anatomy/vocab"
)

// Status returns the current work of the crawl, and why each host waits.
func (c *Crawl) Status() *vocab.CrawlStatus {
	now := c.now()
	stats, fetched, outlook := c.Stats(), c.visitor.Stats(), c.urls.Outlook(now, vocab.MaxHostStatus)
	rate, rates := c.fetcher.rate.Read()
	errors, examples := c.intake.errors.Read()
	st := &vocab.CrawlStatus{
		State: c.visits.state(), Phase: c.Phase(), Process: os.Getpid(), Began: c.began, At: now,
		Pages: stats.Pages, Known: stats.Known, Queued: stats.Queued, InFlight: stats.InFlight,
		Rate: rate, Rates: rates,
		Bound: outlook.Rate.Pages, Bounded: outlook.Rate.Delayed,
		Unbound: outlook.Rate.Undelayed, MaxHosts: c.fetcher.connections,
		Hosts: outlook.Hosts, HostCount: outlook.Count, Waiting: stats.Waiting, Removed: outlook.Removed,
		Errors: errors, ErrorExamples: examples, Outcomes: stats.Outcomes,
		RateLimit: c.fetcher.rateLimit, NextRetry: outlook.Next,
		Harvest:  stats.Harvest,
		Requests: stats.Requests, RequestsPerPage: stats.RequestsPerPage,
		Bytes: stats.Bytes, Duplicates: stats.Duplicates,
		Truncated: stats.Truncated,
		DNSHits:   stats.DNSHits, DNSMisses: stats.DNSMisses, DNSQueries: stats.DNSQueries,
		DNSFailed: int64(fetched.DNS.NoNames + fetched.DNS.Timeouts + fetched.DNS.Failures),
		URLHits:   stats.URLHits, URLMisses: stats.URLMisses,
		Searchable: stats.Searchable, Segments: stats.Segments, Links: int64(stats.Links),
	}
	if fleet, ok := c.visitor.(interface{ Crawlers() []vocab.CrawlerStatus }); ok {
		st.Crawlers = fleet.Crawlers()
	}
	st.Scrubbed, st.Scrubs = c.background.scrubber.counts()
	for _, problems := range c.damage.Counts() {
		st.Damaged += int64(problems)
	}
	maps.DeleteFunc(st.Outcomes, func(_ string, n int64) bool { return n == 0 })
	for why, hosts := range outlook.Retries {
		st.Waiting[why] += int64(hosts)
	}
	explain(st, c.visitor.Visits())
	return st
}

// explain replaces beingRead, the URL server's status text of a host whose lease is in flight, by
// the status of the visit.
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

// beingRead is the URL server's status text for a host whose lease is in flight.
const beingRead = "being read"

// doing returns the status text of a visit.
func doing(v crawler.VisitStatus) string {
	if v.Doing == "delay" {
		return "delay between requests"
	}
	return v.Doing
}
