package searcher

import (
	"fmt"
	"slices"
	"strings"

	"anatomy/searcher/query"
	"anatomy/vocab"
)

// countBlocked counts the pages that match and are on blocked sites.
func countBlocked(p *pass) error {
	prefs := p.req.Preferences
	if prefs == nil || len(prefs.Block) == 0 {
		return nil
	}
	blocked, err := collectBeside(p, query.Both(filtered(p, p.root), query.AnySite(prefs.Block, MaxPreferred)), 1)
	p.resp.Hidden, p.resp.HiddenExact = blocked.Total, blocked.Exact
	return err
}

// conclude selects the requested page of results, and completes the response except for the
// results.
func conclude(p *pass) error {
	resp := p.resp
	p.page = p.results[min(p.req.Offset, len(p.results)):min(p.req.Offset+p.req.Limit, len(p.results))]
	resp.Cut = append(slices.Clip(resp.Cut), p.refs.cut...)
	resp.Unknown = p.refs.unknown
	if n := p.root; n.Op == query.Pages && n.Ref.Relation == query.Cache && len(n.Docs) == 1 {
		resp.Cached = n.Docs[0]
	}
	end := p.req.Offset + len(p.page)
	resp.Next = resp.Total-resp.Folded > end && end < MaxOffset && len(p.page) > 0
	if len(p.page) == 0 && resp.Why == "" {
		resp.Why = whyNoResults(p)
	}
	return nil
}

func whyNoResults(p *pass) string {
	resp := p.resp
	switch {
	case resp.Partial:
		return "The query ran out of time before it found a page."
	case resp.Folded > 0:
		return fmt.Sprintf("There are only %s, with %s.",
			countOf(resp.Total, "result"), countOf(resp.Folded, "near-duplicate"))
	case resp.Total > 0:
		return "There are only " + countOf(resp.Total, "result") + "."
	case resp.Hidden == 1:
		return "The only page that matches is on a site that you blocked."
	case resp.Hidden > 0:
		return fmt.Sprintf("All %d pages that match are on sites that you blocked.", resp.Hidden)
	case p.filters != nil && p.view.count(p.root, p.clock, 1) > 0:
		return "Pages match, but none within " + p.filters.String() + "."
	}
	return whyNoMatch(p)
}

// whyNoLinks names the page of a link: or related: that found nothing, or returns "".
func whyNoLinks(root *query.Node, docs map[query.Ref][]vocab.DocID) string {
	for _, n := range append([]*query.Node{root}, root.Kids...) {
		if n.Op != query.Pages || len(docs[n.Ref]) > 0 {
			continue
		}
		switch n.Ref.Relation {
		case query.LinkTo:
			return "No page links to " + n.Ref.URL + "."
		case query.Related:
			return "No other page is linked to together with " + n.Ref.URL + "."
		}
	}
	return ""
}

// countOf returns "1 result", "2 results".
func countOf(n int, unit string) string {
	if n == 1 {
		return "1 " + unit
	}
	return fmt.Sprint(n, " ", unit, "s")
}

// whyNoMatch names the pages that the index lacks or that have no links, or the terms that no page
// contains.
func whyNoMatch(p *pass) string {
	if len(p.refs.unknown) > 0 {
		return "Not in the index: " + strings.Join(p.refs.unknown, ", ") + "."
	}
	if len(p.refs.cut) == 0 { // otherwise a missing page may just not have been read
		if why := whyNoLinks(p.root, p.refs.docs); why != "" {
			return why
		}
	}
	var absent []string
	for i, word := range p.terms.Words[:p.terms.Own] {
		if p.terms.DF[i] == 0 && p.joint[word] == 0 && !p.terms.IsFunction(i) {
			absent = append(absent, word)
		}
	}
	p.resp.Absent = absent
	quoted := "“" + strings.Join(absent, "”, “") + "”"
	switch len(absent) {
	case 0:
		return "No page matches all of the query."
	case 1:
		return "No page contains " + quoted + "."
	}
	return "No page contains any of " + quoted + "."
}
