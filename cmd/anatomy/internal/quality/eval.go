// Package quality has the commands that measure results: eval for their relevance, bench for their time.
package quality

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"anatomy/cmd/anatomy/internal/cli"
	"anatomy/eval"
	"anatomy/internal/plural"
	"anatomy/searcher"
	"anatomy/upkeep"
)

// An evaluation has the flags of the eval command.
type evaluation struct {
	queries, qrels string
	binary         bool
	mode           string
	depth          int
	json           bool
	output, diff   string
	from           string // file of a run to measure instead of searching
	weights        string
	ablate         bool
	verbatim       bool
	learn, test    string
	seed           uint64
}

// NewEval returns the command eval.
func NewEval(s *cli.GlobalFlags) *cobra.Command {
	e := &evaluation{}
	c := &cobra.Command{
		Use:   "eval [JUDGED.tsv...]",
		Short: "measure the quality of results on judged queries",
		Long: `Eval runs judged queries and prints success@1, MRR@10, recall@10, nDCG@10 and mean average precision.

A line of JUDGED.tsv has a query and one or more relevant URLs, separated by tabs; URLs of one page are separated by
spaces. A hyphen before a URL marks the page as not relevant, which counts in learning. Or give files in TREC's format:
--queries with lines of id and text, --qrels with lines of query, 0, document and grade, where documents are URLs or the
ids of "index --text". http and https, and a folder and its index.html, count as the same page.

By default a query first requires all of its words, and is filled up to ten results with pages that have any of them.
--mode all and --mode any do only one of the two. A misspelt query is answered as on the result page: corrected if
nothing matches it. --verbatim does not correct.

--output keeps a run. --run measures such a file without searching, and --diff compares with it: which queries got
better or worse, the mean difference with its 95 % interval, and the probability that chance alone makes such a
difference. --ablate measures without anchors, without PageRank and so on, with intervals. --learn searches for better
weights, writes them to a file, and reports their effect on the queries of --test, which must not be among those it
learns from.`,
		Example: `  anatomy eval judged.tsv
  anatomy eval judged.tsv --output before.tsv
  anatomy eval judged.tsv --weights new.json --diff before.tsv
  anatomy eval judged.tsv --run after.tsv --diff before.tsv
  anatomy eval train.tsv --learn weights.json --test test.tsv
  anatomy eval --queries queries.tsv --qrels qrels.txt --depth 100 --json`,
		RunE: func(c *cobra.Command, args []string) error {
			if err := e.check(c, args); err != nil {
				return err
			}
			judged, err := e.read(args)
			if err == nil && len(judged) == 0 {
				err = errors.New("no judged query in the files")
			}
			if err != nil {
				return cli.WithHint(err, "for the formats: "+c.CommandPath()+" --help")
			}
			if e.learn != "" {
				return e.teach(c, s.Data, judged)
			}
			if judged = eval.WithRelevant(judged); len(judged) == 0 {
				return errors.New("no judged query has a relevant page")
			}
			switch {
			case e.ablate:
				return e.withoutEach(c, s.Data, judged)
			case e.from != "":
				run, err := readRun(e.from, "--run", judged)
				if err != nil {
					return err
				}
				return e.report(c, judged, run)
			}
			w, err := readWeights(s.Data, e.weights)
			if err != nil {
				return err
			}
			return withOptions(s.Data, searcher.Options{Weights: w, Candidates: e.candidates()}, func(found *searcher.Searcher) error {
				return e.run(c, found, judged)
			})
		},
	}
	f := c.Flags()
	f.StringVar(&e.queries, "queries", "", "TREC: `FILE` of query ids and texts")
	f.StringVar(&e.qrels, "qrels", "", "TREC: `FILE` of judgements")
	f.BoolVar(&e.binary, "binary", false, "TREC: treat all grades but 0 as 1")
	f.StringVar(&e.mode, "mode", string(eval.Fill), "match pages with `fill|all|any` of the words; fill is all, then any")
	f.BoolVar(&e.verbatim, "verbatim", false, "with --mode fill: do not correct the spelling")
	f.IntVar(&e.depth, "depth", 10, "measure the first `N` results of each query")
	f.BoolVar(&e.json, "json", false, "print the measures as JSON")
	f.StringVarP(&e.output, "output", "o", "", "write the run to `FILE`: lines of query, rank, URL and score")
	f.StringVar(&e.diff, "diff", "", "compare with the run in `FILE`")
	f.StringVar(&e.from, "run", "", "measure the run in `FILE` without searching")
	f.BoolVar(&e.ablate, "ablate", false, "also measure without each part of the ranking")
	f.StringVar(&e.learn, "learn", "", "search for better weights and write them to `FILE`")
	f.StringVar(&e.test, "test", "", "with --learn: report on the judged queries in `FILE`")
	f.Uint64Var(&e.seed, "seed", 1, "with --learn: seed `N` of the order in which weights are tried")
	WeightsFlag(c, &e.weights)
	return c
}

