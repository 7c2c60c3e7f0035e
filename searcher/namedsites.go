package searcher

import (
	"slices"

	"anatomy/searcher/internal/shard"
	"anatomy/searcher/internal/snapshot"
	"anatomy/searcher/scoring"
	"anatomy/weburl"
)

// Prose often names the site that has the answer: "python read from stdin". The pages of such a
// site get Weights.NamedSite.

// Bounds of naming sites.
const (
	minNamedLetters = 2                  // of a term that names a site
	minNamedPrefix  = 6                  // of a term that is only a prefix of the name
	minNamedShare   = scoring.Milli(400) // share of the name
	maxNamedHosts   = 3                  // hosts that a term names equally well; of more it names none
	maxNamedSites   = 8                  // of a query
)

// findNamedSites returns the hosts that terms of prose name: for each term those with the largest
// share of their name.
func findNamedSites(p *pass) (sites []shard.Preference) {
	if !p.prose || p.weights.NamedSite == 0 {
		return nil
	}
	for i, term := range p.terms.Words[:p.terms.Own] {
		if p.terms.IsFunction(i) || len(term) < minNamedLetters {
			continue
		}
		for _, host := range namedHosts(p, term) {
			known := slices.ContainsFunc(sites, func(s shard.Preference) bool { return s.Site == host })
			if !known && len(sites) < maxNamedSites {
				sites = append(sites, shard.Preference{
					Site: host, Kind: shard.Named, Term: term, Points: p.weights.NamedSite.Of(p.terms.IDF[i]),
				})
			}
		}
	}
	return sites
}

// namedHosts returns the crawled hosts that a term names, sorted.
func namedHosts(p *pass, term string) (hosts []string) {
	var labels []snapshot.HostLabel
	for i := range p.shards {
		labels = shard.MergeLabels(labels, p.shards[i].Hosts(term))
	}
	best := minNamedShare
	for _, l := range labels {
		if l.Word != term && len(term) < minNamedPrefix || homeOf(p.view, l.Host).Doc == 0 {
			continue
		}
		share, host := scoring.ShareOfName(l.Host, []string{term}), weburl.HostOfKey(l.Host)
		if share > best {
			best, hosts = share, hosts[:0]
		}
		if share == best && !slices.Contains(hosts, host) {
			hosts = append(hosts, host)
		}
	}
	if len(hosts) > maxNamedHosts {
		return nil
	}
	slices.Sort(hosts)
	return hosts
}
