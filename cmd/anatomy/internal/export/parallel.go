package export

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"anatomy/cmd/anatomy/internal/cli"
	"anatomy/internal/plural"
	"anatomy/parallel"
)

// parallelFlags are the flags of export parallel.
type parallelFlags struct {
	output, format string
	ndjson         bool
	version        string // of the program
	parallel.SegmentOptions
}

func newParallel(s *cli.GlobalFlags, version string) *cobra.Command {
	f := parallelFlags{version: version}
	c := &cobra.Command{
		Use:   "parallel",
		Short: "write translations: pairs of pages, or aligned segments of text",
		Long: `Parallel writes a line for each two pages that are translations of each other: both URLs, both languages, the
confidence from 0 to 1, and the evidence: hreflang, url, links, structure, content. Pages that nobody
translated, copies of another version, are left out. Lines are fields between tabs, or JSON objects if the
file's name ends in .ndjson or .jsonl, or with --ndjson.

With --format segments it writes the texts of such pages that correspond, block by block: a line for each with both
URLs, both languages and both texts, or a JSON object. With --format tmx, or a name that ends in .tmx, it writes them
as a translation memory (TMX 1.4b). Blocks are aligned by their tags, numbers and lengths (Gale and Church 1993);
--sentences aligns the sentences of each block, too. Pages whose publisher allows no copy or bounds the text that may
be shown have no segments.

Pairs are found when a crawl ends and by "anatomy index".`,
		Example: "  anatomy export parallel -o pairs.tsv\n  anatomy export parallel --ndjson >pairs.ndjson\n" +
			"  anatomy export parallel --languages en,de --sentences -o memory.tmx",
		Args: cli.ExactArgs(0, "no arguments"),
		RunE: func(c *cobra.Command, _ []string) error { return exportParallel(c, s.Data, f) },
	}
	c.Flags().StringVarP(&f.output, "output", "o", "-", "write to `FILE`, compressed if it ends in .gz; - is standard output")
	c.Flags().BoolVar(&f.ndjson, "ndjson", false, "write JSON objects, one a line")
	c.Flags().StringVar(&f.format, "format", "", "write `pairs|segments|tmx` (default pairs)")
	c.Flags().BoolVar(&f.Sentences, "sentences", false, "align sentences instead of blocks")
	c.Flags().StringSliceVar(&f.Languages, "languages", nil, "only segments of two of these `LANGUAGES`: en,de")
	return c
}

func exportParallel(c *cobra.Command, data string, f parallelFlags) error {
	plain := strings.TrimSuffix(f.output, ".gz")
	f.ndjson = f.ndjson || strings.HasSuffix(plain, ".ndjson") || strings.HasSuffix(plain, ".jsonl")
	if f.format == "" && strings.HasSuffix(plain, ".tmx") {
		f.format = "tmx"
	}
	write, unit := writePairs, "pair"
	switch f.format {
	case "", "pairs":
		if f.Sentences || len(f.Languages) > 0 {
			return cli.UsageErrorf("--sentences and --languages are for --format segments and tmx")
		}
	case "segments":
		write, unit = writeSegments, "segment"
	case "tmx":
		if f.ndjson {
			return cli.UsageErrorf("--format tmx and --ndjson exclude each other")
		}
		write, unit = writeTMX, "segment"
	default:
		return cli.UsageErrorf("--format is pairs, segments or tmx, not %q", f.format)
	}
	written := 0
	err := cli.WriteOutput(c, f.output, cli.GzipFor(f.output, func(w io.Writer) (err error) {
		out := bufio.NewWriter(w)
		if written, err = write(c, out, data, &f); err != nil {
			return err
		}
		return out.Flush()
	}))
	if err == nil {
		fmt.Fprintf(c.ErrOrStderr(), "%s exported\n", plural.Count(written, unit))
	}
	return err
}

func writePairs(c *cobra.Command, w io.Writer, data string, f *parallelFlags) (pairs int, err error) {
	err = parallel.EachPair(c.Context(), data, func(p parallel.Pair) error {
		pairs++
		if f.ndjson {
			return json.NewEncoder(w).Encode(p)
		}
		_, err := fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%.2f\t%s\n", p.A, p.B, p.LangA, p.LangB, p.Confidence, p.Evidence)
		return err
	})
	return pairs, err
}

// An alignedText is a segment as it is written in JSON.
type alignedText struct {
	A     string `json:"a"` // URL
	B     string `json:"b"`
	LangA string `json:"lang_a"`
	LangB string `json:"lang_b"`
	TextA string `json:"text_a"`
	TextB string `json:"text_b"`
}

func writeSegments(c *cobra.Command, w io.Writer, data string, f *parallelFlags) (written int, err error) {
	err = parallel.EachSegments(c.Context(), data, f.SegmentOptions, func(p parallel.Pair, all []parallel.Segment) error {
		written += len(all)
		for _, s := range all {
			var err error
			if f.ndjson {
				err = json.NewEncoder(w).Encode(alignedText{p.A, p.B, p.LangA, p.LangB, s.A, s.B})
			} else {
				_, err = fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", p.A, p.B, p.LangA, p.LangB, s.A, s.B)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	return written, err
}

func writeTMX(c *cobra.Command, w io.Writer, data string, f *parallelFlags) (written int, err error) {
	memory := parallel.NewTMX(w, f.version, f.Sentences)
	if err := parallel.EachSegments(c.Context(), data, f.SegmentOptions, func(p parallel.Pair, all []parallel.Segment) error {
		written += len(all)
		return memory.Write(p, all)
	}); err != nil {
		return written, err
	}
	return written, memory.Close()
}
