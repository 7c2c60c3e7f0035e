package searcher

import (
	"cmp"
	"slices"

	"anatomy/disk/segment"
	"anatomy/vocab"
)

// A conjunction finds the pages that hold all of some words and are where all of some cursors are (block-max AND): the
// rarest leads, a block of its documents goes through the lists of the others, and what is left of it through filters and
// phrases. Stretches of documents whose bounds are below the least score wanted are passed over before anything is decoded,
// and documents as soon as the words to come cannot lift them up to it.
type conjunction struct {
	*walk
	*plan
	*collector
	lead    *lane   // the rarest word; nil where a filter leads
	leader  cursor  // that filter
	others  []*lane // the other words that all pages hold
	filters []cursor
	guide   *lane // whose blocks are the stretches; nil where no word scores
	batch   *segment.Batch

	wanted uint32        // the least score that is wanted of a batch, 0 while pages are counted
	until  vocab.Ordinal // end of the stretch at hand
	bound  uint32        // of the scores in it
	added  uint32        // what all words but the lead add in it
	pages  uint32        // of what no word changes in it: that of one page is far away in memory
}

func (w *walk) conjunction(p *plan, c *collector) {
	j := &conjunction{walk: w, plan: p, collector: c, others: p.all, filters: p.filters, batch: w.room.batch()}
	slices.SortStableFunc(j.filters, func(a, b cursor) int { return cmp.Compare(a.cost(), b.cost()) })
	if len(p.all) > 0 && (len(p.filters) == 0 || p.all[0].cost() <= p.filters[0].cost()) {
		j.lead, j.others = p.all[0], p.all[1:]
	} else {
		j.leader, j.filters = j.filters[0], j.filters[1:]
	}
	switch {
	case len(p.all) > 0:
		j.guide = p.all[0]
	case len(p.extra) > 0:
		j.guide = p.extra[0]
	}
	for from := j.next(0); from != end && !w.clock.look(); from = j.next(from) {
	}
	for _, l := range p.all {
		w.fail(l.postings.Err())
	}
}

// next visits the pages of a batch that begins at from or behind it, and gives what comes after it.
func (j *conjunction) next(from vocab.Ordinal) vocab.Ordinal {
	j.wanted = j.least()
	if from = j.pass(from); from == end {
		return end
	}
	if from = j.fill(from); j.batch.Len() == 0 {
		return from
	}
	rest := j.added
	for _, l := range j.others {
		rest -= l.bound
		if l.postings.Keep(j.batch, l.step, j.leastBut(rest)); j.batch.Len() == 0 {
			return from
		}
	}
	j.visitAll()
	return from
}

// pass is the first document from to on in a stretch that may hold a page with the least score wanted.
func (j *conjunction) pass(to vocab.Ordinal) vocab.Ordinal {
	docs := vocab.Ordinal(j.part.seg.Docs())
	if j.wanted == 0 {
		j.until = 0
		return to
	}
	for to < docs {
		if to >= j.until {
			j.stretch(to, docs)
		}
		if j.bound >= j.wanted {
			return to
		}
		to = j.until
	}
	return end
}

// stretch bounds the scores from to on, as far as the rarest word's bound reaches.
func (j *conjunction) stretch(to, docs vocab.Ordinal) {
	j.until = to + windowDocs
	if j.guide != nil {
		_, j.until = j.guide.postings.Bound(to)
	}
	j.until = min(j.until, docs)
	j.added = 0
	for _, lanes := range [][]*lane{j.all, j.extra} {
		for _, l := range lanes {
			l.bound = l.boundIn(to, j.until)
			j.added += l.bound
		}
	}
	j.pages = j.static(to, j.until)
	j.bound = j.pages + j.added
	if j.lead != nil {
		j.added -= j.lead.bound
	}
}

// fill makes the batch documents of the lead from from on, with points if a score is wanted, and gives what comes after
// them.
func (j *conjunction) fill(from vocab.Ordinal) (next vocab.Ordinal) {
	until := end
	if j.wanted > 0 {
		until = j.until
	}
	if j.lead == nil {
		next = j.fillByFilter(from, until)
	} else {
		next = j.lead.postings.Fill(j.batch, from, until, j.neededOfLead())
	}
	if j.wanted == 0 {
		return next
	}
	if j.lead != nil {
		j.lead.postings.Weigh(j.batch, j.lead.step)
	}
	j.batch.AddStatic(j.part.static.points, j.terms.shift, j.leastBut(j.added))
	return next
}

// leastBut is the score that is wanted of a page of the batch before rest is added, 0 only while none is wanted.
func (j *conjunction) leastBut(rest uint32) uint32 {
	if j.wanted == 0 {
		return 0
	}
	return max(1, j.wanted-min(j.wanted, rest))
}

func (j *conjunction) neededOfLead() uint8 {
	if j.wanted == 0 {
		return 0
	}
	return neededOf(j.lead.step, j.pages+j.added, j.wanted)
}

func (j *conjunction) fillByFilter(from, until vocab.Ordinal) (next vocab.Ordinal) {
	j.batch.Clear()
	for room := true; room; from++ {
		if from = j.leader.advance(from); from >= until {
			return from
		}
		room = j.batch.Add(from)
	}
	return from
}

// visitAll takes the pages of the batch that pass. While pages are counted all that pass are taken, and what their words
// add is not asked for before.
func (j *conjunction) visitAll() {
	if j.wanted == 0 {
		if len(j.filters)+len(j.checks) > 0 || j.part.dead != nil {
			j.batch.Retain(j.passes)
		}
		for _, l := range j.all {
			l.postings.Weigh(j.batch, l.step)
		}
	}
	for i := range j.batch.Len() {
		if j.wanted == 0 || !j.tooLow(j.batch.Points(i), j.least()) && j.passes(i) {
			j.take(j.batch.Ord(i), j.batch.Points(i))
		}
	}
}

// passes says whether a page of the batch is where all filters are, and its words stand as they should.
func (j *conjunction) passes(i int) bool {
	ord := j.batch.Ord(i)
	if j.clock.tick() || j.part.dead.has(ord) {
		return false
	}
	for _, f := range j.filters {
		if f.advance(ord) != ord {
			return false
		}
	}
	if len(j.checks) > 0 {
		for _, l := range j.all {
			l.postings.Stand(j.batch, i)
		}
	}
	for _, phrase := range j.checks {
		if !phrase.here() {
			return false
		}
	}
	return true
}

// take takes a page with the points of the words that all pages hold, and if a score is wanted those that no word changes.
func (j *conjunction) take(ord vocab.Ordinal, first uint32) {
	j.count++
	for _, l := range j.extra {
		if l.advance(ord) == ord {
			first += l.points()
		}
	}
	if j.wanted == 0 {
		if first+j.static(ord, ord+1) < j.floor {
			return
		}
		first += j.ofPage(ord)
	}
	if first >= j.floor {
		j.keep(first, ord)
	}
}

// tooLow says whether even all other words could not lift a page to the least score wanted.
func (j *conjunction) tooLow(first, least uint32) bool {
	for _, l := range j.extra {
		first += l.bound
	}
	return first < least
}
