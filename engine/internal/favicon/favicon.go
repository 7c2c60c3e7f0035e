// Package favicon fetches the icons of hosts together with their pages.
package favicon

import (
	"cmp"
	"log/slog"
	"sync"
	"time"

	"anatomy/disk/icons"
	"anatomy/internal/raster"
	"anatomy/lru"
	"anatomy/vocab"
	"anatomy/weburl"
)

// A Collector adds the icon of a host to its leases. The first lease of a host in a run ends with the
// icon that one of its pages declares, else with /favicon.ico. If that icon cannot be shown, a later
// lease has the other one. So a host gets at most two requests for its icon, within robots.txt and
// the delay. Its methods are safe for concurrent use. Those of nil do nothing.
type Collector struct {
	to  *icons.Writer
	log *slog.Logger
	now func() time.Time

	mu    sync.Mutex
	hosts *lru.Cache[string, *host] // guarded by mu
}

// A host is the state of the icon of a host in this run.
type host struct {
	begun  bool   // an icon is in a lease, or need not be fetched
	named  string // URL of the icon that pages declare; "" for none
	tried  string // URL of the icon that was fetched and cannot be shown; "" for none
	ending bool   // both are in leases
}

const maxHosts = 50_000 // hosts that are remembered

// New returns a collector for a data folder.
func New(dir string, log *slog.Logger, now func() time.Time) (*Collector, error) {
	to, err := icons.NewWriter(dir)
	if err != nil {
		return nil, err
	}
	return &Collector{to: to, log: log, now: now, hosts: lru.New(maxHosts, func(string, *host) int { return 1 })}, nil
}

// of returns the host of a name. The caller holds mu.
func (c *Collector) of(name string) *host {
	h, ok := c.hosts.Get(name)
	if !ok {
		h = &host{begun: !c.to.IsWanted(name, c.now())}
		c.hosts.Put(name, h)
	}
	return h
}

// AddDeclared records the URL of the icon that a page declares, if both are on one host.
func (c *Collector) AddDeclared(page, icon string) {
	if c == nil || icon == "" {
		return
	}
	on, err := weburl.Parse(page)
	of, wrong := weburl.Parse(icon)
	if err != nil || wrong != nil || on.Host() != of.Host() || of.PathAndQuery() == defaultPath {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if h := c.of(on.Host()); h.named == "" {
		h.named = icon
	}
}

const defaultPath = "/favicon.ico"

// Extend returns a lease with the icon of its host as the last target, if it is to be fetched.
func (c *Collector) Extend(lease vocab.Lease) vocab.Lease {
	if c == nil || len(lease.URLs) == 0 {
		return lease
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	h, url := c.of(lease.Host), ""
	u, err := weburl.Parse(lease.URLs[0].URL)
	switch {
	case err != nil || u.Host() != lease.Host:
	case !h.begun:
		h.begun, url = true, cmp.Or(h.named, u.Origin()+defaultPath)
	case h.tried != "" && !h.ending && h.other(&u) != "":
		h.ending, url = true, h.other(&u)
	}
	if url != "" {
		lease.URLs = append(lease.URLs[:len(lease.URLs):len(lease.URLs)], vocab.Target{URL: url, Kind: vocab.IconTarget})
	}
	return lease
}

// other returns the icon that was not fetched, "" for none. u is a page of the host.
func (h *host) other(u *weburl.URL) string {
	if usual := u.Origin() + defaultPath; h.tried != usual {
		return usual
	}
	return h.named
}

// Declared replaces /favicon.ico at the end of a lease by the icon that pages of the lease, which were
// parsed meanwhile, declare. The visit must not have come to this target; one on another machine has a
// copy of the lease, and keeps /favicon.ico.
func (c *Collector) Declared(lease *vocab.Lease) {
	if c == nil {
		return
	}
	last := &lease.URLs[len(lease.URLs)-1]
	if last.Kind != vocab.IconTarget {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if h := c.of(lease.Host); h.tried == "" && h.named != "" {
		last.URL = h.named
	}
}

// Handle keeps the icon of a fetch if it can be shown; drawings (SVG) cannot. It returns false for
// fetches of other targets.
func (c *Collector) Handle(f *vocab.Fetch) bool {
	if f.Kind != vocab.IconTarget {
		return false
	}
	u, err := weburl.Parse(f.URL)
	if err != nil {
		return true
	}
	var content []byte
	switch f.Outcome {
	case vocab.Fetched:
		if _, err := raster.Icon(f.Page.Body); err == nil && !f.SignedIn {
			content = f.Page.Body
		}
	case vocab.NotFound, vocab.Forbidden, vocab.Redirected, vocab.Unsupported, vocab.TooLarge:
	default: // no answer, or a later crawl tries again
		return true
	}
	if content == nil && c.miss(&u) {
		return true
	}
	if err := c.to.Put(u.Host(), content, c.now()); err != nil {
		c.log.Warn("icon not kept", "error", err)
	}
	return true
}

// miss records that an icon of a host cannot be shown. It reports whether there may be another.
func (c *Collector) miss(icon *weburl.URL) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	h := c.of(icon.Host())
	if h.ending {
		return false
	}
	h.tried = icon.String()
	return h.other(icon) != ""
}
