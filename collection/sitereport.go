package collection

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unsafe"

	"anatomy/control"
	"anatomy/disk/datadir"
	"anatomy/disk/docindex"
	"anatomy/disk/shards"
	"anatomy/lru"
	"anatomy/searcher"
	"anatomy/vocab"
	"anatomy/weburl"
)

// linkedPages is the number of pages of a site whose links are read, by descending rank.
const linkedPages = 100

// A siteReports keeps reports, which read the links of a hundred pages and the records of all URLs.
type siteReports = lru.Cache[siteReportKey, *SiteReport]

// A siteReportKey is all that a report depends on but its number of pages.
type siteReportKey struct {
	site  string
	stamp [sha256.Size]byte // hash of Site.reportStamp, which grows with the number of segments
}

// maxReportBytes limits the memory of the reports that are kept.
const maxReportBytes = 10 << 20

func newSiteReports() *siteReports {
	return lru.New(maxReportBytes, func(key siteReportKey, r *SiteReport) int {
		return len(key.site) + r.bytes()
	})
}

// reportOverhead is the memory of a report without its lists: some 20 outcomes, key, and list entry.
const reportOverhead = 2000

// bytes estimates the memory of r.
func (r *SiteReport) bytes() int {
	n := reportOverhead + len(r.Site)
	n += cap(r.Pages) * int(unsafe.Sizeof(SitePage{}))
	for i := range r.Pages {
		n += len(r.Pages[i].URL) + len(r.Pages[i].Title)
	}
	for _, hosts := range [][]HostLinks{r.In, r.Out} {
		n += cap(hosts) * int(unsafe.Sizeof(HostLinks{}))
		for _, h := range hosts {
			n += len(h.Host)
		}
	}
	return n
}

// Report returns a report on a site as in site:site: its n best pages by rank, the hosts that link
// to its best pages and the hosts that these link to, and the outcomes of fetching its URLs. The
// error wraps ErrNotFound if nothing of the site is known. The caller must not change the report: it
// is kept until the index, the ranks or the records of URLs change.
func (s *Site) Report(ctx context.Context, site string, n int) (*SiteReport, error) {
	stamp, live, err := s.reportStamp(ctx)
	if err != nil {
		return nil, s.noted(err)
	}
	key := siteReportKey{site, sha256.Sum256([]byte(stamp))}
	if r, ok := s.reports.Get(key); ok && len(r.Pages) >= min(n, r.Documents) {
		return r.cut(n), nil
	}
	r, complete, err := s.report(ctx, site, max(n, linkedPages), live)
	if err != nil {
		return nil, err
	}
	if complete {
		s.reports.Put(key, r)
	}
	return r.cut(n), nil
}

// cut returns r with at most n pages.
func (r *SiteReport) cut(n int) *SiteReport {
	if len(r.Pages) <= n {
		return r
	}
	short := *r
	short.Pages = r.Pages[:n:n]
	return &short
}

// reportStamp returns a string that identifies the index, the links, and the records of URLs unless
// a crawl is live, which has them open.
func (s *Site) reportStamp(ctx context.Context) (stamp string, live bool, err error) {
	if _, err := control.New(s.dir).Status(ctx); !errors.Is(err, vocab.ErrNoCrawl) {
		live = true
	}
	if stamp, err = stampOf(s.dir); err != nil {
		return "", live, err
	}
	stamp += s.Searcher.Stats().State + "\n"
	if live {
		return stamp + "live", live, ctx.Err()
	}
	for _, stored := range s.stored {
		files, err := os.ReadDir(datadir.DocIndex(filepath.Dir(stored.repo.Dir())))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", live, err
		}
		for _, file := range files {
			if info, err := file.Info(); err == nil { // else it was deleted meanwhile
				stamp += fmt.Sprintln(file.Name(), info.Size(), info.ModTime().UnixNano())
			}
		}
	}
	return stamp, live, ctx.Err()
}

// report makes a report with n pages, at least linkedPages. It is complete if the outcomes could be
// read. It shares no memory with blocks of the index.
func (s *Site) report(ctx context.Context, site string, n int, live bool) (r *SiteReport, complete bool, err error) {
	pages, err := s.Searcher.Site(ctx, site, n)
	if err != nil {
		return nil, false, s.noted(err)
	}
	r = &SiteReport{
		Live: live, Site: site, Documents: pages.Documents, Crawled: pages.Crawled, PageRank: pages.PageRank,
		Pages: make([]SitePage, 0, len(pages.Best)), In: []HostLinks{}, Out: []HostLinks{},
	}
	for _, p := range pages.Best {
		r.Pages = append(r.Pages, SitePage{
			Doc: p.Doc, URL: strings.Clone(p.URL), Title: strings.Clone(p.Title), PageRank: p.PageRank, Crawled: p.Crawled,
		})
	}
	best := pages.Best[:min(linkedPages, len(pages.Best))]
	if err := s.linksOfSite(ctx, r, best); err != nil {
		return nil, false, err
	}
	read, err := s.siteOutcomes(ctx, r)
	switch {
	case err != nil:
		return nil, false, err
	case r.Documents == 0 && len(r.Outcomes) == 0:
		return nil, false, fmt.Errorf("site %q: %w", site, ErrNotFound)
	}
	return r, read, nil
}

