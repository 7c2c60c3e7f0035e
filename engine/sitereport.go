package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"anatomy/disk/docindex"
	"anatomy/searcher"
	"anatomy/vocab"
	"anatomy/web"
	"anatomy/weburl"
)

// linkedPages is how many pages of a site are asked for their links, the best first.
const linkedPages = 100

// Report tells of a site, written as site: has it: its pages by rank, which hosts link to its best pages
// and which those link to, and what came of fetching its URLs. web.ErrNotFound says that nothing of it is
// in the index.
func (s *Site) Report(ctx context.Context, site string, n int) (*web.SiteReport, error) {
	pages, err := s.Searcher.Site(ctx, site, max(n, linkedPages))
	if err != nil {
		return nil, err
	}
	r := &web.SiteReport{
		Site: site, Documents: pages.Documents, Crawled: pages.Crawled, PageRank: pages.PageRank,
		Pages: []web.SitePage{}, In: []web.HostLinks{}, Out: []web.HostLinks{},
	}
	for _, p := range pages.Best[:min(n, len(pages.Best))] {
		r.Pages = append(r.Pages, web.SitePage{Doc: p.Doc, URL: p.URL, Title: p.Title, PageRank: p.PageRank, Crawled: p.Crawled})
	}
	best := pages.Best[:min(linkedPages, len(pages.Best))]
	if err := s.linksOfSite(ctx, r, best); err != nil {
		return nil, err
	}
	if err := s.siteOutcomes(ctx, r); err != nil {
		return nil, err
	}
	if r.Documents == 0 && len(r.Outcomes) == 0 {
		return nil, fmt.Errorf("site %q: %w", site, web.ErrNotFound)
	}
	return r, nil
}

// linksOfSite counts the hosts that pages are linked from and link to, those of the site apart.
func (s *Site) linksOfSite(ctx context.Context, r *web.SiteReport, pages []searcher.SitePage) error {
	in, out := map[string]int{}, map[string]int{}
	for _, p := range pages {
		l, err := s.Links(ctx, p.Doc, linkedPages)
		if errors.Is(err, context.DeadlineExceeded) && r.LinksOf > 0 {
			break // what was counted stands
		}
		if err != nil {
			return err
		}
		r.LinksOf++
		for _, link := range l.In {
			countHost(in, r.Site, link.URL)
		}
		for _, link := range l.Out {
			countHost(out, r.Site, link.URL)
		}
	}
	r.In, r.Out = byCount(in), byCount(out)
	return nil
}

func countHost(hosts map[string]int, site, url string) {
	u, err := weburl.Parse(url)
	if err == nil && !weburl.MatchSite(site, &u) {
		hosts[u.Host()]++
	}
}

// shownHosts is how many hosts a report names each way.
const shownHosts = 25

func byCount(hosts map[string]int) []web.HostLinks {
	all := []web.HostLinks{}
	for _, host := range slices.Sorted(maps.Keys(hosts)) {
		all = append(all, web.HostLinks{Host: host, Links: hosts[host]})
	}
	slices.SortStableFunc(all, func(a, b web.HostLinks) int { return cmp.Compare(b.Links, a.Links) })
	return all[:min(len(all), shownHosts)]
}

// siteOutcomes counts what came of fetching the URLs of the site. While a crawl runs, which has the
// document index open, nothing is counted and Live says so.
func (s *Site) siteOutcomes(ctx context.Context, r *web.SiteReport) error {
	if _, err := NewControl(s.dir).Status(ctx); !errors.Is(err, vocab.ErrNoCrawl) {
		r.Live = true
		return ctx.Err()
	}
	db, err := docindex.OpenReadOnly(filepath.Join(s.dir, "docindex"))
	if err != nil { // of an index that no crawl made
		return ctx.Err()
	}
	r.Outcomes = map[string]int{}
	err = db.Each(1, func(d docindex.Record) error {
		if d.Kind != vocab.PageTarget {
			return nil
		}
		if u, err := weburl.Parse(d.URL); err == nil && weburl.MatchSite(r.Site, &u) {
			what := d.State.String()
			if d.Fetch != nil {
				what = d.Fetch.Outcome.String()
			}
			r.Outcomes[what]++
		}
		return ctx.Err()
	})
	return errors.Join(err, db.Close())
}
