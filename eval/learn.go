package eval

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"

	"anatomy/searcher"
	"anatomy/vocab"
)

// A Learner finds weights that answer judged queries better, by coordinate ascent (MC07): one weight after the
// other is tried at some values around its own, all others as they are, and keeps the best. It goes on until a
// round over all weights brings next to nothing. What counts is MRR@10 of the second phase: the pages that
// the first phase chooses are those of the weights that it began with.
type Learner struct {
	Searcher TrialSearcher
	Seed     uint64                                                 // of the order in which weights are tried
	Rounds   int                                                    // at most, default 5
	ID       func(url string) string                                // as of a Runner
	Progress func(weight string, value searcher.Milli, mrr float64) // called for each step upwards
}

// A TrialSearcher is a [searcher.Searcher].
type TrialSearcher interface {
	Searcher
	Trial(ctx context.Context, text string) (*searcher.Trial, error)
}

// A lesson is a judged query that can be tried with any weights.
type lesson struct {
	trials []*searcher.Trial // of all words, and of any where these are not enough
	page   map[vocab.DocID]int
	right  []bool // by page
}

// Learn gives better weights than those that it begins with, or these. It is the same for the same seed,
// whatever the number of processors.
func (l *Learner) Learn(ctx context.Context, judged []Judged, w searcher.Weights) (searcher.Weights, error) {
	lessons, err := l.lessons(ctx, judged)
	if err != nil {
		return w, err
	}
	order := rand.New(rand.NewPCG(l.Seed, 0))
	best := mrr(lessons, &w)
	rounds := l.Rounds
	if rounds <= 0 {
		rounds = 5
	}
	for range rounds {
		before := best
		all := knobs(&w)
		for _, i := range order.Perm(len(all)) {
			if err := ctx.Err(); err != nil {
				return w, err
			}
			k := all[i]
			was, chosen := *k.value, *k.value
			for _, v := range k.values() {
				*k.value = v
				if m := mrr(lessons, &w); m > best+leastGain {
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

// The least gains of MRR@10 that a step and a round are made for: less would be learning the queries by heart.
const (
	leastGain  = 0.0001
	leastRound = 0.001
)

// A knob is one weight that can be turned.
type knob struct {
	name  string
	value *searcher.Milli
	low   searcher.Milli
	unit  searcher.Milli // what is tried where it is 0
}

// knobs are all weights that the second phase depends on.
func knobs(w *searcher.Weights) (all []knob) {
	add := func(name string, value *searcher.Milli, low, unit searcher.Milli) {
		all = append(all, knob{name, value, low, unit})
	}
	for t := range w.Type {
		add("Type "+vocab.HitType(t).String(), &w.Type[t], 0, 500)
	}
	add("Saturation", &w.Saturation, 50, 1000)
	add("Length", &w.Length, 0, 300)
	for b := range w.Near[:searcher.Bins-1] {
		add(fmt.Sprint("Near ", w.Near[b].Within), &w.Near[b].Weight, 0, 200)
	}
	for f := range w.NearIn {
		add(fmt.Sprint("NearIn ", f), &w.NearIn[f], 0, 500)
		add(fmt.Sprint("Whole ", f), &w.Whole[f], 0, 300)
		add(fmt.Sprint("Exact ", f), &w.Exact[f], 0, 1000)
	}
	add("Letters", &w.Letters, 0, 1000)
	add("Language", &w.Language, 0, 500)
	add("Rank", &w.Rank, 0, 1000)
	add("RankHalf", &w.RankHalf, 100, 1000)
	for d := range w.Depth {
		add(fmt.Sprint("Depth ", d), &w.Depth[d], -5000, 300)
	}
	add("Uncrawled", &w.Uncrawled, -10000, 500)
	return all
}

// values are those that a knob is tried at.
func (k *knob) values() (all []searcher.Milli) {
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

func (l *Learner) lessons(ctx context.Context, judged []Judged) (all []*lesson, err error) {
	r := Runner{Searcher: l.Searcher, ID: l.ID, names: map[vocab.DocID]string{}}
	for i := range judged {
		j := &judged[i]
		s := &lesson{page: map[vocab.DocID]int{}}
		pages := map[string]int{}
		for _, mode := range []Mode{All, Any} {
			t, err := l.Searcher.Trial(ctx, mode.Text(j.Query))
			if err != nil {
				return nil, fmt.Errorf("eval: query %q: %w", j.Query, err)
			}
			s.trials = append(s.trials, t)
			docs := t.Order(&searcher.DefaultWeights)
			for _, doc := range docs {
				name, err := r.name(ctx, doc)
				if err != nil {
					return nil, err
				}
				page, known := pages[Page(name)]
				if !known {
					page = len(s.right)
					pages[Page(name)] = page
					s.right = append(s.right, j.Grades[Page(name)] > 0)
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

// mrr is the mean of 1/rank of the first right page, 0 past the tenth.
func mrr(lessons []*lesson, w *searcher.Weights) float64 {
	ranks := make([]int, len(lessons))
	var wait sync.WaitGroup
	workers := runtime.GOMAXPROCS(0)
	for n := range workers {
		wait.Go(func() {
			for i := n; i < len(lessons); i += workers {
				ranks[i] = lessons[i].rank(w)
			}
		})
	}
	wait.Wait()
	sum := 0.0
	for _, rank := range ranks {
		if rank > 0 {
			sum += 1 / float64(rank)
		}
	}
	return sum / float64(max(len(lessons), 1))
}

// rank is that of the first right page among the first ten, 0 where there is none.
func (s *lesson) rank(w *searcher.Weights) int {
	if !slices.Contains(s.right, true) {
		return 0
	}
	seen := map[int]bool{}
	for _, t := range s.trials {
		for _, doc := range t.Order(w) {
			page := s.page[doc]
			if seen[page] {
				continue
			}
			if seen[page] = true; s.right[page] {
				return len(seen)
			}
			if len(seen) == 10 {
				return 0
			}
		}
	}
	return 0
}
