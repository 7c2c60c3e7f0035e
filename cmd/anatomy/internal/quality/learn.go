package quality

import (
	"fmt"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"anatomy/cmd/anatomy/internal/cli"
	"anatomy/eval"
	"anatomy/internal/plural"
	"anatomy/searcher"
	"anatomy/upkeep"
	"anatomy/vocab"
)

// teach searches for weights with better results on the judged queries, and writes them to a file.
func (e *evaluation) teach(c *cobra.Command, data string, judged []eval.Judged) error {
	var test []eval.Judged
	if e.test != "" {
		var err error
		if test, err = readJudged(e.test); err != nil {
			return err
		}
	}
	start, err := readWeights(data, e.weights)
	if err != nil {
		return err
	}
	w := c.OutOrStdout()
	fmt.Fprintf(w, "learning from %s, seed %d\n", plural.Count(len(judged), "query"), e.seed)
	learnt, measure := start, "MRR@10"
	if slices.ContainsFunc(judged, func(j eval.Judged) bool { return slices.Contains(slices.Collect(maps.Values(j.Grades)), 0) }) {
		measure += " less that of wrong pages"
	}
	if err := withOptions(data, searcher.Options{Weights: start}, func(s *searcher.Searcher) error {
		l := eval.Learner{Searcher: s, Seed: e.seed, ID: upkeep.TextID, Progress: func(weight string, value searcher.Milli, mrr float64) {
			fmt.Fprintf(c.ErrOrStderr(), "%s %.4f  %s = %d\n", measure, mrr, weight, value)
		}}
		learnt, err = l.Learn(c.Context(), judged, start)
		return err
	}); err != nil {
		return err
	}
	text, err := formatWeights(learnt)
	if err != nil {
		return err
	}
	if err := cli.WriteText(c, e.learn, text); err != nil {
		return err
	}
	for _, set := range []struct {
		name   string
		judged []eval.Judged
	}{{"learnt from", judged}, {"test", test}} {
		if set.judged = eval.WithRelevant(set.judged); len(set.judged) == 0 {
			continue
		}
		for _, weights := range []struct {
			name string
			w    searcher.Weights
		}{{"before", start}, {"after", learnt}} {
			pages, err := e.pages(c, data, weights.w, set.judged)
			if err != nil {
				return err
			}
			printMeasures(w, set.name+", "+weights.name+": ", eval.Measure(set.judged, pages))
		}
	}
	return nil
}

// pages returns the results of each query with the given weights.
func (e *evaluation) pages(c *cobra.Command, data string, w searcher.Weights, judged []eval.Judged) (pages [][]string, err error) {
	err = withOptions(data, searcher.Options{Weights: w, Candidates: e.candidates()}, func(s *searcher.Searcher) error {
		run, err := e.ask(c.Context(), s, judged)
		pages = eval.Pages(run)
		return err
	})
	return pages, err
}

// withoutEach measures the ranking with all of its parts, and without each of them, with the
// difference.
func (e *evaluation) withoutEach(c *cobra.Command, data string, judged []eval.Judged) error {
	all, err := readWeights(data, e.weights)
	if err != nil {
		return err
	}
	out := c.OutOrStdout()
	whole, err := e.pages(c, data, all, judged)
	if err != nil {
		return err
	}
	printMeasures(out, fmt.Sprintf("%-24s", "all"), eval.Measure(judged, whole))
	for _, part := range ablations {
		w := all.Clone()
		if part.remove(&w); w.Prose != nil {
			part.remove(w.Prose)
		}
		pages, err := e.pages(c, data, w, judged)
		if err != nil {
			return err
		}
		printMeasures(out, fmt.Sprintf("%-24s", part.name), eval.Measure(judged, pages))
		compared := eval.Compare(judged, whole, pages, e.seed)
		fmt.Fprintf(out, "%24sMRR@10 %s, nDCG@10 %s\n", "", gainText(compared.Gain), gainText(compared.NDCG10))
	}
	return nil
}

// ablations are the parts of the ranking that weights alone can remove. The first phase is unchanged,
// except for the contributions of PageRank and URLs.
var ablations = []struct {
	name   string
	remove func(w *searcher.Weights)
}{
	{"without anchors", func(w *searcher.Weights) { *w = w.Without(vocab.Anchor, vocab.AnchorOut) }},
	{"without own anchors", func(w *searcher.Weights) { *w = w.Without(vocab.Anchor) }},
	{"without others' anchors", func(w *searcher.Weights) { *w = w.Without(vocab.AnchorOut) }},
	{"without PageRank", func(w *searcher.Weights) { w.Rank = 0 }},
	{"without proximity", func(w *searcher.Weights) {
		w.NearIn, w.PhraseInField = [vocab.Fields]searcher.Milli{}, [vocab.Fields]searcher.Milli{}
	}},
	{"without whole fields", func(w *searcher.Weights) { w.PhraseInField = [vocab.Fields]searcher.Milli{} }},
	{"without exact names", func(w *searcher.Weights) { w.ExactMatch, w.VerbatimTitle = [vocab.Fields]searcher.Milli{}, 0 }},
	{"without letters", func(w *searcher.Weights) { w.VerbatimTitle = 0 }},
	{"without identifiers", func(w *searcher.Weights) { w.Identifier, w.Signed = 0, 0 }},
	{"without accents", func(w *searcher.Weights) { w.Accented = 0 }},
	{"without names of parts", func(w *searcher.Weights) { w.Type[vocab.Part], w.Text[vocab.Part] = 0, 0 }},
	{"without titles", func(w *searcher.Weights) {
		w.Type[vocab.Title], w.NearIn[vocab.TitleField], w.PhraseInField[vocab.TitleField], w.ExactMatch[vocab.TitleField], w.VerbatimTitle = 0, 0, 0, 0, 0
		w.Text[vocab.Title] = 0
	}},
	{"without words of URLs", func(w *searcher.Weights) {
		w.Type[vocab.URLWord], w.NearIn[vocab.URLField], w.PhraseInField[vocab.URLField] = 0, 0, 0
		w.Text[vocab.URLWord] = 0
	}},
	{"without types in text", func(w *searcher.Weights) {
		for t := vocab.Plain; t <= vocab.Menu; t++ {
			w.Type[t], w.Text[t] = w.Type[vocab.Plain], w.Text[vocab.Plain]
		}
	}},
	{"without length", func(w *searcher.Weights) { w.Length, w.TextLength = 0, 0 }},
	{"without genres", func(w *searcher.Weights) { w.Genre, w.GenreAsked = [vocab.Genres]searcher.Milli{}, 0 }},
	{"without depth of URLs", func(w *searcher.Weights) { w.Depth = [6]searcher.Milli{} }},
}
