package quality

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"

	"anatomy/disk/durable"
	"anatomy/eval"
	"anatomy/searcher"
	"anatomy/upkeep"
)

// Bounds of learning in the server.
const (
	maxLearnt    = 500              // judged queries, the newest
	learnTime    = 2 * time.Minute  // for each of three times that weights are learnt
	proposalTime = 15 * time.Minute // in all
	shownOrders  = 50               // queries whose results are compared
	leastHalves  = 10               // queries for which the effect on others is measured
	seed         = 1
)

// A Proposal is weights that were learnt from the judged queries of a data folder, and their effect.
type Proposal struct {
	Weights searcher.Weights
	Queries int  // that were learnt from
	Left    int  // older ones
	InTime  bool // learning ended before its time did
	Changed []ChangedWeight

	// Before and After are measures on the queries that were learnt from. Others is that of weights
	// learnt from one half of them on the other half, and the reverse; nil for too few queries. Gain is
	// the difference of MRR@10 between Before and Others.
	Before, After eval.Measures
	Others        *eval.Measures
	Gain          eval.Gain

	Orders []Order // of the newest queries whose results differ, then of others
	Same   int     // queries whose results do not differ
}

// A ChangedWeight is a weight with its value before and after.
type ChangedWeight struct {
	Name     string
	From, To searcher.Milli
}

// An Order is the first results of a judged query before and after.
type Order struct {
	Query         string
	Before, After []Place
}

// A Place is a page among the first results.
type Place struct {
	URL   string
	Other int // its place in the other list, from 1; 0 for none
	Mark  Mark
}

// Propose learns weights from the judged queries of a data folder, beginning with those in use. say
// receives texts about the progress.
func Propose(ctx context.Context, dir string, say func(string)) (*Proposal, error) {
	ctx, cancel := context.WithTimeout(ctx, proposalTime)
	defer cancel()
	judged, err := readJudged(OwnJudged(dir))
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(judged) == 0 {
		return nil, errors.New("No query is judged yet. Mark results of searches as right or wrong.")
	}
	if err != nil {
		return nil, err
	}
	start, err := readWeights(dir, "")
	if err != nil {
		return nil, err
	}
	p := &Proposal{Left: max(0, len(judged)-maxLearnt)}
	judged = judged[p.Left:]
	p.Queries = len(judged)
	t := &teacher{dir: dir, start: start, say: say, inTime: true}
	if p.Weights, err = t.learn(ctx, judged); err != nil {
		return nil, err
	}
	p.Changed = changedWeights(start, p.Weights)
	say("measuring the effect")
	before, err := t.run(ctx, start, judged)
	if err != nil {
		return nil, err
	}
	after, err := t.run(ctx, p.Weights, judged)
	if err != nil {
		return nil, err
	}
	p.Before, p.After = measured(judged, before), measured(judged, after)
	if err := p.measureOthers(ctx, t, judged, before); err != nil {
		return nil, err
	}
	p.InTime = t.inTime
	p.compare(judged, before, after)
	return p, nil
}

// A teacher learns weights from judged queries of a data folder, and searches with them.
type teacher struct {
	dir    string
	start  searcher.Weights
	say    func(string)
	inTime bool // no learning was cut short
}

func (t *teacher) learn(ctx context.Context, judged []eval.Judged) (learnt searcher.Weights, err error) {
	within, cancel := context.WithTimeout(ctx, learnTime)
	defer cancel()
	err = withOptions(t.dir, searcher.Options{Weights: t.start}, func(s *searcher.Searcher) (err error) {
		t.say(fmt.Sprintf("learning from %d queries", len(judged)))
		l := eval.Learner{Searcher: s, Seed: seed, ID: upkeep.TextID, Progress: func(weight string, _ searcher.Milli, gain float64) {
			t.say(fmt.Sprintf("learning from %d queries: %.4f by %s", len(judged), gain, weight))
		}}
		learnt, err = l.Learn(within, judged, t.start)
		return err
	})
	if within.Err() != nil && ctx.Err() == nil {
		t.inTime, err = false, nil
	}
	return learnt, err
}

func (t *teacher) run(ctx context.Context, w searcher.Weights, judged []eval.Judged) (run [][]eval.Entry, err error) {
	e := &evaluation{mode: string(eval.Fill), depth: 10}
	err = withOptions(t.dir, searcher.Options{Weights: w}, func(s *searcher.Searcher) (err error) {
		run, err = e.ask(ctx, s, judged)
		return err
	})
	return run, err
}