// linksOfSite counts the hosts of other sites that link to the pages, and that the pages link to: of each
// page linkedPages links in each direction.
func (s *Site) linksOfSite(ctx context.Context, r *SiteReport, pages []searcher.SitePage) error {
	docs := make([]vocab.DocID, 0, len(pages))
	for _, p := range pages {
		docs = append(docs, p.Doc)
	}
	slices.Sort(docs) // so that each block of the links is read once
	return s.links.use(func(links *Links) error {
		sources, err := links.sourcesOfEach(docs, linkedPages)
		if err != nil {
			return err
		}
		targets, err := links.targetsOfEach(docs, linkedPages)
		if err != nil {
			return err
		}
		r.LinksOf = len(docs)
		site, _ := weburl.ParseSite(r.Site)
		if r.In, err = links.countHosts(ctx, &site, sources); err != nil {
			return err
		}
		r.Out, err = links.countHosts(ctx, &site, targets)
		return err
	})
}

// sourcesOfEach returns the pages that link to some documents, which must be ascending, and of each page
// its number of links: of a document, the in-links from the n pages of highest rank are counted.
func (l *Links) sourcesOfEach(docs []vocab.DocID, n int) (map[vocab.DocID]int, error) {
	sources := map[vocab.DocID][]vocab.DocID{}
	for b, err := range l.backlinks(docs) {
		if err != nil {
			return nil, err
		}
		sources[b.To] = append(sources[b.To], b.From)
	}
	all := map[vocab.DocID]int{}
	for _, from := range sources {
		slices.Sort(from)
		from = slices.Compact(from) // a page may link with several texts
		slices.SortStableFunc(from, func(a, b vocab.DocID) int { return cmp.Compare(l.rankOf(b), l.rankOf(a)) })
		for _, doc := range from[:min(n, len(from))] {
			all[doc]++
		}
	}
	return all, nil
}

// targetsOfEach returns the documents that some pages, which must be ascending, link to, and of each its
// number of links: at most n out-links of a page are counted.
func (l *Links) targetsOfEach(docs []vocab.DocID, n int) (map[vocab.DocID]int, error) {
	all := map[vocab.DocID]int{}
	for _, doc := range docs {
		source, err := l.linksOf(doc)
		if err != nil {
			return nil, err
		}
		for _, t := range source.Targets[:min(n, len(source.Targets))] {
			all[t.Doc]++
		}
	}
	return all, nil
}

// countHosts returns the hosts of documents outside a site, given the number of links of each document.
func (l *Links) countHosts(ctx context.Context, site *weburl.SiteSpec, links map[vocab.DocID]int) ([]HostLinks, error) {
	hosts := map[string]int{}
	for _, doc := range slices.Sorted(maps.Keys(links)) {
		url, err := l.url(doc)
		if err = errors.Join(err, ctx.Err()); err != nil {
			return nil, err
		}
		if u, err := weburl.Parse(url); err == nil && !site.Match(&u) {
			hosts[u.Host()] += links[doc]
		}
	}
	return byCount(hosts), nil
}

// shownHosts is the number of hosts in a report in each direction.
const shownHosts = 25

func byCount(hosts map[string]int) []HostLinks {
	all := []HostLinks{}
	for _, host := range vocab.KeysByCount(hosts) {
		if len(all) == shownHosts {
			break
		}
		// The host shares memory with a URL.
		all = append(all, HostLinks{Host: strings.Clone(host), Links: hosts[host]})
	}
	return all
}

// siteOutcomes counts the outcomes of the URLs of the site, unless a crawl is live. It reports false if
// they could not be read.
func (s *Site) siteOutcomes(ctx context.Context, r *SiteReport) (read bool, err error) {
	if r.Live {
		return true, ctx.Err()
	}
	m, err := shards.Read(s.dir)
	if err != nil {
		return false, err
	}
	outcomes := map[string]int{}
	for shard, stored := range s.stored {
		dir := filepath.Dir(stored.repo.Dir())
		if _, none := os.Stat(datadir.DocIndex(dir)); none != nil {
			return true, ctx.Err() // the index was not made by a crawl
		}
		err = errors.Join(err, readDocuments(ctx, dir, func(db *docindex.DB) error {
			return countOutcomes(ctx, db, r.Site, outcomes, func(u *weburl.URL) bool {
				return m == nil || m.Of(u) == shard
			})
		}))
	}
	switch {
	case ctx.Err() != nil:
		return false, ctx.Err()
	case err != nil:
		s.noted(err) // the report is useful without the outcomes
		return false, nil
	}
	r.Outcomes = outcomes
	return true, nil
}

// countOutcomes counts the outcomes of the URLs of a site that belong to the shard.
func countOutcomes(
	ctx context.Context, db *docindex.DB, name string, outcomes map[string]int, own func(*weburl.URL) bool,
) error {
	site, ok := weburl.ParseSite(name)
	if !ok {
		return nil
	}
	return db.EachContaining(site.Host(), 1, func(d docindex.Record) error {
		if d.Kind != vocab.PageTarget {
			return nil
		}
		if u, err := weburl.Parse(d.URL); err == nil && site.Match(&u) && own(&u) {
			what := d.State.String()
			if d.Fetch != nil {
				what = d.Fetch.Outcome.Name(d.Fetch.Status)
			}
			outcomes[what]++
		}
		return ctx.Err()
	})
}
