package main

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"anatomy/cmd/anatomy/internal/cli"
	"anatomy/urlserver"
	"anatomy/weburl"
)

// paces returns the per-site settings of --delay-for and --connections-for.
func (f *crawlFlags) paces() (map[string]urlserver.SiteLimits, error) {
	paces := map[string]urlserver.SiteLimits{}
	for _, s := range f.delayFor {
		site, value, err := cutSite("--delay-for", s)
		if err != nil {
			return nil, err
		}
		p := paces[site]
		if p.Delay, err = parseDelay(value); err != nil {
			return nil, cli.UsageErrorf("--delay-for %s: %v", s, err)
		}
		if p.Delay < 0 {
			p.Connections = cmp.Or(p.Connections, f.perSite, connectionsWithoutDelay)
		}
		paces[site] = p
	}
	for _, s := range f.connsFor {
		site, value, err := cutSite("--connections-for", s)
		if err != nil {
			return nil, err
		}
		n, err := strconv.Atoi(value)
		if err != nil || n < 1 {
			return nil, cli.UsageErrorf("--connections-for %s: %q is not a number above 0", s, value)
		}
		p := paces[site]
		p.Connections = n
		paces[site] = p
	}
	return paces, nil
}

// cutSite splits SITE=VALUE.
func cutSite(flag, s string) (site, value string, err error) {
	site, value, ok := strings.Cut(s, "=")
	if !ok {
		return "", "", cli.UsageErrorf("%s %q is not SITE=VALUE", flag, s)
	}
	if site, err = parseSite(site); err != nil {
		err = cli.UsageErrorf("%s %s: %w", flag, s, err)
	}
	return site, value, err
}

// parseSite returns the name of a host or domain in its canonical form.
func parseSite(s string) (string, error) {
	u, err := weburl.Parse("http://" + s + "/")
	if err != nil || u.Path() != "/" || u.Host() != u.Hostname() {
		return "", cli.UsageErrorf("%q is not the name of a host or domain, without a port", s)
	}
	return strings.TrimPrefix(u.Hostname(), "."), nil
}

// parseDelay parses the time between two requests. It returns -1 for 0, which means no delay.
func parseDelay(s string) (time.Duration, error) {
	d, err := cli.ParseDuration(s)
	switch {
	case err != nil:
		return 0, err
	case d < 0:
		return 0, cli.UsageErrorf("%q is negative", s)
	case d == 0:
		return -1, nil
	}
	return d, nil
}
