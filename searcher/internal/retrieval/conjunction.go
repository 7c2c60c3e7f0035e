package retrieval

import (
	"cmp"
	"slices"

	"anatomy/disk/segment"
	"anatomy/vocab"
)

// A conjunction collects the documents that hold all of some terms and pass all filters and phrases
// (block-max AND).
//
// The rarest term, or a rarer filter, is the driver: it fills a batch with documents, which the
// posting lists of the other terms intersect. Filters and phrases see what is left. A stretch of
// documents whose upper bound is below the threshold is skipped before anything of it is decoded,
// and a document as soon as the remaining terms cannot lift it to the threshold.
type conjunction struct {
	*Walk
	*plan
	*Collector
	driver       *impactIterator // rarest term; nil if a filter drives
	filterDriver Iterator        // that filter
	others       []*impactIterator
	filters      []Iterator      // without filterDriver, by cost
	guide        *impactIterator // its blocks are the stretches; nil if no term scores
	batch        *segment.Batch

	required         uint32        // score that a document of the batch needs, 0 while all are counted
	stretchEnd       vocab.Ordinal // of the current stretch of documents
	upperBound       uint32        // of the scores in it
	othersUpperBound uint32        // of what all terms but the driver add in it
	staticUpperBound uint32        // of the static points in it
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

// collectBatch collects the documents of the next batch, which begins at from or after it. It
// returns the document after the batch, or End.
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

// skip returns the first document ≥ from in a stretch that may hold one with the required score,
// or End.
func (j *conjunction) skip(from vocab.Ordinal) vocab.Ordinal {
	docs := vocab.Ordinal(j.part.Segment.Docs())
	if j.required == 0 {
		j.stretchEnd = 0
		return from
	}
	for from < docs {
		if from >= j.stretchEnd {
			j.nextStretch(from, docs)
		}
		if j.upperBound >= j.required {
			return from
		}
		from = j.stretchEnd
	}
	return End
}

// nextStretch sets the upper bounds of the stretch that begins at from: a block of the guide.
func (j *conjunction) nextStretch(from, docs vocab.Ordinal) {
	j.stretchEnd = from + windowDocs
	if j.guide != nil {
		_, j.stretchEnd = j.guide.postings.BlockMax(from)
	}
	j.stretchEnd = min(j.stretchEnd, docs)
	j.othersUpperBound = 0
	for _, iterators := range [][]*impactIterator{j.allOf, j.optional} {
		for _, it := range iterators {
			it.upperBound = it.maxIn(from, j.stretchEnd)
			j.othersUpperBound += it.upperBound
		}
	}
	j.staticUpperBound = j.maxStatic(from, j.stretchEnd)
	j.upperBound = j.staticUpperBound + j.othersUpperBound
	if j.driver != nil {
		j.othersUpperBound -= j.driver.upperBound
	}
}

// fill fills the batch with documents of the driver from from on, with points if a score is
// required, and returns the document after them.
func (j *conjunction) fill(from vocab.Ordinal) (next vocab.Ordinal) {
	end := End
	if j.required > 0 {
		end = j.stretchEnd
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

// requiredOfDriver returns the least impact that a posting of the driver needs.
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

// collectAll collects the documents of the batch that pass filters and phrases. While documents are
// counted, all that pass are collected, and only they are scored.
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

// tooLow reports whether a document with some points cannot reach the required score.
func (j *conjunction) tooLow(points, required uint32) bool {
	for _, it := range j.optional {
		points += it.upperBound
	}
	return points < required
}

// collectOne collects a document with the points of the terms that all matches hold and, if a score
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
