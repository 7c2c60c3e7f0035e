package searcher_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"anatomy/searcher"
	"anatomy/vocab"
)

// TestRankNear: ranks from a page lift it most and the pages near it next, by more points than ranks from
// all pages alike, and scores are the sums of their parts. Near a duplicate of the page the results
// are the same. A page that is not in the index is an error.
func TestRankNear(t *testing.T) {
	c := collect(7, 2)
	c.Candidates = 400
	c.Ranks = make([]float32, 60)
	for doc := range c.Ranks[1:] {
		c.Ranks[doc+1] = 1. / 59
	}
	g := c.Links.(*graph)
	s := newFolder(t).hold(c)
	request := searcher.Request{
		Query: lexicon[0], Limit: 100, Explain: true, Ungrouped: true, Strict: true, Within: time.Hour,
	}
	usual, err := s.Search(context.Background(), request)
	if err != nil || len(usual.Results) < 10 {
		t.Fatalf("%d results, %v", len(usual.Results), err)
	}
	start := usual.Results[len(usual.Results)/2]
	request.Rank = searcher.NearPrefix + start.URL
	near, err := s.Search(context.Background(), request)
	if err != nil || near.Total != usual.Total || near.Rank.Name != request.Rank || near.Rank.Personalized != start.URL {
		t.Fatalf("%d results by %+v, %v", near.Total, near.Rank, err)
	}
	gained := map[vocab.DocID]searcher.Score{}
	for _, r := range near.Results {
		checkSum(t, request.Query, r.Explanation, r.Score)
		gained[r.Doc] = r.Score
		if !slices.ContainsFunc(r.Explanation.Parts, func(p searcher.Part) bool {
			return p.Name == "pagerank" && strings.Contains(p.Detail, "favouring "+start.URL)
		}) {
			t.Errorf("%s: the explanation does not say from where pages are ranked", r.URL)
		}
	}
	for _, r := range usual.Results {
		gained[r.Doc] -= r.Score
	}
	neighbours := 0
	for _, r := range usual.Results {
		switch isNear := slices.Contains(g.in[start.Doc], r.Doc); {
		case r.Doc == start.Doc:
		case isNear && gained[r.Doc] > 0 && gained[r.Doc] < gained[start.Doc]:
			neighbours++
		case isNear || gained[r.Doc] > 0:
			t.Errorf("%s gains %d, near: %v", r.URL, gained[r.Doc], isNear)
		}
	}
	if neighbours == 0 || gained[start.Doc] < 5*1e6 {
		t.Errorf("%d neighbours among the results, and the page gains %d", neighbours, gained[start.Doc])
	}
	g.aliases = map[string]vocab.DocID{"http://alias.org/": start.Doc}
	request.Rank = searcher.NearPrefix + "http://alias.org/"
	if other, err := s.Search(context.Background(), request); err != nil || len(other.Results) != len(near.Results) || other.Results[0].Score != near.Results[0].Score {
		t.Errorf("near a duplicate: %+v, %v", other, err)
	}
	for _, url := range []string{"http://absent.org/", "", "http://"} {
		request.Rank = searcher.NearPrefix + url
		var unknown *searcher.UnknownRankError
		if _, err := s.Search(context.Background(), request); !errors.As(err, &unknown) || !strings.Contains(err.Error(), "no page") {
			t.Errorf("near %q: %v", url, err)
		}
	}
}
