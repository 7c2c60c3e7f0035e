package web

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"anatomy/searcher"
	"anatomy/vocab"
	"anatomy/web/admin"
)

// metrics are what Prometheus reads at /metrics: requests, the process, and the running crawl,
// whose status is read for each scrape. doc/operations.md describes them.
type metrics struct {
	registry *prometheus.Registry
	requests *prometheus.CounterVec
	took     *prometheus.HistogramVec
}

func newMetrics(
	crawl admin.Crawl, answers func() searcher.AnswerStats, missing func() []int, damage func() map[string]int,
	cluster admin.Cluster,
) *metrics {
	m := &metrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "anatomy_http_requests_total", Help: "Requests answered, by route and status."}, []string{"route", "code"}),
		took: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "anatomy_http_request_duration_seconds", Help: "Time to answer a request, by route.",
			Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 10}}, []string{"route"}),
	}
	m.registry.MustRegister(m.requests, m.took, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	if crawl != nil {
		m.registry.MustRegister(crawlCollector{crawl})
	}
	if answers != nil {
		m.registry.MustRegister(answersCollector(answers))
	}
	m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "anatomy_missing_shards", Help: "Shards of the collection that are not on this machine, so that answers are partial.",
	}, func() float64 { return float64(len(missing())) }))
	if damage != nil {
		m.registry.MustRegister(damageCollector(damage))
	}
	if cluster != nil {
		m.registry.MustRegister(clusterCollector{cluster})
	}
	return m
}

// An answersCollector exports the figures of the answer cache.
type answersCollector func() searcher.AnswerStats

var (
	answersAsked = prometheus.NewDesc("anatomy_answers_total", "Searches that an answer may be kept for, by whether it was.", []string{"result"}, nil)
	answersBytes = prometheus.NewDesc("anatomy_answers_bytes", "Bytes of the answers that are kept.", nil, nil)
)

// Describe implements prometheus.Collector.
func (c answersCollector) Describe(to chan<- *prometheus.Desc) {
	to <- answersAsked
	to <- answersBytes
}

// Collect implements prometheus.Collector.
func (c answersCollector) Collect(to chan<- prometheus.Metric) {
	stats := c()
	to <- prometheus.MustNewConstMetric(answersAsked, prometheus.CounterValue, float64(stats.Hits), "hit")
	to <- prometheus.MustNewConstMetric(answersAsked, prometheus.CounterValue, float64(stats.Misses), "miss")
	to <- prometheus.MustNewConstMetric(answersBytes, prometheus.GaugeValue, float64(stats.Bytes))
}

// A damageCollector reads the number of problems of each structure for each scrape.
type damageCollector func() map[string]int

var damaged = prometheus.NewDesc("anatomy_damage",
	"Problems of the data folder that readers met, by structure; anatomy check --repair repairs them.",
	[]string{"structure"}, nil)

// Describe implements prometheus.Collector.
func (damageCollector) Describe(to chan<- *prometheus.Desc) { to <- damaged }

// Collect implements prometheus.Collector.
func (c damageCollector) Collect(to chan<- prometheus.Metric) {
	for structure, n := range c() {
		to <- prometheus.MustNewConstMetric(damaged, prometheus.GaugeValue, float64(n), structure)
	}
}

// observe counts a request by route pattern, never by path, so that clients cannot create series.
func (m *metrics) observe(c *gin.Context) {
	begun := time.Now()
	c.Next()
	route := c.FullPath()
	if route == "" {
		route = "none"
	}
	m.requests.WithLabelValues(route, strconv.Itoa(c.Writer.Status())).Inc()
	m.took.WithLabelValues(route).Observe(time.Since(begun).Seconds())
}

func (m *metrics) handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{DisableCompression: true}) // the gzip handler compresses all answers
}

// A clusterCollector reads the state of the cluster for each scrape.
type clusterCollector struct{ cluster admin.Cluster }

