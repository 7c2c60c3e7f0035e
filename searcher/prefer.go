package searcher

import (
	"cmp"
	"slices"
	"strings"

	"anatomy/searcher/internal/shard"
	"anatomy/searcher/query"
	"anatomy/searcher/scoring"
)

// findPreferred finds the documents of the sites in the request's preferences, and of those that the
// query names.
func findPreferred(p *pass) (all []shard.Preference, err error) {
	prefs := p.req.Preferences
	if prefs == nil {
		prefs = &Preferences{}
	}
	all = findNamedSites(p)
	left := MaxPreferred
	for _, group := range []struct {
		kind   shard.PreferenceKind
		sites  []string
		points scoring.Milli
	}{
		{shard.Pinned, prefs.Pin, 0},
		{shard.Raised, prefs.Raise, p.weights.Preference},
		{shard.Lowered, prefs.Lower, -p.weights.Preference},
	} {
		for _, site := range group.sites[:min(len(group.sites), left)] {
			left--
			all = append(all, shard.Preference{Site: site, Kind: group.kind, Points: group.points.Score()})
		}
	}
	if len(all) == 0 {
		return nil, nil
	}
	var sites []string
	for i := range all {
		sites = append(sites, all[i].Site)
	}
	return all, p.each(func(_ int, q *shard.Query) error { return q.OpenSites(sites) })
}

// languages returns the languages that the request prefers, or those that the collection prefers if the
// request names none.
func (s *search) languages() (own, ofCollection []string) {
	if prefs := s.req.Preferences; prefs != nil && prefs.Lang != "" {
		return splitLanguages(prefs.Lang), nil
	}
	return nil, splitLanguages(s.defaultLanguages)
}

// splitLanguages returns the first tags of a list, in lower case.
func splitLanguages(list string) []string {
	if list == "" {
		return nil
	}
	all := strings.Split(strings.ToLower(list), ",")
	return all[:min(len(all), MaxLanguages)]
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
		if p.preferred[i].Kind != shard.Pinned {
			continue
		}
		left := MaxPinned
		for j := range pages {
			if c := &pages[j]; left > 0 && p.shardOf(c.Doc).InSite(i, c.Part, c.Ord) {
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
