package searcher

import (
	"slices"
	"strings"

	"anatomy/searcher/internal/retrieval"
	"anatomy/searcher/internal/shard"
	"anatomy/searcher/query"
	"anatomy/searcher/scoring"
	"anatomy/vocab"
)

// minResults is the number of matches that is enough. Fewer relax the query, and at least this
// number of candidates is scored.
const minResults = DefaultLimit

// retrieve runs the first phase: with the query without forms of its terms and, if too few pages
// match, with forms. It runs prose with forms at once.
func retrieve(p *pass) (err error) {
	if p.identifiers, err = findIdentifiers(p); err != nil {
		return err
	}
	located := locate(p, p.query.Root)
	if err := begin(p, narrow(p, located)); err != nil || p.ended {
		return err
	}
	if p.prose {
		return findCandidates(p)
	}
	rare := isRare(p)
	if !rare {
		if err := findCandidates(p); err != nil || !tooFew(p) {
			return err
		}
	}
	wide := widen(p, located)
	switch {
	case wide == nil && !rare:
		return nil
	case wide != nil:
		if err := begin(p, wide); err != nil {
			return err
		}
	}
	return findCandidates(p)
}

// begin makes root the query of the pass, unless it cannot be answered.
func begin(p *pass, root *query.Node) error {
	resp := p.resp
	resp.Documents, resp.Total, resp.Folded, resp.Exact = p.view.Docs, 0, 0, true
	resp.Services = p.view.services
	resp.NoPages = p.view.Docs == 0
	if resp.Why = whyUnanswerable(p, root); resp.Why != "" {
		p.ended = true
		return nil
	}
	p.root = root
	if err := openTerms(p, root); err != nil {
		return err
	}
	resp.Words = p.terms.Marked()
	return findBonuses(p)
}

// whyUnanswerable returns why a query cannot have results, or "".
func whyUnanswerable(p *pass, root *query.Node) string {
	switch {
	case root == nil && strings.TrimSpace(p.req.Query) == "":
		return "The query is empty."
	case root == nil:
		return "The query has no words."
	case !root.Positive():
		return "The query only excludes pages. Add a word to search for."
	case p.view.Docs == 0:
		return "No pages are indexed yet."
	}
	return ""
}

// openTerms opens the posting lists of the query's terms, and computes the weights of the terms
// from the document frequencies of all shards. Dead documents count.
func openTerms(p *pass, root *query.Node) error {
	t := scoring.NewTerms(root, p.query.Name, p.identifiers, &p.arena.scoring)
	p.terms = t
	err := p.each(func(_ int, q *shard.Query) error { return q.Open(t) })
	for i := range p.shards {
		for k, n := range p.shards[i].DF() {
			t.DF[k] += n
		}
	}
	_, span := p.search.weights.StaticRange()
	t.Weigh(p.weights, span, p.view.Docs, p.joint)
	return err
}

// findBonuses finds the pages that get points independently of their hits. Sorting by date ignores
// these points, and all terms.
func findBonuses(p *pass) (err error) {
	if p.byDate {
		p.terms.IgnoreImpacts()
		return nil
	}
	p.homes = findHomes(p)
	p.preferred, err = findPreferred(p)
	return err
}

// findCandidates sets found to the best pages of the first phase, starting with those that the
// second phase scores.
func findCandidates(p *pass) (err error) {
	p.found, p.toRank, err = candidates(p, p.firstK())
	return err
}

// candidates returns the best k pages of the first phase, and the number of them that the second
// phase scores.
func candidates(p *pass, k int) (found []scoring.Candidate, toRank int, err error) {
	resp := p.resp
	all, err := collect(p, allowed(p, p.root), k)
	if err != nil {
		return nil, 0, err
	}
	resp.Total, resp.Exact = all.Total, all.Exact
	if found, toRank, err = addPreferred(p, all.Pages); err != nil {
		return nil, 0, err
	}
	toRank = promisingFirst(p, found[:min(toRank, len(found))])
	if found, toRank, err = addTitles(p, found, toRank); err != nil {
		return nil, 0, err
	}
	if found, toRank, err = addExact(p, found, toRank); err != nil {
		return nil, 0, err
	}
	if found, toRank, err = addIdentifiers(p, found, toRank); err != nil {
		return nil, 0, err
	}
	if found, toRank, err = addServices(p, found, toRank); err != nil {
		return nil, 0, err
	}
	found, toRank = addHomes(p, found, toRank)
	return found, toRank, nil
}

