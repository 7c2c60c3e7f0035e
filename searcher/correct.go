package searcher

import (
	"math"
	"sync"

	"anatomy/disk/segment"
	"anatomy/searcher/internal/retrieval"
	"anatomy/searcher/internal/suggest"
	"anatomy/searcher/query"
)

// Bounds of spelling corrections.
const (
	maxGuesses = 8  // spellings of a query whose results are counted
	fewMatches = 10 // number of matches up to which words that the index has are doubted

	// The work is bounded by steps of iterators, so that corrections do not depend on the load of the
	// machine: each bound is some 50 ms.
	pairSteps  = 200_000 // to count pages with pairs of words
	countSteps = 500_000 // to count pages with all words
)

var guessShare = 0.3 // of the remaining time, for evaluating guesses if steps are slow; tests change it

// A correction is the likeliest other spelling of a query.
type correction struct {
	text   string // "" for none
	forced bool   // it is answered instead of the query
}

// correct returns the correction of the query. It has more results than the query, unless the query
// is prose, of which no page needs to have all words.
func correct(p *pass, k *knowledge) (best correction) {
	resp, q := p.resp, &p.query
	if k == nil || q.Root == nil || len(q.Cut) > 0 || !q.Root.Positive() ||
		resp.Partial || resp.Hidden > 0 || p.clock.Over() {
		return best
	}
	share := p.clock.Share(guessShare)
	defer func() {
		if share.Check() {
			p.clock.Hurry()
		}
	}()
	e, clock := &evidence{p.view, share.Copy().Bound(pairSteps)}, share.Copy().Bound(countSteps)
	total := sync.OnceValue(func() int { return pagesWithAll(p, clock) })
	few := func() bool { return len(q.Loose) == 1 || total() <= fewMatches }
	typed := *q
	typed.Text = p.typed()
	guesses, known := k.speller.Guesses(&typed, e, few)
	if len(guesses) == 0 {
		return best
	}
	most := math.Inf(-1)
	for _, g := range guesses[:min(len(guesses), maxGuesses)] {
		n, same := total(), g.Text == typed.Text
		if !same {
			guess, _ := p.reread(g.Text)
			n = p.view.count(locate(p, guess.Root), clock, math.MaxInt)
		}
		if clock.Check() {
			break
		}
		if !same && n <= total() && !(p.prose && n == 0) {
			continue
		}
		if points := g.Points + suggest.AllWeight*math.Log(float64(n)+nearlyNone); points > most {
			most, best = points, correction{g.Text, g.Sure && total() == 0 && (n > 0 && !(p.prose && known) || !known)}
		}
	}
	if best.text == typed.Text {
		return correction{}
	}
	return best
}

// nearlyNone is used for the number of pages with all words where there are none.
const nearlyNone = 0.1

// Evidence counts words and pairs of words in a view, until its clock ends.
type evidence struct {
	view  *view
	clock *retrieval.Clock
}

func (e *evidence) Over() bool { return e.clock.Over() }

func (e *evidence) Documents() int { return e.view.Docs }

func (e *evidence) Pages(term string) (n int) {
	for p := range e.view.parts() {
		df, err := p.Segment.DF(segment.Full, []byte(term))
		if err != nil {
			return 0 // a query for the term reports the error
		}
		n += df
	}
	return n
}

func (e *evidence) Pairs(first, second string, enough int) (n int, all bool) {
	if e.clock.Check() {
		return 0, false
	}
	phrase := &query.Node{Op: query.Words, Words: []string{first, second}, Exact: true, Times: 1}
	n = e.view.count(phrase, e.clock, enough)
	return n, n < enough && !e.clock.Check()
}

// pagesWithAll returns the number of pages that have all words of the query. A correction must have
// more.
func pagesWithAll(p *pass, clock *retrieval.Clock) int {
	if !p.prose {
		return p.resp.Total
	}
	return p.view.count(locate(p, query.Parse(p.query.Text).Root), clock, math.MaxInt)
}

// typed returns the text of the query, with the minuses of words that were read as options.
func (p *pass) typed() string {
	if len(p.req.Query) == len(p.query.Text) {
		return p.req.Query
	}
	return p.query.Text
}

// reread parses a correction as the query was read: with options as words to search for, or without.
// unless is then the query that excludes these words.
func (p *pass) reread(text string) (q query.Query, unless string) {
	q = query.Parse(text)
	if p.typed() == p.query.Text {
		return q, ""
	}
	return query.Parse(q.Options()), q.Exclusions()
}

// corrected returns the pass of a correction, with a response of its own.
func (p *pass) corrected(text string) *pass {
	resp := *p.resp
	q, unless := p.reread(text)
	better := p.newPass(q, &resp)
	better.refs = references{docs: p.refs.docs, nearer: p.refs.nearer}
	resp.understood(better.query)
	resp.Why, resp.Forms, resp.Suggestion = "", nil, unless
	return better
}

// choose returns the pass to show: the correction if it has results, otherwise the query's own with
// the correction as a suggestion.
func (p *pass) choose(better *pass, text string) *pass {
	if better.resp.Total == 0 {
		p.resp.Suggestion = text
		return p
	}
	better.resp.Corrected = text
	if better.resp.Why == "" {
		better.resp.Why = p.resp.Why
	}
	*p.resp = *better.resp
	better.resp = p.resp
	return better
}

// understood fills in the interpretation of the query.
func (resp *Response) understood(q query.Query) {
	resp.Interpreted, resp.Plain, resp.Filters = q.String(), q.Plain(), nil
	for _, f := range q.Parts() {
		resp.Filters = append(resp.Filters, Filter(f))
	}
}