var (
	copyChecked = prometheus.NewDesc("anatomy_copy_checked_timestamp_seconds",
		"When this machine and the bucket last had the same state, as Unix time; 0 for never.", nil, nil)
	clusterUp    = clusterMetric("up", "1 while the bucket can be read.")
	clusterNodes = clusterMetric("nodes", "Nodes that announced themselves in the last day, by role, and by whether they were silent for half a minute.", "role", "silent")
	clusterOwned = clusterMetric("owned", "1 while a machine owns the collection, by its last word.")
	clusterEpoch = clusterMetric("epoch", "Epoch of the owner: it grows by one with each owner.")
	clusterClaim = clusterMetric("claim_renewed_timestamp_seconds", "When the owner last renewed its claim, as Unix time.")
	clusterMade  = clusterMetric("generation_timestamp_seconds", "When the newest generation in the bucket was made, as Unix time; 0 for none.")
	clusterBytes = clusterMetric("generation_bytes", "Size of the newest generation.")
)

func clusterMetric(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("anatomy_cluster_"+name, help, labels, nil)
}

// Describe sends nothing: the series depend on whether the bucket can be read.
func (clusterCollector) Describe(chan<- *prometheus.Desc) {}

// Collect sends the state of the cluster, or only that it cannot be read.
func (c clusterCollector) Collect(to chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), admin.StatusTimeout)
	defer cancel()
	gauge := gaugesTo(to)
	gauge(copyChecked, unixTime(c.cluster.Copied()))
	st, err := c.cluster.Status(ctx)
	gauge(clusterUp, number(err == nil))
	if err != nil {
		return
	}
	gauge(clusterOwned, number(st.Owner != nil && !st.Owner.Released))
	if st.Owner != nil {
		gauge(clusterEpoch, float64(st.Owner.Epoch))
		gauge(clusterClaim, unixTime(st.Owner.Renewed))
	}
	gauge(clusterMade, unixTime(st.Made))
	gauge(clusterBytes, float64(st.Bytes))
	nodes := map[[2]string]int{}
	for _, n := range st.Nodes {
		role := "other"
		if slices.Contains([]string{"owner", "standby", "replica"}, n.Role) {
			role = n.Role
		}
		nodes[[2]string{role, strconv.FormatBool(n.Silent)}]++
	}
	for labels, n := range nodes {
		gauge(clusterNodes, float64(n), labels[:]...)
	}
}

