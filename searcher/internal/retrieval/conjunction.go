package retrieval

import (
	"cmp"
	"slices"

	"anatomy/disk/segment"
	"anatomy/vocab"
)

// A conjunction collects the documents that contain all of some terms and pass all filters and
// phrases (block-max AND).
//
// The driver is the rarest term, or a rarer filter. It fills a batch with documents, which is
// intersected with the posting lists of the other terms. Filters and phrases test the remaining
// documents. A range of documents whose upper bound is below the threshold is skipped before it is
// decoded, and a document as soon as the remaining terms cannot lift it to the threshold.
type conjunction struct {
	*Walk
	*plan
	*Collector
	driver       *impactIterator // rarest term; nil if a filter is the driver
	filterDriver Iterator        // the filter that is the driver
	others       []*impactIterator
	filters      []Iterator      // without filterDriver, by cost
	guide        *impactIterator // its blocks are the ranges that are skipped; nil if no term scores
	batch        *segment.Batch

	required         uint32        // score below which a document of the batch is skipped; 0 while all are counted
	rangeEnd         vocab.Ordinal // end of the current range of documents
	upperBound       uint32        // of the scores in the range
	othersUpperBound uint32        // of the points of all terms but the driver
	staticUpperBound uint32        // of the static points
}

func runConjunction(w *Walk, p *plan, c *Collector) {
	j := &conjunction{
		Walk: w, plan: p, Collector: c,
		others: p.allOf, filters: p.filters, batch: w.arena.docBatch(),
	}
	slices.SortStableFunc(j.filters, func(a, b Iterator) int { return cmp.Compare(a.Cost(), b.Cost()) })
	if len(p.allOf) > 0 && (len(p.filters) == 0 || p.allOf[0].Cost() <= p.filters[0].Cost()) {
		j.driver, j.others = p.allOf[0], p.allOf[1:]
	} else {
		j.filterDriver, j.filters = j.filters[0], j.filters[1:]
	}
	switch {
	case len(p.allOf) > 0:
		j.guide = p.allOf[0]
	case len(p.optional) > 0:
		j.guide = p.optional[0]
	}
	for from := j.collectBatch(0); from != End && !w.clock.Check(); from = j.collectBatch(from) {
	}
	for _, it := range p.allOf {
		w.fail(it.postings.Err())
	}
}

// collectBatch collects the documents of the next batch, which begins at or after from. It returns
// the document after the batch, or End.
func (j *conjunction) collectBatch(from vocab.Ordinal) (next vocab.Ordinal) {
	j.required = j.requiredScore()
	if from = j.skip(from); from == End {
		return End
	}
	if from = j.fill(from); j.batch.Len() == 0 {
		return from
	}
	rest := j.othersUpperBound
	for _, it := range j.others {
		rest -= it.upperBound
		least := j.requiredWithout(rest)
		if it.postings.Intersect(j.batch, it.step, least); j.batch.Len() == 0 {
			return from
		}
		if j.required > 0 && least == 0 { // Intersect has added nothing
			it.postings.AddImpacts(j.batch, it.step)
		}
	}
	j.collectAll()
	return from
}

// skip returns the first document ≥ from in a range that may contain one with the required score,
// or End.
func (j *conjunction) skip(from vocab.Ordinal) vocab.Ordinal {
	docs := vocab.Ordinal(j.part.Segment.Docs())
	if j.required == 0 {
		j.rangeEnd = 0
		return from
	}
	for from < docs {
		if from >= j.rangeEnd {
			j.nextRange(from, docs)
		}
		if j.upperBound >= j.required {
			return from
		}
		from = j.rangeEnd
	}
	return End
}

