package searcher_test

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"anatomy/searcher"
)

// TestMemoryIsOfOneQuery checks that queries that reuse arenas, several at a time, do not change
// earlier responses, and that each response equals that of the same query alone.
func TestMemoryIsOfOneQuery(t *testing.T) {
	c := collect(1, 3)
	s := newFolder(t).hold(c)
	queries := rapid.Custom(drawQuery)
	ask := func(seed int) *searcher.Response {
		text := queries.Example(seed)
		resp, err := s.Search(context.Background(), searcher.Request{Query: text, Limit: 1 + seed%20, Explain: seed%2 == 0, Ungrouped: seed%3 == 0, Bare: seed%5 == 0, Strict: seed%7 == 0, Within: time.Hour})
		if err != nil {
			t.Errorf("%s: %v", text, err)
		}
		resp.Took = 0
		return resp
	}
	written := func(resp *searcher.Response) string {
		text, err := json.Marshal(resp)
		if err != nil {
			t.Error(err)
		}
		return string(text)
	}
	first, want, found := make([]*searcher.Response, 100), make([]string, 100), 0
	for seed := range first {
		first[seed] = ask(seed)
		want[seed] = written(first[seed])
		found += len(first[seed].Results)
	}
	if found == 0 {
		t.Fatal("no query found anything")
	}
	var wg sync.WaitGroup
	for worker := range 4 {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(uint64(worker), 1))
			for range 100 {
				seed := r.IntN(len(first))
				if got := written(ask(seed)); got != want[seed] {
					t.Errorf("%s: asked among others\n%s, alone\n%s", queries.Example(seed), got, want[seed])
				}
			}
		})
	}
	wg.Wait()
	for seed, resp := range first {
		if got := written(resp); got != want[seed] {
			t.Errorf("%s: its response became\n%s, it was\n%s", queries.Example(seed), got, want[seed])
		}
	}
}
