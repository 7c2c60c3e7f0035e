package searcher_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"anatomy/internal/test/oracle"
	"anatomy/searcher"
	"anatomy/searcher/query"
	"anatomy/searcher/scoring"
)

// TestProse compares the results of queries that are prose with those of the oracle: pages with any
// of the words match, function words do not match and seldom score, and the score is that of the weights
// for prose. Explanations add up to it.
func TestProse(t *testing.T) {
	c := collect(7, 3)
	c.Weights, c.Candidates = scoring.Default, 1000
	s := newFolder(t).hold(c)
	word := rapid.SampledFrom([]string{"a", "e", "pages", "f", "paging", "absent", "the", "how", "b-c", "page", "(f OR d)"})
	missed, matched := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		text := strings.Join(rapid.SliceOfN(word, 4, 9).Draw(rt, "words"), " ")
		text += rapid.SampledFrom([]string{"", " site:y.com", " -(b)", " +b"}).Draw(rt, "filter")
		q := query.Parse(text)
		if q.Root.Prose() == nil {
			rt.Skip("no prose")
		}
		want := c.Prose(q)
		got, err := s.Search(context.Background(), searcher.Request{
			Query: text, Limit: 100, Within: time.Hour, Verbatim: true, Ungrouped: true, Explain: true,
		})
		must(t, err)
		if got.Total != len(want) || len(got.Results) != min(len(want), 100) {
			rt.Fatalf("%s: %d results of %d, want %d", text, len(got.Results), got.Total, len(want))
		}
		for i, r := range got.Results {
			if r.Doc != want[i].Doc || r.Score != want[i].Score {
				rt.Fatalf("%s: result %d is document %d with %d, want %d with %d",
					text, i, r.Doc, r.Score, want[i].Doc, want[i].Score)
			}
			sum := searcher.Score(0)
			for _, part := range r.Explanation.Parts {
				sum += part.Points
			}
			if sum != r.Score {
				rt.Fatalf("%s: the parts of %d add up to %d, the score is %d", text, r.Doc, sum, r.Score)
			}
			if matched++; len(r.Missing) > 0 {
				missed++
			}
			checkMissing(rt, q.Root.Prose(), want[i], r.Missing)
		}
	})
	if missed == 0 || missed == matched {
		t.Errorf("%d of %d results lack words", missed, matched)
	}
}

// checkMissing compares the words that a result lacks with the words of its page and their forms.
func checkMissing(t failer, root *query.Node, found oracle.Found, missing []string) {
	for _, n := range root.Content() {
		held := oracle.Match(n, found.Page)
		lacks := slices.Contains(missing, n.String())
		if held && lacks {
			t.Fatalf("document %d has %s", found.Doc, n)
		}
	}
}

// TestProseStrict checks that a strict request requires all words of prose.
func TestProseStrict(t *testing.T) {
	c := collect(7, 3)
	c.Weights = scoring.Default
	s := newFolder(t).hold(c)
	const text = "a e pages f how"
	for _, strict := range []bool{false, true} {
		want := len(c.Search(query.Parse(text)))
		resp, err := s.Search(t.Context(), searcher.Request{Query: text, Strict: strict, Verbatim: true})
		must(t, err)
		if strict == (resp.Total != want) {
			t.Errorf("strict %v: %d results, %d pages have all words", strict, resp.Total, want)
		}
	}
}

// TestProseExcludes asks for a function word that scores nothing and excludes it. No page with it is
// found.
func TestProseExcludes(t *testing.T) {
	c, info := manySites(0, 700, 3)
	s := splitBySite(c, 1).open(t, info)
	var totals []int
	for _, text := range []string{"-how engine egine the", "-how engine egine how"} {
		resp, err := s.Search(t.Context(), searcher.Request{Query: text, Verbatim: true})
		must(t, err)
		totals = append(totals, resp.Total)
	}
	if totals[0] == 0 || totals[1] != totals[0] {
		t.Errorf("%d pages without how, and %d where it is asked for", totals[0], totals[1])
	}
}
