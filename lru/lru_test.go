package lru

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// A cache has the entries that a list of all keys by use, cut off at the limit, has.
func TestEqualsList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.IntRange(0, 20).Draw(t, "limit")
		c := New(limit, func(_, weight int) int { return weight })
		type pair struct{ key, weight int }
		var want []pair // most recently used first
		drop := func(remove func(int) bool) {
			want = slices.DeleteFunc(want, func(p pair) bool { return remove(p.key) })
		}
		for range rapid.IntRange(0, 40).Draw(t, "steps") {
			key := rapid.IntRange(0, 6).Draw(t, "key")
			is := func(k int) bool { return k == key }
			switch rapid.IntRange(0, 3).Draw(t, "step") {
			case 0:
				weight := rapid.IntRange(0, 8).Draw(t, "weight")
				c.Put(key, weight)
				drop(is)
				if weight <= limit {
					want = slices.Insert(want, 0, pair{key, weight})
				}
				for sum, i := 0, 0; i < len(want); i++ {
					if sum += want[i].weight; sum > limit {
						want = want[:i]
					}
				}
			case 1:
				got, ok := c.Get(key)
				i := slices.IndexFunc(want, func(p pair) bool { return p.key == key })
				if ok != (i >= 0) || ok && got != want[i].weight {
					t.Fatalf("Get(%d) is %d, %v; want one of %v", key, got, ok, want)
				}
				if ok {
					used := want[i]
					want = slices.Insert(slices.Delete(want, i, i+1), 0, used)
				}
			case 2:
				c.Remove(key)
				drop(is)
			case 3:
				below := func(k int) bool { return k < key-3 }
				c.RemoveFunc(below)
				drop(below)
			}
			if c.Len() != len(want) {
				t.Fatalf("%d entries, want %v", c.Len(), want)
			}
		}
	})
}