// nextRange sets the upper bounds of the range that begins at from: a block of the guide.
func (j *conjunction) nextRange(from, docs vocab.Ordinal) {
	j.rangeEnd = from + windowDocs
	if j.guide != nil {
		_, j.rangeEnd = j.guide.postings.BlockMax(from)
	}
	j.rangeEnd = min(j.rangeEnd, docs)
	j.othersUpperBound = 0
	for _, iterators := range [][]*impactIterator{j.allOf, j.optional} {
		for _, it := range iterators {
			it.upperBound = it.maxIn(from, j.rangeEnd)
			j.othersUpperBound += it.upperBound
		}
	}
	j.staticUpperBound = j.maxStatic(from, j.rangeEnd)
	j.upperBound = j.staticUpperBound + j.othersUpperBound
	if j.driver != nil {
		j.othersUpperBound -= j.driver.upperBound
	}
}

// fill fills the batch with documents of the driver ≥ from, with points if a score is required. It
// returns the document after the batch.
func (j *conjunction) fill(from vocab.Ordinal) (next vocab.Ordinal) {
	end := End
	if j.required > 0 {
		end = j.rangeEnd
	}
	if j.driver == nil {
		next = j.fillByFilter(from, end)
	} else {
		next = j.driver.postings.Fill(j.batch, from, end, j.requiredOfDriver())
	}
	if j.required == 0 {
		return next
	}
	if j.driver != nil {
		j.driver.postings.AddImpacts(j.batch, j.driver.step)
	}
	j.batch.AddStatic(j.part.Static.points, j.terms.Shift, j.requiredWithout(j.othersUpperBound))
	return next
}

func (j *conjunction) fillByFilter(from, end vocab.Ordinal) (next vocab.Ordinal) {
	j.batch.Clear()
	for room := true; room; from++ {
		if from = j.filterDriver.Advance(from); from >= end {
			return from
		}
		room = j.batch.Add(from)
	}
	return from
}

// requiredOfDriver returns the minimum impact for a posting of the driver.
func (j *conjunction) requiredOfDriver() uint8 {
	if j.required == 0 {
		return 0
	}
	return requiredImpact(j.driver.step, j.staticUpperBound+j.othersUpperBound, j.required)
}

// requiredWithout returns the score that a document needs before rest is added.
func (j *conjunction) requiredWithout(rest uint32) uint32 {
	return j.required - min(j.required, rest)
}

// collectAll collects the documents of the batch that pass filters and phrases. While all matches
// are counted, only the documents that pass are scored.
func (j *conjunction) collectAll() {
	if j.required == 0 {
		if len(j.filters)+len(j.phrases) > 0 || j.part.Dead != nil {
			j.batch.Retain(j.passes)
		}
		for _, it := range j.allOf {
			it.postings.AddImpacts(j.batch, it.step)
		}
	}
	for i := range j.batch.Len() {
		if j.required == 0 || !j.tooLow(j.batch.Score(i), j.requiredScore()) && j.passes(i) {
			j.collectOne(j.batch.Ord(i), j.batch.Score(i))
		}
	}
}

// passes reports whether a document of the batch is live and passes all filters and phrases.
func (j *conjunction) passes(i int) bool {
	ord := j.batch.Ord(i)
	if j.clock.Tick() || j.part.Dead.Has(ord) {
		return false
	}
	for _, f := range j.filters {
		if f.Advance(ord) != ord {
			return false
		}
	}
	if len(j.phrases) > 0 {
		for _, it := range j.allOf {
			it.postings.MoveTo(j.batch, i)
		}
	}
	for _, p := range j.phrases {
		if !p.matches() {
			return false
		}
	}
	return true
}

// tooLow reports whether a document with the given points cannot reach the required score.
func (j *conjunction) tooLow(points, required uint32) bool {
	for _, it := range j.optional {
		points += it.upperBound
	}
	return points < required
}

// collectOne collects a document with the points of the terms that all matches have and, if a score
// is required, its static points.
func (j *conjunction) collectOne(ord vocab.Ordinal, score uint32) {
	j.count++
	for _, it := range j.optional {
		if it.Advance(ord) == ord {
			score += it.points()
		}
	}
	if j.required == 0 {
		if score+j.maxStatic(ord, ord+1) < j.threshold {
			return
		}
		score += j.staticPoints(ord)
	}
	if score >= j.threshold {
		j.collect(score, ord)
	}
}
