package searcher

import (
	"cmp"
	"slices"

	"anatomy/searcher/scoring"
	"anatomy/weburl"
)

// Where pages are equal they are in the order of the keys of their URLs ([weburl.URL.Key]), which
// is that of ordinals within a segment. DocIDs do not count: they are in the order of discovery, so
// that the same web crawled twice would order equals otherwise.

// byURL orders pages by the keys of their URLs. A key that cannot be read counts as "".
func (v *view) byURL(x, y scoring.Candidate) int {
	if x.Part == y.Part && shardOf(x.Doc) == shardOf(y.Doc) {
		return cmp.Compare(x.Ord, y.Ord)
	}
	return cmp.Compare(v.urlKey(x), v.urlKey(y))
}

func (v *view) urlKey(c scoring.Candidate) string {
	info, err := v.part(c).Segment.Record(c.Ord)
	if err != nil { // reported when the page is shown
		return ""
	}
	u, err := weburl.Parse(info.URL)
	if err != nil {
		return ""
	}
	return u.Key()
}

// byFirst orders pages by the score of the first phase, best first.
func (v *view) byFirst(x, y scoring.Candidate) int {
	if x.First != y.First {
		return cmp.Compare(y.First, x.First)
	}
	return v.byURL(x, y)
}

// byScore orders pages by the score of the second phase, best first.
func (v *view) byScore(x, y scoring.Candidate) int {
	if x.Score != y.Score {
		return cmp.Compare(y.Score, x.Score)
	}
	return v.byURL(x, y)
}

// byDay orders pages of a first phase by date: the newest first, those of one day by score.
func (v *view) byDay(x, y scoring.Candidate) int {
	if x.First != y.First {
		return cmp.Compare(y.First, x.First)
	}
	return v.byScore(x, y)
}

// byRank orders pages by PageRank, the highest first.
func (v *view) byRank(x, y scoring.Candidate) int {
	if a, b := v.rankOf(x.Doc), v.rankOf(y.Doc); a != b {
		return cmp.Compare(b, a)
	}
	return v.byURL(x, y)
}

// mergeBest returns the first n of some pages, which are sorted, and of those of one more segment,
// which it sorts. So the keys of URLs are read of a few pages only, however many are equal.
func mergeBest[P any](best, more []P, n int, order func(x, y P) int) []P {
	slices.SortFunc(more, order)
	best = append(best, more[:min(n, len(more))]...)
	slices.SortFunc(best, order)
	return best[:min(n, len(best))]
}
