package searcher

import (
	"cmp"
	"slices"
	"strings"

	"anatomy/disk/rankvector"
	"anatomy/searcher/internal/shard"
	"anatomy/searcher/scoring"
)

// rank runs the second phase: it scores the selected pages exactly and sorts them. It scores fewer
// if time runs out.
func rank(p *pass) error {
	toRank := p.found[:p.toRank]
	if p.req.Ungrouped && p.req.Offset > len(toRank) && len(toRank) >= minResults {
		p.ranked = toRank // none is shown, not even behind a pinned page, so their order does not matter
		return nil
	}
	scored, err := scoreInTime(p, toRank)
	if err != nil {
		return err
	}
	p.ranked = toRank[:scored]
	if p.byDate {
		slices.SortFunc(p.ranked, p.view.byDay)
		return nil
	}
	slices.SortFunc(p.ranked, p.view.byScore)
	pinFirst(p, p.ranked)
	return nil
}

// scoreInTime scores as many pages as time permits, and at least p.mustScore. It reads the
// clock between groups, each four times as large as the previous one: every group reads the posting
// lists from the start.
func scoreInTime(p *pass, pages []scoring.Candidate) (scored int, err error) {
	for group := 128; scored < len(pages); group *= 4 {
		to := min(max(scored+group, p.mustScore), len(pages))
		if err := score(p, pages[scored:to]); err != nil {
			return scored, err
		}
		scored = to
		if p.clock.Check() && scored < len(pages) {
			p.resp.Partial = true
			break
		}
	}
	return scored, nil
}

// score sets the exact score of each page.
func score(p *pass, pages []scoring.Candidate) error {
	if len(pages) == 0 {
		return nil
	}
	r := p.exact()
	return p.each(func(_ int, q *shard.Query) error { return q.Score(r, pages) })
}

// exact returns the ExactRequest of the pass, valid until the next call.
func (p *pass) exact() *shard.ExactRequest {
	p.request = shard.ExactRequest{
		Statistics: p.view.Statistics, Terms: p.terms, Homes: p.homes, Nearer: p.refs.nearer,
		Preferred: p.preferred,
	}
	if name := cmp.Or(p.req.Rank, p.view.rank); name != rankvector.Default && !strings.HasPrefix(name, NearPrefix) {
		p.request.Rank = name
	}
	own, ofCollection := p.languages()
	p.request.Languages, p.request.OfCollection = slices.Concat(own, ofCollection), ofCollection != nil
	return &p.request
}
