package retrieval

import (
	"slices"

	"anatomy/vocab"
)

// StaticPoints are the query-independent points of the documents of a segment, with maxima of runs
// of documents as upper bounds. They are immutable.
type StaticPoints struct {
	points  []uint32
	small   []uint32 // maximum of each run of smallRun documents
	large   []uint32 // maximum of each run of largeRun documents
	largeOn []uint32 // maximum of the run and all later runs
}

const (
	smallRun = 1 << 7
	largeRun = 1 << 13
)

// NewStaticPoints returns the points of documents by ordinal, with their maxima.
func NewStaticPoints(points []uint32) StaticPoints {
	s := StaticPoints{points: points, small: maxima(points, smallRun), large: maxima(points, largeRun)}
	s.largeOn = slices.Clone(s.large)
	for i := len(s.largeOn) - 2; i >= 0; i-- {
		s.largeOn[i] = max(s.largeOn[i], s.largeOn[i+1])
	}
	return s
}

// Computed reports whether s was made by NewStaticPoints for at least one document.
func (s *StaticPoints) Computed() bool { return s.points != nil }

func maxima(points []uint32, run int) (all []uint32) {
	for part := range slices.Chunk(points, run) {
		all = append(all, slices.Max(part))
	}
	return all
}

// maxIn returns an upper bound on the points of the documents in [from, to), which must not be
// empty: the maximum of the runs that the range touches.
func (s *StaticPoints) maxIn(from, to vocab.Ordinal) (highest uint32) {
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

// maxFrom returns an upper bound on the points of all documents ≥ from.
func (s *StaticPoints) maxFrom(from vocab.Ordinal) uint32 { return s.largeOn[from/largeRun] }

// A Bitmap is a set of ordinals. A nil Bitmap is empty.
type Bitmap []uint64

// NewBitmap returns an empty set of ordinals below docs.
func NewBitmap(docs int) Bitmap { return make(Bitmap, (docs+63)/64) }

// Has reports whether i is in the set.
func (b Bitmap) Has(i vocab.Ordinal) bool { return b != nil && b[i>>6]>>(i&63)&1 != 0 }

// Add adds i, which must be below the capacity of the set.
func (b Bitmap) Add(i vocab.Ordinal) { b[i>>6] |= 1 << (i & 63) }
