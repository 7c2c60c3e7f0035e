package searcher

import (
	"cmp"
	"slices"

	"anatomy/vocab"
)

// A conjunction finds the pages that hold all of some words and are where all of some cursors are
// (block-max AND): the rarest leads, and stretches of documents whose bounds are below the least score
// wanted are passed over before anything else is decoded.
type conjunction struct {
	*walk
	*plan
	*collector
	movers []cursor      // lanes and filters, by cost
	lead   *lane         // the first of them; nil where that is a filter
	guide  *lane         // whose blocks are the stretches; nil where no word scores
	until  vocab.Ordinal // end of the stretch at hand
	bound  uint32        // of the scores in it
	others uint32        // of what all words but the lead add in it
	pages  uint32        // of what no word changes in it: that of one page is far away in memory
}

func (w *walk) conjunction(p *plan, c *collector) {
	j := &conjunction{walk: w, plan: p, collector: c}
	for _, l := range p.all {
		j.movers = append(j.movers, l)
	}
	j.movers = append(j.movers, p.filters...)
	slices.SortStableFunc(j.movers, func(a, b cursor) int { return cmp.Compare(a.cost(), b.cost()) })
	j.lead, _ = j.movers[0].(*lane)
	if lanes := slices.Concat(p.all, p.extra); len(lanes) > 0 {
		j.guide = lanes[0]
	}
	for ord := j.next(0); ord != end && !w.clock.tick(); ord = j.next(ord + 1) {
		j.visit(ord)
	}
}

// next is the first document at or after to where all movers are, unless its score is too low.
func (j *conjunction) next(to vocab.Ordinal) vocab.Ordinal {
next:
	for {
		if to = j.pass(to); to == end || j.clock.tick() {
			return end
		}
		lead := j.movers[0].advance(to)
		if lead == end {
			return end
		}
		if least := j.least(); least > 0 {
			if to = lead; lead >= j.until {
				continue
			}
			if j.lead != nil {
				most := j.lead.points() + j.others
				if j.pages+most < least {
					to = j.skip(least)
					continue
				}
				if j.ofPage(lead)+most < least {
					to++
					continue
				}
			}
		}
		for _, m := range j.movers[1:] {
			if at := m.advance(lead); at != lead {
				if to = at; at == end {
					return end
				}
				continue next
			}
		}
		return lead
	}
}

// skip is the first document behind that of the lead, as far as its block and the stretch reach, where the lead adds
// enough for the least score wanted.
func (j *conjunction) skip(least uint32) vocab.Ordinal {
	ordinals, impacts := j.lead.postings.Block()
	needed := neededOf(j.lead.step, j.pages+j.others, least)
	for i, impact := range impacts[1:] {
		if ord := vocab.Ordinal(ordinals[i+1]); impact >= needed || ord >= j.until {
			return ord
		}
	}
	return vocab.Ordinal(ordinals[len(ordinals)-1]) + 1
}

// pass is the first document from to on in a stretch that may hold a page with the least score wanted.
func (j *conjunction) pass(to vocab.Ordinal) vocab.Ordinal {
	least, docs := j.least(), vocab.Ordinal(j.part.seg.Docs())
	if least == 0 || to < j.until && j.bound >= least {
		return to
	}
	for to < docs {
		j.stretch(to, docs)
		if j.bound >= least {
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
	j.others = 0
	for _, lanes := range [][]*lane{j.all, j.extra} {
		for _, l := range lanes {
			l.bound = l.boundIn(to, j.until)
			j.others += l.bound
		}
	}
	j.pages = j.static(to, j.until)
	j.bound = j.pages + j.others
	if j.lead != nil {
		j.others -= j.lead.bound
	}
}

// visit takes a page that all movers are at, if its words stand as they should.
func (j *conjunction) visit(ord vocab.Ordinal) {
	if j.part.dead.has(ord) {
		return
	}
	first, least := uint32(0), j.least()
	if least > 0 {
		if first = j.points(); j.tooLow(j.pages+first, least) {
			return
		}
		if len(j.checks)+len(j.extra) > 0 && j.tooLow(j.ofPage(ord)+first, least) {
			return
		}
	}
	for _, phrase := range j.checks {
		if !phrase.here() {
			return
		}
	}
	if j.count++; least == 0 { // impacts of pages that hold the words apart were not needed
		first = j.points()
	}
	for _, l := range j.extra {
		if l.advance(ord) == ord {
			first += l.points()
		}
	}
	if first+j.static(ord, ord+1) < j.floor {
		return
	}
	if first += j.ofPage(ord); first >= j.floor {
		j.keep(first, ord)
	}
}

// points is what the words that all pages hold add to the page at hand.
func (j *conjunction) points() (sum uint32) {
	for _, l := range j.all {
		sum += l.points()
	}
	return sum
}

// tooLow says whether even all other words could not lift a page to the least score wanted.
func (j *conjunction) tooLow(first, least uint32) bool {
	for _, l := range j.extra {
		first += l.bound
	}
	return first < least
}
