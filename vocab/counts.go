package vocab

import (
	"cmp"
	"maps"
	"slices"
)

// KeysByCount returns the keys of counts by descending count, and keys with the same count in
// ascending order.
func KeysByCount[K, N cmp.Ordered](counts map[K]N) []K {
	return slices.SortedFunc(maps.Keys(counts), func(a, b K) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
}

// addCounts adds more to the counts of to, which may be nil.
func addCounts(to, more map[string]int64) map[string]int64 {
	if to == nil {
		return more
	}
	for name, count := range more {
		to[name] += count
	}
	return to
}
