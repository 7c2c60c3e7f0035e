package searcher_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"anatomy/searcher"
	"anatomy/vocab"
)

// TestAnchorsOff: without the texts of links the same pages match, and no part of their scores is from
// texts of links, or from those of the site's own. Scores are still the sums of their parts.
func TestAnchorsOff(t *testing.T) {
	c := collect(3, 2)
	c.Candidates = 400
	s := newFolder(t).hold(c)
	var all []vocab.DocID // results with all texts
	own, others := vocab.Anchor.String(), vocab.AnchorOut.String()
	for _, anchors := range []searcher.Anchors{searcher.AllAnchors, searcher.OtherAnchors, searcher.NoAnchors} {
		seen := map[string]int{} // parts by name, and "links to the page" by what is said of them
		var docs []vocab.DocID
		for _, text := range []string{lexicon[0] + " " + lexicon[1], lexicon[2], `"` + lexicon[0] + " " + lexicon[2] + `"`} {
			resp, err := s.Search(context.Background(), searcher.Request{
				Query: text, Anchors: anchors, Limit: 100, Explain: true, Ungrouped: true, Strict: true, Within: time.Hour,
			})
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range resp.Results {
				docs = append(docs, r.Doc)
				checkSum(t, text, r.Explanation, r.Score)
				for _, part := range r.Explanation.Parts {
					seen[part.Name]++
					if strings.Contains(part.Detail, "links to the page") {
						seen["together"]++
					}
				}
			}
		}
		if slices.Sort(docs); anchors == searcher.AllAnchors {
			all = docs
		}
		if len(docs) == 0 || !slices.Equal(docs, all) {
			t.Errorf("anchors %q: %d results, want %d", anchors, len(docs), len(all))
		}
		if wanted := anchors == searcher.AllAnchors; seen[own] > 0 != wanted {
			t.Errorf("anchors %q: %d parts for texts of links of the site", anchors, seen[own])
		}
		if wanted := anchors != searcher.NoAnchors; seen[others] > 0 != wanted || seen["together"] > 0 != wanted {
			t.Errorf("anchors %q: %d parts for texts of links from other sites, %d for words together",
				anchors, seen[others], seen["together"])
		}
	}
	if _, err := searcher.ParseAnchors("some"); err == nil {
		t.Error("some is read as texts of links that count")
	}
}
