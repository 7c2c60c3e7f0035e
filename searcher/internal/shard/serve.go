package shard

import (
	"encoding/json"
	"errors"
	"fmt"

	"anatomy/searcher/query"
	"anatomy/searcher/scoring"
	"anatomy/vocab"
)

// ErrCall is the error for a call that is not valid.
var ErrCall = errors.New("not a valid call about a shard")

// DecodeCall decodes a call from another machine.
func DecodeCall(b []byte) (*Call, error) {
	c := &Call{}
	if err := json.Unmarshal(b, c); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCall, err)
	}
	return c, nil
}

// Answer makes the call that c asks for in a new query in a whole shard, and returns the reply.
func Answer(q *Query, c *Call, a *scoring.Arena) ([]byte, error) {
	of := &answerer{Query: q, exact: ExactRequest{Statistics: c.Variant.Of}}
	if c.Terms != nil {
		t, err := c.Terms.Terms(q.weights, a)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrCall, err)
		}
		if err := q.Open(t); err != nil {
			return nil, err
		}
		of.exact.Terms = t
	}
	if len(c.Sites) > maxSites {
		return nil, ErrCall
	}
	if err := q.OpenSites(c.Sites); err != nil {
		return nil, err
	}
	if err := of.answer(c); err != nil {
		return nil, err
	}
	of.reply.Over = q.Over()
	for _, err := range q.TakeDamage() {
		of.reply.Damage = append(of.reply.Damage, err.Error())
	}
	return json.Marshal(&of.reply)
}

// Bounds of a call.
const (
	maxSites   = 1000
	maxPages   = 1 << 18
	maxChoices = 64
	maxKey     = 4 << 10 // bytes of a key of forms
	maxShown   = 1000    // pages presented
)

// An answerer answers one call.
type answerer struct {
	*Query
	exact ExactRequest
	reply Reply
}

func (of *answerer) answer(c *Call) (err error) {
	r := &of.reply
	switch {
	case c.Forms != nil && len(c.Forms.Word)+len(c.Forms.Lang)+len(c.Forms.Spellings)+len(c.Forms.Last) <= maxKey:
		for _, part := range of.snap.Parts {
			forms, err := part.FormsOf(*c.Forms, of.clock)
			if err != nil {
				of.Unreadable(part, err, nil)
			}
			r.Forms = append(r.Forms, forms)
		}
		return nil
	case c.Count != nil && query.Check(c.Count.Root) == nil:
		r.N = of.Count(c.Count.Root, c.Count.Enough)
		return nil
	case c.Match != nil && query.Check(c.Match.Root) == nil && has(of.snap, []place{c.Match.Page}):
		r.Yes, err = of.Matches(c.Match.Root, int(c.Match.Page[0]), vocab.Ordinal(c.Match.Page[1]))
		return err
	case c.Tally != nil && query.Check(c.Tally.Root) == nil && query.CheckLabels(c.Tally.Labels) == nil:
		t, err := of.Tally(c.Tally.Root, c.Tally.Kinds, c.Tally.Labels)
		if err == nil {
			r.Tally = t.Sum()
		}
		return err
	case c.Options != nil && len(c.Options.Words) <= maxChoices:
		pages, err := of.pages(c.Options.Pages)
		if err == nil {
			r.Have, r.Show, err = of.Options(pages, c.Options.Words)
		}
		return err
	case of.exact.Terms == nil: // which the others need
		return ErrCall
	case c.Collect != nil:
		return of.collect(c.Collect)
	case c.Score != nil:
		return of.score(c.Score)
	case c.Held != nil:
		return of.held(c.Held)
	case c.Present != nil && query.Check(c.Present.Root) == nil:
		return of.present(c.Present)
	case c.Explain != nil && has(of.snap, []place{c.Explain.Page}):
		of.use(&c.Explain.Exact)
		r.Explain, err = of.Explain(&of.exact, int(c.Explain.Page[0]), vocab.Ordinal(c.Explain.Page[1]), c.Explain.URL)
		return err
	}
	return ErrCall
}

// use completes the request for exact scores.
func (of *answerer) use(c *exactCall) {
	of.exact.Homes, of.exact.Nearer = c.Homes, c.Nearer
	of.exact.Preferred = c.Preferred[:min(len(c.Preferred), len(of.sites))]
	of.exact.Languages, of.exact.OfCollection = c.Languages, c.OfCollection
	of.exact.Rank = c.Rank
}

// pages returns the pages of places.
func (of *answerer) pages(places []place) (pages []scoring.Candidate, err error) {
	if len(places) > pagesPerCall || !has(of.snap, places) {
		return nil, ErrCall
	}
	for _, at := range places {
		pages = append(pages, candidateAt(of.snap, at, 0))
	}
	return pages, nil
}

func (of *answerer) collect(c *collectCall) error {
	if query.Check(c.Root) != nil || c.K < 0 || c.K > maxPages || c.CountTo < 0 {
		return ErrCall
	}
	r := FirstRequest{Root: c.Root, K: c.K, CountTo: c.CountTo}
	t := of.exact.Terms
	r.Terms.Words, r.Terms.Steps, r.Terms.Shift = t.Words, t.Steps, t.Shift
	a, err := of.Collect(r)
	if err != nil {
		return err
	}
	of.reply.N, of.reply.Yes = a.Total, a.Exact
	for _, c := range a.Pages {
		of.reply.Places, of.reply.First = append(of.reply.Places, placeOf(c)), append(of.reply.First, c.First)
	}
	return nil
}

func (of *answerer) score(c *scoreCall) error {
	pages, err := of.pages(c.Pages)
	if err != nil {
		return err
	}
	of.use(&c.Exact)
	if err := of.Score(&of.exact, pages); err != nil {
		return err
	}
	for _, p := range pages {
		of.reply.Scores = append(of.reply.Scores, p.Score)
	}
	return nil
}

func (of *answerer) held(c *heldCall) error {
	pages, err := of.pages(c.Pages)
	if err != nil || len(c.Choices) > maxChoices {
		return ErrCall
	}
	of.reply.Held = make([]uint64, len(pages))
	return of.Held(of.exact.Terms, c.Choices, pages, of.reply.Held)
}

func (of *answerer) present(c *presentCall) error {
	pages, err := of.pages(c.Pages)
	if err != nil || len(pages) > maxShown {
		return errors.Join(err, ErrCall)
	}
	of.use(&c.Exact)
	presented := make([]Presented, len(pages))
	if err := of.Present(&PresentRequest{Root: c.Root, Exact: &of.exact, Explain: c.Explain}, pages, presented); err != nil {
		return err
	}
	for i := range presented {
		p := &presented[i]
		of.reply.Pages = append(of.reply.Pages, presentedPage{p.Passage, p.Explanation, p.Unread})
	}
	return nil
}
