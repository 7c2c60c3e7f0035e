package text

import (
	"cmp"
	"slices"
)

// A Tallied is a count beside others.
type Tallied struct {
	Name  string
	Count int64
	Share int // thousandths of the largest
}

// Tally returns counts that are not zero, the largest first.
func Tally(counts map[string]int64) (all []Tallied) {
	most := int64(1)
	for name, n := range counts {
		if n > 0 {
			all = append(all, Tallied{Name: name, Count: n})
			most = max(most, n)
		}
	}
	for i := range all {
		all[i].Share = int(1000 * all[i].Count / most)
	}
	slices.SortFunc(all, func(a, b Tallied) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Name, b.Name))
	})
	return all
}
