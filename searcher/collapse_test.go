package searcher_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"anatomy/internal/test/oracle"
	"anatomy/searcher"
	"anatomy/searcher/query"
	"anatomy/vocab"
)

// copies sets the sketches of most documents of a collection to one of a few, with some bits
// changed, so that among results there are near-duplicates, pages that are just not, and pages with
// little text.
func copies(c *oracle.Collection, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 2))
	for _, s := range c.Segments {
		for _, d := range s.Documents {
			text := r.Uint64N(8)
			if text < 2 {
				continue
			}
			bits := text * 0x9e3779b97f4a7c15
			for range r.IntN(2 * searcher.NearDistance) {
				bits ^= 1 << r.IntN(vocab.SketchTextBits)
			}
			d.Sketch = vocab.MakeSketch(uint8(text/2), bits)
		}
	}
}

// TestGrouping checks that results are collapsed as the oracle collapses all pages, for pages of
// results of any size; that collapsed pages are shown by Similar; and that each page found is shown
// once.
func TestGrouping(t *testing.T) {
	type collection struct {
		*oracle.Collection
		s *searcher.Searcher
	}
	var all []collection
	for i, segments := range []int{1, 2, 5} {
		c := collect(uint64(i), segments)
		copies(c, uint64(i))
		c.Candidates = []int{400, 20, 33}[i]
		all = append(all, collection{c, newFolder(t).hold(c)})
	}
	folded, more, moved := 0, 0, 0
	check := func(rt failer, text string, limit int) {
		q := query.Parse(text)
		for i, c := range all {
			want := c.Grouped(q)
			got, last := shownPages(t, c.s, text, limit)
			if len(got) != len(want) || last.Total != len(got)+last.Folded || !last.Exact {
				rt.Fatalf("collection %d: %s: %d results and %d folded of %d, want %d", i, text, len(got), last.Folded, last.Total, len(want))
			}
			seen := map[vocab.DocID]bool{}
			for k, r := range got {
				w := want[k]
				if r.Doc != w.Doc || r.Score != w.Score || r.Similar != len(w.Similar) || r.More != w.More {
					rt.Fatalf("collection %d: %s: result %d is document %d with %d (%d similar, %d more), want %d with %d (%d, %d)",
						i, text, k, r.Doc, r.Score, r.Similar, r.More, w.Doc, w.Score, len(w.Similar), w.More)
				}
				seen[r.Doc] = true
				if r.Similar > 0 {
					folded += checkSimilar(rt, c.s, text, r, w, seen)
				}
				more += r.More
				if k > 0 && k < c.Candidates && r.Score > got[k-1].Score {
					moved++
				}
			}
			if len(seen) != last.Total {
				rt.Fatalf("collection %d: %s: %d pages are shown of %d", i, text, len(seen), last.Total)
			}
		}
	}
	for _, text := range []string{"a", "a OR b OR c", "a b", "-(b) a", "a site:x.org", "a -site:x.org", "absent"} {
		check(t, text, 10)
	}
	rapid.Check(t, func(rt *rapid.T) {
		check(rt, drawQuery(rt), rapid.SampledFrom([]int{3, 10, 100}).Draw(rt, "limit"))
	})
	if folded == 0 || more == 0 || moved == 0 {
		t.Errorf("%d pages were folded, %d more of a host, %d moved", folded, more, moved)
	}
}

// shownPages returns all collapsed results, page by page.
func shownPages(t testing.TB, s *searcher.Searcher, text string, limit int) (all []searcher.Result, last *searcher.Response) {
	for {
		resp, err := s.Search(context.Background(), searcher.Request{Query: text, Offset: len(all), Limit: limit, Strict: true, Within: time.Hour})
		must(t, err)
		all = append(all, resp.Results...)
		if !resp.Next {
			return all, resp
		}
	}
}