// collect returns the best k pages of the first phase, in order, and the number of matches.
func collect(p *pass, root *query.Node, k int) (shard.FirstAnswer, error) {
	terms := retrieval.Terms{Words: p.terms.Words, Steps: p.terms.Steps, Shift: p.terms.Shift}
	r := shard.FirstRequest{Root: root, Terms: terms, K: k, CountTo: p.countTo}
	answers := p.arena.answers.Alloc(len(p.shards))
	if err := p.each(func(i int, q *shard.Query) (err error) {
		answers[i], err = q.Collect(r)
		return err
	}); err != nil {
		return shard.FirstAnswer{}, err
	}
	all := answers[0]
	if len(answers) > 1 {
		all = p.merge(answers, k)
	}
	p.resp.Partial = p.resp.Partial || p.clock.Over()
	all.Exact = all.Exact && !p.resp.Partial
	return all, nil
}

// merge returns the best k pages of all shards.
func (p *pass) merge(answers []shard.FirstAnswer, k int) shard.FirstAnswer {
	all := shard.FirstAnswer{Exact: true}
	for _, a := range answers {
		all.Pages = append(all.Pages, a.Pages...)
		all.Total, all.Exact = all.Total+a.Total, all.Exact && a.Exact
	}
	slices.SortFunc(all.Pages, p.view.byFirst)
	all.Pages = all.Pages[:min(k, len(all.Pages))]
	return all
}

// addPreferred adds the best pages of raised and pinned sites to those that the second phase
// scores: without the points of the preference they may be too weak. It returns the new number of
// pages to score.
func addPreferred(
	p *pass, found []scoring.Candidate,
) (all []scoring.Candidate, toRank int, err error) {
	var sites []string
	for i := range p.preferred {
		if kind := p.preferred[i].Kind; kind == shard.Pinned || kind == shard.Raised {
			sites = append(sites, p.preferred[i].Site)
		}
	}
	if len(sites) == 0 || len(found) <= p.candidates && p.complete(found) {
		return found, p.candidates, nil
	}
	preferred, err := collectBeside(p, query.Both(allowed(p, p.root), query.AnySite(sites, MaxPreferred)), p.candidates)
	if err != nil {
		return nil, 0, err
	}
	first := found[:min(p.candidates, len(found))]
	in := map[vocab.DocID]bool{}
	for i := range first {
		in[first[i].Doc] = true
	}
	all = slices.Clone(first)
	for _, c := range preferred.Pages {
		if !in[c.Doc] {
			in[c.Doc] = true
			all = append(all, c)
		}
	}
	toRank = len(all)
	for _, c := range found[len(first):] {
		if !in[c.Doc] {
			all = append(all, c)
		}
	}
	return all, toRank, nil
}

// collectBeside is collect for a query other than that of the pass. Its total does not change
// Response.Total.
func collectBeside(p *pass, root *query.Node, k int) (shard.FirstAnswer, error) {
	a, err := collect(p, root, k)
	p.resp.Exact = p.resp.Exact && (a.Exact || !p.resp.Partial)
	return a, err
}

