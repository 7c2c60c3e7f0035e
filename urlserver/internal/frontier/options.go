package frontier

import (
	"strings"
	"time"

	"anatomy/weburl"
)

// Options configure a frontier. urlserver.Options has the same fields with defaults; here every
// field is used as it is.
type Options struct {
	Policy Policy

	Delay        time.Duration
	AnswerFactor float64
	MaxDelay     time.Duration
	MaxHold      time.Duration
	Backoff      time.Duration
	HostTries    int
	HostFailing  time.Duration

	PerSite      int
	PerAddress   int
	Addresses    *Addresses
	SiteLimits   map[string]SiteLimits
	LeaseSize    int
	PagesPerHost uint64
	Budget       Budget
}

// SiteLimits are the operator's limits for one site. Zero fields mean the limits of all sites.
type SiteLimits struct {
	Delay       time.Duration // between requests, instead of any Crawl-delay; negative for none
	Connections int           // leases at once
}

// siteOf returns the name of a host's site: the host itself or its nearest parent domain in
// SiteLimits, else its registrable domain or IP address.
func (o *Options) siteOf(hostname string) string {
	for name, more := hostname, len(o.SiteLimits) > 0; more; _, name, more = strings.Cut(name, ".") {
		if _, ok := o.SiteLimits[name]; ok {
			return name
		}
	}
	return weburl.SiteOf(hostname)
}
