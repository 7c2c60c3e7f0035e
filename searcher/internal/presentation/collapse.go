// Package presentation decides how candidates are shown: it collapses near-duplicates and crowded
// hosts, and cuts snippets from pages.
package presentation

import (
	"slices"

	"anatomy/searcher/internal/arena"
	"anatomy/searcher/scoring"
	"anatomy/vocab"
)

// Pages gives access to the pages of candidates.
type Pages interface {
	Host(scoring.Candidate) string
	Sketch(scoring.Candidate) vocab.Sketch
	Site(scoring.Candidate) string
	Rank(scoring.Candidate) float64     // PageRank
	HomeRank(scoring.Candidate) float64 // PageRank of the home page of its host
	Service(scoring.Candidate) bool     // it defines a web service
}

// An Arena is the memory of one query, which the next query reuses.
type Arena struct {
	Candidates arena.Of[scoring.Candidate]
	sketches   arena.Of[vocab.Sketch]
	Snippets   SnippetArena
}

// Reset frees the memory of a query.
func (a *Arena) Reset() {
	a.Candidates.Reset()
	a.sketches.Reset()
}

// A NearDuplicate is the page that is shown instead of another: its sketch is close to the other's,
// or it is a version of it in another language.
type NearDuplicate struct {
	scoring.Candidate
	Distance int // of the sketches; 0 for a version
	Version  bool
}

// A Version has the page that a candidate is a version of, and how much its language is preferred.
type Version struct {
	Page       vocab.DocID // the same for all versions; 0 if there are no others
	Preference int         // the version with the greatest is shown, unless it lacks more terms than the best version
	Missing    int         // terms of a relaxed query, or words of prose, that it lacks
}

// A Collapser puts candidates in the order in which they are shown, where that is not the order of
// scores:
//
//   - The versions of a page in several languages are one result, at the position of the best: the
//     version in the preferred language.
//   - A near-duplicate of a better page is collapsed into that one. So is a page of another site with
//     nearly the same text under another title; of the two, the page with more PageRank is shown, and
//     of pages with nearly the same the one whose home page has more.
//   - At most two of ten results are of one host, while candidates of other hosts score two thirds
//     of the page that they pass. That page comes later. Definitions of web services do not count: each
//     is another service, and the host of a provider has many.
//
// The order depends on the query and not on the requested results. So pages of results do not
// overlap, and each candidate is shown once or collapsed once.
type Collapser struct {
	// Into maps a collapsed page to the page that is shown instead.
	Into map[vocab.DocID]NearDuplicate

	// Same maps a page to those collapsed into it, best first.
	Same map[vocab.DocID][]scoring.Candidate

	// More maps the last page of a host among ten results to the number of later pages of that
	// host.
	More map[vocab.DocID]int

	pages Pages
	arena *Arena
}

// NewCollapser returns a Collapser for the candidates of one query.
func NewCollapser(pages Pages, a *Arena) Collapser { return Collapser{pages: pages, arena: a} }

// Versions keeps one version of each page, at the position of the best. It is called before
// Duplicates. Candidates are in order.
func (c *Collapser) Versions(
	candidates []scoring.Candidate, versionOf func(scoring.Candidate) Version,
) (shown []scoring.Candidate) {
	shown = c.arena.Candidates.Alloc(len(candidates))[:0]
	at := map[vocab.DocID]int{} // index in shown, by Page
	chosen := map[vocab.DocID]Version{}
	for _, page := range candidates {
		v := versionOf(page)
		i, known := at[v.Page]
		switch {
		case v.Page == 0 || !known:
			if v.Page != 0 {
				at[v.Page], chosen[v.Page] = len(shown), v
			}
			shown = append(shown, page)
		case v.Preference > chosen[v.Page].Preference && v.Missing <= chosen[v.Page].Missing:
			page.Pinned = shown[i].Pinned
			c.hide(shown[i])
			shown[i], chosen[v.Page] = page, v
		default:
			c.hide(page)
		}
	}
	for doc := range c.Into {
		c.Into[doc] = NearDuplicate{Candidate: shown[at[versionOf(c.Into[doc].Candidate).Page]], Version: true}
	}
	return shown
}

