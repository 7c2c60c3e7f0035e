package searcher

import (
	"cmp"
	"slices"
	"strings"

	"anatomy/searcher/query"
	"anatomy/searcher/scoring"
	"anatomy/vocab"
)

// A preference is a site that the person who searches prefers, dislikes, pins or blocks.
type preference struct {
	site   string
	kind   preferenceKind
	points scoring.Score
}

type preferenceKind string

const (
	pinned  preferenceKind = "pinned"
	raised  preferenceKind = "raised"
	lowered preferenceKind = "lowered"
)

// findPreferred finds the documents of the sites in the request's preferences.
func findPreferred(p *pass) (all []preference, err error) {
	prefs := p.req.Preferences
	if prefs == nil {
		return nil, nil
	}
	var sites []string
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
			all = append(all, preference{site: site, kind: group.kind, points: group.points.Score()})
			sites = append(sites, site)
		}
	}
	return all, p.each(func(_ int, q *shardQuery) error { return q.openSites(sites) })
}

// languages returns the preferred languages in lower case.
func (f *Preferences) languages() []string {
	if f.Lang == "" {
		return nil
	}
	all := strings.Split(strings.ToLower(f.Lang), ",")
	return all[:min(len(all), MaxLanguages)]
}

// preferenceBonus returns the points of a page by the preferences of the request.
func (q *shardQuery) preferenceBonus(
	r *exactRequest, part int, ord vocab.Ordinal,
) (b scoring.Bonus) {
	var all []string
	for i := range r.preferred {
		if f := &r.preferred[i]; f.points != 0 && q.inSite(i, part, ord) {
			b.Score += f.points
			all = append(all, "you "+string(f.kind)+" "+f.site)
		}
	}
	if len(r.languages) > 0 {
		info, err := q.snap.Parts[part].Segment.Record(ord) // present reports the error if it shows the page
		for _, lang := range r.languages {
			if err == nil && info.Crawled && vocab.PrimaryLanguage(info.Lang) == vocab.PrimaryLanguage(lang) {
				b.Score += q.weights.Preference.Score()
				all = append(all, "you prefer pages in "+lang)
				break
			}
		}
	}
	b.Detail = strings.Join(all, ", ")
	return b
}

// allowed returns the query within the filters of the preferences, with the blocked sites excluded.
func allowed(p *pass, root *query.Node) *query.Node {
	root = filtered(p, root)
	if prefs := p.req.Preferences; prefs != nil && len(prefs.Block) > 0 {
		return query.Both(root, &query.Node{Op: query.Not, Kids: []*query.Node{query.AnySite(prefs.Block, MaxPreferred)}})
	}
	return root
}

// filtered returns the query within the filters of the preferences.
func filtered(p *pass, root *query.Node) *query.Node {
	for _, n := range p.filters.Required() {
		root = query.Both(root, n)
	}
	return root
}

// pinFirst moves the best pages of pinned sites before all others. pages is in order of score.
func pinFirst(p *pass, pages []scoring.Candidate) {
	for i := range p.preferred {
		if p.preferred[i].kind != pinned {
			continue
		}
		left := MaxPinned
		for j := range pages {
			if c := &pages[j]; left > 0 && p.shardOf(c.Doc).inSite(i, c.Part, c.Ord) {
				c.Pinned = true
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
