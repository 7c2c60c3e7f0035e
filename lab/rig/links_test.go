package rig

import (
	"math"
	"testing"
)

// TestPageRanks computes ranks of two pages that link to each other, one of them by a redirect, and
// to URLs that were not found, or not fetched.
func TestPageRanks(t *testing.T) {
	g := &LinkGraph{
		Pages:    map[string]bool{"a": true, "b": true},
		Followed: map[[2]string]bool{{"a", "b"}: true, {"b", "to a"}: true, {"b", "b"}: true, {"b", "gone"}: true, {"b", "later"}: true},
		Aliases:  map[string]string{"to a": "a"},
		NotFound: map[string]bool{"gone": true},
	}
	same := func(got, want map[string]float64) {
		t.Helper()
		if len(got) != len(want) {
			t.Errorf("ranks %v, want %v", got, want)
		}
		for url, rank := range want {
			if math.Abs(got[url]-rank) > 1e-9 {
				t.Errorf("ranks %v, want %v", got, want)
			}
		}
	}
	same(g.PageRanks(map[string]bool{"later": true}), map[string]float64{"a": .5, "b": .5})
	got := g.PageRanks(nil)
	l, a, b := got["later"], got["a"], got["b"]
	teleport := (.15 + .85*l) / 3
	same(got, map[string]float64{"later": teleport + .425*b, "a": teleport + .425*b, "b": teleport + .85*a})
	if math.Abs(l+a+b-1) > 1e-9 {
		t.Errorf("ranks sum to %g", l+a+b)
	}
}
