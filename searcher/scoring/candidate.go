package scoring

import "anatomy/vocab"

// A Candidate is a page found by the first phase.
type Candidate struct {
	First  uint32 // score of the first phase
	Score  Score  // of the second phase
	Pinned bool   // comes before all unpinned pages
	Doc    vocab.DocID
	Part   int // segment of the snapshot that contains it
	Ord    vocab.Ordinal
}
