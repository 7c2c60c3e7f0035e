package searcher

import (
	"slices"
	"unicode/utf8"

	"anatomy/disk/segment"
	"anatomy/searcher/internal/presentation"
	"anatomy/searcher/scoring"
	"anatomy/vocab"
)

// present fills in the results of the page that the request asks for. Those of a relaxed query are
// presented by its own terms.
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
		if r := made[c.Doc]; r != nil { // nil if it could not be read
			p.resp.Results = append(p.resp.Results, *r)
		}
	}
	return nil
}

// makeResults returns the results of candidates. It leaves out what cannot be read.
func makeResults(p *pass, page []scoring.Candidate) (results []Result, err error) {
	if p.req.Bare {
		results = make([]Result, 0, len(page))
		for _, c := range page {
			results = append(results, newResult(p, c))
		}
		return results, nil
	}
	snippets := presentation.NewSnippeter(p.root, p.terms, &p.arena.shown.Snippets)
	made := make(map[*scoring.Candidate]Result, len(page))
	docs := segment.DocReader{}
	defer docs.Close()
	for _, c := range p.arena.inDiskOrder(page) { // texts of neighbours are in one block
		part := p.snap.parts[c.Part]
		info, err := docs.Read(part.seg, c.Ord, presentation.SnippetBytes+utf8.UTFMax)
		if err != nil {
			if err := p.unreadable(part, err, nil); err != nil {
				return nil, err
			}
			continue
		}
		r := newResult(p, *c)
		r.describe(&info)
		r.Pinned = c.Pinned
		r.Snippet = snippets.Snippet(info.Title, info.Text, info.Description)
		if p.req.Explain {
			if r.Explanation, err = explain(p, c.Part, c.Ord, &info); err != nil {
				return nil, err
			}
		}
		made[c] = r
	}
	results = slices.Grow(results, len(page))
	for i := range page {
		if r, ok := made[&page[i]]; ok {
			results = append(results, r)
		}
	}
	return results, nil
}

// newResult returns a bare result.
func newResult(p *pass, c scoring.Candidate) Result {
	return Result{
		Doc: c.Doc, Score: c.Score, PageRank: p.snap.rankOf(c.Doc),
		Similar: len(p.collapser.Same[c.Doc]), More: p.collapser.More[c.Doc],
	}
}

// describe fills in what the index keeps of the page.
func (r *Result) describe(info *vocab.DocInfo) {
	r.URL, r.Title, r.Lang = info.URL, info.Title, info.Lang
	if r.Title == "" {
		r.Title = info.URL
	}
	r.Fetched, r.Crawled, r.Medium, r.Date = info.Fetched, info.Crawled, info.Medium, info.Date
}