func (e *evaluation) check(c *cobra.Command, args []string) error {
	trec := e.queries != "" || e.qrels != ""
	switch {
	case trec && (len(args) > 0 || e.queries == "" || e.qrels == ""):
		return cli.UsageErrorf("--queries and --qrels need each other and no other file")
	case !trec && len(args) == 0:
		return cli.UsageErrorf("%s needs files of judged queries, or --queries and --qrels", c.CommandPath())
	case e.depth < 10 || e.depth > searcher.MaxOffset:
		return cli.UsageErrorf("--depth must be from 10 to %d", searcher.MaxOffset)
	case !slices.Contains([]eval.Mode{eval.Fill, eval.All, eval.Any}, eval.Mode(e.mode)):
		return cli.UsageErrorf("--mode must be fill, all or any")
	}
	return errors.Join(
		cli.RejectFlags(c, !trec, "--%s needs --queries and --qrels", "binary"),
		cli.RejectFlags(c, e.learn == "", "--%s needs --learn", "test", "seed"),
		cli.RejectFlags(c, e.learn != "", "--%s and --learn exclude each other", "run", "ablate", "output", "diff", "json", "mode", "depth"),
		cli.RejectFlags(c, e.ablate, "--%s and --ablate exclude each other", "run", "output", "diff", "json"),
	)
}

func (e *evaluation) read(args []string) ([]eval.Judged, error) {
	if e.queries == "" {
		return readJudged(args...)
	}
	queries, err := os.Open(e.queries)
	if err != nil {
		return nil, err
	}
	defer queries.Close()
	qrels, err := os.Open(e.qrels)
	if err != nil {
		return nil, err
	}
	defer qrels.Close()
	return eval.ReadTREC(queries, e.queries, qrels, e.qrels, e.binary)
}

// candidates returns how many pages the second phase scores: 0 for the default, or the run's depth.
func (e *evaluation) candidates() int {
	if e.depth <= 100 {
		return 0
	}
	return e.depth
}

func (e *evaluation) run(c *cobra.Command, found *searcher.Searcher, judged []eval.Judged) error {
	run, err := e.ask(c.Context(), found, judged)
	if err != nil {
		return err
	}
	if e.output != "" {
		var b strings.Builder
		if err := eval.Write(&b, judged, run); err != nil {
			return err
		}
		if err := cli.WriteText(c, e.output, b.String()); err != nil {
			return err
		}
	}
	return e.report(c, judged, run)
}

func (e *evaluation) ask(ctx context.Context, found *searcher.Searcher, judged []eval.Judged) ([][]eval.Entry, error) {
	r := eval.Runner{
		Searcher: found, Mode: eval.Mode(e.mode), Depth: e.depth, Verbatim: e.verbatim, ID: upkeep.TextID,
	}
	if r.Mode == eval.Fill && !e.verbatim {
		if err := found.Learn(ctx); err != nil {
			return nil, err
		}
	}
	return r.Run(ctx, judged)
}

// report prints the measures of a run, and its differences from the run of --diff.
func (e *evaluation) report(c *cobra.Command, judged []eval.Judged, run [][]eval.Entry) error {
	var before [][]eval.Entry
	if e.diff != "" {
		var err error
		if before, err = readRun(e.diff, "--diff", judged); err != nil {
			return err
		}
	}
	now := eval.Pages(run)
	m := eval.Measure(judged, now)
	w := c.OutOrStdout()
	switch then := eval.Pages(before); {
	case e.json && before == nil:
		return cli.PrintJSON(w, m)
	case e.json:
		return cli.PrintJSON(w, struct {
			eval.Measures
			Before     eval.Measures   `json:"before"`
			Comparison eval.Comparison `json:"comparison"`
		}{m, eval.Measure(judged, then), eval.Compare(judged, then, now, e.seed)})
	case before == nil:
		printMeasures(w, "", m)
	default:
		printMeasures(w, "", m)
		printMeasures(w, "before: ", eval.Measure(judged, then))
		compared := eval.Compare(judged, then, now, e.seed)
		fmt.Fprintf(w, "MRR@10 %s, p = %.4f (paired randomisation test); nDCG@10 %s\n",
			gainText(compared.Gain), compared.P, gainText(compared.NDCG10))
		printChanges(w, judged, then, now)
	}
	return nil
}

// gainText shows a difference and its 95 % interval.
func gainText(g eval.Gain) string {
	return fmt.Sprintf("%+.4f (%+.4f to %+.4f)", g.Mean, g.Low, g.High)
}

func printMeasures(w io.Writer, name string, m eval.Measures) {
	fmt.Fprintf(w, "%s%s: success@1 %.4f, MRR@10 %.4f, recall@10 %.4f, nDCG@10 %.4f, MAP %.4f, without results %.4f\n",
		name, plural.Count(m.Queries, "query"), m.Success1, m.MRR10, m.Recall10, m.NDCG10, m.MAP, m.Empty)
}

// printChanges prints the queries whose first relevant page changed its rank, the largest change of
// 1/rank first.
func printChanges(w io.Writer, judged []eval.Judged, before, now [][]string) {
	type change struct {
		query    string
		from, to int
		gain     float64
	}
	var all []change
	for i := range judged {
		from, to := judged[i].Rank(before[i]), judged[i].Rank(now[i])
		if from != to {
			all = append(all, change{judged[i].Query, from, to, reciprocal(to) - reciprocal(from)})
		}
	}
	slices.SortStableFunc(all, func(a, b change) int { return cmp.Compare(b.gain*b.gain, a.gain*a.gain) })
	better := 0
	for _, c := range all {
		if c.gain > 0 {
			better++
		}
	}
	fmt.Fprintf(w, "%d queries better, %d worse\n", better, len(all)-better)
	for _, c := range all {
		fmt.Fprintf(w, "%+.3f  %s to %s  %s\n", c.gain, rankText(c.from), rankText(c.to), cli.OneLine(c.query))
	}
}

func reciprocal(rank int) float64 {
	if rank == 0 {
		return 0
	}
	return 1 / float64(rank)
}

func rankText(rank int) string {
	if rank == 0 {
		return "none"
	}
	return fmt.Sprint(rank)
}
