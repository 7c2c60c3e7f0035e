package searcher_test

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"anatomy/internal/test/oracle"
	"anatomy/searcher"
	"anatomy/vocab"
)

// TestByDate checks that sort:date finds the same pages as the query without it, the newest first,
// and those of one day by score as far as candidates go, for pages of results of any size.
func TestByDate(t *testing.T) {
	c := collect(11, 3)
	for _, candidates := range []int{3, 1000} {
		c.Weights.Widen = 0
		f := newFolder(t)
		for _, segment := range c.Segments {
			f.add(segment, func(d *oracle.Document) vocab.DocInfo {
				info := bare(d)
				info.Date = dateOf(d.Doc)
				return info
			})
		}
		f.publish()
		s := f.open(searcher.Options{Candidates: candidates, Weights: c.Weights, Links: c.Links})
		check := func(rt rapid.TB, text string, limit int) (found int) {
			ask := func(text string, offset, limit int) *searcher.Response {
				resp, err := s.Search(t.Context(), searcher.Request{Query: text, Offset: offset, Limit: limit, Within: time.Hour, Verbatim: true, Ungrouped: true, Strict: true})
				must(t, err)
				return resp
			}
			var usual, got []searcher.Result
			for {
				resp := ask(text, len(usual), 100)
				if usual = append(usual, resp.Results...); !resp.Next {
					break
				}
			}
			for {
				resp := ask("sort:date "+text, len(got), limit)
				if got = append(got, resp.Results...); !resp.Next {
					break
				}
			}
			for i := 1; i < len(got); i++ {
				before, after := dateOf(got[i-1].Doc), dateOf(got[i].Doc)
				if before < after || candidates > len(got) && before == after && got[i-1].Score < got[i].Score {
					rt.Fatalf("%s: %d of %s before %d of %s", text, got[i-1].Doc, before, got[i].Doc, after)
				}
			}
			if !slices.Equal(docsOf(usual), docsOf(got)) {
				rt.Fatalf("%s: %d results, by date %d", text, len(usual), len(got))
			}
			return len(got)
		}
		if found := check(t, lexicon[0], 7); found < 2 {
			t.Errorf("%s: %d results", lexicon[0], found)
		}
		rapid.Check(t, func(rt *rapid.T) { check(rt, drawQuery(rt), rapid.IntRange(1, 40).Draw(rt, "limit")) })
	}
}

// docsOf returns the documents of results, ascending.
func docsOf(results []searcher.Result) (docs []vocab.DocID) {
	for _, r := range results {
		docs = append(docs, r.Doc)
	}
	slices.Sort(docs)
	return docs
}

// dateOf returns no date for a fifth of all documents, and equal dates for some.
func dateOf(doc vocab.DocID) vocab.Day { return vocab.Day(doc%5) * vocab.Day(10_000+doc%7) }
