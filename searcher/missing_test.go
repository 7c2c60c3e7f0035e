package searcher_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"anatomy/disk/rankvector"
	"anatomy/searcher"
	"anatomy/searcher/reload"
)

// TestMissingShards checks that answers without some shards are those of a collection in which these
// are empty, that they name the missing ones and have no exact total, and that answers are complete
// after the shards have appeared.
func TestMissingShards(t *testing.T) {
	c, info := manySites(7, 300, 3)
	parts := splitBySite(c, 4)
	whole := parts.open(t, info)
	var dirs, kept []string // all shards, and where those that appear later are until then
	for i, shard := range parts.shards {
		f := newFolder(t)
		for _, segment := range shard.Segments {
			if len(segment.Documents)+len(segment.Removed) > 0 {
				f.add(segment, info)
			}
		}
		f.rank(shard.Ranks)
		f.publish()
		dir, other := f.dir, f.dir
		if i%2 == 1 {
			dir = filepath.Join(t.TempDir(), "absent")
		}
		dirs, kept = append(dirs, dir), append(kept, other)
	}
	var empty []string // the same with empty folders
	for i := range dirs {
		if empty = append(empty, dirs[i]); i%2 == 1 {
			f := newFolder(t)
			f.publish()
			empty[i] = f.dir
		}
	}
	open := func(dirs []string) *searcher.Searcher {
		s, err := searcher.OpenShards(dirs, searcher.Options{Weights: c.Weights, Links: parts})
		must(t, err)
		t.Cleanup(func() { must(t, s.Close()) })
		must(t, s.Learn(t.Context()))
		return s
	}
	lacking, same := open(dirs), open(empty)
	if missing := lacking.Stats().Missing; !slices.Equal(missing, []int{1, 3}) || same.Stats().Missing != nil {
		t.Fatalf("shards %d are missing, and of empty ones %d", missing, same.Stats().Missing)
	}
	facets, err := searcher.ParseFacets("all")
	must(t, err)
	found := 0
	rapid.Check(t, func(t *rapid.T) {
		req := drawRequest(t, drawSaying(t))
		req.Within, req.Facets = time.Hour, facets
		var answers [2]string
		for i, s := range []*searcher.Searcher{lacking, same} {
			resp, err := s.Search(t.Context(), req)
			if err != nil {
				t.Fatal(err)
			}
			if i == 0 {
				if !resp.Partial || resp.Exact || !slices.Equal(resp.Missing, []int{1, 3}) || !strings.Contains(resp.Why, "2 of 4 shards") {
					t.Fatalf("%+v", resp)
				}
				for _, f := range resp.Facets {
					if f.Exact {
						t.Errorf("%s is exact", f.Kind)
					}
				}
			}
			found += len(resp.Results)
			answers[i] = fmt.Sprintln(resp.Total, resp.Most, resp.Folded, resp.Corrected, resp.Suggestion)
			for _, r := range resp.Results {
				answers[i] += fmt.Sprintln(r.URL, r.Score, r.PageRank, r.Snippet)
			}
		}
		if answers[0] != answers[1] {
			t.Fatalf("%+v:\n%s\nof empty shards:\n%s", req, answers[0], answers[1])
		}
	})
	if found == 0 {
		t.Error("no results")
	}
	count := func(s *searcher.Searcher) (n int) {
		_, err := s.All(t.Context(), searcher.Request{Query: "search"}, 0, func(*searcher.Result) error { n++; return nil })
		must(t, err)
		return n
	}
	if some, all := count(lacking), count(whole); some == 0 || some == all {
		t.Errorf("%d of %d pages", some, all)
	}
	for i := range dirs {
		if dirs[i] != kept[i] {
			must(t, os.Rename(kept[i], dirs[i]))
		}
	}
	changed, err := lacking.Refresh()
	must(t, errors.Join(err, lacking.Learn(t.Context())))
	if !changed || lacking.Stats().Missing != nil {
		t.Errorf("shards %d are missing after all appeared", lacking.Stats().Missing)
	}
	for _, text := range []string{"engine", "search -page", "京都 engines", `"search engine"`} {
		req := searcher.Request{Query: text, Limit: 30}
		if got, want := wholeAnswer(t, lacking, req), wholeAnswer(t, whole, req); got != want {
			t.Errorf("%s:\n%s\nwant\n%s", text, got, want)
		}
	}
}

// TestRankOfMissingShards: the rank vector that the collection or the request names is used while a shard is
// missing. A shard that is not missing and lacks it is reported.
func TestRankOfMissingShards(t *testing.T) {
	c, info := manySites(7, 300, 3)
	parts := splitBySite(c, 3)
	dirs := parts.write(t, info)
	publish := func(dir string) {
		t.Helper()
		must(t, rankvector.Publish(dir, "museum", &rankvector.Vector{Damping: 0.85, Ranks: []float32{0, 1}, Computed: time.Unix(1e9, 0)}))
	}
	publish(dirs[1])
	file := filepath.Join(t.TempDir(), "name")
	must(t, os.WriteFile(file, nil, 0o600))
	ranking, err := reload.Open(file, func(string) (string, error) { return "museum", nil }, func(err error) { t.Error(err) })
	must(t, err)
	var reported []string
	s, err := searcher.OpenShards([]string{filepath.Join(t.TempDir(), "absent"), dirs[1], dirs[2]}, searcher.Options{
		Ranking: ranking, OnNoRank: func(err *searcher.UnknownRankError) { reported = append(reported, err.Error()) },
	})
	must(t, err)
	t.Cleanup(func() { must(t, s.Close()) })
	if s.Stats().Rank != rankvector.Default || len(reported) != 1 || !strings.Contains(reported[0], "there are default") {
		t.Errorf("%s is used, reported %q", s.Stats().Rank, reported)
	}
	publish(dirs[2])
	_, err = s.Refresh()
	must(t, err)
	for _, name := range []string{"", "museum", rankvector.Default} {
		resp, err := s.Search(t.Context(), searcher.Request{Query: "engine", Rank: name})
		must(t, err)
		if name != rankvector.Default && resp.Rank.Name != "museum" || !slices.Equal(resp.Missing, []int{0}) || len(resp.Results) == 0 {
			t.Errorf("%q: %+v, shards %d are missing, %d results", name, resp.Rank, resp.Missing, len(resp.Results))
		}
	}
	if s.Stats().Rank != "museum" || len(reported) != 1 {
		t.Errorf("%s is used, reported %q", s.Stats().Rank, reported)
	}
}
