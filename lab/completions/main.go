// Command completions types the beginning of queries and looks whether they are completed.
//
//	go run ./lab/completions --data FOLDER FILE…
//
// Each file has a query per line, and after a tab what is left alone, as the judged queries of
// anatomy eval. It types --share of the characters of each query of at least six, at least four of
// them, and prints how often the query is among the first --limit completions, the mean of 1/rank, and
// how often there is any completion. At most --queries of each file, spread over it, are typed.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"

	"anatomy/analysis"
	"anatomy/searcher"
)

const (
	shortest = 6 // characters of a query
	typed    = 4 // of these at least
)

func main() {
	data := flag.String("data", "anatomy-data", "data folder")
	share := flag.Float64("share", 0.6, "of the characters of a query that are typed")
	limit := flag.Int("limit", 8, "completions that are looked at")
	queries := flag.Int("queries", 400, "of each file; 0 for all")
	flag.Parse()
	if flag.NArg() == 0 || *share <= 0 || *share > 1 {
		fmt.Fprintln(os.Stderr, "usage: completions --data FOLDER FILE…")
		os.Exit(2)
	}
	if err := run(*data, flag.Args(), *share, *limit, *queries); err != nil {
		fmt.Fprintln(os.Stderr, "completions:", err)
		os.Exit(1)
	}
}

func run(data string, files []string, share float64, limit, most int) error {
	s, err := searcher.Open(data, searcher.Options{})
	if err != nil {
		return err
	}
	defer s.Close()
	if err := s.Learn(context.Background()); err != nil {
		return err
	}
	fmt.Printf("%-24s %7s %7s %7s %7s\n", "", "queries", "found", "MRR", "any")
	for _, name := range files {
		all, err := readQueries(name, most)
		if err != nil {
			return err
		}
		found, ranks, some := 0, 0.0, 0
		for _, query := range all {
			completions := s.Complete(beginning(query, share), limit)
			some += min(len(completions), 1)
			if i := slices.IndexFunc(completions, func(c string) bool { return fold(c) == fold(query) }); i >= 0 {
				found++
				ranks += 1 / float64(i+1)
			}
		}
		n := float64(max(1, len(all)))
		fmt.Printf("%-24s %7d %7.3f %7.3f %7.3f\n", name[strings.LastIndexByte(name, '/')+1:], len(all),
			float64(found)/n, ranks/n, float64(some)/n)
	}
	return nil
}

// readQueries returns at most so many different queries of a file that are long enough.
func readQueries(name string, most int) (queries []string, err error) {
	b, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(b)) {
		query, _, _ := strings.Cut(strings.TrimSpace(line), "\t")
		if len([]rune(query)) >= shortest {
			queries = append(queries, query)
		}
	}
	slices.Sort(queries)
	queries = slices.Compact(queries)
	if most <= 0 || most >= len(queries) {
		return queries, nil
	}
	var spread []string
	for i := range most {
		spread = append(spread, queries[i*len(queries)/most])
	}
	return spread, nil
}

func beginning(query string, share float64) string {
	runes := []rune(query)
	return string(runes[:max(typed, int(share*float64(len(runes))))])
}

func fold(text string) string { return strings.Join(analysis.PhraseTerms(text), " ") }
