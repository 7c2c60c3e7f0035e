package engine_test

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"anatomy/demo"
	"anatomy/internal/test/testweb"
	"anatomy/ranking"
	"anatomy/searcher"
)

// TestQuality asks the demo web what people might, and compares with testdata/quality.golden how
// well it was answered: the rank of the right page, and the best one where that is another. A
// change of ranking shows there, query by query; ANATOMY_UPDATE=1 rewrites it.
func TestQuality(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	small, err := demo.Start(t.Context(), demo.Options{})
	testweb.Must(t, err)
	defer small.Close()
	o := testweb.CrawlOptions(dir, small.HTTPPort(), small.Resolver(), small.Start())
	o.URLs.Exclude = []string{"source.test/*"} // these documents, which change with every feature
	testweb.Crawl(t, o)
	_, err = ranking.Compute(t.Context(), dir, ranking.Options{})
	testweb.Must(t, err)
	s, err := searcher.Open(dir, searcher.Options{})
	testweb.Must(t, err)
	defer s.Close()

	judged, err := os.Open("testdata/quality.tsv")
	testweb.Must(t, err)
	defer judged.Close()
	var out strings.Builder
	n, first, reciprocal := 0, 0, 0.0
	for lines := bufio.NewScanner(judged); lines.Scan(); n++ {
		fields := strings.Split(lines.Text(), "\t")
		rank, best := 0, ""
		resp, err := s.Search(t.Context(), searcher.Request{Query: fields[0], Verbatim: true, Within: time.Minute})
		testweb.Must(t, err)
		for i, r := range resp.Results {
			for _, right := range fields[1:] {
				if r.URL == right && rank == 0 {
					rank = i + 1
				}
			}
		}
		if rank > 0 {
			reciprocal += 1 / float64(rank)
		}
		if rank == 1 {
			first++
		} else if len(resp.Results) > 0 {
			best = "  " + resp.Results[0].URL
		}
		fmt.Fprintf(&out, "%2d  %s%s\n", rank, fields[0], best)
	}
	if n == 0 {
		t.Fatal("no judged query")
	}
	fmt.Fprintf(&out, "\n%d queries: success@1 %.3f, MRR@10 %.3f\n", n, float64(first)/float64(n), reciprocal/float64(n))

	const file = "testdata/quality.golden"
	if os.Getenv("ANATOMY_UPDATE") != "" {
		testweb.Must(t, os.WriteFile(file, []byte(out.String()), 0o644))
	}
	want, err := os.ReadFile(file)
	testweb.Must(t, err)
	if got := out.String(); got != string(want) {
		t.Errorf("the answers changed; ANATOMY_UPDATE=1 takes them over: %s", firstDifference(got, string(want)))
	}
}
