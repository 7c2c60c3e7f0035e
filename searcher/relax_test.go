package searcher_test

import (
	"cmp"
	"math/bits"
	"slices"
	"testing"
	"time"

	"anatomy/internal/test/oracle"
	"anatomy/searcher"
	"anatomy/searcher/query"
	"anatomy/vocab"
)

// TestMost checks that a query with fewer than ten matches is relaxed: pages with at least half of
// its idf are results, too, by exact score, each with the terms that it lacks. They come before
// matches that score less than half their score, in proportion to what they hold, for pages of
// results of any size.
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

// sameMost compares the results of a query, so many on each page, with the expected ones. It counts
// those that lack terms, and matches that come after such.
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

// A lacking page holds some of the terms; worth is what it keeps of its score.
type lacking struct {
	oracle.Found
	worth searcher.Score
}

// mergeMost merges matches and lacking pages by what they are worth.
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

// mostOf returns the pages that hold some but not all of the terms.
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
	slices.SortFunc(most, func(a, b lacking) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(keyOf(a.Page), keyOf(b.Page)))
	})
	return most
}

// TestJointWords checks that a page with the words of a name with signs apart is found if few have the
// name; not for words with hyphens and apostrophes, versions and dates.
func TestJointWords(t *testing.T) {
	f := newFolder(t)
	f.add(pagesOf(textPage(1, "http://a.org/map", "struct", "hashmap", "fn", "entry"),
		textPage(2, "http://a.org/user", "hashmap", "entry"), textPage(3, "http://a.org/other", "list")), bare)
	f.publish()
	s := f.open(searcher.Options{})
	for text, want := range map[string]struct{ total, most int }{
		"HashMap::entry": {1, 1}, "hashmap.entry": {1, 1}, "hashmap-entry": {1, 0},
		`"HashMap::entry"`: {1, 0}, "hashmap.3": {0, 0}, "-list HashMap::entry": {1, 1},
		"HashMap<Entry>": {1, 1}, "HashMap[entry]": {1, 1}, "hashmap,entry": {1, 1}, "struct/entry": {0, 1},
		"entry=hashmap-struct": {0, 1}, "hashmap’entry": {1, 0},
		"hashmap/2024-05": {0, 0}, "2024:05": {0, 0}, `"HashMap<Entry>"`: {1, 0}, "intext:HashMap<Entry>": {1, 0},
	} {
		resp := ask(t, s, searcher.Request{Query: text})
		if resp.Total != want.total || resp.Most != want.most || len(resp.Results) != want.total+want.most {
			t.Errorf("%s: %d and %d of %d results, want %+v", text, resp.Total, resp.Most, len(resp.Results), want)
		}
	}
}

// TestListed checks that paging through an answer lists as many results as it says, each page of
// results says the same, and none is shown twice: with near-duplicates collapsed, terms dropped, and
// both, for pages of any size.
func TestListed(t *testing.T) {
	c := collect(5, 2)
	for _, segment := range c.Segments { // three texts, so that a few matches have near-duplicates
		for _, d := range segment.Documents {
			d.Sketch = vocab.MakeSketch(1, uint64(d.Doc%3)*0x9e3779b97f4a7c15)
		}
	}
	c.Candidates, c.Weights.Widen = 1000, 0
	s := newFolder(t).hold(c)
	folded, most, both := 0, 0, 0
	words := []string{"a", "e", "pages", "f", "paging", "absent"}
	for set := 1; set < 1<<len(words); set++ {
		text := ""
		for i, word := range words {
			if set&(1<<i) != 0 {
				text += word + " "
			}
		}
		for _, req := range []searcher.Request{
			{Query: text}, {Query: text + "site:y.com"}, {Query: text + "site:x.org:8080"},
			{Query: text + "-(b)"}, {Query: text, Ungrouped: true}, {Query: text, Strict: true},
		} {
			req.Limit, req.Within, req.Verbatim = 1+set%12, time.Hour, true
			shown, last := allPages(t, s, req)
			if last.Folded > 0 {
				folded++
			}
			if last.Most > 0 {
				most++
			}
			if last.Folded > 0 && last.Most > 0 {
				both++
			}
			if !last.Exact || shown != last.Listed() {
				t.Errorf("%+v: %d results, said %d (exact %v)", req, shown, last.Listed(), last.Exact)
			}
		}
	}
	if folded == 0 || most == 0 || both == 0 {
		t.Errorf("%d answers had collapsed pages, %d lacking ones, %d both", folded, most, both)
	}
}

// allPages counts the results of all pages of results, which must agree on their number.
func allPages(t *testing.T, s *searcher.Searcher, req searcher.Request) (shown int, last *searcher.Response) {
	t.Helper()
	seen := map[vocab.DocID]bool{}
	for {
		req.Offset = shown
		resp, err := s.Search(t.Context(), req)
		must(t, err)
		if last != nil && resp.Listed() != last.Listed() {
			t.Errorf("%+v: %d results, before %d", req, resp.Listed(), last.Listed())
		}
		for _, r := range resp.Results {
			if seen[r.Doc] {
				t.Errorf("%+v: document %d is shown twice", req, r.Doc)
			}
			seen[r.Doc] = true
		}
		shown += len(resp.Results)
		if last = resp; !resp.Next {
			return shown, last
		}
	}
}
