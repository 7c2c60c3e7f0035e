package main

import (
	"cmp"
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
	weights        string
}

func newEval(s *shared) *cobra.Command {
	e := &evaluation{}
	c := &cobra.Command{
		Use:   "eval [JUDGED.tsv]",
		Short: "measure how good answers are, on judged queries",
		Long: `Eval asks judged queries and prints success@1, MRR@10, recall@10, nDCG@10 and mean average precision. The queries are
lines of query and one or more right URLs, parted by tabs, any of which is enough; a space parts URLs of one page. Or they
are in TREC's form: --queries with lines of id and text, --qrels with lines of query, 0, document and grade, where
documents are URLs or the ids of "index --text". A folder's URL and its index.html are one page, as are http and https.

Each query is asked for all of its words first, and where fewer than ten pages hold them, for any of them to fill up, as
search boxes of other engines do; --mode all or any asks that alone.`,
		Example: `  anatomy eval judged.tsv
  anatomy eval judged.tsv --output before.tsv
  anatomy eval judged.tsv --weights new.json --diff before.tsv
  anatomy eval --queries queries.tsv --qrels qrels.txt --depth 100 --json`,
		RunE: func(c *cobra.Command, args []string) error {
			if err := e.check(c, args); err != nil {
				return err
			}
			judged, err := e.read(args)
			if err != nil {
				return hinted(err, c.CommandPath()+" --help tells the formats")
			}
			if len(judged) == 0 {
				return hinted(fmt.Errorf("there is no judged query"), c.CommandPath()+" --help tells the formats")
			}
			return withWeights(s.data, e.weights, func(found *searcher.Searcher) error {
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
	weightsFlag(c, &e.weights)
	return c
}

func (e *evaluation) check(c *cobra.Command, args []string) error {
	trec := e.queries != "" || e.qrels != ""
	switch {
	case trec && (len(args) > 0 || e.queries == "" || e.qrels == ""):
		return usagef("--queries and --qrels go together, without another file")
	case !trec && len(args) != 1:
		return usagef("%s takes a file of judged queries, or --queries and --qrels", c.CommandPath())
	case e.depth < 10 || e.depth > searcher.MaxOffset:
		return usagef("--depth is a number from 10 to %d", searcher.MaxOffset)
	case !slices.Contains([]eval.Mode{eval.Fill, eval.All, eval.Any}, eval.Mode(e.mode)):
		return usagef("--mode is fill, all or any")
	}
	return exclusive(c, !trec, "--%s goes with --queries and --qrels", "binary")
}

func (e *evaluation) read(args []string) ([]eval.Judged, error) {
	if e.queries == "" {
		f, err := os.Open(args[0])
		if err != nil {
			return nil, err
		}
		defer f.Close()
		return eval.ReadTSV(f, args[0])
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

func (e *evaluation) run(c *cobra.Command, found *searcher.Searcher, judged []eval.Judged) error {
	var before [][]eval.Entry
	if e.diff != "" {
		f, err := os.Open(e.diff)
		if err != nil {
			return hinted(err, "--diff takes a file that --output wrote")
		}
		defer f.Close()
		if before, err = eval.Read(f, e.diff, judged); err != nil {
			return hinted(err, "--diff takes a file that --output wrote")
		}
	}
	r := eval.Runner{Searcher: found, Mode: eval.Mode(e.mode), Depth: e.depth, ID: engine.TextID}
	run, err := r.Run(c.Context(), judged)
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
	now := eval.Pages(run)
	m := eval.Measure(judged, now)
	if e.json {
		if before == nil {
			return printJSON(c.OutOrStdout(), m)
		}
		return printJSON(c.OutOrStdout(), struct {
			eval.Measures
			Before eval.Measures `json:"before"`
		}{m, eval.Measure(judged, eval.Pages(before))})
	}
	w := c.OutOrStdout()
	printMeasures(w, "", m)
	if before != nil {
		then := eval.Pages(before)
		printMeasures(w, "before: ", eval.Measure(judged, then))
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
