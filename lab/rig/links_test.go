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

// TestWithAliases makes b a duplicate of a, as it is in another graph, and leaves c a page of its own.
func TestWithAliases(t *testing.T) {
	g := &LinkGraph{
		Pages:    map[string]bool{"a": true, "b": true, "c": true},
		Followed: map[[2]string]bool{{"a", "b"}: true, {"c", "b"}: true, {"a", "c"}: true, {"b", "c"}: true},
	}
	of := &LinkGraph{Aliases: map[string]string{"b": "a", "c": "a", "d": "a"}}
	with := g.WithAliases(of, func(url string) bool { return url != "c" })
	if len(with.Aliases) != 1 || with.Aliases["b"] != "a" || g.Aliases != nil {
		t.Errorf("aliases %v, of the graph itself %v", with.Aliases, g.Aliases)
	}
	if got := with.PageRanks(nil); len(got) != 2 || math.Abs(got["a"]-.5) > 1e-9 || math.Abs(got["c"]-.5) > 1e-9 {
		t.Errorf("ranks %v", got)
	}
}