// checkSimilar checks the pages that are collapsed into a result, by itself and by the last of
// them.
func checkSimilar(rt failer, s *searcher.Searcher, text string, of searcher.Result, want oracle.Shown, seen map[vocab.DocID]bool) int {
	last := want.Similar[len(want.Similar)-1]
	for _, doc := range []vocab.DocID{of.Doc, last.Doc} {
		resp, err := s.Search(context.Background(), searcher.Request{Query: text, Similar: doc, Limit: searcher.MaxLimit, Strict: true, Within: time.Hour})
		if err != nil || resp.Total != 1+of.Similar || len(resp.Results) != resp.Total || resp.Next || !resp.Exact || resp.Results[0].Doc != of.Doc {
			rt.Fatalf("%s: similar to %d: %d of %d results, %v", text, doc, len(resp.Results), resp.Total, err)
		}
		for i, r := range resp.Results[1:] {
			if r.Doc != want.Similar[i].Doc || r.Score != want.Similar[i].Score {
				rt.Fatalf("%s: similar to %d: result %d is document %d", text, doc, i+1, r.Doc)
			}
			seen[r.Doc] = true
		}
	}
	e, err := s.Explain(context.Background(), searcher.Request{Query: text, Strict: true}, last.URL())
	if err != nil || e.Folded == nil {
		rt.Fatalf("%s: %s is not folded: %v", text, last.URL(), err)
	}
	distance := want.Page.Sketch.TextDistance(last.Page.Sketch)
	if e.Folded.Doc != of.Doc || e.Folded.URL != of.URL || e.Folded.Distance != distance {
		rt.Fatalf("%s: %s is folded into %+v, want %s at distance %d", text, last.URL(), *e.Folded, of.URL, distance)
	}
	return of.Similar
}

// TestTwoOfAHost checks that at most two results of a host are among the first ten if other hosts
// have results, and that the next pages have the others.
func TestTwoOfAHost(t *testing.T) {
	f := newFolder(t)
	s := pagesOf()
	doc := vocab.DocID(0)
	for host, n := range []int{14, 3, 2, 1, 5} {
		for i := range n {
			doc++
			d := textPage(doc, fmt.Sprintf("http://h%d.org/%d", host, i), slices.Repeat([]string{"common"}, 40-10*host)...)
			if host == 4 { // the word is somewhere in its text
				d = textPage(doc, fmt.Sprintf("http://h4.org/a/b/c/%d", i), append(slices.Repeat([]string{"other"}, 500), "common")...)
			}
			s.Documents = append(s.Documents, d)
		}
	}
	f.add(s, bare)
	f.publish()
	found := f.open(searcher.Options{})
	hostsOf := func(r searcher.Request) (hosts string, more []int) {
		resp, err := found.Search(context.Background(), r)
		must(t, err)
		for _, p := range resp.Results {
			hosts += p.URL[len("http://h"):len("http://h0")]
			if p.More > 0 {
				more = append(more, p.More)
			}
		}
		return hosts, more
	}
	for _, c := range []struct {
		r     searcher.Request
		hosts string
		more  string
	}{
		{searcher.Request{Query: "common"}, "0011223000", "[1 9]"},
		{searcher.Request{Query: "common", Offset: 10}, "0010000000", "[]"},
		{searcher.Request{Query: "common", Ungrouped: true}, "0000000000", "[]"},
		{searcher.Request{Query: "common site:h0.org"}, "0000000000", "[]"},
		{searcher.Request{Query: "common -site:h0.org"}, "1122314444", "[]"},
	} {
		if hosts, more := hostsOf(c.r); hosts != c.hosts || fmt.Sprint(more) != c.more {
			t.Errorf("%+v: hosts %s, more %v, want %s, %s", c.r, hosts, more, c.hosts, c.more)
		}
	}
}

// TestNear checks that near-duplicates of all segments are found, the nearest first.
func TestNear(t *testing.T) {
	f := newFolder(t)
	page := func(doc vocab.DocID, text uint64) *oracle.Document {
		d := textPage(doc, fmt.Sprintf("http://h%d.org/", doc), "word")
		if text > 0 {
			d.Sketch = vocab.MakeSketch(7, text)
		}
		return d
	}
	f.add(pagesOf(page(1, 0xff), page(2, 0xfe), page(3, 0xffff00), page(4, 0), page(5, 0xff)), bare)
	f.add(pagesOf(page(5, 0xffff00), page(6, 0xff<<5), page(7, 0xff)), bare) // 5 says something else now
	f.publish()
	s := f.open(searcher.Options{})
	for doc, want := range map[vocab.DocID]string{
		1: "2 [{7 http://h7.org/ 0 } {2 http://h2.org/ 1 }]", 3: "1 [{5 http://h5.org/ 0 }]", 4: "0 []", 5: "1 [{3 http://h3.org/ 0 }]", 6: "0 []", 99: "0 []",
	} {
		near, total, err := s.Near(context.Background(), doc, 10)
		must(t, err)
		if got := fmt.Sprint(total, " ", near); got != want {
			t.Errorf("near %d: %s, want %s", doc, got, want)
		}
	}
	if near, total, err := s.Near(context.Background(), 1, 1); err != nil || total != 2 || len(near) != 1 || near[0].Doc != 7 {
		t.Errorf("the nearest: %v of %d, %v", near, total, err)
	}
}
