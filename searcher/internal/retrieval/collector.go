package retrieval

import (
	"slices"

	"anatomy/vocab"
)

// A Match is a document with its score of the first phase, packed so that the better of two matches
// is the greater number: score<<32 | ^ordinal. Among equal scores the smaller ordinal is better.
type Match uint64

func newMatch(score uint32, ord vocab.Ordinal) Match {
	return Match(score)<<32 | Match(^ord)
}

// Score returns the score of the first phase.
func (m Match) Score() uint32 { return uint32(m >> 32) }

// Ordinal returns the document's ordinal.
func (m Match) Ordinal() vocab.Ordinal { return ^vocab.Ordinal(m) }

// A Collector keeps the best k documents of a segment and counts matches. It counts all of them up
// to countTo and until it holds k documents; from then on documents that cannot be collected may be
// skipped.
type Collector struct {
	k         int
	heap      []Match // the worst match on top
	threshold uint32  // minimum score to be collected
	count     int
	countTo   int
	skipped   bool // documents were skipped, so count is a lower bound
}

// countNothing is a countTo with which no document is counted that cannot be collected.
const countNothing = -1

// Count returns the number of matches, including those of earlier segments, and whether it is
// exact.
func (c *Collector) Count() (n int, exact bool) { return c.count, !c.skipped }

// Matches returns the collected matches, best first. The collector must not be used afterwards.
func (c *Collector) Matches() []Match {
	slices.Sort(c.heap)
	slices.Reverse(c.heap)
	return c.heap
}

// requiredScore returns the score below which a document may be skipped, or 0 while all matches are
// counted.
func (c *Collector) requiredScore() uint32 {
	if c.threshold == 0 || c.count <= c.countTo {
		return 0
	}
	c.skipped = true
	return c.threshold
}

// collect adds a document whose score reaches the threshold, if it is among the best. Documents come in
// ascending order, except within a window: so a later document with the score of the worst match is no
// better than that.
func (c *Collector) collect(score uint32, ord vocab.Ordinal) {
	match := newMatch(score, ord)
	if len(c.heap) < c.k {
		c.heap = append(c.heap, match)
		c.up(len(c.heap) - 1)
	} else if match > c.heap[0] {
		c.heap[0] = match
		c.down()
	}
	if len(c.heap) == c.k {
		c.threshold = max(c.threshold, c.heap[0].Score()+1)
	}
}

// The heap is inlined: container/heap calls three interface methods per step.

func (c *Collector) up(i int) {
	for i > 0 {
		parent := (i - 1) / 2
		if c.heap[parent] <= c.heap[i] {
			return
		}
		c.heap[i], c.heap[parent] = c.heap[parent], c.heap[i]
		i = parent
	}
}

func (c *Collector) down() {
	heap, match, i := c.heap, c.heap[0], 0
	for {
		kid := 2*i + 1
		if kid+1 < len(heap) && heap[kid+1] < heap[kid] {
			kid++
		}
		if kid >= len(heap) || heap[kid] >= match {
			heap[i] = match
			return
		}
		heap[i] = heap[kid]
		i = kid
	}
}
