package searcher_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"anatomy/internal/test/oracle"
	"anatomy/searcher"
	"anatomy/vocab"
)

// TestUnavailableAfter checks that a page is a result until its time has ended, without a new
// generation, and that no older version of it comes back.
func TestUnavailableAfter(t *testing.T) {
	at := time.Unix(1000, 0)
	f := newFolder(t)
	ends := map[vocab.DocID]int64{1: 1010, 2: 1020, 4: 900}
	controlled := func(d *oracle.Document) vocab.DocInfo {
		info := bare(d)
		info.Controls.Until = ends[d.Doc]
		return info
	}
	f.add(pagesOf(textPage(2, "http://x.org/2", "a", "b")), bare) // before it had an end
	f.add(pagesOf(
		textPage(1, "http://x.org/1", "a"), textPage(2, "http://x.org/2", "a"),
		textPage(3, "http://x.org/3", "a"), textPage(4, "http://x.org/4", "a"),
	), controlled)
	f.publish()
	s := f.open(searcher.Options{Now: func() time.Time { return at }})
	states := map[string]bool{}
	for _, step := range []struct {
		at      int64
		changed bool
		want    []vocab.DocID
	}{
		{1000, false, []vocab.DocID{1, 2, 3}},
		{1009, false, []vocab.DocID{1, 2, 3}},
		{1010, true, []vocab.DocID{2, 3}},
		{1011, false, []vocab.DocID{2, 3}},
		{5000, true, []vocab.DocID{3}},
		{9000, false, []vocab.DocID{3}},
	} {
		at = time.Unix(step.at, 0)
		refresh(t, s, step.changed)
		wantFound(t, s, "a", step.want...)
		wantFound(t, s, "b")
		if n := s.Stats().Documents; n != len(step.want) {
			t.Errorf("at %d: %d documents, want %d", step.at, n, len(step.want))
		}
		for doc := vocab.DocID(1); doc <= 4; doc++ {
			shown := false
			for _, want := range step.want {
				shown = shown || doc == want
			}
			if _, err := s.Document(context.Background(), doc); s.Has(doc) != shown || errors.Is(err, searcher.ErrNotIndexed) == shown {
				t.Errorf("at %d: document %d is there: %v (%v), want %v", step.at, doc, s.Has(doc), err, shown)
			}
		}
		resp, err := s.Search(context.Background(), searcher.Request{Query: "a"})
		must(t, err)
		if states[resp.State] == step.changed && step.at > 1000 {
			t.Errorf("at %d: state %s, was there before: %v", step.at, resp.State, states[resp.State])
		}
		states[resp.State] = true
	}
	f.add(pagesOf(textPage(1, "http://x.org/1", "a", "c")), bare) // fetched again, without an end
	f.publish()
	refresh(t, s, true)
	wantFound(t, s, "c", 1)
}
