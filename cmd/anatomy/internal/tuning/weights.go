package tuning

import (
	"context"
	"errors"
	"fmt"
	"time"

	"anatomy/cmd/anatomy/internal/quality"
	"anatomy/eval"
	"anatomy/web/admin"
)

// Learn learns weights from the judged queries, as a proposal. say receives texts about the progress. It
// returns a sentence about the result.
func (t *Files) Learn(ctx context.Context, say func(string)) (string, error) {
	p, err := quality.Propose(ctx, t.dir, say)
	if err != nil {
		return "", err
	}
	if len(p.Changed) == 0 {
		return "No other weights are better for the judged queries.", nil
	}
	t.learning.Lock()
	defer t.learning.Unlock()
	t.count++
	t.proposal = &proposal{p.Weights, viewOf(p, t.count, time.Now())}
	return fmt.Sprintf("MRR@10 %.4f, was %.4f. The page of judged queries shows the results.", p.After.MRR10, p.Before.MRR10), nil
}

func viewOf(p *quality.Proposal, number int, at time.Time) *admin.Proposal {
	v := &admin.Proposal{
		Number: number, At: at, Queries: p.Queries, Left: p.Left, Cut: !p.InTime,
		Before: measuresOf(p.Before), After: measuresOf(p.After), Same: p.Same, Orders: []admin.Order{},
	}
	if p.Others != nil {
		others := measuresOf(*p.Others)
		v.Others, v.Low, v.High = &others, p.Gain.Low, p.Gain.High
	}
	for _, c := range p.Changed {
		v.Changed = append(v.Changed, admin.Changed{Name: c.Name, From: int(c.From), To: int(c.To)})
	}
	for _, o := range p.Orders {
		v.Orders = append(v.Orders, admin.Order{Query: o.Query, Before: placesOf(o.Before), After: placesOf(o.After)})
	}
	return v
}

func measuresOf(m eval.Measures) admin.Measures {
	return admin.Measures{Queries: m.Queries, Success1: m.Success1, MRR10: m.MRR10, NDCG10: m.NDCG10}
}

func placesOf(list []quality.Place) []admin.Place {
	all := make([]admin.Place, len(list))
	for i, p := range list {
		all[i] = admin.Place{URL: p.URL, Other: p.Other, Mark: markOf(p.Mark)}
	}
	return all
}

// Proposal returns the newest weights that were learnt, until they are kept or discarded.
func (t *Files) Proposal() *admin.Proposal {
	t.learning.Lock()
	defer t.learning.Unlock()
	if t.proposal == nil {
		return nil
	}
	return t.proposal.view
}

var errNoProposal = errors.New("These weights are no longer proposed. Open the page again.")

// KeepWeights makes the weights of a proposal those of the data folder. Searchers read them within a second.
func (t *Files) KeepWeights(number int) (string, error) {
	t.learning.Lock()
	defer t.learning.Unlock()
	if t.proposal == nil || t.proposal.view.Number != number {
		return "", errNoProposal
	}
	file, err := quality.KeepWeights(t.dir, t.proposal.weights)
	if err != nil {
		return "", err
	}
	t.proposal = nil
	return "Searches rank by the weights that were learnt. They are in " + file + ".", nil
}

// DiscardWeights forgets a proposal.
func (t *Files) DiscardWeights(number int) error {
	t.learning.Lock()
	defer t.learning.Unlock()
	if t.proposal == nil || t.proposal.view.Number != number {
		return errNoProposal
	}
	t.proposal = nil
	return nil
}

// HasWeights reports whether the data folder has weights of its own.
func (t *Files) HasWeights() bool { return quality.HasWeights(t.dir) }

// DropWeights makes the default weights count again.
func (t *Files) DropWeights() (string, error) {
	if err := quality.DropWeights(t.dir); err != nil {
		return "", err
	}
	return "Searches rank by the default weights.", nil
}
