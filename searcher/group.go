package searcher

import (
	"slices"

	"anatomy/searcher/query"
	"anatomy/vocab"
)

// Of the candidates, the best [Options].Candidates pages, not each is shown where its score puts it:
//
//   - A page that says nearly what a better one says is folded into that one (NearDistance): it is counted
//     in Result.Similar, and shown where Request.Similar asks for it.
//   - Of each ten results, two at most are of one host as long as candidates of other hosts score two thirds
//     of what is passed over. That stands further down, and Result.More counts it. Not so where the query
//     names a site; and pinned pages are not passed over.
//
// What lies behind the candidates stays as it is. All this depends on the query alone, not on which results
// are asked for: pages of results never overlap, and each page found is shown once or folded once.

// Groups are what grouping made of the candidates.
type groups struct {
	folded  map[vocab.DocID]folding     // by page that is folded into another
	similar map[vocab.DocID][]candidate // by page that others are folded into, best first
	more    map[vocab.DocID]int         // see Result.More
}

// A folding says into what a page is folded, and how far the two are apart.
type folding struct {
	into     candidate
	distance int
}

// group gives the candidates, which are in the order of their scores, as they are shown.
func (a *answer) group(root *query.Node, candidates []candidate) (shown []candidate) {
	if a.req.Ungrouped {
		return candidates
	}
	shown = a.fold(candidates)
	a.resp.Folded = len(candidates) - len(shown)
	switch {
	case a.req.Similar != 0:
		shown = a.alike(candidates)
		a.resp.Total, a.resp.Exact, a.resp.Folded = len(shown), !a.resp.Partial, 0
	case !a.byDate && !namesSite(root):
		shown = a.spread(shown)
	}
	return shown
}

// fold leaves out the pages that say nearly what a better one says.
func (a *answer) fold(candidates []candidate) (shown []candidate) {
	shown = a.room.candidates.take(len(candidates))[:0]
	all := a.room.sketches.take(len(candidates)) // fetched first: they lie far apart in memory
	for i, c := range candidates {
		all[i] = a.snap.parts[c.part].seg.Sketch(c.ord)
	}
	sketches := a.room.sketches.take(len(candidates))[:0] // of those shown
	for k, c := range candidates {
		sketch := all[k]
		i := slices.IndexFunc(sketches, func(s vocab.Sketch) bool { return s.Distance(sketch) <= NearDistance })
		if i < 0 {
			shown, sketches = append(shown, c), append(sketches, sketch)
			continue
		}
		if a.groups.folded == nil {
			a.groups.folded, a.groups.similar = map[vocab.DocID]folding{}, map[vocab.DocID][]candidate{}
		}
		a.groups.folded[c.doc] = folding{shown[i], sketches[i].Distance(sketch)}
		a.groups.similar[shown[i].doc] = append(a.groups.similar[shown[i].doc], c)
	}
	return shown
}

// alike gives the page that Request.Similar names, or that into which it is folded, with all that are
// folded into it.
func (a *answer) alike(candidates []candidate) []candidate {
	best := a.req.Similar
	if f, ok := a.groups.folded[best]; ok {
		best = f.into.doc
	}
	i := slices.IndexFunc(candidates, func(c candidate) bool { return c.doc == best })
	if i < 0 {
		return nil
	}
	return append([]candidate{candidates[i]}, a.groups.similar[best]...)
}

// namesSite says whether a query asks for pages of a site.
func namesSite(n *query.Node) bool {
	switch n.Op {
	case query.Site:
		return true
	case query.And, query.Or:
		return slices.ContainsFunc(n.Kids, namesSite)
	}
	return false
}

// spread puts pages of other hosts before the third of a host, ten results at a time, as far as results
// are wanted.
func (a *answer) spread(pages []candidate) (shown []candidate) {
	shown = a.room.candidates.take(len(pages))[:0]
	for len(pages) > 0 && len(shown) < a.req.Offset+a.req.Limit {
		var ten []candidate
		ten, pages = a.ten(pages)
		shown = append(shown, ten...)
	}
	return append(shown, pages...)
}

// ten takes the next ten results off the pages that are left. Each place is that of the best page left; where
// its host has its share already, that of the best page of another host, if it scores nearly as much.
func (a *answer) ten(pages []candidate) (ten, rest []candidate) {
	ten, rest = a.room.candidates.take(spreadOver)[:0], a.room.candidates.take(len(pages))[:0]
	of := map[string]int{}
	at, passed := 0, 0 // passed is how many of rest stand before one that was taken
	for len(ten) < spreadOver && (at < len(pages) || len(rest) > 0) {
		if len(rest) > 0 && (at == len(pages) || !mayPass(pages[at].score, rest[0].score)) {
			of[a.host(rest[0])]++
			ten, rest, passed = append(ten, rest[0]), rest[1:], max(passed-1, 0)
			continue
		}
		c := pages[at]
		at++
		if host := a.host(c); of[host] < perHost || c.pinned {
			of[host]++
			ten, passed = append(ten, c), len(rest)
		} else {
			rest = append(rest, c)
		}
	}
	if len(rest) == 0 {
		return ten, pages[at:]
	}
	rest = append(rest, pages[at:]...)
	if passed > 0 {
		a.countMore(ten, rest, passed)
	}
	return ten, rest
}

// countMore notes with the last of a host among ten results how many of that host follow, where some
// were passed over, which are the first of the rest.
func (a *answer) countMore(ten, rest []candidate, passed int) {
	last := map[string]vocab.DocID{}
	for _, c := range ten {
		last[a.host(c)] = c.doc
	}
	crowded := map[string]bool{}
	for _, c := range rest[:passed] {
		crowded[a.host(c)] = true
	}
	if a.groups.more == nil {
		a.groups.more = map[vocab.DocID]int{}
	}
	for _, c := range rest {
		if host := a.host(c); crowded[host] {
			a.groups.more[last[host]]++
		}
	}
}

func (a *answer) host(c candidate) string { return a.snap.parts[c.part].seg.Host(c.ord) }