// WithoutVersions drops the candidates that are versions of some pages. groupOf returns the same
// value for all versions of a page, and 0 for a page without others.
func WithoutVersions(
	candidates, of []scoring.Candidate, groupOf func(vocab.DocID) vocab.DocID,
) []scoring.Candidate {
	known := map[vocab.DocID]bool{}
	for _, c := range of {
		known[groupOf(c.Doc)] = true
	}
	delete(known, 0)
	return slices.DeleteFunc(candidates, func(c scoring.Candidate) bool { return known[groupOf(c.Doc)] })
}

// hide records that a version is not shown. Versions records at its end which one is.
func (c *Collapser) hide(page scoring.Candidate) {
	c.init()
	c.Into[page.Doc] = NearDuplicate{Candidate: page}
}

// init makes the maps, which a query without collapsed pages does not need.
func (c *Collapser) init() {
	if c.Into == nil {
		c.Into, c.Same = map[vocab.DocID]NearDuplicate{}, map[vocab.DocID][]scoring.Candidate{}
	}
}

// Duplicates drops the near-duplicates of better pages, and all but one of the copies of a page on
// several sites. Candidates are in order of score.
func (c *Collapser) Duplicates(candidates []scoring.Candidate) (shown []scoring.Candidate) {
	shown = c.arena.Candidates.Alloc(len(candidates))[:0]
	all := c.arena.sketches.Alloc(len(candidates)) // fetched first, because they are far apart in memory
	for i, page := range candidates {
		all[i] = c.pages.Sketch(page)
	}
	sketches := c.arena.sketches.Alloc(len(candidates))[:0] // sketches of the pages shown
	for k, page := range candidates {
		i := c.duplicateOf(shown, sketches, page, all[k])
		if i < 0 {
			shown, sketches = append(shown, page), append(sketches, all[k])
			continue
		}
		if c.isOriginal(page, shown[i]) {
			page, shown[i] = shown[i], page
			sketches[i] = all[k]
		}
		c.collapse(page, shown[i])
	}
	return shown
}

// duplicateOf returns the index of a shown page that a page duplicates, or -1.
func (c *Collapser) duplicateOf(
	shown []scoring.Candidate, sketches []vocab.Sketch, page scoring.Candidate, sketch vocab.Sketch,
) int {
	for i, s := range sketches {
		if s.Distance(sketch) <= scoring.NearDistance ||
			s.TextDistance(sketch) <= scoring.CopyDistance && c.onOtherSite(shown[i], page) {
			return i
		}
	}
	return -1
}

// onOtherSite reports whether two pages are on different sites. Most are on one host, whose site takes longer to
// find.
func (c *Collapser) onOtherSite(a, b scoring.Candidate) bool {
	return c.pages.Host(a) != c.pages.Host(b) && c.pages.Site(a) != c.pages.Site(b)
}

// isOriginal reports whether page is shown instead of its better duplicate: it is on another site and
// has more PageRank by [scoring.OriginalRank] or, if the ranks are closer than that, its home page has.
// Pages of a site that no other site links to have nearly the rank of isolated pages.
func (c *Collapser) isOriginal(page, better scoring.Candidate) bool {
	if better.Pinned || !c.onOtherSite(page, better) {
		return false
	}
	rank, other := c.pages.Rank(page), c.pages.Rank(better)
	if max(rank, other) <= scoring.OriginalRank*min(rank, other) {
		rank, other = c.pages.HomeRank(page), c.pages.HomeRank(better)
	}
	return rank > scoring.OriginalRank*other
}

