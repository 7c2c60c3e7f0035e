package collection_test

import (
	"context"
	"errors"
	"math"
	"testing"

	"anatomy/collection"
	"anatomy/disk/rankvector"
	"anatomy/internal/test/testweb"
	"anatomy/ranking"
	"anatomy/vocab"
)

// TestNear: ranks near a page are those of a vector personalised to it, and a call that gives up does not
// end the reading of the links that it began.
func TestNear(t *testing.T) {
	dir, _ := testweb.CrawlDemo(t)
	const url = "http://museum.test/"
	_, err := ranking.Compute(t.Context(), dir, ranking.Options{
		Personalize: []ranking.TeleportTarget{{Spec: url, Weight: 1}}, Name: "museum",
	})
	testweb.Must(t, err)
	want, err := rankvector.ReadFolder(dir, "museum")
	testweb.Must(t, err)
	start := vocab.DocID(0)
	for doc, rank := range want.Ranks {
		if float64(rank) > want.Rank(start) {
			start = vocab.DocID(doc)
		}
	}

	links := collection.NewSharedLinks(dir)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for range 2 { // the links may be read by then
		err := links.Near(gone, start, func(vocab.DocID, float64) {})
		if err != nil && !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
	}
	got, apart := map[vocab.DocID]float64{}, 0.0
	testweb.Must(t, links.Near(t.Context(), start, func(doc vocab.DocID, rank float64) { got[doc] = rank }))
	for doc := range want.Ranks {
		apart += math.Abs(got[vocab.DocID(doc)] - want.Rank(vocab.DocID(doc)))
	}
	if len(got) < 10 || apart > 0.01 {
		t.Errorf("%d pages, whose ranks are %v from those of the vector", len(got), apart)
	}
	testweb.Must(t, links.Near(t.Context(), vocab.DocID(len(want.Ranks)+7), func(doc vocab.DocID, _ float64) {
		t.Errorf("document %d is near an unknown one", doc)
	}))
	testweb.Must(t, links.Close())

	links = collection.NewSharedLinks(dir)
	if err := links.Near(gone, start, func(vocab.DocID, float64) {}); err != nil && !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	testweb.Must(t, links.Close()) // while links are read
}
