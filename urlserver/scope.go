package urlserver

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"anatomy/disk/docindex"
	"anatomy/urlserver/internal/trap"
	"anatomy/vocab"
	"anatomy/weburl"
)

// A scope determines which known URLs are queued: those that the filter admits, that match no
// removed or blocked pattern, and that are not traps. Seeds are never refused as traps.
type scope struct {
	o       *Options
	filter  weburl.Filter
	seeds   map[vocab.DocID]bool
	hosts   map[string]bool // of seeds
	removed []string        // patterns of Remove, for this run
	blocked []string        // patterns of Block, for all runs
	blocks  patternSet
}

func newScope(o *Options) *scope {
	return &scope{o: o, seeds: map[vocab.DocID]bool{}, hosts: map[string]bool{},
		filter: weburl.Filter{Scope: o.Scope, Include: o.Include, Exclude: o.Exclude}}
}

func (s *scope) addSeed(doc vocab.DocID, u weburl.URL) {
	s.seeds[doc], s.hosts[u.Host()] = true, true
	s.filter.AddSeed(u)
}

func (s *scope) setBlocked(patterns []string) {
	s.blocked, s.blocks = patterns, newPatternSet(patterns)
}

// admits reports whether a URL is in scope.
func (s *scope) admits(u *weburl.URL, kind vocab.TargetKind) bool {
	return s.filter.Admits(u, kind) && s.o.Owns(u) && !s.excludes(u)
}

// seeksSitemap reports whether to look for a sitemap at the usual URL of a host in scope. If all
// hosts are in scope, it does so only for hosts of seeds.
func (s *scope) seeksSitemap(host string) bool {
	if s.o.Scope == weburl.AnyScope && !s.hosts[host] {
		return false
	}
	u, err := weburl.Parse("http://" + host + "/sitemap.xml")
	return err == nil && s.admits(&u, vocab.SitemapTarget)
}

// excludes reports whether a URL matches a removed or blocked pattern.
func (s *scope) excludes(u *weburl.URL) bool { return s.blocks.matches(u) || s.isRemoved(u) }

func (s *scope) isRemoved(u *weburl.URL) bool {
	return slices.ContainsFunc(s.removed, func(p string) bool { return weburl.MatchPattern(p, u) })
}

// decide sets the state of a document that was not fetched, as far as its URL determines it.
func (s *scope) decide(u *weburl.URL, r *docindex.Record, now time.Time) {
	r.Trap = 0
	switch {
	case r.Fetch != nil:
		r.State = docindex.Finished
	case !s.admits(u, r.Kind):
		r.State = docindex.OutOfScope
	default:
		r.State = docindex.Queued
		if r.Trap = s.trap(u, r, now); r.Trap != 0 {
			r.State = docindex.Trapped
		}
	}
}

func (s *scope) trap(u *weburl.URL, r *docindex.Record, now time.Time) docindex.Trap {
	switch {
	case s.seeds[r.Doc]:
		return 0
	case r.Depth > s.o.MaxDepth:
		return docindex.TooDeep
	}
	return trap.OfURL(u, now)
}

// withdraw removes an uncounted record from the crawl. A page that was visited before keeps its
// last outcome.
func withdraw(r *docindex.Record) {
	if r.Due = (time.Time{}); r.History.Visits > 0 {
		r.State = docindex.Finished
		return
	}
	r.State, r.Fetch = docindex.OutOfScope, nil
}

// text describes the scope. If it differs from that of the last run, Open updates the queues.
func (s *scope) text() string {
	text := fmt.Sprintf("%s depth %d breeding repeats %d urls %d\n+%s\n-%s",
		s.o.Scope, s.o.MaxDepth, s.o.Repeats, s.o.SiteBudget.URLs,
		strings.Join(s.o.Include, " "), strings.Join(s.o.Exclude, " "))
	if len(s.removed) > 0 {
		text += "\nremoved " + strings.Join(s.removed, " ")
	}
	if len(s.blocked) > 0 {
		text += "\nbanned " + strings.Join(s.blocked, " ")
	}
	return text
}

const metaScope = "scope"

// A patternSet is a list of patterns of a weburl.Filter, with patterns of single URLs in a map.
type patternSet struct {
	exact map[string]bool // host, path and query, of patterns without a star
	globs []string
}

func newPatternSet(patterns []string) patternSet {
	b := patternSet{exact: map[string]bool{}}
	for _, p := range patterns {
		if strings.Contains(p, "*") || strings.Contains(p, "://") {
			b.globs = append(b.globs, p)
		} else {
			b.exact[p] = true
		}
	}
	return b
}

func (b *patternSet) matches(u *weburl.URL) bool {
	if len(b.exact) > 0 {
		if _, rest, _ := strings.Cut(u.String(), "://"); b.exact[rest] {
			return true
		}
	}
	return slices.ContainsFunc(b.globs, func(p string) bool { return weburl.MatchPattern(p, u) })
}
