package eval

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"

	"anatomy/searcher"
	"anatomy/searcher/scoring"
	"anatomy/vocab"
)

// A Learner finds weights with a higher MRR@10 on judged queries, by coordinate ascent (MC07): it
// tries some values around each weight in turn, all others fixed, and keeps the best, until a round
// over all weights gains next to nothing. It tunes the second phase only: the candidates are those
// of the weights that it begins with. Pages that are judged not relevant count against a ranking as
// much as relevant ones count for it: the mean of 1/rank of the first of them is subtracted.
type Learner struct {
	Searcher TrialSearcher
	Seed     uint64                                                 // of the order in which weights are tried
	Rounds   int                                                    // at most, default 5
	ID       func(url string) string                                // see Runner
	Progress func(weight string, value searcher.Milli, mrr float64) // called after each gain
}

// A TrialSearcher also returns trials. [searcher.Searcher] implements it.
type TrialSearcher interface {
	Searcher
	Trial(ctx context.Context, text string) (*searcher.Trial, error)
}

// An example is a judged query that can be ranked by any weights.
type example struct {
	trials []*searcher.Trial // of the query as typed, and as in Any if that finds too few
	page   map[vocab.DocID]int
	judged []judgement // by page
}

// A judgement is the known relevance of a page for a query.
type judgement int8

// The judgements.
const (
	unjudged judgement = iota
	relevant
	notRelevant
)

// judgement returns the judgement of a page.
func (j *Judged) judgement(page string) judgement {
	grade, known := j.Grades[page]
	switch {
	case !known:
		return unjudged
	case grade > 0:
		return relevant
	}
	return notRelevant
}

// Learn returns better weights than w, or w. The result depends on the seed, and not on the number
// of processors. With an error it returns the best weights until then.
func (l *Learner) Learn(ctx context.Context, judged []Judged, w searcher.Weights) (searcher.Weights, error) {
	w = w.Clone()
	examples, err := l.examples(ctx, judged)
	if err != nil {
		return w, err
	}
	order := rand.New(rand.NewPCG(l.Seed, 0))
	best := mrr(examples, &w)
	rounds := l.Rounds
	if rounds <= 0 {
		rounds = 5
	}
	for range rounds {
		before := best
		all := parameters(&w)
		for _, i := range order.Perm(len(all)) {
			if err := ctx.Err(); err != nil {
				return w, err
			}
			k := all[i]
			was, chosen := *k.value, *k.value
			for _, v := range k.values() {
				*k.value = v
				if m := mrr(examples, &w); m > best+leastGain {
					best, chosen = m, v
				}
			}
			if *k.value = chosen; chosen != was && l.Progress != nil {
				l.Progress(k.name, chosen, best)
			}
		}
		if best-before < leastRound {
			break
		}
	}
	return w, nil
}

// Minimum gains of MRR@10 of a step and of a round. Smaller ones would be overfitting.
const (
	leastGain  = 0.0001
	leastRound = 0.001
)

// A parameter is one weight that is tuned.
type parameter struct {
	name  string
	value *searcher.Milli
	low   searcher.Milli
	unit  searcher.Milli // step from 0
}

// A Value is a weight that a Learner tunes.
type Value struct {
	Name  string
	Value searcher.Milli
}

// Values returns the values of all weights that a Learner tunes, in the same order for all weights that
// differ in their values alone.
func Values(w searcher.Weights) (all []Value) {
	w = w.Clone()
	for _, k := range parameters(&w) {
		all = append(all, Value{k.name, *k.value})
	}
	return all
}

// parameters returns all weights of the second phase, those for prose after the others. Their names
// are those of weight files.
func parameters(w *searcher.Weights) (all []parameter) {
	all = parametersOf(w, "")
	if w.Prose != nil {
		all = append(all, parametersOf(w.Prose, "Prose ")...)
	}
	return all
}

