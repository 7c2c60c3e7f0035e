package retrieval

import (
	"math/bits"
	"slices"
	"sort"

	"anatomy/vocab"
)

// A disjunction collects the documents that contain any of some terms (block-max MaxScore over
// windows).
//
// It walks the segment in ranges of documents. In each range, terms are sorted by upper bound. The
// lowest terms whose bounds, together with the best static points, stay below the threshold are
// non-essential: a document that has only such terms cannot be collected. The lists of the
// essential terms are walked, and the others are looked up for the documents found. Filters are
// tested last, for documents with a sufficient score.
type disjunction struct {
	*Walk
	*Collector
	*scoreWindow
	terms   []*impactIterator // by maximum points, ascending
	byBound []*impactIterator // by upper bound in the current range, ascending
	filters []Iterator
}

func runDisjunction(w *Walk, p *plan, c *Collector) {
	d := &disjunction{
		Walk: w, Collector: c, scoreWindow: w.arena.scoreWindow(),
		terms: p.anyOf, byBound: slices.Clone(p.anyOf), filters: p.filters,
	}
	slices.SortStableFunc(d.terms, func(a, b *impactIterator) int {
		return int(a.maxPoints()) - int(b.maxPoints())
	})
	if len(d.terms) == 1 && d.countsPostings() {
		d.countTo = countNothing // raiseCount knows how many match: an eighth of a query for one word
	}
	d.raiseThreshold()
	docs := vocab.Ordinal(w.part.Segment.Docs())
	for from := vocab.Ordinal(0); from < docs && !w.clock.Check(); {
		to := d.rangeEnd(from, docs)
		if to == End {
			return
		}
		d.collectRange(from, to)
		from = to
	}
}

// countsPostings reports whether the matches of a term are all its postings: none is filtered or dead.
func (d *disjunction) countsPostings() bool { return len(d.filters) == 0 && d.part.Dead == nil }

// raiseThreshold raises the threshold, before any document is examined, to a score that k documents
// reach by a single term. It does nothing if documents may be filtered or all are counted.
func (d *disjunction) raiseThreshold() {
	postings := 0
	for _, it := range d.terms {
		postings += it.Cost()
	}
	if postings <= d.countTo || !d.countsPostings() {
		return
	}
	for _, it := range d.terms {
		d.threshold = max(d.threshold, it.step*uint32(it.postings.KthImpact(d.k)))
	}
}

// rangeEnd returns the end of the range that begins at from: that of a block of the essential
// terms, but at least a window. It returns End if no document ≥ from can reach the threshold.
func (d *disjunction) rangeEnd(from, docs vocab.Ordinal) vocab.Ordinal {
	required, sum, to := d.requiredScore(), d.part.Static.maxFrom(from)>>d.Walk.terms.Shift, docs
	for i, it := range d.terms {
		if sum += it.maxPoints(); sum < required && i < len(d.terms)-1 {
			continue
		}
		if sum < required {
			return End
		}
		_, blockEnd := it.postings.BlockMax(from)
		to = min(to, blockEnd)
	}
	return min(max(to, from+windowDocs), docs)
}

// collectRange collects the documents in [from, to).
func (d *disjunction) collectRange(from, to vocab.Ordinal) {
	required, othersUpperBound, n := d.requiredScore(), uint32(0), 0
	static := d.maxStatic(from, to)
	if required > 0 {
		for _, it := range d.byBound {
			it.upperBound = it.maxIn(from, to)
		}
		sortByBound(d.byBound)
		for n < len(d.byBound) && static+othersUpperBound+d.byBound[n].upperBound < required {
			othersUpperBound += d.byBound[n].upperBound
			n++
		}
	}
	switch others, essential := d.byBound[:n], d.byBound[n:]; len(essential) {
	case 0:
	case 1:
		d.walkOne(essential[0], others, othersUpperBound, static, from, to)
	default:
		d.walkSeveral(essential, others, othersUpperBound, static, from, to)
	}
}

// sortByBound is an insertion sort, because terms are few and mostly in order.
func sortByBound(terms []*impactIterator) {
	for i := 1; i < len(terms); i++ {
		for k := i; k > 0 && terms[k].upperBound < terms[k-1].upperBound; k-- {
			terms[k], terms[k-1] = terms[k-1], terms[k]
		}
	}
}

