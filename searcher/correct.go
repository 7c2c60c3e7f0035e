package searcher

import (
	"math"

	"anatomy/searcher/internal/retrieval"
	"anatomy/searcher/query"
)

// Bounds of spelling corrections.
const (
	maxGuesses = 8  // corrected queries whose results are counted
	muchFewer  = 10 // a query of known words is corrected only for that many times more results

	guessShare = 0.02 // of the time that the request has left, for counting them
)

// correction returns the likeliest correction of the query that has more results, "" if there is
// none, and how many pages have all words of the query itself.
func correction(p *pass, k *knowledge) (best string, total int) {
	resp, q := p.resp, &p.query
	if k == nil || q.Root == nil || len(q.Cut) > 0 || !q.Root.Positive() ||
		resp.Partial || resp.Hidden > 0 || p.clock.Over() {
		return "", 0
	}
	guesses, known := k.speller.Guesses(q, p.terms.Pages)
	if len(guesses) == 0 {
		return "", 0
	}
	clock := p.clock.Share(guessShare)
	total = pagesWithAll(p, clock)
	least := total + 1
	if known {
		least = total*muchFewer + 1
	}
	most, tried := math.Inf(-1), 0
	for _, g := range guesses {
		if g.Text == q.Text {
			continue
		}
		if tried++; tried > maxGuesses || clock.Check() {
			break
		}
		n := p.view.count(locate(p, query.Parse(g.Text).Root), clock, math.MaxInt)
		if n < max(least, 1) {
			continue
		}
		// The guess counts each word by itself; the words together count twice.
		if points := g.Points + 2*math.Log(float64(n)); points > most {
			best, most = g.Text, points
		}
	}
	return best, total
}

// pagesWithAll returns how many pages have all words of the query: a correction is to have more.
func pagesWithAll(p *pass, clock *retrieval.Clock) int {
	if !p.prose {
		return p.resp.Total
	}
	return p.view.count(locate(p, query.Parse(p.query.Text).Root), clock, math.MaxInt)
}

// corrected returns the pass of a correction, with a response of its own.
func (p *pass) corrected(text string) *pass {
	resp := *p.resp
	better := p.newPass(query.Parse(text), &resp)
	better.refs = references{docs: p.refs.docs, nearer: p.refs.nearer}
	resp.understood(better.query)
	resp.Why, resp.Forms = "", nil
	return better
}

// choose returns the pass to show: the correction if it has results, else the query's own with the
// correction as a suggestion.
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

// understood fills in how the query was understood.
func (resp *Response) understood(q query.Query) {
	resp.Interpreted, resp.Filters = q.String(), nil
	for _, f := range q.Filters() {
		resp.Filters = append(resp.Filters, Filter(f))
	}
}
