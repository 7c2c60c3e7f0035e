// Package retrieval finds the documents of one segment that match a query, and the best of them by
// impact: the first phase of ranking.
//
// [Walk.Iterator] turns a query into a tree of iterators over documents in ascending order: posting
// lists, phrases, filters, conjunctions, disjunctions and exclusions. [Walk.Collect] finds the best
// documents. Their score is a sum of integers: step × impact for each term of the query, plus the
// document's static points. All of these are inputs: the package knows no weights. It plans a query
// as a disjunction (MaxScore of Turtle and Flood 1995, with the block maxima of Ding and Suel 2011)
// or as a conjunction (block-max AND), and skips documents whose upper bound is below the
// collector's threshold.
package retrieval

import (
	"anatomy/disk/segment"
	"anatomy/searcher/internal/arena"
	"anatomy/vocab"
)

// A Part is a segment within a snapshot. It is immutable.
type Part struct {
	Segment *segment.Segment
	Name    string
	Base    vocab.DocID // added to DocIDs of the segment in queries
	Dead    Bitmap      // documents that a later segment supersedes or deletes
	Static  StaticPoints
}

// Terms are the scoring terms of a query. The zero Terms are for walks that only match.
type Terms struct {
	Words []string // distinct
	Steps []uint32 // by word: points per unit of impact
	Shift uint8    // points are counted in units of 1<<Shift
}

// An Arena is the memory of the walks of one query, which the next query reuses. The window, the
// batch and the collector serve one walk at a time. The zero Arena is ready for use.
type Arena struct {
	scratch
	window    *scoreWindow
	batch     *segment.Batch
	collector Collector
	walks     arena.Of[Walk]
	plans     arena.Of[plan]
	terms     arena.Of[termIterator]
	impacts   arena.Of[impactIterator]
	scoring   arena.Of[*impactIterator]
	iterators arena.Of[Iterator]
}

// Reset frees the memory of a query. After a panic an arena must not be reused, because its window
// may be partly filled.
func (a *Arena) Reset() {
	a.scratch.reset()
	a.walks.Reset()
	a.plans.Reset()
	a.terms.Reset()
	a.impacts.Reset()
	a.scoring.Reset()
	a.iterators.Reset()
}

// Collector returns a collector of the best k documents that continues from earlier segments: with
// their threshold and number of matches, of which it counts countTo exactly.
func (a *Arena) Collector(k int, threshold uint32, count, countTo int) *Collector {
	heap := a.collector.heap[:0]
	a.collector = Collector{k: k, heap: heap, threshold: threshold, count: count, countTo: countTo}
	return &a.collector
}

func (a *Arena) scoreWindow() *scoreWindow {
	if a.window == nil {
		a.window = &scoreWindow{}
	}
	return a.window
}

func (a *Arena) docBatch() *segment.Batch {
	if a.batch == nil {
		a.batch = &segment.Batch{}
	}
	return a.batch
}

// A Walk is the evaluation of one query in one segment.
type Walk struct {
	status
	part    *Part
	terms   Terms
	impacts []*impactIterator // by term; nil if the segment does not have it
	arena   *Arena
}

// Walk returns a walk over a segment, given the full posting lists of its terms, with nil for terms
// that the segment does not have. If lists is nil the walk does not score.
func (a *Arena) Walk(part *Part, terms Terms, lists []*segment.PostingIterator, clock *Clock) *Walk {
	w := a.walks.New()
	*w = Walk{status: status{clock: clock}, part: part, terms: terms, arena: a}
	w.impacts = a.scoring.Alloc(len(lists))
	for i, list := range lists {
		if list != nil {
			w.impacts[i] = a.impacts.New()
			*w.impacts[i] = impactIterator{status: &w.status, postings: list, step: terms.Steps[i]}
		}
	}
	return w
}

// Segment returns the segment.
func (w *Walk) Segment() *segment.Segment { return w.part.Segment }

// staticPoints returns the static points of a document.
func (w *Walk) staticPoints(ord vocab.Ordinal) uint32 {
	return w.part.Static.points[ord] >> w.terms.Shift
}

// maxStatic returns an upper bound on the static points in [from, to).
func (w *Walk) maxStatic(from, to vocab.Ordinal) uint32 {
	return w.part.Static.maxIn(from, to) >> w.terms.Shift
}

// A plan is the way to find the matches of a query in one segment: as a disjunction of terms, or as
// a conjunction of terms, phrases and filters.
type plan struct {
	anyOf    []*impactIterator // of a disjunction: every match has one of them, and no other term scores
	allOf    []*impactIterator // of a conjunction: every match has all of them,
	phrases  []*phraseIterator // contains these,
	optional []*impactIterator // and may have these
	filters  []Iterator        // of either: every match passes all of them
	empty    bool              // no document matches
}
