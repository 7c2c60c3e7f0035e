package searcher

import (
	"cmp"
	"slices"
	"strings"

	"anatomy/searcher/internal/shard"
	"anatomy/searcher/internal/snapshot"
	"anatomy/searcher/scoring"
)

// A query that spells the name of a host is navigational: it looks for the host's home page, as
// "python" does for docs.python.org and "sqlite" for sqlite3-doc.example. The home page gets
// Weights.NavigationalHost in proportion to the share of the name that the query spells. The home
// page is the folder, or index.html, with the fewest folders above it; among several, the one with
// the highest rank; on a host without folders or index.html, the page with the fewest folders.

// Bounds of finding hosts by name.
const (
	maxHomes     = 16 // home pages of a query
	maxHomeDepth = 8  // folders in the URL of a home page
	maxSameDepth = 20 // pages of one depth that are examined
)

// findHomes returns the home pages of the hosts whose names the query spells.
func findHomes(p *pass) (homes []shard.Home) {
	terms := p.terms.Words[:p.terms.Own]
	if len(terms) == 0 || p.weights.NavigationalHost == 0 {
		return nil
	}
	var labels []snapshot.HostLabel
	for i := range p.shards {
		labels = shard.MergeLabels(labels, p.shards[i].Hosts(terms[0]))
	}
	shares := map[string]scoring.Milli{}
	for _, l := range labels {
		shares[l.Host] = scoring.ShareOfName(l.Host, terms)
	}
	for host, share := range shares {
		if share > 0 {
			homes = append(homes, shard.Home{Host: host, Share: share})
		}
	}
	slices.SortFunc(homes, func(x, y shard.Home) int {
		return cmp.Or(cmp.Compare(y.Share, x.Share), cmp.Compare(x.Host, y.Host))
	})
	homes = homes[:min(len(homes), maxHomes)]
	kept := homes[:0]
	for _, h := range homes {
		if h.Candidate = homeOf(p.view, h.Host); h.Doc != 0 {
			kept = append(kept, h)
		}
	}
	return kept
}

// homeOf returns the home page of a host, with DocID 0 if it has none. Each view computes it once.
func homeOf(v *view, host string) scoring.Candidate {
	if c, known := v.homes.Get(host); known {
		return c
	}
	var c scoring.Candidate
	for _, pages := range pagesByDepth(v, host) {
		if c.Doc == 0 && len(pages) > 0 {
			c = pages[0]
		}
		i := slices.IndexFunc(pages, func(c scoring.Candidate) bool {
			info, err := v.part(c).Segment.Record(c.Ord)
			return err == nil && isIndex(info.URL)
		})
		if i >= 0 {
			c = pages[i]
			break
		}
	}
	v.homes.Put(host, c)
	return c
}

// pagesByDepth returns the crawled pages of a host by the depth of their URLs: the first
// maxSameDepth by rank for each depth.
func pagesByDepth(v *view, host string) (all [maxHomeDepth + 1][]scoring.Candidate) {
	for _, snap := range v.shards {
		for i, p := range snap.Parts {
			var found [maxHomeDepth + 1][]scoring.Candidate
			from, to := p.Segment.HostRange(host)
			for ord := from; ord < to; ord++ {
				if depth := p.Segment.Depth(ord); depth <= maxHomeDepth && p.Segment.Crawled(ord) && !p.Dead.Has(ord) {
					found[depth] = append(found[depth], scoring.Candidate{Doc: p.DocIDOf(ord), Part: i, Ord: ord})
				}
			}
			for depth := range found {
				all[depth] = mergeBest(all[depth], found[depth], maxSameDepth, v.byRank)
			}
		}
	}
	return all
}

// isIndex reports whether a URL is that of a folder, or of its index file.
func isIndex(url string) bool {
	file := url[strings.LastIndexByte(url, '/')+1:]
	return file == "" || strings.HasPrefix(file, "index.")
}
