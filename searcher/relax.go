package searcher

import (
	"fmt"
	"slices"

	"anatomy/searcher/internal/presentation"
	"anatomy/searcher/internal/shard"
	"anatomy/searcher/query"
	"anatomy/searcher/scoring"
	"anatomy/vocab"
)

// If fewer than minResults pages match a query of several terms, the query is relaxed: its results
// also include pages that contain most of the terms, at least scoring.MostHeld of their idf. A page
// keeps Weights.Missing of its score, in proportion to the idf of the terms that it contains, and comes before
// matches that score less.

// A relaxation is the additional state of a pass of a relaxed query.
type relaxation struct {
	of      *pass         // of the query itself
	terms   []*query.Node // that pages may lack
	missing map[vocab.DocID][]string
	worth   map[vocab.DocID]scoring.Score // scores that pages keep
}

// relax returns the pass of the relaxed query, or nil if the query cannot or need not be relaxed.
// The pass has its own response.
func relax(p *pass) *pass {
	if p.byDate || p.req.Strict || p.req.Similar != 0 ||
		p.resp.Total >= minResults || p.resp.Partial || p.clock.Over() {
		return nil
	}
	most, terms := p.root.Most()
	if most == nil {
		return nil
	}
	s := *p.search
	req := *p.req
	req.Offset = 0
	s.req, s.links, s.countTo = &req, nil, 0
	relaxed := s.newPass(query.Query{Root: most, Name: p.query.Name}, &Response{Exact: true})
	relaxed.root, relaxed.mustScore = most, p.candidates
	relaxed.joint, relaxed.preferred, relaxed.identifiers = p.joint, p.preferred, p.identifiers
	relaxed.terms = p.terms
	copy(relaxed.shards, p.shards) // with open lists
	relaxed.relaxed = &relaxation{
		of: p, terms: terms,
		missing: map[vocab.DocID][]string{}, worth: map[vocab.DocID]scoring.Score{},
	}
	return relaxed
}

// retrieveMost runs the first phase of a relaxed query, excluding the pages that match the query
// itself.
func retrieveMost(p *pass) error {
	if err := openTerms(p, p.root); err != nil {
		return err
	}
	matched := p.relaxed.of.found
	all, err := collect(p, allowed(p, p.root), p.candidates+len(matched))
	if err != nil {
		return err
	}
	p.resp.Total, p.resp.Exact = all.Total, all.Exact
	found := slices.DeleteFunc(all.Pages, func(c scoring.Candidate) bool {
		return slices.ContainsFunc(matched, func(m scoring.Candidate) bool { return m.Doc == c.Doc })
	})
	p.found = found[:min(p.candidates, len(found))]
	p.toRank = len(p.found)
	return nil
}

// keepMost drops the ranked pages that contain too few terms. It records the missing terms and the
// remaining scores of the others.
func keepMost(p *pass) error {
	r, all := p.relaxed, scoring.Score(0)
	choices := shard.Choices(p.terms, r.terms)
	for i := range choices {
		all += choices[i].IDF
	}
	has := make([]uint64, len(p.ranked)) // by page: bitmap of choices
	if err := p.each(func(_ int, q *shard.Query) error {
		return q.Held(p.terms, choices, p.ranked, has)
	}); err != nil {
		return err
	}
	for at, c := range p.ranked {
		held, missing := scoring.Score(0), make([]string, 0, len(choices))
		for i := range choices {
			if has[at]>>i&1 != 0 {
				held += choices[i].IDF
			} else {
				missing = append(missing, choices[i].Text)
			}
		}
		if held*1000 >= all*scoring.Score(scoring.MostHeld) {
			r.worth[c.Doc], r.missing[c.Doc] = p.weights.MissingTerms(c.Score, held, all), missing
		}
	}
	p.ranked = slices.DeleteFunc(p.ranked, func(c scoring.Candidate) bool {
		_, kept := r.worth[c.Doc]
		return !kept
	})
	p.ended = len(p.ranked) == 0
	return nil
}

// addRelaxed merges the results of a relaxed query into those of the query itself. If not all of
// the query's own results were scored, the relaxed ones come after them.
func (p *pass) addRelaxed(relaxed *pass) {
	resp := p.resp
	p.relaxed = relaxed.relaxed
	if foldsVersions(relaxed) {
		relaxed.results = presentation.WithoutVersions(relaxed.results, p.results, p.view.versionGroup)
	}
	resp.Most = len(relaxed.results)
	resp.Partial = resp.Partial || relaxed.resp.Partial
	resp.Damaged = resp.Damaged || relaxed.resp.Damaged
	if own := resp.Total - resp.Folded; resp.Total > p.candidates {
		p.results = slices.Concat(p.results[:min(own, len(p.results))], relaxed.results)
	} else {
		p.results = p.relaxed.merge(p.results, relaxed.results)
	}
	from, to := min(p.req.Offset, len(p.results)), min(p.req.Offset+p.req.Limit, len(p.results))
	p.page = p.results[from:to]
	resp.Words = relaxed.terms.Words[:relaxed.terms.Plain]
	resp.Next = to < len(p.results)
	switch {
	case resp.Total == 0 && len(p.page) > 0:
		resp.Why = whyNoMatch(p) + " These contain most of the words."
	case resp.Why == "" && resp.Total == 1:
		resp.Why = "Only 1 page matches all of the query; the others contain most of the words."
	case resp.Why == "":
		resp.Why = fmt.Sprintf("Only %d pages match all of the query; the others contain most of the words.", resp.Total)
	}
}

// merge merges pages that lack terms into those that match. Both keep their order.
func (r *relaxation) merge(own, others []scoring.Candidate) (all []scoring.Candidate) {
	for len(own) > 0 && len(others) > 0 {
		if !own[0].Pinned && r.worth[others[0].Doc] > own[0].Score {
			all, others = append(all, others[0]), others[1:]
		} else {
			all, own = append(all, own[0]), own[1:]
		}
	}
	return slices.Concat(all, own, others)
}
