package searcher

import (
	"anatomy/searcher/internal/shard"
	"anatomy/searcher/scoring"
	"anatomy/vocab"
)

// present fills in the requested results. Results of a relaxed query are presented by its own
// terms.
func present(p, relaxed *pass) (err error) {
	if relaxed == nil {
		p.resp.Results, err = makeResults(p, p.page)
		return err
	}
	missing := relaxed.relaxed.missing
	var own, others []scoring.Candidate
	for _, c := range p.page {
		if missing[c.Doc] != nil {
			others = append(others, c)
		} else {
			own = append(own, c)
		}
	}
	results, err := makeResults(p, own)
	if err != nil {
		return err
	}
	more, err := makeResults(relaxed, others)
	if err != nil {
		return err
	}
	made := map[vocab.DocID]*Result{}
	for i := range results {
		made[results[i].Doc] = &results[i]
	}
	for i := range more {
		r := &more[i]
		r.Missing = missing[r.Doc]
		if r.Explanation != nil {
			r.Explanation.Matches = false
		}
		made[r.Doc] = r
	}
	for _, c := range p.page {
		if r := made[c.Doc]; r != nil { // nil if the page could not be read
			p.resp.Results = append(p.resp.Results, *r)
		}
	}
	return nil
}

// makeResults returns the results of candidates.
func makeResults(p *pass, page []scoring.Candidate) (results []Result, err error) {
	results = make([]Result, len(page))
	for i, c := range page {
		results[i] = newResult(p, c)
	}
	if p.req.Bare || len(page) == 0 {
		return results, nil
	}
	if err := findMissing(p, page, results); err != nil {
		return nil, err
	}
	if results, err = describeAll(p, page, results); err != nil {
		return nil, err
	}
	return results, addVersions(p, results)
}

// findMissing sets the words that results of prose lack.
func findMissing(p *pass, page []scoring.Candidate, results []Result) error {
	if !p.prose {
		return nil
	}
	words, held, err := heldBy(p, page)
	if err != nil {
		return err
	}
	for i := range results {
		for k := range words {
			if held[i]>>k&1 == 0 {
				results[i].Missing = append(results[i].Missing, words[k].Text)
			}
		}
	}
	return nil
}

// heldBy returns the words of prose and, for each page, the bitmap of those that it contains.
func heldBy(p *pass, pages []scoring.Candidate) (words []shard.Choice, held []uint64, err error) {
	words, held = shard.Choices(p.terms, p.root.Content()), make([]uint64, len(pages))
	err = p.each(func(_ int, q *shard.Query) error { return q.Held(p.terms, words, pages, held) })
	return words, held, err
}

// describeAll fills in results, and drops those that cannot be read.
func describeAll(p *pass, page []scoring.Candidate, results []Result) ([]Result, error) {
	r := &shard.PresentRequest{Root: p.root, Exact: p.exact(), Explain: p.req.Explain}
	presented := make([]shard.Presented, len(page))
	err := p.each(func(_ int, q *shard.Query) error { return q.Present(r, page, presented) })
	all := results[:0]
	for i := range results {
		if !presented[i].Unread {
			results[i].describe(&presented[i])
			all = append(all, results[i])
		}
	}
	return all, err
}

// newResult returns a result with the fields of Request.Bare.
func newResult(p *pass, c scoring.Candidate) Result {
	return Result{
		Doc: c.Doc, Score: c.Score, PageRank: p.view.rankOf(c.Doc),
		Pinned: c.Pinned, Similar: len(p.collapser.Same[c.Doc]), More: p.collapser.More[c.Doc],
	}
}

// describe fills in the fields that a page presents.
func (r *Result) describe(p *shard.Presented) {
	r.Snippet, r.Section, r.Sections = p.Passage.Snippet, p.Passage.Section, p.Passage.More
	r.Explanation = p.Explanation
	info := &p.Info
	r.URL, r.Title, r.Lang = info.URL, info.Title, info.Lang
	if r.Title == "" {
		r.Title = info.URL
	}
	r.Fetched, r.Crawled, r.Medium, r.Date = info.Fetched, info.Crawled, info.Medium, info.Date
	r.NoArchive = info.Controls.NoArchive
}
