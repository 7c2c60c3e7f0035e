package searcher

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"anatomy/searcher/internal/snapshot"
	"anatomy/searcher/scoring"
	"anatomy/vocab"
)

// A query that spells the name of a host is navigational: it looks for the host's home page, as
// "python" does for docs.python.org and "sqlite" for sqlite3-doc.example. The home page gets
// Weights.NavigationalHost in proportion to the share of the name that the query spells. The home
// page is the folder, or index.html, with the fewest folders above it; among several, the one with
// the highest rank; on a host without folders or index.html, the page with the fewest folders.

// Bounds of finding hosts by name.
const (
	maxHostLabels = 1000 // words of names examined for a query
	maxHomes      = 16   // home pages of a query
	maxHomeDepth  = 8    // folders in the URL of a home page
	maxSameDepth  = 20   // pages of one depth that are examined
)

// A home is the home page of a host whose name the query spells.
type home struct {
	scoring.Candidate
	host  string
	share scoring.Milli // share of the name that the query spells
}

// findHomes returns the home pages of the hosts whose names the query spells.
func findHomes(p *pass) (homes []home) {
	terms := p.terms.Words[:p.terms.Own]
	if len(terms) == 0 || p.weights.NavigationalHost == 0 {
		return nil
	}
	var labels []snapshot.HostLabel
	for i := range p.shards {
		labels = mergeLabels(labels, p.shards[i].hosts(terms[0]))
	}
	shares := map[string]scoring.Milli{}
	for _, l := range labels {
		shares[l.Host] = scoring.ShareOfName(l.Host, terms)
	}
	for host, share := range shares {
		if share > 0 {
			homes = append(homes, home{host: host, share: share})
		}
	}
	slices.SortFunc(homes, func(x, y home) int {
		return cmp.Or(cmp.Compare(y.share, x.share), cmp.Compare(x.host, y.host))
	})
	homes = homes[:min(len(homes), maxHomes)]
	kept := homes[:0]
	for _, h := range homes {
		if h.Candidate = homeOf(p.view, h.host); h.Doc != 0 {
			kept = append(kept, h)
		}
	}
	return kept
}

// hosts returns the words of host names that a term spells, the first maxHostLabels of them.
func (q *shardQuery) hosts(term string) (found []snapshot.HostLabel) {
	for _, part := range q.snap.Parts {
		labels := part.HostLabels()
		from, _ := slices.BinarySearchFunc(labels, term, func(l snapshot.HostLabel, term string) int {
			return cmp.Compare(l.Word, term)
		})
		to, end := from, min(from+maxHostLabels, len(labels))
		for to < end && scoring.Spells(term, labels[to].Word) {
			to++
		}
		found = mergeLabels(found, labels[from:to])
	}
	return found
}

// mergeLabels returns the first maxHostLabels of two sorted lists, without duplicates. It modifies
// neither.
func mergeLabels(some, more []snapshot.HostLabel) []snapshot.HostLabel {
	switch {
	case len(some) == 0:
		return more
	case len(more) == 0:
		return some
	}
	all := slices.Concat(some, more)
	slices.SortFunc(all, snapshot.HostLabel.Compare)
	all = slices.Compact(all)
	return all[:min(len(all), maxHostLabels)]
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

// homeBonus returns the points of a page that is one of the home pages.
func homeBonus(w *scoring.Weights, r *exactRequest, doc vocab.DocID) scoring.Bonus {
	for i := range r.homes {
		if h := &r.homes[i]; h.Doc == doc {
			return scoring.Bonus{
				Score: h.share.Of(w.NavigationalHost.Of(r.terms.Sum)),
				Detail: fmt.Sprintf("home page of a host of whose name the query is %d %%, idf %s × weight %s",
					h.share/10, r.terms.Sum.Milli(), w.NavigationalHost),
			}
		}
	}
	return scoring.Bonus{}
}
