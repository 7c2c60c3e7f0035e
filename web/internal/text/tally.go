package text

import "anatomy/vocab"

// A Tallied is a count beside others.
type Tallied struct {
	Name  string
	Count int64
	Share int // thousandths of the largest
}

// Tally returns counts that are not zero, the largest first.
func Tally(counts map[string]int64) (all []Tallied) {
	for _, name := range vocab.KeysByCount(counts) {
		n := counts[name]
		if n <= 0 {
			break
		}
		most := n
		if len(all) > 0 {
			most = all[0].Count
		}
		all = append(all, Tallied{Name: name, Count: n, Share: int(1000 * n / most)})
	}
	return all
}
