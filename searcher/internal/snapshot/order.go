package snapshot

import (
	"cmp"
	"slices"

	"anatomy/searcher/scoring"
	"anatomy/weburl"
)

// ByURL orders pages of the shard by the keys of their URLs. A key that cannot be read counts as "".
func (snap *Snapshot) ByURL(x, y scoring.Candidate) int {
	if x.Part == y.Part {
		return cmp.Compare(x.Ord, y.Ord)
	}
	return cmp.Compare(snap.URLKey(x), snap.URLKey(y))
}

// URLKey returns the key of the URL of a page of the shard.
func (snap *Snapshot) URLKey(c scoring.Candidate) string {
	info, err := snap.Parts[c.Part].Segment.Record(c.Ord)
	if err != nil { // the presentation of the page reports it
		return ""
	}
	u, err := weburl.Parse(info.URL)
	if err != nil {
		return ""
	}
	return u.Key()
}

// ByFirst orders pages of the shard by the score of the first phase, descending.
func (snap *Snapshot) ByFirst(x, y scoring.Candidate) int {
	if x.First != y.First {
		return cmp.Compare(y.First, x.First)
	}
	return snap.ByURL(x, y)
}

// MergeBest returns the first n pages of best, which is sorted, and more, which it sorts: the pages
// of one more segment. So the keys of URLs are read for a few pages only, however many pages are
// equal.
func MergeBest[P any](best, more []P, n int, order func(x, y P) int) []P {
	slices.SortFunc(more, order)
	best = append(best, more[:min(n, len(more))]...)
	slices.SortFunc(best, order)
	return best[:min(n, len(best))]
}
