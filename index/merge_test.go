package index

import (
	"context"
	"iter"
	"sync"
	"sync/atomic"
	"testing"

	"anatomy/disk/datadir"
	"anatomy/disk/linkdb"
	"anatomy/disk/segment"
	"anatomy/vocab"
)

// newBuilder returns a builder of an empty folder with the documents 1 to 9.
func newBuilder(t *testing.T, blocked func(url string) bool) *Builder {
	t.Helper()
	w, err := datadir.Create(t.TempDir())
	must(t, err)
	t.Cleanup(func() { w.Close() })
	names := func(from vocab.DocID) iter.Seq2[linkdb.Name, error] {
		return func(yield func(linkdb.Name, error) bool) {
			for doc := from; doc < 10; doc++ {
				if !yield(linkdb.Name{Doc: doc, URL: "http://a.test/" + string(rune('0'+doc))}, nil) {
					return
				}
			}
		}
	}
	b, err := New(Options{Dir: w.Dir(), Writer: w, Names: names, Blocked: blocked})
	must(t, err)
	return b
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// link adds a link of a page of another shard, and publishes it.
func link(ctx context.Context, b *Builder, from, to vocab.DocID, text string) error {
	b.AddForeign(from, []vocab.Link{{Text: text, Flags: vocab.OffSite}}, []vocab.DocID{to})
	return b.Flush(ctx)
}

// TestLinksDuringMerge: links that are published while all segments are merged are in the next merge of all.
func TestLinksDuringMerge(t *testing.T) {
	var b *Builder
	late := false
	b = newBuilder(t, func(string) bool { // called by the merge
		if !late {
			late = true
			must(t, link(t.Context(), b, 3, 2, "late"))
		}
		return false
	})
	must(t, link(t.Context(), b, 1, 2, "early"))
	for range 2 {
		must(t, b.MergeAll(t.Context()))
	}
	m := b.Manifest()
	if !late || !m.Merged || len(m.Segments) != 1 || len(m.Links) != 1 {
		t.Fatalf("late links: %v, manifest %+v", late, m)
	}
	s, err := segment.Open(datadir.Segment(b.o.Dir, m.Segments[0]), nil)
	must(t, err)
	defer s.Close()
	for _, term := range []string{"early", "late"} {
		if df, err := s.DF(segment.Full, []byte(term)); err != nil || df != 1 {
			t.Errorf("%d documents have %q, %v", df, term, err)
		}
	}
}

// TestOpenLinksDuringMerges opens the runs while merges replace them.
func TestOpenLinksDuringMerges(t *testing.T) {
	b := newBuilder(t, nil)
	var opening sync.WaitGroup
	var merged atomic.Bool
	for range 64 {
		opening.Go(func() {
			for !merged.Load() {
				set, err := b.OpenLinks()
				if err == nil {
					err = set.Close()
				}
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	for i := range 60 {
		must(t, link(t.Context(), b, vocab.DocID(1+i%9), 2, "text"))
		if i%4 == 3 {
			must(t, b.MergeAll(t.Context()))
		}
	}
	merged.Store(true)
	opening.Wait()
}