// scoresAlone reports whether every document with a posting of an essential term matches with its
// final score: no other term or static points add to it, and no filter applies.
func (d *disjunction) scoresAlone(others []*impactIterator) bool {
	return len(others) == 0 && d.countsPostings()
}

// walkOne walks the list of the only essential term. The other terms add at most othersUpperBound,
// and static is an upper bound on static points.
func (d *disjunction) walkOne(
	it *impactIterator, others []*impactIterator, othersUpperBound, static uint32, from, to vocab.Ordinal,
) {
	for from < to && !d.clock.Tick() {
		impact, blockEnd := it.postings.BlockMax(from)
		if it.step*uint32(impact)+othersUpperBound+static < d.requiredScore() {
			from = blockEnd
			continue
		}
		if !it.postings.Advance(from) {
			d.fail(it.postings.Err())
			return
		}
		ordinals, impacts := it.postings.Block()
		if from = vocab.Ordinal(ordinals[len(ordinals)-1]) + 1; from > to {
			ordinals = ordinals[:countBelow(ordinals, to)]
		}
		if impacts = impacts[:len(ordinals)]; d.scoresAlone(others) {
			d.collectBlock(it.step, static, ordinals, impacts)
		} else {
			d.lookUpBlock(it.step, others, othersUpperBound, static, ordinals, impacts)
		}
	}
}

// countBelow returns how many of ascending ordinals are below to.
func countBelow(ordinals []uint32, to vocab.Ordinal) int {
	return sort.Search(len(ordinals), func(i int) bool { return vocab.Ordinal(ordinals[i]) >= to })
}

// collectBlock collects the postings of a block if scoresAlone holds.
func (d *disjunction) collectBlock(step, staticBound uint32, ordinals []uint32, impacts []uint8) {
	static, shift := d.part.Static.points, d.Walk.terms.Shift
	d.count += len(ordinals)
	required := requiredImpact(step, staticBound, d.threshold)
	for i, impact := range impacts {
		if impact < required { // tested first: static points are far away in memory
			continue
		}
		if score := static[ordinals[i]]>>shift + step*uint32(impact); score >= d.threshold {
			d.collect(score, vocab.Ordinal(ordinals[i]))
			required = requiredImpact(step, staticBound, d.threshold)
		}
	}
}

// lookUpBlock scores the postings of a block, and looks up the other terms for those that may reach
// the threshold.
func (d *disjunction) lookUpBlock(
	step uint32, others []*impactIterator, othersUpperBound, staticBound uint32,
	ordinals []uint32, impacts []uint8,
) {
	static, shift, dead := d.part.Static.points, d.Walk.terms.Shift, d.part.Dead
	required := d.requiredScore()
	needed := requiredImpact(step, othersUpperBound+staticBound, required)
	for i, impact := range impacts {
		if impact < needed {
			continue
		}
		ord := ordinals[i]
		score := static[ord]>>shift + step*uint32(impact)
		if score+othersUpperBound < required || dead.Has(vocab.Ordinal(ord)) {
			continue
		}
		d.lookUp(vocab.Ordinal(ord), score, others, othersUpperBound)
		if now := d.requiredScore(); now != required {
			required, needed = now, requiredImpact(step, othersUpperBound+staticBound, now)
		}
	}
}

// lookUp adds the points of the other terms to a document's score while they may lift it to the
// threshold, tests the filters, and collects the document.
func (d *disjunction) lookUp(
	ord vocab.Ordinal, score uint32, others []*impactIterator, othersUpperBound uint32,
) {
	required := d.requiredScore()
	for _, it := range slices.Backward(others) {
		if score+othersUpperBound < required {
			return
		}
		if othersUpperBound -= it.upperBound; score+othersUpperBound+it.maxAt(ord) < required {
			return
		}
		if it.Advance(ord) == ord {
			score += it.points()
		}
	}
	if len(d.filters) > 0 && !d.passes(ord) {
		return
	}
	if d.count++; score >= d.threshold {
		d.collect(score, ord)
	}
}

