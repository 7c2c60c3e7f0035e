package searcher

import (
	"cmp"
	"slices"

	"anatomy/searcher/internal/shard"
	"anatomy/searcher/internal/snapshot"
	"anatomy/searcher/scoring"
)

// A query that spells the name of a host is navigational: it looks for the host's home page, as
// "python" does for docs.python.org and "sqlite" for sqlite3-doc.example. The home page gets
// Weights.NavigationalHost in proportion to the share of the name that the query spells.

const maxHomes = 16 // home pages of a query

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

// homeOf returns the home page of a host, with DocID 0 if it has none. Each view finds it once.
func homeOf(v *view, host string) scoring.Candidate {
	c, known := v.homes.Get(host)
	if !known {
		c = snapshot.FindHome(v.shards, host, v.byRank)
		v.homes.Put(host, c)
	}
	return c
}