// measured returns the measures of a run on the queries that have a relevant page.
func measured(judged []eval.Judged, run [][]eval.Entry) eval.Measures {
	judged, pages := withRelevant(judged, run)
	return eval.Measure(judged, pages)
}

func withRelevant(judged []eval.Judged, run [][]eval.Entry) (left []eval.Judged, pages [][]string) {
	for i, of := range eval.Pages(run) {
		if one := eval.WithRelevant(judged[i : i+1]); len(one) > 0 {
			left, pages = append(left, one[0]), append(pages, of)
		}
	}
	return left, pages
}

// measureOthers sets the measures on queries that were not learnt from.
func (p *Proposal) measureOthers(ctx context.Context, t *teacher, judged []eval.Judged, before [][]eval.Entry) error {
	if len(eval.WithRelevant(judged)) < leastHalves {
		return nil
	}
	run := make([][]eval.Entry, len(judged))
	for half := range 2 {
		var learnt, others []eval.Judged
		for i := range judged {
			if i%2 == half {
				learnt = append(learnt, judged[i])
			} else {
				others = append(others, judged[i])
			}
		}
		w, err := t.learn(ctx, learnt)
		if err != nil {
			return err
		}
		found, err := t.run(ctx, w, others)
		if err != nil {
			return err
		}
		for i := range found {
			run[2*i+1-half] = found[i]
		}
	}
	m := measured(judged, run)
	p.Others = &m
	with, then := withRelevant(judged, before)
	_, now := withRelevant(judged, run)
	p.Gain = eval.Compare(with, then, now, seed).Gain
	return nil
}

// compare sets the orders of results, those of the newest queries first.
func (p *Proposal) compare(judged []eval.Judged, before, after [][]eval.Entry) {
	var same []Order
	for i := len(judged) - 1; i >= 0; i-- {
		o := newOrder(&judged[i], before[i], after[i])
		moved := func(places []Place) bool {
			for i := range places {
				if places[i].Other != i+1 {
					return true
				}
			}
			return false
		}
		if moved(o.Before) || moved(o.After) {
			p.Orders = append(p.Orders, o)
		} else {
			same = append(same, o)
		}
	}
	p.Same = len(same)
	p.Orders = append(p.Orders, same...)
	p.Orders = p.Orders[:min(len(p.Orders), shownOrders)]
}

func newOrder(j *eval.Judged, before, after []eval.Entry) Order {
	o := Order{Query: j.Query, Before: places(j, before), After: places(j, after)}
	link := func(list, other []Place) {
		for i := range list {
			page := eval.Page(list[i].URL)
			list[i].Other = 1 + slices.IndexFunc(other, func(p Place) bool { return eval.Page(p.URL) == page })
		}
	}
	link(o.Before, o.After)
	link(o.After, o.Before)
	return o
}

// places returns the pages of results, each once.
func places(j *eval.Judged, entries []eval.Entry) (list []Place) {
	seen := map[string]bool{}
	for _, e := range entries {
		page := eval.Page(e.URL)
		if seen[page] {
			continue
		}
		seen[page] = true
		place := Place{URL: e.URL}
		if grade, known := j.Grades[page]; known && grade > 0 {
			place.Mark = Right
		} else if known {
			place.Mark = Wrong
		}
		list = append(list, place)
	}
	return list
}

// changedWeights returns the weights that differ, under the names of weight files.
func changedWeights(from, to searcher.Weights) (all []ChangedWeight) {
	was, is := eval.Values(from), eval.Values(to)
	for i := range min(len(was), len(is)) { // weights of text that all became 0 are not tuned any more
		if was[i] != is[i] {
			all = append(all, ChangedWeight{was[i].Name, was[i].Value, is[i].Value})
		}
	}
	return all
}

// KeepWeights makes weights those of a data folder.
func KeepWeights(dir string, w searcher.Weights) (file string, err error) {
	text, err := formatWeights(w)
	if err != nil {
		return "", err
	}
	return OwnWeights(dir), durable.WriteFile(durable.OS, OwnWeights(dir), []byte(text))
}

// DropWeights makes the default weights those of a data folder.
func DropWeights(dir string) error {
	err := durable.Remove(durable.OS, OwnWeights(dir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// HasWeights reports whether a data folder has weights of its own.
func HasWeights(dir string) bool {
	_, err := os.Stat(OwnWeights(dir))
	return err == nil
}

func formatWeights(w searcher.Weights) (string, error) {
	b, err := json.MarshalIndent(w, "", "  ")
	return string(b) + "\n", err
}