// gaugesTo returns a function that sends the value of a gauge.
func gaugesTo(to chan<- prometheus.Metric) func(d *prometheus.Desc, v float64, labels ...string) {
	return func(d *prometheus.Desc, v float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
}

// unixTime returns seconds since 1970; 0 for the zero time.
func unixTime(t time.Time) float64 {
	if t.IsZero() {
		return 0
	}
	return float64(t.UnixMilli()) / 1000
}

// A crawlCollector reads the status of the crawl for each scrape.
type crawlCollector struct{ crawl admin.Crawl }

func crawlMetric(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("anatomy_crawl_"+name, help, labels, nil)
}

var (
	crawlUp         = crawlMetric("up", "1 while a crawl runs on the data folder.")
	crawlPaused     = crawlMetric("paused", "1 while the crawl is paused.")
	crawlPages      = crawlMetric("pages", "Pages kept, over all runs.")
	crawlKnown      = crawlMetric("urls_known", "URLs seen, over all runs.")
	crawlQueued     = crawlMetric("urls_queued", "URLs to be fetched.")
	crawlInFlight   = crawlMetric("urls_in_flight", "URLs being fetched.")
	crawlHosts      = crawlMetric("hosts", "Hosts with URLs to be fetched.")
	crawlCrawlers   = crawlMetric("crawlers", "Crawlers of other machines that have joined.")
	crawlLeases     = crawlMetric("crawler_leases", "Leases that crawlers of other machines have.")
	crawlWaiting    = crawlMetric("hosts_waiting", "Hosts that wait, by reason.", "reason")
	crawlBound      = crawlMetric("politeness_bound_pages_per_second", "Pages a second that the delays of all sites with a delay allow together.")
	crawlUnbound    = crawlMetric("sites_without_delay", "Sites with URLs to be fetched that politeness sets no bound.")
	crawlRequests   = crawlMetric("requests_total", "Requests sent by this run.")
	crawlBytes      = crawlMetric("received_bytes_total", "Bytes received by this run, after decompression.")
	crawlDuplicates = crawlMetric("duplicates_total", "URLs of this run whose body another page has.")
	crawlTruncated  = crawlMetric("truncated_total", "Pages of this run whose body was cut short.")
	crawlErrors     = crawlMetric("errors_total", "Fetches of this run that brought no page, by kind.", "kind")
	crawlDNS        = crawlMetric("dns_lookups_total", "Names looked up by this run, by whether the cache had them.", "result")
	crawlQueries    = crawlMetric("dns_queries_total", "DNS queries sent by this run.")
	crawlDNSFailed  = crawlMetric("dns_failures_total", "Names that could not be resolved in this run.")
	crawlSeen       = crawlMetric("url_lookups_total", "Seen tests of this run, by whether the cache had the URL.", "result")
	crawlSearchable = crawlMetric("searchable_pages", "Pages in the index.")
	crawlSegments   = crawlMetric("segments", "Segments of the index.")
	crawlScrubbed   = crawlMetric("scrubbed_bytes_total", "Bytes of the repository that this run read again to prove them.")
	crawlJudged     = crawlMetric("topic_judged_pages", "Pages that a focused crawl has judged.")
	crawlRelevant   = crawlMetric("topic_relevant_pages", "Pages of a focused crawl that are relevant.")
	crawlHarvest    = crawlMetric("topic_harvest_ratio", "Share of relevant pages in the last 1,000 of a focused crawl.")
	crawlDamaged    = crawlMetric("damaged", "Problems that the crawl met in the data folder.")
)

// Describe sends nothing: the series depend on whether a crawl runs.
func (crawlCollector) Describe(chan<- *prometheus.Desc) {}

// Collect sends the status of the crawl, or only that none runs.
func (c crawlCollector) Collect(to chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), admin.StatusTimeout)
	defer cancel()
	gauge := gaugesTo(to)
	counter := func(d *prometheus.Desc, v int64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(v), labels...)
	}
	st, err := c.crawl.Status(ctx)
	if err != nil {
		gauge(crawlUp, 0)
		return
	}
	gauge(crawlUp, 1)
	gauge(crawlPaused, number(st.State == vocab.Paused))
	gauge(crawlPages, float64(st.Pages))
	gauge(crawlKnown, float64(st.Known))
	gauge(crawlQueued, float64(st.Queued))
	gauge(crawlInFlight, float64(st.InFlight))
	gauge(crawlHosts, float64(st.HostCount))
	leases := 0
	for _, one := range st.Crawlers {
		leases += one.Leases
	}
	gauge(crawlCrawlers, float64(len(st.Crawlers)))
	gauge(crawlLeases, float64(leases))
	gauge(crawlBound, st.Bound)
	gauge(crawlUnbound, float64(st.Unbound))
	gauge(crawlSearchable, float64(st.Searchable))
	gauge(crawlSegments, float64(st.Segments))
	gauge(crawlDamaged, float64(st.Damaged))
	if h := st.Harvest; h != nil {
		_, recent := h.Ratio()
		gauge(crawlJudged, float64(h.Pages))
		gauge(crawlRelevant, float64(h.Relevant))
		gauge(crawlHarvest, recent)
	}
	counter(crawlScrubbed, st.Scrubbed)
	counter(crawlRequests, st.Requests)
	counter(crawlBytes, st.Bytes)
	counter(crawlDuplicates, st.Duplicates)
	counter(crawlTruncated, st.Truncated)
	counter(crawlDNS, st.DNSHits, "hit")
	counter(crawlDNS, st.DNSMisses, "miss")
	counter(crawlQueries, st.DNSQueries)
	counter(crawlDNSFailed, st.DNSFailed)
	counter(crawlSeen, st.URLHits, "hit")
	counter(crawlSeen, st.URLMisses, "miss")
	for kind, n := range st.Errors {
		counter(crawlErrors, n, strings.ToValidUTF8(kind, "?"))
	}
	waiting := map[string]int64{}
	for why, n := range st.Waiting {
		waiting[reasonClass(why)] += n
	}
	for class, n := range waiting {
		gauge(crawlWaiting, float64(n), class)
	}
}

// reasons are the reasons that contain no name.
var reasons = []string{"politeness", "being read", "other hosts at its address are read", "delay between requests", "answer", "DNS", "connecting", "robots.txt"}

// reasonClass maps a reason to one of a few; its text can contain anything.
func reasonClass(why string) string {
	switch {
	case slices.Contains(reasons, why):
		return why
	case strings.HasPrefix(why, "page limit"):
		return "page limit"
	case strings.HasPrefix(why, "in trouble"):
		return "in trouble"
	}
	return "asked to pause"
}

func number(is bool) float64 {
	if is {
		return 1
	}
	return 0
}
