package searcher

import (
	"slices"

	"anatomy/searcher/pins"
	"anatomy/searcher/query"
	"anatomy/searcher/scoring"
	"anatomy/weburl"
)

// The page that the operator pinned for a query ([pins.Table]) comes before all results, whether or
// not it matches the words. The other results keep their order. Filters and exclusions of the query
// and of the person who searches apply to it, too, and it must be in the index. sort:date, the
// near-duplicates of a page and exports have no pins.

// A pinnedPage is the page of the pin of a query.
type pinnedPage struct {
	scoring.Candidate
	pin     *pins.Pin
	matches bool // the page matches the query
}

// findPinned returns the page that is pinned for the query of a pass, as answered or as typed, or nil.
func findPinned(p *pass) (*pinnedPage, error) {
	if p.pins.Len() == 0 || p.ended || p.byDate || p.req.Bare || p.req.Similar != 0 {
		return nil, nil
	}
	for _, text := range []string{p.query.Text, p.req.Query} {
		pin, conditions := p.pins.Of(query.Parse(text))
		if pin == nil {
			continue
		}
		c, found := pageOf(p, pin)
		if !found {
			return nil, nil
		}
		shown, err := meets(p, c, conditions)
		if !shown {
			return nil, err
		}
		return &pinnedPage{Candidate: c, pin: pin}, nil
	}
	return nil, nil
}

// pageOf returns the page of a pin: that of its URL, or the one that the URL redirects to.
func pageOf(p *pass, pin *pins.Pin) (c scoring.Candidate, found bool) {
	u, err := weburl.Parse(pin.URL)
	if err != nil {
		return c, false
	}
	c, err = findPage(p.view, p.links, &u)
	return c, err == nil
}

// meets reports whether a page meets the conditions of a query and the preferences of the request.
func meets(p *pass, c scoring.Candidate, conditions []*query.Node) (bool, error) {
	for _, n := range slices.Concat(conditions, p.filters.Required()) {
		wanted := n.Op != query.Not
		if !wanted {
			n = n.Kids[0]
		}
		if is, err := matches(p, c, locate(p, n)); is != wanted || err != nil {
			return false, err
		}
	}
	if prefs := p.req.Preferences; prefs != nil && len(prefs.Block) > 0 {
		blocked, err := matches(p, c, query.AnySite(prefs.Block, MaxPreferred))
		return !blocked, err
	}
	return true, nil
}

// matches reports whether a page matches a query. A page that cannot be read does not.
func matches(p *pass, c scoring.Candidate, root *query.Node) (bool, error) {
	q := p.shardOf(c.Doc)
	yes, err := q.Matches(root, c.Part, c.Ord)
	if err != nil {
		return false, q.Unreadable(p.view.part(c), err, nil)
	}
	return yes, nil
}

// pinAnswer puts the pinned page before all results, and returns it, or nil.
func pinAnswer(p, relaxed *pass) (*pinnedPage, error) {
	page, err := findPinned(p)
	if page == nil {
		return nil, err
	}
	resp := p.resp
	isRelaxed := func(c scoring.Candidate) bool {
		return relaxed != nil && relaxed.relaxed.missing[c.Doc] != nil
	}
	at := slices.IndexFunc(p.results, func(c scoring.Candidate) bool { return c.Doc == page.Doc })
	_, folded := p.collapser.Into[page.Doc]
	rest := p.results
	switch {
	case at >= 0:
		page.Candidate, rest = p.results[at], slices.Delete(slices.Clone(p.results), at, at+1)
		page.matches = !isRelaxed(page.Candidate)
	case folded:
		page.matches = true
		resp.Folded--
	default:
		if page.matches, err = matches(p, page.Candidate, p.root); err != nil {
			return nil, err
		}
		if !page.matches {
			resp.Total++
		}
	}
	p.results = append([]scoring.Candidate{page.Candidate}, rest...)
	showPage(p, relaxed)
	if len(p.page) == 0 || isRelaxed(p.page[0]) {
		return page, nil
	}
	return page, score(p, p.page[:1]) // without the pin it is on the previous page: extend skipped it
}

// showPage selects the requested page of results again.
func showPage(p, relaxed *pass) {
	resp, wasEmpty := p.resp, len(p.page) == 0
	from := min(p.req.Offset, len(p.results))
	end := min(p.req.Offset+p.req.Limit, len(p.results))
	p.page = p.results[from:end]
	if relaxed != nil {
		resp.Next = end < len(p.results)
	} else {
		resp.Next = resp.Listed() > end && end < MaxOffset && len(p.page) > 0
	}
	if !wasEmpty || relaxed != nil || resp.Partial || resp.Corrected != "" {
		return
	}
	if resp.Why = ""; len(p.page) == 0 {
		resp.Why = whyNoResults(p)
	}
}

// mark marks the result of the page as pinned, with the pin's title. It clears the missing words.
func (page *pinnedPage) mark(results []Result) {
	if page == nil {
		return
	}
	for i := range results {
		r := &results[i]
		if r.Doc != page.Doc {
			continue
		}
		r.Pin, r.Missing = &Pin{page.pin.Note}, nil
		if page.pin.Title != "" {
			r.Title = page.pin.Title
		}
		if r.Explanation != nil {
			r.Explanation.Matches, r.Explanation.Pinned = page.matches, true
		}
	}
}
