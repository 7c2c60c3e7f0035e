package searcher

import (
	"cmp"

	"anatomy/searcher/internal/snapshot"
	"anatomy/searcher/scoring"
)

// Equal pages are in the order of the keys of their URLs ([weburl.URL.Key]), which is that of
// ordinals within a segment. DocIDs are not used: they are in the order of discovery, so that two
// crawls of the same web would order equal pages differently.

// byURL orders pages by the keys of their URLs. A key that cannot be read counts as "".
func (v *view) byURL(x, y scoring.Candidate) int {
	if shardOf(x.Doc) == shardOf(y.Doc) {
		return v.shardOf(x).ByURL(x, y)
	}
	return cmp.Compare(v.shardOf(x).URLKey(x), v.shardOf(y).URLKey(y))
}

func (v *view) shardOf(c scoring.Candidate) *snapshot.Snapshot { return v.shards[shardOf(c.Doc)] }

// byFirst orders pages by the score of the first phase, descending.
func (v *view) byFirst(x, y scoring.Candidate) int {
	if x.First != y.First {
		return cmp.Compare(y.First, x.First)
	}
	return v.byURL(x, y)
}

// byScore orders pages by the score of the second phase, descending.
func (v *view) byScore(x, y scoring.Candidate) int {
	if x.Score != y.Score {
		return cmp.Compare(y.Score, x.Score)
	}
	return v.byURL(x, y)
}

// byDay orders pages of a first phase by date, newest first, and pages of one day by score.
func (v *view) byDay(x, y scoring.Candidate) int {
	if x.First != y.First {
		return cmp.Compare(y.First, x.First)
	}
	return v.byScore(x, y)
}

// byRank orders pages by PageRank, descending.
func (v *view) byRank(x, y scoring.Candidate) int {
	if a, b := v.rankOf(x.Doc), v.rankOf(y.Doc); a != b {
		return cmp.Compare(b, a)
	}
	return v.byURL(x, y)
}
