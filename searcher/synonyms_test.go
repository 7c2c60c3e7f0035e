package searcher_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"anatomy/searcher"
	"anatomy/searcher/synonyms"
)

// TestSynonyms checks that a word finds pages with its synonyms as far as it is not in quotes, that
// scores are the sums that are explained, and that a change of the file is used at once.
func TestSynonyms(t *testing.T) {
	f := newFolder(t)
	f.add(pagesOf(
		textPage(1, "http://x.org/1", "postgres", "server"), textPage(2, "http://x.org/2", "postgresql", "server"),
		textPage(3, "http://x.org/3", "mysql", "server"),
	), bare)
	f.add(pagesOf(textPage(4, "http://x.org/4", "postgresql", "pg")), bare)
	f.publish()
	path := filepath.Join(t.TempDir(), "synonyms.txt")
	must(t, os.WriteFile(path, []byte("Postgres = PostgreSQL\n"), 0o600))
	file, err := synonyms.Open(path, func(err error) { t.Error(err) })
	must(t, err)
	s := f.open(searcher.Options{Synonyms: file, AnswerBytes: 1 << 20})
	ask := func(query string) (docs []int) {
		t.Helper()
		resp, err := s.Search(t.Context(), searcher.Request{Query: query, Ungrouped: true, Strict: true})
		must(t, err)
		for _, r := range resp.Results {
			docs = append(docs, int(r.Doc))
			e, err := s.Explain(t.Context(), searcher.Request{Query: query}, r.URL)
			must(t, err)
			sum := searcher.Score(0)
			for _, p := range e.Parts {
				sum += p.Points
			}
			if e.Score != r.Score || sum != r.Score {
				t.Errorf("%s, %s: score %d, explained %d as %d", query, r.URL, r.Score, e.Score, sum)
			}
		}
		slices.Sort(docs)
		return docs
	}
	for query, want := range map[string][]int{
		"postgres": {1, 2, 4}, "postgresql": {1, 2, 4}, `"postgres"`: {1}, "postgres server": {1, 2},
		"server -postgres": {2, 3}, "mysql": {3}, "pg": {4}, "+postgres": {1}, "postgres OR mysql": {1, 2, 3, 4},
	} {
		if got := ask(query); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", query, got, want)
		}
	}
	must(t, os.WriteFile(path, []byte("pg = postgres = postgresql # all three\n"), 0o600))
	must(t, os.Chtimes(path, time.Now(), time.Now().Add(time.Second)))
	_, err = s.Refresh()
	must(t, err)
	if got := ask("pg"); !slices.Equal(got, []int{1, 2, 4}) {
		t.Errorf("after a change: %v", got)
	}
}
