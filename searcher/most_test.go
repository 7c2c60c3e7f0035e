package searcher_test

import (
	"cmp"
	"math/bits"
	"slices"
	"testing"
	"time"

	"anatomy/searcher"
	"anatomy/searcher/oracle"
	"anatomy/searcher/query"
)

// TestMost: where fewer than ten pages hold all words of a query, others are shown that hold some, at least half by
// idf, in the order of their exact scores, each with what it misses; before those with all words where half their score,
// in proportion to what they hold, is more; whatever size the pages of results have.
func TestMost(t *testing.T) {
	c := collect(5, 2)
	c.Candidates, c.Weights.Widen = 1000, 0
	s := newFolder(t).hold(c)
	all := []string{"a", "e", "pages", "f", "paging", "absent"}
	followed, passed := 0, 0
	for set := range 1 << len(all) {
		if bits.OnesCount(uint(set)) < 2 || bits.OnesCount(uint(set)) > 4 {
			continue
		}
		text := ""
		for i, word := range all {
			if set&(1<<i) != 0 {
				text += word + " "
			}
		}
		for _, besides := range []string{"site:y.com", "site:x.org:8080", "-(b)"} {
			f, p := sameMost(t, c, s, text+besides, 1+set%30)
			followed, passed = followed+f, passed+p
		}
	}
	if followed == 0 || passed == 0 {
		t.Errorf("%d results missed words, and %d with all came after such", followed, passed)
	}
}

// sameMost holds the results of a query, so many on each page, against those that are to be expected. It counts those
// that miss words, and those with all that come after such.
func sameMost(t *testing.T, c *oracle.Collection, s *searcher.Searcher, text string, limit int) (followed, passed int) {
	q := query.Parse(text)
	root := q.Root
	want := c.Search(q)
	all := len(want)
	if all < searcher.DefaultLimit {
		want = mergeMost(want, mostOf(c, root))
	}
	var got []searcher.Result
	for more := true; more; {
		resp, err := s.Search(t.Context(), searcher.Request{Query: text, Offset: len(got), Limit: limit, Within: time.Hour, Verbatim: true, Ungrouped: true})
		must(t, err)
		if got = append(got, resp.Results...); resp.Total != all || resp.Most != len(want)-all {
			t.Fatalf("%s: %d and %d, want %d and %d", text, resp.Total, resp.Most, all, len(want)-all)
		}
		more = resp.Next
	}
	if len(got) != len(want) {
		t.Fatalf("%s: %d results, want %d", text, len(got), len(want))
	}
	for i, r := range got {
		matches := oracle.Match(root, want[i].Page)
		if r.Doc != want[i].Doc || r.Score != want[i].Score || len(r.Missing) > 0 == matches {
			t.Fatalf("%s: result %d is %d with %d without %q, want %d with %d", text, i, r.Doc, r.Score, r.Missing, want[i].Doc, want[i].Score)
		}
		if matches && i >= all {
			passed++
		}
	}
	return len(want) - all, passed
}

// A lacking page holds some of the words, and is worth so much against those with all.
type lacking struct {
	oracle.Found
	worth searcher.Score
}

// mergeMost takes the one that is worth more of the next page of each.
func mergeMost(all []oracle.Found, most []lacking) (both []oracle.Found) {
	for len(all)+len(most) > 0 {
		if len(all) == 0 || len(most) > 0 && most[0].worth > all[0].Score {
			both, most = append(both, most[0].Found), most[1:]
		} else {
			both, all = append(both, all[0]), all[1:]
		}
	}
	return both
}

// mostOf are the pages with some and not all of the words.
func mostOf(c *oracle.Collection, root *query.Node) (most []lacking) {
	words, besides := root.Kids[:len(root.Kids)-1], root.Kids[len(root.Kids)-1]
	for _, f := range c.Search(query.Query{Root: &query.Node{Op: query.And, Kids: []*query.Node{{Op: query.Or, Kids: words}, besides}}}) {
		var held, all searcher.Score
		misses := false
		for _, kid := range words {
			idf := c.IDF(kid.Words[0])
			if all += idf; oracle.Match(kid, f.Page) {
				held += idf
			} else {
				misses = true
			}
		}
		if misses && 2*held >= all {
			most = append(most, lacking{f, f.Score / 2 * (held * 1000 / all) / 1000})
		}
	}
	slices.SortFunc(most, func(a, b lacking) int { return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Doc, b.Doc)) })
	return most
}
