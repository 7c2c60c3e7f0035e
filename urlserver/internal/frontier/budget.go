package frontier

import (
	"time"

	"anatomy/disk/docindex"
)

// A Budget bounds what a crawl spends on one site, over all runs. Revisits do not count, because
// the stored pages bound them. Seeds are always fetched.
type Budget struct {
	URLs    int64         // queued
	Bytes   int64         // of bodies, decoded
	Parsing time.Duration // of pages
}

// Bounds on the sitemaps of a site. A sitemap has at most 50,000 entries, so this many can name
// more URLs than the largest site has.
const (
	maxSitemaps     = 1000
	maxSitemapBytes = 1 << 30 // decoded
)

// maxFound is the multiple of its budget of URLs after which a site is abandoned, counting the URLs
// found on it. Each URL takes an entry in the document index, refused or not, and a site that breeds
// has new ones on every page. With a factor of five, a site that is merely large is still fetched up
// to its budget.
const maxFound = 5

// Usage returns the usage of the site, which the URL server writes to the document index.
func (s *Site) Usage() *docindex.SiteUsage { return &s.usage }

// Name returns the name of the site.
func (s *Site) Name() string { return s.name }

// Admit counts a URL that is to be queued, or returns the budget that is used up.
func (s *Site) Admit(sitemap bool) docindex.Budget {
	u := &s.usage
	switch {
	case sitemap && (u.Sitemaps >= maxSitemaps || u.SitemapBytes >= maxSitemapBytes):
		return docindex.SitemapBudget
	case sitemap:
		u.Sitemaps++
	case u.URLs >= uint64(s.o.Budget.URLs):
		s.judge()
		return docindex.URLBudget
	default:
		u.URLs++
	}
	return docindex.NoBudget
}

// Refuse counts a URL that was found when the budget of URLs was used up.
func (s *Site) Refuse() {
	s.usage.Refused++
	s.judge()
}

// Spend counts the cost of the first fetch of a page or sitemap.
func (s *Site) Spend(sitemap bool, bytes int64, parsing time.Duration) {
	if sitemap {
		s.usage.SitemapBytes += uint64(bytes)
		return
	}
	s.usage.Bytes += uint64(bytes)
	s.usage.Parsing += parsing.Truncate(time.Microsecond)
	s.judge()
}

// judge sets the budget that is used up. The budget of URLs does not keep queued URLs from being
// fetched; the others do.
func (s *Site) judge() {
	u, b := &s.usage, &s.o.Budget
	switch {
	case u.Bytes >= uint64(b.Bytes):
		u.Spent = docindex.ByteBudget
	case u.Parsing >= b.Parsing:
		u.Spent = docindex.ParsingBudget
	case u.Refused/(maxFound-1) >= uint64(b.URLs):
		u.Spent = docindex.FoundBudget
	case u.URLs >= uint64(b.URLs):
		u.Spent = docindex.URLBudget
	default:
		u.Spent = docindex.NoBudget
	}
}

// isSpent reports whether no new page of the site may be fetched.
func (s *Site) isSpent() bool { return s.usage.Spent.EndsSite() }

// SitemapsSpent reports whether no new sitemap of the site may be fetched.
func (s *Site) SitemapsSpent() bool { return s.usage.SitemapBytes >= maxSitemapBytes }
