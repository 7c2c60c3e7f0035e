package searcher_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"pgregory.net/rapid"

	"anatomy/internal/test/oracle"
	"anatomy/searcher"
	"anatomy/vocab"
)

// equals returns n documents of few different contents, so that many score the same. All are of one
// length, so that impacts do not depend on the segment.
func equals(r *rand.Rand, n int) (docs []*oracle.Document) {
	var contents []*oracle.Document
	for i := range 7 {
		contents = append(contents, generate(r, vocab.DocID(i), ""))
	}
	for i := range n {
		d := *contents[i%len(contents)]
		d.Doc, d.Length, d.Crawled = vocab.DocID(i+1), 40, true
		d.URL = fmt.Sprintf("http://%s/%d/", hosts[r.IntN(len(hosts))], i)
		docs = append(docs, &d)
	}
	return docs
}

// rediscovered returns the documents as if their URLs had been seen in another order.
func rediscovered(r *rand.Rand, docs []*oracle.Document) (again []*oracle.Document) {
	for i, at := range r.Perm(len(docs)) {
		d := *docs[at]
		d.Doc = vocab.DocID(i + 1)
		again = append(again, &d)
	}
	return again
}

// inSegments returns a collection of the documents in some segments.
func inSegments(docs []*oracle.Document, segments, candidates int) *oracle.Collection {
	c := &oracle.Collection{Weights: withoutProse(), Candidates: candidates}
	for i := range segments {
		from, to := i*len(docs)/segments, (i+1)*len(docs)/segments
		c.Segments = append(c.Segments, oracle.Segment{Documents: docs[from:to]})
	}
	return c
}

// answerOf returns what a page of results shows but for DocIDs.
func answerOf(t failer, s *searcher.Searcher, req searcher.Request) (text string, resp *searcher.Response) {
	req.Within = time.Hour
	resp, err := s.Search(context.Background(), req)
	if err != nil {
		t.Fatalf("%+v: %v", req, err)
	}
	text = fmt.Sprintln(resp.Total, resp.Exact, resp.Folded, resp.Most, resp.Why, resp.Words, resp.Forms)
	for i := range resp.Results {
		r := &resp.Results[i]
		text += fmt.Sprintln(r.URL, r.Score, r.Similar, r.More, r.Missing, r.Pinned)
	}
	return text, resp
}

// TestOrderOfDiscovery checks that the same documents, discovered in another order and indexed in
// other segments, are found in the same order with the same scores, page by page, and that pages of
// results neither repeat nor skip a document of a tie.
func TestOrderOfDiscovery(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	docs := equals(r, 300)
	for _, candidates := range []int{12, 60, 1000} {
		one := newFolder(t).hold(inSegments(docs, 1, candidates))
		other := newFolder(t).hold(inSegments(rediscovered(r, docs), 3, candidates))
		check := func(rt rapid.TB, req searcher.Request) (ties int) {
			shown := map[string]searcher.Score{}
			for {
				want, resp := answerOf(rt, one, req)
				if got, _ := answerOf(rt, other, req); got != want {
					rt.Fatalf("%+v: got %s, want %s", req, got, want)
				}
				for _, result := range resp.Results {
					if _, again := shown[result.URL]; again {
						rt.Fatalf("%+v: %s is shown again", req, result.URL)
					}
					shown[result.URL] = result.Score
				}
				if req.Offset += len(resp.Results); !resp.Next {
					if req.Ungrouped && req.Offset < resp.Total {
						rt.Fatalf("%+v: %d results of %d", req, req.Offset, resp.Total)
					}
					break
				}
			}
			scores := map[searcher.Score]bool{}
			for _, score := range shown {
				scores[score] = true
			}
			return len(shown) - len(scores)
		}
		if check(t, searcher.Request{Query: lexicon[0], Limit: 7, Ungrouped: true, Explain: true}) == 0 {
			t.Error("no pages scored the same")
		}
		rapid.Check(t, func(rt *rapid.T) {
			check(rt, searcher.Request{
				Query: drawQuery(rt), Limit: rapid.IntRange(1, 40).Draw(rt, "limit"),
				Ungrouped: rapid.Bool().Draw(rt, "ungrouped"), Explain: true,
			})
		})
	}
}
