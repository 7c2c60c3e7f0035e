package searcher

import (
	"cmp"
	"slices"
	"strings"

	"anatomy/searcher/internal/retrieval"
	"anatomy/searcher/query"
	"anatomy/searcher/scoring"
	"anatomy/vocab"
)

// A preference is what the person who searches thinks of a site.
type preference struct {
	site   string
	kind   preferenceKind
	points scoring.Score
	docs   []*retrieval.RangeIterator // of the site, by part
}

type preferenceKind string

const (
	pinned  preferenceKind = "pinned"
	raised  preferenceKind = "raised"
	lowered preferenceKind = "lowered"
)

func (f *preference) has(part int, ord vocab.Ordinal) bool { return f.docs[part].Advance(ord) == ord }

// findPreferred finds the documents of the sites that the request prefers.
func findPreferred(p *pass) (all []preference, err error) {
	prefs := p.req.Preferences
	if prefs == nil {
		return nil, nil
	}
	left := MaxPreferred
	for _, group := range []struct {
		kind   preferenceKind
		sites  []string
		points scoring.Milli
	}{
		{pinned, prefs.Pin, 0},
		{raised, prefs.Raise, p.weights.Preference},
		{lowered, prefs.Lower, -p.weights.Preference},
	} {
		for _, site := range group.sites[:min(len(group.sites), left)] {
			left--
			f := preference{site: site, kind: group.kind, points: group.points.Score()}
			for _, part := range p.snap.parts {
				w := p.walk(part)
				f.docs = append(f.docs, w.Site(site))
				if w.Err() != nil {
					return all, p.unreadable(part, w.Err(), nil)
				}
			}
			all = append(all, f)
		}
	}
	return all, nil
}

// preferenceBonus returns the points of a page by the preferences of the request.
func preferenceBonus(p *pass, part int, ord vocab.Ordinal) (b scoring.Bonus) {
	var all []string
	for i := range p.preferred {
		if f := &p.preferred[i]; f.points != 0 && f.has(part, ord) {
			b.Score += f.points
			all = append(all, "you "+string(f.kind)+" "+f.site)
		}
	}
	if prefs := p.req.Preferences; prefs != nil && prefs.Lang != "" {
		info, err := p.snap.parts[part].seg.Record(ord) // present reports an error, if it shows the page
		if err == nil && info.Crawled && sameLanguage(info.Lang, prefs.Lang) {
			b.Score += p.weights.Preference.Score()
			all = append(all, "you prefer pages in "+prefs.Lang)
		}
	}
	b.Detail = strings.Join(all, ", ")
	return b
}

func sameLanguage(a, b string) bool {
	first := func(tag string) string {
		tag, _, _ = strings.Cut(strings.ToLower(tag), "-")
		return tag
	}
	return first(a) == first(b)
}

// withoutBlocked returns the query without blocked sites.
func withoutBlocked(p *pass, root *query.Node) *query.Node {
	if prefs := p.req.Preferences; prefs != nil && len(prefs.Block) > 0 {
		return and(root, &query.Node{Op: query.Not, Kids: []*query.Node{anySite(prefs.Block)}})
	}
	return root
}

func and(root, other *query.Node) *query.Node {
	n := &query.Node{Op: query.And, Kids: []*query.Node{root}}
	if root.Op == query.And {
		n.Kids = slices.Clone(root.Kids)
	}
	n.Kids = append(n.Kids, other)
	return n
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

// pinFirst moves the best pages of pinned sites before all others. Pages are in order of score.
func pinFirst(preferred []preference, pages []scoring.Candidate) {
	for i := range preferred {
		f := &preferred[i]
		if f.kind != pinned {
			continue
		}
		left := MaxPinned
		for j := range pages {
			if left > 0 && f.has(pages[j].Part, pages[j].Ord) {
				pages[j].Pinned = true
				left--
			}
		}
	}
	order := func(c scoring.Candidate) int {
		if c.Pinned {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(pages, func(x, y scoring.Candidate) int {
		return cmp.Compare(order(x), order(y))
	})
}