// collapse collapses a page, with all that are collapsed into it, into a shown page.
func (c *Collapser) collapse(page, into scoring.Candidate) {
	c.init()
	all := append([]scoring.Candidate{page}, c.Same[page.Doc]...)
	delete(c.Same, page.Doc)
	sketch := c.pages.Sketch(into)
	for _, same := range all {
		c.Into[same.Doc] = NearDuplicate{Candidate: into, Distance: sketch.TextDistance(c.pages.Sketch(same))}
	}
	c.Same[into.Doc] = append(c.Same[into.Doc], all...)
}

// Expand returns the candidate that shows doc, with all that are collapsed into it. Duplicates must
// have been called with the candidates.
func (c *Collapser) Expand(doc vocab.DocID, candidates []scoring.Candidate) []scoring.Candidate {
	for into, ok := c.Into[doc]; ok; into, ok = c.Into[doc] { // at most two steps: a version, then a near-duplicate
		doc = into.Doc
	}
	i := slices.IndexFunc(candidates, func(c scoring.Candidate) bool { return c.Doc == doc })
	if i < 0 {
		return nil
	}
	return append([]scoring.Candidate{candidates[i]}, c.Same[doc]...)
}

// Spread moves pages of other hosts before the third page of a host, ten results at a time, until
// the wanted number of results is in order.
func (c *Collapser) Spread(candidates []scoring.Candidate, wanted int) (shown []scoring.Candidate) {
	shown = c.arena.Candidates.Alloc(len(candidates))[:0]
	for len(candidates) > 0 && len(shown) < wanted {
		var ten []scoring.Candidate
		ten, candidates = c.ten(candidates)
		shown = append(shown, ten...)
	}
	return append(shown, candidates...)
}

// ten returns the next ten results, and the remaining candidates. Each result is the best remaining
// candidate or, if its host is crowded, the best one of another host that may pass it.
func (c *Collapser) ten(candidates []scoring.Candidate) (ten, rest []scoring.Candidate) {
	ten = c.arena.Candidates.Alloc(scoring.SpreadOver)[:0]
	rest = c.arena.Candidates.Alloc(len(candidates))[:0]
	ofHost := map[string]int{}
	at, passed := 0, 0 // passed counts the pages in rest that are better than one of the ten
	crowded := func(page scoring.Candidate) bool {
		return ofHost[c.pages.Host(page)] >= scoring.PerHost && !page.Pinned && !c.pages.Service(page)
	}
	for len(ten) < scoring.SpreadOver && (at < len(candidates) || len(rest) > 0) {
		for ; at < len(candidates) && crowded(candidates[at]); at++ {
			rest = append(rest, candidates[at])
		}
		var page scoring.Candidate
		if len(rest) > 0 && (at == len(candidates) || !scoring.MayPass(candidates[at].Score, rest[0].Score)) {
			page, rest, passed = rest[0], rest[1:], max(passed-1, 0)
		} else {
			page, passed = candidates[at], len(rest)
			at++
		}
		if !c.pages.Service(page) {
			ofHost[c.pages.Host(page)]++
		}
		ten = append(ten, page)
	}
	if len(rest) == 0 {
		return ten, candidates[at:]
	}
	rest = append(rest, candidates[at:]...)
	if passed > 0 {
		c.countMore(ten, rest, passed)
	}
	return ten, rest
}

// countMore sets More for the hosts of the first passed pages of rest.
func (c *Collapser) countMore(ten, rest []scoring.Candidate, passed int) {
	last := map[string]vocab.DocID{}
	for _, page := range ten {
		last[c.pages.Host(page)] = page.Doc
	}
	crowded := map[string]bool{}
	for _, page := range rest[:passed] {
		crowded[c.pages.Host(page)] = true
	}
	if c.More == nil {
		c.More = map[vocab.DocID]int{}
	}
	for _, page := range rest {
		if host := c.pages.Host(page); crowded[host] {
			c.More[last[host]]++
		}
	}
}
