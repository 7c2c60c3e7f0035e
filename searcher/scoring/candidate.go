package scoring

import (
	"cmp"

	"anatomy/vocab"
)

// A Candidate is a page that the first phase found.
type Candidate struct {
	First  uint32 // score of the first phase
	Score  Score  // of the second phase
	Pinned bool   // comes before all that are not
	Doc    vocab.DocID
	Part   int // segment of the snapshot that holds it
	Ord    vocab.Ordinal
}

// ByScore orders candidates best first, ties by DocID.
func ByScore(a, b Candidate) int {
	if a.Score != b.Score {
		return cmp.Compare(b.Score, a.Score)
	}
	return cmp.Compare(a.Doc, b.Doc)
}

// ByDate orders candidates of a first phase by date: the newest first, those of one day by score.
func ByDate(a, b Candidate) int { return cmp.Or(cmp.Compare(b.First, a.First), ByScore(a, b)) }
