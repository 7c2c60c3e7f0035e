package searcher

import (
	"anatomy/searcher/internal/presentation"
)

// collapse puts the ranked pages in the order in which they are shown, see
// [presentation.Collapser].
func collapse(p *pass) error {
	if p.req.Ungrouped {
		p.results = p.ranked
		return nil
	}
	p.collapser = presentation.NewCollapser(p.view, &p.arena.shown)
	shown, err := foldVersions(p)
	if err != nil {
		return err
	}
	p.results = p.collapser.Duplicates(shown)
	p.resp.Folded = len(p.ranked) - len(p.results)
	switch {
	case p.req.Similar != 0:
		p.results = p.collapser.Expand(p.req.Similar, p.ranked)
		p.resp.Total, p.resp.Exact, p.resp.Folded = len(p.results), !p.resp.Partial, 0
	case !p.byDate && !p.root.NamesSite():
		p.results = p.collapser.Spread(p.results, p.req.Offset+p.req.Limit)
	}
	return nil
}

// extend appends the pages of the first phase that the second did not score, in their order. Those
// on the requested page of results are scored in place.
func extend(p *pass) error {
	if p.req.Similar != 0 || len(p.ranked) < p.toRank {
		return nil
	}
	found, wanted := p.found, p.req.Offset+p.req.Limit
	more := wanted + 1 + p.resp.Folded // because collapsed pages make room for others
	if k := p.firstK(); p.resp.Folded > 0 && len(found) >= k && k < more {
		all, _, err := candidates(p, more)
		if err != nil {
			return err
		}
		if len(all) > len(found) { // else a machine with a shard has failed since the first phase
			found = all
		}
	}
	scored, rest := len(p.results), found[p.toRank:]
	all := p.arena.shown.Candidates.Alloc(scored + len(rest))[:0]
	p.results = append(append(all, p.results...), rest...)
	from, to := max(scored, p.req.Offset), max(scored, wanted)
	return score(p, p.results[min(from, len(p.results)):min(to, len(p.results))])
}
