package segment

import (
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"
)

// TestEachTermOf: the terms of several segments come once and in order, until the caller has enough.
func TestEachTermOf(t *testing.T) {
	var segments []*Segment
	want := map[string]int{}
	for i := range 4 {
		x := makeIndex(rand.New(rand.NewPCG(1, uint64(i))), 20*i, 10)
		for term, list := range x.words {
			want[term] += len(list)
		}
		dir := filepath.Join(t.TempDir(), "segment")
		x.Write(t, dir)
		segments = append(segments, open(t, dir))
	}
	sorted := slices.Sorted(maps.Keys(want))
	if len(sorted) < 2 {
		t.Fatalf("%d terms", len(sorted))
	}
	for _, most := range []int{1, len(sorted) + 1} {
		var terms []string
		EachTermOf(segments, func(term []byte, df int) bool {
			if df != want[string(term)] {
				t.Errorf("%s: df %d, want %d", term, df, want[string(term)])
			}
			terms = append(terms, string(term))
			return len(terms) < most
		})
		if !slices.Equal(terms, sorted[:min(most, len(sorted))]) {
			t.Errorf("%v, want the first %d of %v", terms, most, sorted)
		}
	}
	EachTermOf(nil, func(term []byte, _ int) bool {
		t.Errorf("no segment has %s", term)
		return true
	})
}