// promisingFirst moves the best pages of the first phase that may be among the first ten results to
// the front, and returns their number: see Weights.Promising. All may be if no other pages match,
// if the request prefers sites, and when sorting by date.
func promisingFirst(p *pass, found []scoring.Candidate) (n int) {
	if len(found) <= minResults || p.complete(found) || len(p.preferred) > 0 || p.byDate {
		return len(found)
	}
	least, likely := p.weights.LeastPromising(found[minResults-1].First), p.weights.Likely
	if likely == 0 {
		likely = len(found)
	}
	others := p.arena.shown.Candidates.Alloc(len(found))[:0]
	for i, c := range found {
		if i < minResults || i < likely && c.First >= least ||
			p.terms.MayName(p.view.title(c)) {
			found[n] = c
			n++
		} else {
			others = append(others, c)
		}
	}
	copy(found[n:], others)
	return n
}

// addTitles adds the best pages whose titles contain all words of a query that is prose to the first n
// pages, which the second phase scores: the query may be the name of a page with little text.
func addTitles(p *pass, found []scoring.Candidate, n int) ([]scoring.Candidate, int, error) {
	if !p.prose {
		return found, n, nil
	}
	titled, err := collectBeside(p, allowed(p, p.root.Titled()), minResults)
	if err != nil {
		return nil, 0, err
	}
	found, n = scoreToo(found, n, titled.Pages)
	return found, n, nil
}

// maxExact is the number of pages that addExact adds.
const maxExact = 30

// addExact adds the best pages for the words of prose without their forms to the first n pages, which
// the second phase scores. In the first phase the forms of a word add up, and lift pages that have many
// forms of one word above pages that have all words.
func addExact(p *pass, found []scoring.Candidate, n int) ([]scoring.Candidate, int, error) {
	if !p.prose || p.byDate || p.complete(found[:n]) {
		return found, n, nil
	}
	exact, err := collectBeside(p, allowed(p, p.root.WithoutForms()), maxExact)
	if err != nil {
		return nil, 0, err
	}
	found, n = scoreToo(found, n, exact.Pages)
	return found, n, nil
}

// maxServices is the number of definitions of web services that the second phase scores beside the candidates of
// all kinds.
const maxServices = 200

// addServices adds the best definitions of web services to the first n pages, which the second phase scores: it
// has weights of their own for them, and the first phase orders them by those of other pages.
func addServices(p *pass, found []scoring.Candidate, n int) ([]scoring.Candidate, int, error) {
	if !p.view.services || p.weights.Service == nil || p.byDate || p.complete(found[:n]) {
		return found, n, nil
	}
	only := &query.Node{Op: query.Only, Filter: query.Filter{Service: true}}
	services, err := collectBeside(p, query.Both(allowed(p, p.root), only), maxServices)
	if err != nil {
		return nil, 0, err
	}
	found, n = scoreToo(found, n, services.Pages)
	return found, n, nil
}

// complete reports whether pages are all matches of the query.
func (p *pass) complete(found []scoring.Candidate) bool {
	return p.resp.Exact && p.resp.Total <= len(found)
}

// scoreToo adds pages to the first n of found, which the second phase scores.
func scoreToo(found []scoring.Candidate, n int, more []scoring.Candidate) ([]scoring.Candidate, int) {
	for _, c := range more {
		at := slices.IndexFunc(found, func(other scoring.Candidate) bool { return other.Doc == c.Doc })
		if at >= 0 && at < n {
			continue
		}
		if at >= n {
			found = slices.Delete(found, at, at+1)
		}
		found = slices.Insert(found, n, c)
		n++
	}
	return found, n
}

// addHomes adds matching home pages to the first n pages, which the second phase scores: they may
// be too weak otherwise.
func addHomes(p *pass, found []scoring.Candidate, n int) ([]scoring.Candidate, int) {
	for _, h := range p.homes {
		at := slices.IndexFunc(found, func(c scoring.Candidate) bool { return c.Doc == h.Doc })
		switch {
		case at >= 0 && at < n:
			continue
		case at >= n:
			h.Candidate = found[at]
			found = slices.Delete(found, at, at+1)
		default:
			matches, _ := p.shardOf(h.Doc).Matches(allowed(p, p.root), h.Part, h.Ord)
			if !matches {
				continue
			}
		}
		found = slices.Insert(found, n, h.Candidate)
		n++
	}
	return found, n
}
