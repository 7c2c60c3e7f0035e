package urlserver

import (
	"cmp"
	"maps"
	"math"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"anatomy/urlserver/internal/frontier"
	"anatomy/weburl"
)

// Options configure a server. The zero value crawls the seeds' sites politely.
type Options struct {
	// Which URLs are fetched.
	Scope   weburl.Scope // how far from the seeds; default their registrable domains
	Include []string     // patterns of weburl.Filter, at least one of which must match; default all URLs
	Exclude []string     // patterns that it must not match

	MaxPages     uint64 // maximum of pages, over all runs; default no bound
	PagesPerHost uint64 // maximum of pages of one host, over all runs; default no bound
	MaxDepth     uint16 // links from the nearest seed; default 64
	SiteBudget   Budget // of one site, over all runs; defaults in the constants below
	Repeats      int    // repeated pages of a folder (trap.Yields); default 50, negative for no bound

	// How a site is treated.
	Delay        time.Duration   // least wait between requests to a site; default 1s, negative: none
	AnswerFactor float64         // minimum wait as a multiple of the last answer time; default 5
	MaxDelay     time.Duration   // bounds Crawl-delay and that multiple; default 60s
	MaxHold      time.Duration   // bounds holds, Retry-After included; default 24h
	Backoff      time.Duration   // first wait after a failure, doubled up to half an hour; default 5s
	HostTries    int             // rounds without any answer until a host is given up; default 3
	HostFailing  time.Duration   // time of only failed answers until a host is given up; default 1h
	Retry        []time.Duration // waits before retries of a failed URL; default 1s, 10s, 1m
	PerSite      int             // leases of one site at once if it has no delay; default 1
	LeaseSize    int             // URLs of a lease; default 32

	// PerAddress is the number of leases of an IP address at once; negative for no bound. Default: 8, or
	// no bound if Delay is negative.
	PerAddress int

	SiteLimits map[string]SiteLimits // by host or domain; each is a site of its own

	// Owns reports whether a URL belongs to this server. Others are known and out of scope: servers
	// of other shards own them. Default: all do.
	Owns func(*weburl.URL) bool

	// Shared has bounds that apply to several servers together. Default: they apply to this one.
	Shared *Shared

	Recrawl Recrawl // default: no page is revisited
	Policy  Policy  // order of hosts and URLs; default CrawlAbility

	// KeepScope leaves the queues as the last run left them, regardless of the fields above. It is
	// for maintenance of a data folder without fetching.
	KeepScope bool

	SeenEntries int    // URLs of the seen test in memory; default DefaultSeenEntries
	CacheBytes  int64  // of the document index's block cache; default 32 MB
	FS          vfs.FS // of the document index; default the operating system's

	scanSize int // URLs of the queues that are read at a time after Open; default scanSize
}

// A Policy orders hosts, and the URLs of each host.
type Policy = frontier.Policy

// The policies; CrawlAbility is the default.
const (
	CrawlAbility     = frontier.CrawlAbility
	QualityFirst     = frontier.QualityFirst
	PerformanceFirst = frontier.PerformanceFirst
	BreadthFirst     = frontier.BreadthFirst
	TopicFirst       = frontier.TopicFirst // Found.Quality orders the URLs
)

// PolicyNames returns the names of the policies that only need links, the default first.
func PolicyNames() []string { return frontier.PolicyNames() }

// ParsePolicy returns the policy of that name.
func ParsePolicy(name string) (Policy, error) { return frontier.ParsePolicy(name) }

// A Budget bounds what is spent on one site; negative fields mean no bound.
type Budget = frontier.Budget

// The default budget of a site. A site of 300,000 pages has about 1,000,000 URLs and 15 GB of
// bodies, and takes 10 minutes to parse.
const (
	DefaultSiteURLs    = 2_000_000
	DefaultSiteBytes   = 100e9
	DefaultSiteParsing = 2 * time.Hour
)

// SiteLimits are the operator's limits for one site.
type SiteLimits = frontier.SiteLimits

// DefaultSeenEntries is the default of Options.SeenEntries.
const DefaultSeenEntries = 50_000

func (o Options) withDefaults() Options {
	o.MaxDepth = cmp.Or(o.MaxDepth, 64)
	o.Repeats = cmp.Or(o.Repeats, 50)
	o.SiteBudget = siteBudget(o.SiteBudget)
	o.Delay = cmp.Or(o.Delay, time.Second)
	o.AnswerFactor = cmp.Or(o.AnswerFactor, 5)
	o.MaxDelay = cmp.Or(o.MaxDelay, time.Minute)
	o.MaxHold = cmp.Or(o.MaxHold, 24*time.Hour)
	o.Backoff = cmp.Or(o.Backoff, 5*time.Second)
	o.HostTries = cmp.Or(o.HostTries, 3)
	o.HostFailing = cmp.Or(o.HostFailing, time.Hour)
	o.PerSite = cmp.Or(o.PerSite, 1)
	if o.Delay > 0 {
		o.PerAddress = cmp.Or(o.PerAddress, 8)
	}
	if o.SiteLimits = maps.Clone(o.SiteLimits); o.SiteLimits == nil {
		o.SiteLimits = map[string]SiteLimits{}
	}
	if o.Owns == nil {
		o.Owns = func(*weburl.URL) bool { return true }
	}
	if o.Shared == nil {
		o.Shared = NewShared()
	}
	o.LeaseSize = cmp.Or(o.LeaseSize, 32)
	o.SeenEntries = cmp.Or(o.SeenEntries, DefaultSeenEntries)
	o.scanSize = cmp.Or(o.scanSize, scanSize)
	o.Recrawl = o.Recrawl.withDefaults()
	if o.Retry == nil {
		o.Retry = []time.Duration{time.Second, 10 * time.Second, time.Minute}
	}
	return o
}

// siteBudget returns a budget with its defaults; a negative bound becomes one that is never
// reached.
func siteBudget(b Budget) Budget {
	const none = math.MaxInt64
	b.URLs = cmp.Or(b.URLs, DefaultSiteURLs)
	b.Bytes = cmp.Or(b.Bytes, DefaultSiteBytes)
	b.Parsing = cmp.Or(b.Parsing, DefaultSiteParsing)
	if b.URLs < 0 {
		b.URLs = none
	}
	if b.Bytes < 0 {
		b.Bytes = none
	}
	if b.Parsing < 0 {
		b.Parsing = none
	}
	return b
}

// frontier returns the options of the frontier.
func (o *Options) frontier() frontier.Options {
	return frontier.Options{
		Policy: o.Policy,
		Delay:  o.Delay, AnswerFactor: o.AnswerFactor, MaxDelay: o.MaxDelay,
		MaxHold: o.MaxHold, Backoff: o.Backoff, HostTries: o.HostTries, HostFailing: o.HostFailing,
		PerSite: o.PerSite, PerAddress: o.PerAddress, SiteLimits: o.SiteLimits,
		LeaseSize: o.LeaseSize, PagesPerHost: o.PagesPerHost, Budget: o.SiteBudget,
		Addresses: o.Shared.addresses,
	}
}
