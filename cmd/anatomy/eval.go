package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"anatomy/engine"
	"anatomy/eval"
	"anatomy/searcher"
)

// An evaluation is what the flags of eval say.
type evaluation struct {
	queries, qrels string
	binary         bool
	mode           string
	depth          int
	json           bool
	output, diff   string
	from           string // a run to measure instead of asking
	weights        string
	ablate         bool
	learn, test    string
	seed           uint64
}

func newEval(s *shared) *cobra.Command {
	e := &evaluation{}
	c := &cobra.Command{
		Use:   "eval [JUDGED.tsv...]",
		Short: "measure how good answers are, on judged queries",
		Long: `Eval asks judged queries and prints success@1, MRR@10, recall@10, nDCG@10 and mean average precision. The queries are
lines of query and one or more right URLs, parted by tabs, any of which is enough; a space parts URLs of one page. Or they
are in TREC's form: --queries with lines of id and text, --qrels with lines of query, 0, document and grade, where
documents are URLs or the ids of "index --text". A folder's URL and its index.html are one page, as are http and https.

Each query is asked for all of its words first, and where fewer than ten pages hold them, for any of them to fill up, as
search boxes of other engines do; --mode all or any asks that alone.

A run that was kept with --output is measured again with --run, without asking, and --diff compares with one: which queries
got better and worse, and how likely chance alone makes such a difference. --ablate measures without anchors, without
PageRank and so on. --learn looks for better weights, writes them to a file, and shows what they do for the queries of
--test, which it must not have learnt from.`,
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
				err = fmt.Errorf("there is no judged query")
			}
			if err != nil {
				return hinted(err, c.CommandPath()+" --help tells the formats")
			}
			switch {
			case e.learn != "":
				return e.teach(c, s.data, judged)
			case e.ablate:
				return e.withoutEach(c, s.data, judged)
			case e.from != "":
				run, err := readRun(e.from, "--run", judged)
				if err != nil {
					return err
				}
				return e.report(c, judged, run)
			}
			w, err := readWeights(e.weights)
			if err != nil {
				return err
			}
			return withThese(s.data, w, e.candidates(), func(found *searcher.Searcher) error {
				return e.run(c, found, judged)
			})
		},
	}
	f := c.Flags()
	f.StringVar(&e.queries, "queries", "", "TREC: `FILE` of query ids and texts")
	f.StringVar(&e.qrels, "qrels", "", "TREC: `FILE` of judgements")
	f.BoolVar(&e.binary, "binary", false, "TREC: any grade but 0 is as good as another")
	f.StringVar(&e.mode, "mode", string(eval.Fill), "ask for pages with `fill|all|any` of the words; fill is all, then any")
	f.IntVar(&e.depth, "depth", 10, "look at `N` results of each query")
	f.BoolVar(&e.json, "json", false, "print the measures as JSON")
	f.StringVar(&e.output, "output", "", "write the run to `FILE`: lines of query, rank, URL and score")
	f.StringVar(&e.diff, "diff", "", "show queries that got better or worse since the run in `FILE`")
	f.StringVar(&e.from, "run", "", "measure the run in `FILE` instead of asking")
	f.BoolVar(&e.ablate, "ablate", false, "measure also without each part of the ranking")
	f.StringVar(&e.learn, "learn", "", "look for better weights and write them to `FILE`")
	f.StringVar(&e.test, "test", "", "with --learn: judged queries in `FILE` to report on")
	f.Uint64Var(&e.seed, "seed", 1, "with --learn: `N` decides the order in which weights are tried")
	weightsFlag(c, &e.weights)
	return c
}

func (e *evaluation) check(c *cobra.Command, args []string) error {
	trec := e.queries != "" || e.qrels != ""
	switch {
	case trec && (len(args) > 0 || e.queries == "" || e.qrels == ""):
		return usagef("--queries and --qrels go together, without another file")
	case !trec && len(args) == 0:
		return usagef("%s takes files of judged queries, or --queries and --qrels", c.CommandPath())
	case e.depth < 10 || e.depth > searcher.MaxOffset:
		return usagef("--depth is a number from 10 to %d", searcher.MaxOffset)
	case !slices.Contains([]eval.Mode{eval.Fill, eval.All, eval.Any}, eval.Mode(e.mode)):
		return usagef("--mode is fill, all or any")
	}
	return errors.Join(
		exclusive(c, !trec, "--%s goes with --queries and --qrels", "binary"),
		exclusive(c, e.learn == "", "--%s goes with --learn", "test", "seed"),
		exclusive(c, e.learn != "", "--%s does not go with --learn", "run", "ablate", "output", "diff", "json", "mode", "depth"),
		exclusive(c, e.ablate, "--%s does not go with --ablate", "run", "output", "diff", "json"),
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

// candidates is how many pages of each query are scored exactly: the usual number, or as deep as the run goes.
func (e *evaluation) candidates() int {
	if e.depth <= 100 {
		return 0
	}
	return e.depth
}

func readJudged(names ...string) (all []eval.Judged, err error) {
	for _, name := range names {
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		judged, err := eval.ReadTSV(f, name)
		if err = errors.Join(err, f.Close()); err != nil {
			return nil, err
		}
		all = append(all, judged...)
	}
	return all, nil
}

// readRun reads the file that a flag names.
func readRun(name, flag string, judged []eval.Judged) ([][]eval.Entry, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, hinted(err, flag+" takes a file that --output wrote")
	}
	defer f.Close()
	run, err := eval.Read(f, name, judged)
	if err != nil {
		return nil, hinted(err, flag+" takes a file that --output wrote")
	}
	return run, nil
}

func (e *evaluation) run(c *cobra.Command, found *searcher.Searcher, judged []eval.Judged) error {
	run, err := e.ask(c, found, judged)
	if err != nil {
		return err
	}
	if e.output != "" {
		var b strings.Builder
		if err := eval.Write(&b, judged, run); err != nil {
			return err
		}
		if err := writeOutput(c, e.output, b.String()); err != nil {
			return err
		}
	}
	return e.report(c, judged, run)
}

func (e *evaluation) ask(c *cobra.Command, found *searcher.Searcher, judged []eval.Judged) ([][]eval.Entry, error) {
	r := eval.Runner{Searcher: found, Mode: eval.Mode(e.mode), Depth: e.depth, ID: engine.TextID}
	return r.Run(c.Context(), judged)
}

// report prints how good a run is, and how it differs from the one before.
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
		return printJSON(w, m)
	case e.json:
		return printJSON(w, struct {
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
		fmt.Fprintf(w, "MRR@10 %+.4f, p = %.4f (paired randomisation test)\n", compared.Gain, compared.P)
		printChanges(w, judged, then, now)
	}
	return nil
}

func printMeasures(w io.Writer, name string, m eval.Measures) {
	fmt.Fprintf(w, "%s%d queries: success@1 %.4f, MRR@10 %.4f, recall@10 %.4f, nDCG@10 %.4f, MAP %.4f, without results %.4f\n",
		name, m.Queries, m.Success1, m.MRR10, m.Recall10, m.NDCG10, m.MAP, m.Empty)
}

// printChanges prints the queries whose first right page moved, the largest change of 1/rank first.
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
		fmt.Fprintf(w, "%+.3f  %s to %s  %s\n", c.gain, place(c.from), place(c.to), oneLine(c.query))
	}
}

func reciprocal(rank int) float64 {
	if rank == 0 {
		return 0
	}
	return 1 / float64(rank)
}

func place(rank int) string {
	if rank == 0 {
		return "none"
	}
	return fmt.Sprint(rank)
}