func parametersOf(w *searcher.Weights, prefix string) (all []parameter) {
	add := func(name string, value *searcher.Milli, low, unit searcher.Milli) {
		all = append(all, parameter{prefix + name, value, low, unit})
	}
	if w.Text != ([vocab.HitTypes]searcher.Milli{}) {
		for t := range w.Text {
			add("Text "+vocab.HitType(t).String(), &w.Text[t], 0, 500)
		}
		add("TextLength", &w.TextLength, 0, 300)
		add("Held", &w.Held, 0, 500)
		add("Pairs", &w.Pairs, 0, 5000)
	}
	for t := range w.Type {
		add("Type "+vocab.HitType(t).String(), &w.Type[t], 0, 500)
	}
	add("Saturation", &w.Saturation, 50, 1000)
	add("Length", &w.Length, 0, 300)
	add("NearSaturation", &w.NearSaturation, 50, 1000)
	for b := range w.Near[:scoring.Bins-1] {
		add(fmt.Sprint("Near ", w.Near[b].Within), &w.Near[b].Weight, 0, 200)
	}
	for f := range w.NearIn {
		add(fmt.Sprint("NearIn ", f), &w.NearIn[f], 0, 500)
		add(fmt.Sprint("Whole ", f), &w.PhraseInField[f], 0, 300)
		add(fmt.Sprint("Exact ", f), &w.ExactMatch[f], 0, 1000)
	}
	add("Letters", &w.VerbatimTitle, 0, 1000)
	add("Language", &w.Language, 0, 500)
	for g := vocab.SourceListing; g <= vocab.Changelog; g++ {
		add("Genre "+g.String(), &w.Genre[g], 0, 300)
	}
	add("Identifier", &w.Identifier, 0, 300)
	add("Signed", &w.Signed, 0, 1000)
	add("Unsigned", &w.Unsigned, 0, 500)
	add("Accented", &w.Accented, 0, 200)
	add("Rank", &w.Rank, 0, 1000)
	add("RankHalf", &w.RankHalf, 100, 1000)
	for d := range w.Depth {
		add(fmt.Sprint("Depth ", d), &w.Depth[d], -5000, 300)
	}
	add("Uncrawled", &w.Uncrawled, -10000, 500)
	return all
}

// values returns the values to try.
func (k *parameter) values() (all []searcher.Milli) {
	now := *k.value
	if now == 0 {
		all = []searcher.Milli{k.unit / 4, k.unit, 2 * k.unit}
	} else {
		all = []searcher.Milli{0, now / 2, now * 3 / 4, now * 9 / 10, now * 11 / 10, now * 3 / 2, now * 2, now * 3}
	}
	for i, v := range all {
		all[i] = max(v, k.low)
	}
	return all
}

func (l *Learner) examples(ctx context.Context, judged []Judged) (all []*example, err error) {
	r := Runner{Searcher: l.Searcher, ID: l.ID, names: map[vocab.DocID]string{}}
	for i := range judged {
		j := &judged[i]
		s := &example{page: map[vocab.DocID]int{}}
		pages := map[string]int{}
		for _, mode := range []Mode{All, Any} {
			t, err := l.Searcher.Trial(ctx, mode.Text(j.Query))
			if err != nil {
				return nil, fmt.Errorf("query %q: %w", j.Query, err)
			}
			s.trials = append(s.trials, t)
			docs := t.Order(&scoring.Default)
			for _, doc := range docs {
				name, err := r.name(ctx, doc)
				if err != nil {
					return nil, err
				}
				page, known := pages[Page(name)]
				if !known {
					page = len(s.judged)
					pages[Page(name)] = page
					s.judged = append(s.judged, j.judgement(Page(name)))
				}
				s.page[doc] = page
			}
			if len(docs) >= 10 {
				break
			}
		}
		all = append(all, s)
	}
	return all, nil
}

// mrr returns the mean of 1/rank of the first relevant page, 0 after the tenth, less that of the first
// page that is judged not relevant.
func mrr(examples []*example, w *searcher.Weights) float64 {
	gains := make([]float64, len(examples))
	var wait sync.WaitGroup
	workers := runtime.GOMAXPROCS(0)
	for n := range workers {
		wait.Go(func() {
			for i := n; i < len(examples); i += workers {
				gains[i] = examples[i].gain(w)
			}
		})
	}
	wait.Wait()
	return sum(gains) / float64(max(len(examples), 1))
}

// gain returns 1/rank of the first relevant page among the first ten, less that of the first page that
// is judged not relevant; 0 for none.
func (s *example) gain(w *searcher.Weights) (gain float64) {
	left := [...]bool{relevant: slices.Contains(s.judged, relevant), notRelevant: slices.Contains(s.judged, notRelevant)}
	seen := map[int]bool{}
	for _, t := range s.trials {
		if !left[relevant] && !left[notRelevant] {
			return gain
		}
		for _, doc := range t.Order(w) {
			page := s.page[doc]
			if seen[page] {
				continue
			}
			seen[page] = true
			switch j := s.judged[page]; {
			case !left[j]:
			case j == relevant:
				gain, left[j] = gain+1/float64(len(seen)), false
			default:
				gain, left[j] = gain-1/float64(len(seen)), false
			}
			if len(seen) == 10 {
				return gain
			}
		}
	}
	return gain
}
