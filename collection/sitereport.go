package collection

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"anatomy/control"
	"anatomy/disk/datadir"
	"anatomy/disk/docindex"
	"anatomy/disk/shards"
	"anatomy/searcher"
	"anatomy/vocab"
	"anatomy/weburl"
)

// linkedPages is the number of pages of a site whose links are read, by descending rank.
const linkedPages = 100

// Report returns a report on a site as in site:site: its n best pages by rank, the hosts that link
// to its best pages and the hosts that these link to, and the outcomes of fetching its URLs. The
// error wraps ErrNotFound if nothing of the site is known.
func (s *Site) Report(ctx context.Context, site string, n int) (*SiteReport, error) {
	pages, err := s.Searcher.Site(ctx, site, max(n, linkedPages))
	if err != nil {
		return nil, s.noted(err)
	}
	r := &SiteReport{
		Site: site, Documents: pages.Documents, Crawled: pages.Crawled, PageRank: pages.PageRank,
		Pages: []SitePage{}, In: []HostLinks{}, Out: []HostLinks{},
	}
	for _, p := range pages.Best[:min(n, len(pages.Best))] {
		r.Pages = append(r.Pages, SitePage{Doc: p.Doc, URL: p.URL, Title: p.Title, PageRank: p.PageRank, Crawled: p.Crawled})
	}
	best := pages.Best[:min(linkedPages, len(pages.Best))]
	if err := s.linksOfSite(ctx, r, best); err != nil {
		return nil, err
	}
	if err := s.siteOutcomes(ctx, r); err != nil {
		return nil, err
	}
	if r.Documents == 0 && len(r.Outcomes) == 0 {
		return nil, fmt.Errorf("site %q: %w", site, ErrNotFound)
	}
	return r, nil
}

// linksOfSite counts the hosts of other sites that link to the pages, and that the pages link to.
func (s *Site) linksOfSite(ctx context.Context, r *SiteReport, pages []searcher.SitePage) error {
	in, out := map[string]int{}, map[string]int{}
	for _, p := range pages {
		l, err := s.Links(ctx, p.Doc, linkedPages)
		if errors.Is(err, context.DeadlineExceeded) && r.LinksOf > 0 {
			break // the report has the number of pages read
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

// shownHosts is the number of hosts in a report in each direction.
const shownHosts = 25

func byCount(hosts map[string]int) []HostLinks {
	all := []HostLinks{}
	for _, host := range slices.Sorted(maps.Keys(hosts)) {
		all = append(all, HostLinks{Host: host, Links: hosts[host]})
	}
	slices.SortStableFunc(all, func(a, b HostLinks) int { return cmp.Compare(b.Links, a.Links) })
	return all[:min(len(all), shownHosts)]
}

// siteOutcomes counts the outcomes of the URLs of the site. If a crawl is running it has the
// document index open; then siteOutcomes only sets Live.
func (s *Site) siteOutcomes(ctx context.Context, r *SiteReport) error {
	if _, err := control.New(s.dir).Status(ctx); !errors.Is(err, vocab.ErrNoCrawl) {
		r.Live = true
		return ctx.Err()
	}
	m, err := shards.Read(s.dir)
	if err != nil {
		return err
	}
	outcomes := map[string]int{}
	for shard, stored := range s.stored {
		dir := filepath.Dir(stored.repo.Dir())
		if _, none := os.Stat(datadir.DocIndex(dir)); none != nil {
			return ctx.Err() // the index was not made by a crawl
		}
		err = errors.Join(err, readDocuments(ctx, dir, func(db *docindex.DB) error {
			return countOutcomes(ctx, db, r.Site, outcomes, func(u *weburl.URL) bool {
				return m == nil || m.Of(u) == shard
			})
		}))
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		s.noted(err) // the report is useful without the outcomes
		return nil
	}
	r.Outcomes = outcomes
	return nil
}

// countOutcomes counts the outcomes of the URLs of a site that belong to the shard.
func countOutcomes(
	ctx context.Context, db *docindex.DB, site string, outcomes map[string]int, own func(*weburl.URL) bool,
) error {
	return db.Each(1, func(d docindex.Record) error {
		if d.Kind != vocab.PageTarget {
			return nil
		}
		if u, err := weburl.Parse(d.URL); err == nil && weburl.MatchSite(site, &u) && own(&u) {
			what := d.State.String()
			if d.Fetch != nil {
				what = d.Fetch.Outcome.String()
			}
			outcomes[what]++
		}
		return ctx.Err()
	})
}
