package snapshot

import (
	"strings"

	"anatomy/searcher/scoring"
)

// Bounds of finding the home page of a host.
const (
	maxHomeDepth = 8  // folders in the URL of a home page
	maxSameDepth = 20 // pages of one depth that are examined
)

// FindHome returns the home page of a host of some shards, with DocID 0 if there is none: the
// folder, or index.html, with the fewest folders above it; among several, the first one by rank; on
// a host without folders or index.html, the page with the fewest folders.
func FindHome(
	shards []*Snapshot, host string, byRank func(x, y scoring.Candidate) int,
) (home scoring.Candidate) {
	for _, pages := range pagesByDepth(shards, host, byRank) {
		if home.Doc == 0 && len(pages) > 0 {
			home = pages[0]
		}
		for _, c := range pages {
			number, _ := c.Doc.Shard()
			if info, err := shards[number].Parts[c.Part].Segment.Record(c.Ord); err == nil && isIndex(info.URL) {
				return c
			}
		}
	}
	return home
}

// pagesByDepth returns the crawled pages of a host by the depth of their URLs: the first
// maxSameDepth by rank for each depth.
func pagesByDepth(
	shards []*Snapshot, host string, byRank func(x, y scoring.Candidate) int,
) (all [maxHomeDepth + 1][]scoring.Candidate) {
	for _, snap := range shards {
		for i, p := range snap.Parts {
			var found [maxHomeDepth + 1][]scoring.Candidate
			from, to := p.Segment.HostRange(host)
			for ord := from; ord < to; ord++ {
				if depth := p.Segment.Depth(ord); depth <= maxHomeDepth && p.Segment.Crawled(ord) && !p.Dead.Has(ord) {
					found[depth] = append(found[depth], scoring.Candidate{Doc: p.DocIDOf(ord), Part: i, Ord: ord})
				}
			}
			for depth := range found {
				all[depth] = MergeBest(all[depth], found[depth], maxSameDepth, byRank)
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
