package export

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"anatomy/cmd/anatomy/internal/cli"
	"anatomy/parallel"
)

func newParallel(s *cli.GlobalFlags) *cobra.Command {
	var name string
	var ndjson bool
	c := &cobra.Command{
		Use:   "parallel",
		Short: "write the pairs of pages that are translations of each other",
		Long: `Parallel writes a line for each two pages that are translations of each other: both URLs, both languages, the
confidence from 0 to 1, and the evidence: hreflang, url, links, structure, content. Pages that nobody
translated, copies of another version, are left out. Lines are fields between tabs, or JSON objects if the
file's name ends in .ndjson or .jsonl, or with --ndjson.

Pairs are found when a crawl ends and by "anatomy index".`,
		Example: "  anatomy export parallel -o pairs.tsv\n  anatomy export parallel --ndjson >pairs.ndjson",
		Args:    cli.ExactArgs(0, "no arguments"),
		RunE: func(c *cobra.Command, _ []string) error {
			plain := strings.TrimSuffix(name, ".gz")
			ndjson = ndjson || strings.HasSuffix(plain, ".ndjson") || strings.HasSuffix(plain, ".jsonl")
			pairs := 0
			err := cli.WriteOutput(c, name, cli.GzipFor(name, func(w io.Writer) error {
				out := bufio.NewWriter(w)
				if err := parallel.EachPair(c.Context(), s.Data, func(p parallel.Pair) error {
					pairs++
					return writePair(out, p, ndjson)
				}); err != nil {
					return err
				}
				return out.Flush()
			}))
			if err == nil {
				fmt.Fprintf(c.ErrOrStderr(), "%s exported\n", cli.Count(pairs, "pair"))
			}
			return err
		},
	}
	c.Flags().StringVarP(&name, "output", "o", "-", "write to `FILE`, compressed if it ends in .gz; - is standard output")
	c.Flags().BoolVar(&ndjson, "ndjson", false, "write JSON objects, one a line")
	return c
}

func writePair(w io.Writer, p parallel.Pair, ndjson bool) error {
	if ndjson {
		return json.NewEncoder(w).Encode(p)
	}
	_, err := fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%.2f\t%s\n", p.A, p.B, p.LangA, p.LangB, p.Confidence, p.Evidence)
	return err
}
