package main

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"anatomy/engine"
	"anatomy/eval"
	"anatomy/searcher"
	"anatomy/vocab"
)

// teach looks for weights that answer the judged queries better.
func (e *evaluation) teach(c *cobra.Command, data string, judged []eval.Judged) error {
	var test []eval.Judged
	if e.test != "" {
		var err error
		if test, err = readJudged(e.test); err != nil {
			return err
		}
	}
	start, err := readWeights(e.weights)
	if err != nil {
		return err
	}
	w := c.OutOrStdout()
	fmt.Fprintf(w, "learning from %d queries, seed %d\n", len(judged), e.seed)
	learnt := start
	if err := withThese(data, start, 0, func(s *searcher.Searcher) error {
		l := eval.Learner{Searcher: s, Seed: e.seed, ID: engine.TextID, Progress: func(weight string, value searcher.Milli, mrr float64) {
			fmt.Fprintf(c.ErrOrStderr(), "MRR@10 %.4f  %s = %d\n", mrr, weight, value)
		}}
		learnt, err = l.Learn(c.Context(), judged, start)
		return err
	}); err != nil {
		return err
	}
	b, err := json.MarshalIndent(learnt, "", "  ")
	if err != nil {
		return err
	}
	if err := writeOutput(c, e.learn, string(b)+"\n"); err != nil {
		return err
	}
	for _, set := range []struct {
		name   string
		judged []eval.Judged
	}{{"learnt from", judged}, {"test", test}} {
		if len(set.judged) == 0 {
			continue
		}
		for _, weights := range []struct {
			name string
			w    searcher.Weights
		}{{"before", start}, {"after", learnt}} {
			m, err := e.measure(c, data, weights.w, set.judged)
			if err != nil {
				return err
			}
			printMeasures(w, set.name+", "+weights.name+": ", m)
		}
	}
	return nil
}

func (e *evaluation) measure(c *cobra.Command, data string, w searcher.Weights, judged []eval.Judged) (m eval.Measures, err error) {
	err = withThese(data, w, e.candidates(), func(s *searcher.Searcher) error {
		run, err := e.ask(c, s, judged)
		if err == nil {
			m = eval.Measure(judged, eval.Pages(run))
		}
		return err
	})
	return m, err
}

// withoutEach measures the ranking, and what is left of it without each of its parts.
func (e *evaluation) withoutEach(c *cobra.Command, data string, judged []eval.Judged) error {
	all, err := readWeights(e.weights)
	if err != nil {
		return err
	}
	for _, part := range ablations {
		w := all
		part.remove(&w)
		m, err := e.measure(c, data, w, judged)
		if err != nil {
			return err
		}
		printMeasures(c.OutOrStdout(), fmt.Sprintf("%-24s", part.name), m)
	}
	return nil
}

// ablations are parts of the ranking that can be removed by weights alone. Pages are found, and chosen by the
// first phase, as before, but for what PageRank and URLs bring there.
var ablations = []struct {
	name   string
	remove func(w *searcher.Weights)
}{
	{"all", func(*searcher.Weights) {}},
	{"without anchors", func(w *searcher.Weights) {
		w.Type[vocab.Anchor], w.Type[vocab.AnchorOut], w.NearIn[vocab.AnchorField] = 0, 0, 0
		w.Whole[vocab.AnchorField], w.Exact[vocab.AnchorField] = 0, 0
	}},
	{"without PageRank", func(w *searcher.Weights) { w.Rank = 0 }},
	{"without proximity", func(w *searcher.Weights) {
		w.NearIn, w.Whole = [vocab.Fields]searcher.Milli{}, [vocab.Fields]searcher.Milli{}
	}},
	{"without whole fields", func(w *searcher.Weights) { w.Whole = [vocab.Fields]searcher.Milli{} }},
	{"without exact names", func(w *searcher.Weights) { w.Exact, w.Letters = [vocab.Fields]searcher.Milli{}, 0 }},
	{"without letters", func(w *searcher.Weights) { w.Letters = 0 }},
	{"without names of parts", func(w *searcher.Weights) { w.Type[vocab.Part] = 0 }},
	{"without titles", func(w *searcher.Weights) {
		w.Type[vocab.Title], w.NearIn[vocab.TitleField], w.Whole[vocab.TitleField], w.Exact[vocab.TitleField], w.Letters = 0, 0, 0, 0, 0
	}},
	{"without words of URLs", func(w *searcher.Weights) {
		w.Type[vocab.URLWord], w.NearIn[vocab.URLField], w.Whole[vocab.URLField] = 0, 0, 0
	}},
	{"without types in text", func(w *searcher.Weights) {
		for t := vocab.Plain; t <= vocab.Menu; t++ {
			w.Type[t] = w.Type[vocab.Plain]
		}
	}},
	{"without length", func(w *searcher.Weights) { w.Length = 0 }},
	{"without depth of URLs", func(w *searcher.Weights) { w.Depth = [6]searcher.Milli{} }},
}
