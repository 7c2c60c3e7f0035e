package scoring

import "anatomy/vocab"

// A Candidate is a page that the first phase found.
type Candidate struct {
	First  uint32 // score of the first phase
	Score  Score  // of the second phase
	Pinned bool   // comes before all that are not
	Doc    vocab.DocID
	Part   int // segment of the snapshot that holds it
	Ord    vocab.Ordinal
}
