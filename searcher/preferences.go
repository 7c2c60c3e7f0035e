package searcher

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"anatomy/disk/segment"
	"anatomy/searcher/query"
	"anatomy/vocab"
)

// Preferences are what an asker thinks of sites and languages. A site is written as site: has it: a
// host with those below it, or a part of one.
type Preferences struct {
	Raise []string // their pages score Weights.Preference more
	Lower []string // … less
	Pin   []string // the best pages of each, at most MaxPinned, come before all others
	Block []string // their pages are left out, and counted in Response.Hidden
	Lang  string   // a page in this language scores Weights.Preference more; BCP 47, its first part counts. Default: none
}

// The bounds of preferences.
const (
	MaxPreferred = 100 // sites in all; what is over is not looked at
	MaxPinned    = 3   // pages of each pinned site
)

// A liking is what an asker thinks of a site, as the documents of each segment of a snapshot.
type liking struct {
	site   string
	what   string // "raised", "lowered", "pinned"
	points Score
	docs   []*rangeCursor // by part
}

func (l *liking) has(part int, ord vocab.Ordinal) bool { return l.docs[part].advance(ord) == ord }

// like looks the preferred sites up.
func (a *answer) like() error {
	p := a.req.Preferences
	if a.likings = nil; p == nil {
		return nil
	}
	left := MaxPreferred
	for _, kind := range []struct {
		what   string
		sites  []string
		points Milli
	}{{"pinned", p.Pin, 0}, {"raised", p.Raise, a.w.Preference}, {"lowered", p.Lower, -a.w.Preference}} {
		for _, site := range kind.sites[:min(len(kind.sites), left)] {
			left--
			l := liking{site: site, what: kind.what, points: kind.points.score()}
			for i := range a.snap.parts {
				w := newWalk(a.snap.parts[i], a.terms, nil, a.clock, a.room)
				docs := w.site(site).(*rangeCursor)
				if w.err != nil {
					return a.unreadable(w.part, w.err, nil)
				}
				l.docs = append(l.docs, docs)
			}
			a.likings = append(a.likings, l)
		}
	}
	return nil
}

// prefer gives what the asker's preferences add to the score of a page, and for which sites.
func (a *answer) prefer(part int, ord vocab.Ordinal) (points Score, why string) {
	var all []string
	for i := range a.likings {
		if l := &a.likings[i]; l.points != 0 && l.has(part, ord) {
			points += l.points
			all = append(all, "you "+l.what+" "+l.site)
		}
	}
	if p := a.req.Preferences; p != nil && p.Lang != "" {
		info, err := a.snap.parts[part].seg.Record(ord)
		if err == nil && info.Crawled && sameLanguage(info.Lang, p.Lang) { // an error shows where the page is shown
			points += a.w.Preference.score()
			all = append(all, "you prefer pages in "+p.Lang)
		}
	}
	return points, strings.Join(all, ", ")
}

func sameLanguage(a, b string) bool {
	first := func(tag string) string {
		tag, _, _ = strings.Cut(strings.ToLower(tag), "-")
		return tag
	}
	return first(a) == first(b)
}

// allowed is what is looked for: the query without blocked sites.
func (a *answer) allowed(root *query.Node) *query.Node {
	if p := a.req.Preferences; p != nil && len(p.Block) > 0 {
		return both(root, &query.Node{Op: query.Not, Kids: []*query.Node{anySite(p.Block)}})
	}
	return root
}

// both asks for what two nodes ask for.
func both(root, other *query.Node) *query.Node {
	and := &query.Node{Op: query.And, Kids: []*query.Node{root}}
	if root.Op == query.And {
		and.Kids = slices.Clone(root.Kids)
	}
	and.Kids = append(and.Kids, other)
	return and
}

func anySite(sites []string) *query.Node {
	or := &query.Node{Op: query.Or}
	for _, site := range sites[:min(len(sites), MaxPreferred)] {
		or.Kids = append(or.Kids, &query.Node{Op: query.Site, Site: site})
	}
	if len(or.Kids) == 1 {
		return or.Kids[0]
	}
	return or
}

// countHidden counts the pages of blocked sites that match.
func (a *answer) countHidden(root *query.Node) error {
	p := a.req.Preferences
	if p == nil || len(p.Block) == 0 {
		return nil
	}
	_, total, exact, err := a.walkAgain(both(root, anySite(p.Block)), 1)
	a.resp.Hidden, a.resp.HiddenExact = total, exact
	return err
}

// promote puts the best pages of raised and pinned sites among those that are scored in full, which
// they could be too weak for without the points that the preference adds. It gives back how many pages
// those are now.
func (a *answer) promote(root *query.Node, found []candidate, candidates int) ([]candidate, int, error) {
	var sites []string
	for i := range a.likings {
		if a.likings[i].what != "lowered" {
			sites = append(sites, a.likings[i].site)
		}
	}
	if len(sites) == 0 || len(found) <= candidates && a.resp.Exact && a.resp.Total <= len(found) { // all pages are there
		return found, candidates, nil
	}
	liked, _, _, err := a.walkAgain(both(a.allowed(root), anySite(sites)), candidates)
	if err != nil {
		return nil, 0, err
	}
	first := found[:min(candidates, len(found))]
	in := map[vocab.DocID]bool{}
	for i := range first {
		in[first[i].doc] = true
	}
	scored := slices.Clone(first)
	for _, c := range liked {
		if !in[c.doc] {
			in[c.doc] = true
			scored = append(scored, c)
		}
	}
	n := len(scored)
	for _, c := range found[len(first):] {
		if !in[c.doc] {
			scored = append(scored, c)
		}
	}
	return scored, n, nil
}

// walkAgain is a first phase beside the one that is answered with.
func (a *answer) walkAgain(root *query.Node, k int) (found []candidate, total int, exact bool, err error) {
	resp := a.resp
	beforeTotal, beforeExact := resp.Total, resp.Exact
	resp.Total, resp.Exact = 0, true
	found, err = a.walk(root, k)
	total, exact = resp.Total, resp.Exact
	resp.Total, resp.Exact = beforeTotal, beforeExact && (exact || !a.resp.Partial)
	return found, total, exact, err
}

func rewind(lists []*segment.Postings) {
	for _, list := range lists {
		if list != nil {
			list.Rewind()
		}
	}
}

// pinFirst puts the best pages of pinned sites before all others. The pages are in the order of
// their scores.
func (a *answer) pinFirst(pages []candidate) {
	for i := range a.likings {
		l := &a.likings[i]
		if l.what != "pinned" {
			continue
		}
		left := MaxPinned
		for j := range pages {
			if left > 0 && l.has(pages[j].part, pages[j].ord) {
				pages[j].pinned = true
				left--
			}
		}
	}
	slices.SortStableFunc(pages, func(x, y candidate) int { return cmp.Compare(rankOfPin(&x), rankOfPin(&y)) })
}

func rankOfPin(c *candidate) int {
	if c.pinned {
		return 0
	}
	return 1
}

// whyHidden says that there are results, and why they are not shown.
func (r *Response) whyHidden() string {
	if r.Hidden == 1 {
		return "The one page that matches is of a site that you blocked."
	}
	return fmt.Sprintf("All %d pages that match are of sites that you blocked.", r.Hidden)
}
