package main

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"anatomy/urlserver"
	"anatomy/weburl"
)

// paces reads --delay-for and --connections-for.
func (f *crawlFlags) paces() (map[string]urlserver.Pace, error) {
	paces := map[string]urlserver.Pace{}
	for _, s := range f.delayFor {
		site, value, err := cutSite("--delay-for", s)
		if err != nil {
			return nil, err
		}
		p := paces[site]
		if p.Delay, err = parseDelay(value); err != nil {
			return nil, usagef("--delay-for %s: %v", s, err)
		}
		if p.Delay < 0 {
			p.Connections = cmp.Or(p.Connections, f.perSite, ownSite)
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
			return nil, usagef("--connections-for %s: %q is no number of connections", s, value)
		}
		p := paces[site]
		p.Connections = n
		paces[site] = p
	}
	return paces, nil
}

// cutSite takes SITE=VALUE apart.
func cutSite(flag, s string) (site, value string, err error) {
	site, value, ok := strings.Cut(s, "=")
	if !ok {
		return "", "", usagef("%s %q is not SITE=VALUE", flag, s)
	}
	site, err = parseSite(site)
	return site, value, err
}

// parseSite reads the name of a host or domain.
func parseSite(s string) (string, error) {
	u, err := weburl.Parse("http://" + s + "/")
	if err != nil || u.Path() != "/" || u.Host() != u.Hostname() {
		return "", usagef("%q is no name of a host or domain", s)
	}
	return strings.TrimPrefix(u.Hostname(), "."), nil
}

// parseDelay reads a time between requests; it is negative for 0, which is none.
func parseDelay(s string) (time.Duration, error) {
	d, err := time.ParseDuration(s)
	switch {
	case err != nil || d < 0:
		return 0, usagef("%q is no time such as 2s or 500ms", s)
	case d == 0:
		return -1, nil
	}
	return d, nil
}
