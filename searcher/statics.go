package searcher

import (
	"slices"

	"anatomy/vocab"
)

// Statics are the points of each document of a segment that no query changes: PageRank, the depth of
// its URL, and that it was crawled. They are counted from the least that weights allow, so that none is
// below 0, and maxima are kept of runs of documents.
type statics struct {
	points []uint32
	small  []uint32 // the largest of each run of smallRun documents
	large  []uint32 // and of largeRun
	left   []uint32 // and of that run and all behind it
}

const (
	smallRun = 1 << 7
	largeRun = 1 << 13
)

func newStatics(points []uint32) statics {
	s := statics{points, maxima(points, smallRun), maxima(points, largeRun), nil}
	s.left = slices.Clone(s.large)
	for i := len(s.left) - 2; i >= 0; i-- {
		s.left[i] = max(s.left[i], s.left[i+1])
	}
	return s
}

func maxima(points []uint32, run int) (all []uint32) {
	for part := range slices.Chunk(points, run) {
		all = append(all, slices.Max(part))
	}
	return all
}

// maxIn is a bound on the points of the documents in [from, to), which is not empty: the largest in the
// runs that it touches.
func (s *statics) maxIn(from, to vocab.Ordinal) (highest uint32) {
	to = min(to, vocab.Ordinal(len(s.points)))
	for from < to {
		if from%largeRun == 0 && to-from >= largeRun {
			highest = max(highest, s.large[from/largeRun])
			from += largeRun
			continue
		}
		highest = max(highest, s.small[from/smallRun])
		from = (from/smallRun + 1) * smallRun
	}
	return highest
}

// maxFrom is a bound on those of from and all behind it, which is a document.
func (s *statics) maxFrom(from vocab.Ordinal) uint32 { return s.left[from/largeRun] }

// staticRange is the least points of a page that no query changes, and how far the most lies above it.
func (w *Weights) staticRange() (least, span Score) {
	low, high := slices.Min(w.Depth[:]).score(), slices.Max(w.Depth[:]).score()
	for _, points := range []Milli{w.Rank, w.Uncrawled} {
		low, high = low+min(points, 0).score(), high+max(points, 0).score()
	}
	return low, high - low
}

// ofPage is the points of a page that no query changes.
func (w *Weights) ofPage(rank Score, depth int, crawled bool) Score {
	points := rank + w.OfDepth(depth)
	if !crawled {
		points += w.Uncrawled.score()
	}
	return points
}
