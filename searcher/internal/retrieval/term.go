package retrieval

import (
	"anatomy/disk/segment"
	"anatomy/searcher/internal/arena"
	"anatomy/vocab"
)

// A scratch is reusable memory for iterators: a posting iterator alone takes 3 KB.
type scratch struct {
	lists   []*segment.PostingIterator // the first used ones are in use
	used    int
	word    []byte // term to look up
	ints    arena.Of[int]
	uint32s arena.Of[uint32]
}

// maxKeptLists bounds the posting iterators that a scratch keeps for the next query.
const maxKeptLists = 64

func (s *scratch) reset() {
	if s.used = 0; len(s.lists) > maxKeptLists {
		clear(s.lists[maxKeptLists:])
		s.lists = s.lists[:maxKeptLists]
	}
	s.ints.Reset()
	s.uint32s.Reset()
}

// postings returns memory for a posting iterator.
func (s *scratch) postings() *segment.PostingIterator {
	if s.used == len(s.lists) {
		s.lists = append(s.lists, &segment.PostingIterator{})
	}
	s.used++
	return s.lists[s.used-1]
}

// Open opens a term's posting list. It returns nil if the segment does not have the term.
func (s *scratch) Open(
	seg *segment.Segment, list segment.List, term string,
) (*segment.PostingIterator, error) {
	p := s.postings()
	s.word = append(s.word[:0], term...)
	if found, err := p.Open(seg, list, s.word); err != nil || !found {
		s.used--
		return nil, err
	}
	return p, nil
}

// A termIterator walks the posting list of one term.
type termIterator struct {
	status   *status
	postings *segment.PostingIterator // nil if the segment does not have the term
	df       int
	at       vocab.Ordinal
	started  bool
}

func (it *termIterator) Cost() int { return it.df }

func (it *termIterator) Advance(target vocab.Ordinal) vocab.Ordinal {
	if it.started && it.at >= target {
		return it.at
	}
	it.started = true
	if it.status.clock.Tick() || !it.postings.Advance(target) {
		return it.stop()
	}
	it.at = it.postings.Ord()
	return it.at
}

func (it *termIterator) stop() vocab.Ordinal {
	it.at = End
	if it.postings != nil {
		it.status.fail(it.postings.Err())
	}
	return End
}

// density returns the mean number of hits per document.
func (it *termIterator) density() float64 {
	return float64(it.postings.TotalHits()) / float64(max(it.df, 1))
}

// hitCount returns the approximate number of hits in the current document, or 0 if they cannot be
// read.
func (it *termIterator) hitCount() int {
	n, err := it.postings.HitCount()
	it.status.fail(err)
	return n
}

// appendPositions appends the field positions of the current document's hits to buf.
func (it *termIterator) appendPositions(buf []vocab.FieldPosition) []vocab.FieldPosition {
	positions, err := it.postings.FieldPositions(buf)
	if err != nil {
		it.status.fail(err)
		return buf
	}
	return positions
}

// appendHits appends the current document's hits to buf.
func (it *termIterator) appendHits(buf []vocab.Hit) []vocab.Hit {
	hits, err := it.postings.Hits(buf)
	if err != nil {
		it.status.fail(err)
		return buf
	}
	return hits
}

// An impactIterator walks the posting list of a scoring term: a posting adds step × impact to the
// score of the first phase.
type impactIterator struct {
	status     *status
	postings   *segment.PostingIterator
	step       uint32        // points per unit of impact
	upperBound uint32        // of the term's points in the current range of documents
	at         vocab.Ordinal // in a disjunction: the position, or before it, see disjunction.gather
}

func (it *impactIterator) Cost() int { return it.postings.DF() }

func (it *impactIterator) Advance(target vocab.Ordinal) vocab.Ordinal {
	if it.status.clock.Tick() || !it.postings.Advance(target) {
		it.status.fail(it.postings.Err())
		return End
	}
	return it.postings.Ord()
}

// points returns the term's points for the current document.
func (it *impactIterator) points() uint32 { return it.step * uint32(it.postings.Impact()) }

// maxPoints returns an upper bound on the term's points for any document.
func (it *impactIterator) maxPoints() uint32 { return it.step * uint32(it.postings.MaxImpact()) }

// maxIn returns an upper bound on the term's points for the documents in [from, to).
func (it *impactIterator) maxIn(from, to vocab.Ordinal) uint32 {
	return it.step * uint32(it.postings.MaxImpactIn(from, to))
}

// maxAt returns an upper bound on the term's points in the block of ord.
func (it *impactIterator) maxAt(ord vocab.Ordinal) uint32 {
	impact, _ := it.postings.BlockMax(ord)
	return it.step * uint32(impact)
}

// maxImpact is the maximum impact of a posting.
const maxImpact = 255

// requiredImpact returns the minimum impact with which a document can reach the threshold if
// everything but the term adds at most others.
func requiredImpact(step, others, threshold uint32) uint8 {
	if threshold <= others || step == 0 {
		return 0
	}
	return uint8(min((threshold-others+step-1)/step, maxImpact))
}