// passes reports whether a document passes all filters.
func (d *disjunction) passes(ord vocab.Ordinal) bool {
	for _, f := range d.filters {
		if f.Advance(ord) != ord {
			return false
		}
	}
	return true
}

// walkSeveral sums up the scores of the essential terms, window by window.
func (d *disjunction) walkSeveral(
	essential, others []*impactIterator, othersUpperBound, static uint32, from, to vocab.Ordinal,
) {
	alone := d.scoresAlone(others)
	for _, it := range essential {
		it.at = from
		alone = alone && it.step > 0
	}
	for base := from; base < to && !d.clock.Check(); {
		base &^= 63
		next, windowEnd := to, min(base+windowDocs, to)
		for _, it := range essential {
			if it.at < windowEnd {
				d.gather(it, base, windowEnd, alone)
			}
			next = min(next, it.at)
		}
		if alone {
			d.collectListed(base, static)
		} else {
			d.collectSeen(base, others, othersUpperBound, static)
		}
		base = next
	}
}

// gather adds a term's impacts to the scores of a window, starting at the iterator's position, and
// moves the iterator to the first document after the window or beyond. If alone is set, scores are
// final and documents are listed; otherwise they are marked.
func (d *disjunction) gather(it *impactIterator, base, windowEnd vocab.Ordinal, alone bool) {
	for ok := it.postings.Advance(it.at); ok; ok = it.postings.NextBlock() {
		ordinals, impacts := it.postings.Block()
		n := len(ordinals)
		if vocab.Ordinal(ordinals[n-1]) >= windowEnd {
			n = countBelow(ordinals, windowEnd)
		}
		if alone {
			d.list(it.step, uint32(base), ordinals[:n], impacts[:n])
		} else {
			d.mark(it.step, uint32(base), ordinals[:n], impacts[:n])
		}
		if n < len(ordinals) {
			it.at = vocab.Ordinal(ordinals[n])
			return
		}
	}
	it.at = End
	d.fail(it.postings.Err())
}

// collectListed collects the listed documents, all of which match. They are in no order, so that one
// with the score of the worst match may be better than it by its ordinal. Sorting them took a tenth of
// a query for any of some words.
func (d *disjunction) collectListed(base vocab.Ordinal, static uint32) {
	least := d.threshold
	required := least - min(least, static)
	for _, at := range d.listed[:d.n] {
		score := d.scores[at%windowDocs]
		d.scores[at%windowDocs] = 0
		if score < required { // static points are far away in memory
			continue
		}
		ord := base + vocab.Ordinal(at)
		if score += d.staticPoints(ord); score >= least {
			d.collect(score, ord)
			least = max(least, max(d.threshold, 1)-1)
			required = least - min(least, static)
		}
	}
	d.count += d.n
	d.n = 0
}

// collectSeen collects the marked documents of a window. It first skips documents that cannot reach
// the threshold with staticBound, the best static points, because static points are far away in
// memory.
func (d *disjunction) collectSeen(
	base vocab.Ordinal, others []*impactIterator, othersUpperBound, staticBound uint32,
) {
	static, shift := d.part.Static.points[base:], d.Walk.terms.Shift
	required := d.requiredScore()
	final := len(others) == 0 && len(d.filters) == 0
	for i, word := range d.seen {
		if word == 0 {
			continue
		}
		d.seen[i] = 0
		dead := uint64(0)
		if d.part.Dead != nil {
			dead = d.part.Dead[int(base)/64+i]
		}
		if final {
			d.count += bits.OnesCount64(word &^ dead)
		}
		for ; word != 0; word &= word - 1 {
			at := i*64 + bits.TrailingZeros64(word)
			score := d.scores[at]
			d.scores[at] = 0
			if most := score + othersUpperBound + staticBound; most < required || final && most < d.threshold {
				continue
			}
			if score += static[at] >> shift; score+othersUpperBound < required || dead&word&-word != 0 {
				continue
			}
			if ord := base + vocab.Ordinal(at); !final {
				d.lookUp(ord, score, others, othersUpperBound)
			} else if score >= d.threshold {
				d.collect(score, ord)
			}
		}
	}
}
