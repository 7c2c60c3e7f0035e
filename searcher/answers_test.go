package searcher_test

import (
	"context"
	"fmt"
	"reflect"
	"testing"
	"time"

	"anatomy/searcher"
	"anatomy/vocab"
)

// TestAnswersAreKept checks that a repeated request has the same response, from the cache, until
// the index or the ranks change.
func TestAnswersAreKept(t *testing.T) {
	f := newFolder(t)
	f.add(pagesOf(textPage(1, "http://x.org/1", "a"), textPage(2, "http://x.org/2", "a", "b")), bare)
	f.publish()
	s := f.open(searcher.Options{AnswerBytes: 1 << 20})
	ask := func(r searcher.Request, hits, misses int64, docs ...vocab.DocID) *searcher.Response {
		t.Helper()
		before := s.Stats().Answers
		resp, err := s.Search(t.Context(), r)
		must(t, err)
		var got []vocab.DocID
		for _, r := range resp.Results {
			got = append(got, r.Doc)
		}
		after := s.Stats().Answers
		if !reflect.DeepEqual(got, docs) || after.Hits-before.Hits != hits || after.Misses-before.Misses != misses {
			t.Fatalf("%q: %v, want %v; %+v after %+v", r.Query, got, docs, after, before)
		}
		if resp.Took <= 0 || resp.Reused != (hits > 0) {
			t.Errorf("%q took %v, reused %v", r.Query, resp.Took, resp.Reused)
		}
		resp.Took, resp.Reused = 0, false
		return resp
	}
	a := searcher.Request{Query: "a"}
	first := ask(a, 0, 1, 1, 2)
	if again := ask(a, 1, 0, 1, 2); !reflect.DeepEqual(first, again) {
		t.Errorf("%+v after %+v", again, first)
	}
	for i, r := range []searcher.Request{{Query: "a", Limit: 1}, {Query: "a", Offset: 1}, {Query: "a", Verbatim: true}, {Query: "a b"}} {
		ask(r, 0, 1, [][]vocab.DocID{{1}, {2}, {1, 2}, {2}}[i]...)
	}
	for _, r := range []searcher.Request{{Query: "a", Explain: true}, {Query: "a", Bare: true}, {Query: "a", Preferences: &searcher.Preferences{Pin: []string{"y.org"}}}} {
		ask(r, 0, 0, 1, 2)
	}
	f.rank([]float32{0, 0.1, 0.9})
	refresh(t, s, true)
	ask(a, 0, 1, 2, 1)
	ask(a, 1, 0, 2, 1)
	removed := pagesOf()
	removed.Removed = []vocab.DocID{2}
	f.add(removed, bare)
	f.publish()
	refresh(t, s, true)
	if stats := s.Stats().Answers; stats.Bytes != 0 {
		t.Errorf("%+v of an index that is gone", stats)
	}
	ask(a, 0, 1, 1)
	ask(a, 1, 0, 1)
}

// TestAnswersAreBounded checks that the cache stays within its bytes and keeps what is used.
func TestAnswersAreBounded(t *testing.T) {
	f := newFolder(t)
	f.add(pagesOf(textPage(1, "http://x.org/1", "a")), bare)
	f.publish()
	const limit = 40_000
	s := f.open(searcher.Options{AnswerBytes: limit})
	ask := func(query string) {
		_, err := s.Search(context.Background(), searcher.Request{Query: query})
		must(t, err)
		if bytes := s.Stats().Answers.Bytes; bytes <= 0 || bytes > limit {
			t.Fatalf("%d bytes are kept, of %d", bytes, limit)
		}
	}
	for i := range 100 {
		ask(fmt.Sprintf("a -b%d", i))
		ask("a")
	}
	if stats := s.Stats().Answers; stats.Hits != 99 || stats.Misses != 101 {
		t.Errorf("%+v", stats)
	}
}

// TestAnswersOfQueriesCutShort checks that partial responses are not cached.
func TestAnswersOfQueriesCutShort(t *testing.T) {
	f := newFolder(t)
	f.add(pagesOf(textPage(1, "http://x.org/1", "a", "b")), bare)
	f.publish()
	s := f.open(searcher.Options{AnswerBytes: 1 << 20})
	over, cancel := context.WithCancel(t.Context())
	cancel()
	cut, err := s.Search(over, searcher.Request{Query: "a b"})
	must(t, err)
	whole, err := s.Search(t.Context(), searcher.Request{Query: "a b"})
	must(t, err)
	if stats := s.Stats().Answers; cut.Partial && stats.Hits != 0 || whole.Partial || len(whole.Results) != 1 {
		t.Errorf("%v, then %v with %d results; %+v", cut.Partial, whole.Partial, len(whole.Results), stats)
	}
}

// TestHurriedAnswers checks that an answer whose correction ran out of time is not cached.
func TestHurriedAnswers(t *testing.T) {
	f := library(t)
	s := f.open(searcher.Options{AnswerBytes: 1 << 20})
	must(t, s.Learn(t.Context()))
	ask := func() *searcher.Response {
		resp, err := s.Search(t.Context(), searcher.Request{Query: "garbge collection", Within: time.Hour})
		must(t, err)
		return resp
	}
	t.Run("without time", func(t *testing.T) {
		searcher.SetGuessShare(t, 0)
		if resp := ask(); resp.Corrected != "" {
			t.Errorf("corrected to %q without time for it", resp.Corrected)
		}
	})
	if resp := ask(); resp.Corrected != "garbage collection" {
		t.Errorf("corrected to %q, hits %d", resp.Corrected, s.Stats().Answers.Hits)
	}
	ask()
	if hits := s.Stats().Answers.Hits; hits != 1 {
		t.Errorf("%d answers were cached, want 1", hits)
	}
}
