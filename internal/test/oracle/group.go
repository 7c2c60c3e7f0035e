package oracle

import (
	"slices"

	"anatomy/searcher/query"
	"anatomy/searcher/scoring"
	"anatomy/vocab"
	"anatomy/weburl"
)

// A Shown is a result with what is collapsed into it.
type Shown struct {
	Found
	Similar []Found // near-duplicates, best first
	More    int     // of its host, that come later
}

// Grouped returns all results as they are shown: near-duplicates among the candidates are collapsed
// into the best of them, and copies on several sites into that with far more rank. Of ten results two
// at most are of one host if others have any.
func (c *Collection) Grouped(q query.Query) (shown []Shown) {
	found, n := c.search(q)
	hosts := c.hosts()
	for _, f := range found[:n] {
		near := slices.IndexFunc(shown, func(s Shown) bool {
			return s.Page.Sketch.Distance(f.Page.Sketch) <= scoring.NearDistance ||
				s.Page.Sketch.TextDistance(f.Page.Sketch) <= scoring.CopyDistance && siteOf(s.Found) != siteOf(f)
		})
		switch {
		case near < 0:
			shown = append(shown, Shown{Found: f})
		case c.isOriginal(f, shown[near].Found, hosts):
			same := append([]Found{shown[near].Found}, shown[near].Similar...)
			shown[near] = Shown{Found: f, Similar: same}
		default:
			shown[near].Similar = append(shown[near].Similar, f)
		}
	}
	if q.Root != nil && !asksForSite(q.Root) {
		shown = spread(shown)
	}
	for _, f := range found[n:] {
		shown = append(shown, Shown{Found: f})
	}
	return shown
}

// isOriginal reports whether a page is shown instead of a better one that it duplicates: it is of
// another site, and it or, if their ranks differ by less, the home page of its host has more rank.
func (c *Collection) isOriginal(f, better Found, hosts map[string][]*Document) bool {
	if siteOf(f) == siteOf(better) {
		return false
	}
	higher := func(a, b float32) bool { return float64(a) > scoring.OriginalRank*float64(b) }
	rank, other := c.rank(f.Page), c.rank(better.Page)
	if higher(rank, other) || higher(other, rank) {
		return rank > other
	}
	return higher(c.homeRank(hosts[hostKey(f.Page)]), c.homeRank(hosts[hostKey(better.Page)]))
}

// homeRank returns the rank of the home page of a host, 0 if it has none.
func (c *Collection) homeRank(docs []*Document) float32 {
	if home := c.home(docs); home != nil {
		return c.rank(home)
	}
	return 0
}

func asksForSite(n *query.Node) bool {
	return n.Op == query.Site || n.Op != query.Not && slices.ContainsFunc(n.Kids, asksForSite)
}

// spread chooses the results one by one: the best of a host with fewer than two among the current
// ten. If that scores less than two thirds of the best of all, or there is none, it chooses the
// latter.
func spread(left []Shown) (shown []Shown) {
	rank := map[vocab.DocID]int{}
	for i, s := range left {
		rank[s.Doc] = i
	}
	for len(left) > 0 {
		var ten []Shown
		for len(ten) < 10 && len(left) > 0 {
			next := max(0, slices.IndexFunc(left, func(s Shown) bool { return countHost(ten, hostOf(s)) < 2 }))
			if 3*left[next].Score < 2*left[0].Score {
				next = 0
			}
			ten = append(ten, left[next])
			left = slices.Delete(left, next, next+1)
		}
		lowest := slices.MaxFunc(ten, func(a, b Shown) int { return rank[a.Doc] - rank[b.Doc] })
		for i := range ten {
			host := hostOf(ten[i])
			isLast := countHost(ten[i+1:], host) == 0
			passed := slices.ContainsFunc(left, func(s Shown) bool { return hostOf(s) == host && rank[s.Doc] < rank[lowest.Doc] })
			if isLast && passed {
				ten[i].More = countHost(left, host)
			}
		}
		shown = append(shown, ten...)
	}
	return shown
}

// URL returns the URL of the document.
func (f *Found) URL() string { return f.Page.URL }

func hostOf(s Shown) string {
	u, _ := weburl.Parse(s.Page.URL)
	return u.Host()
}

func siteOf(f Found) string {
	u, _ := weburl.Parse(f.Page.URL)
	return u.Site()
}

func countHost(all []Shown, host string) (n int) {
	for _, s := range all {
		if hostOf(s) == host {
			n++
		}
	}
	return n
}
