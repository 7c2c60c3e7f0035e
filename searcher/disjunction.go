package searcher

import (
	"math/bits"
	"slices"
	"sort"

	"anatomy/vocab"
)

// windowDocs is how many documents scores are added up for at a time.
const windowDocs = 4096

// A disjunction finds the pages that hold any of some words (block-max MaxScore over windows). Documents
// are gone through in stretches, in each of which the words are ordered by what they can add there. Those
// at the low end that together, with the best static points, stay below the least score wanted cannot bring in
// a page by themselves: the others' lists are walked, and these looked up for what is found there. Filters are
// asked last, about pages whose score is high enough.
type disjunction struct {
	*walk
	*collector
	lanes   []*lane // by their most, ascending
	filters []cursor
	local   []*lane // by their bound in the stretch at hand, ascending
	*scoreWindow
}

func (w *walk) disjunction(p *plan, c *collector) {
	d := &disjunction{walk: w, collector: c, lanes: p.any, filters: p.filters, local: slices.Clone(p.any), scoreWindow: w.room.windows()}
	slices.SortStableFunc(d.lanes, func(a, b *lane) int { return int(a.most()) - int(b.most()) })
	d.prime()
	docs := vocab.Ordinal(w.part.seg.Docs())
	for from := vocab.Ordinal(0); from < docs && !w.clock.look(); {
		to := d.stretch(from, docs)
		if to == end {
			return
		}
		d.visit(from, to)
		from = to
	}
}

// prime raises the least score wanted before any page is looked at: as many pages as are wanted have what one word alone
// gives them.
func (d *disjunction) prime() {
	postings := 0
	for _, l := range d.lanes {
		postings += l.cost()
	}
	if postings <= d.countTo || len(d.filters) > 0 || d.part.dead != nil { // pages may be left out, or all are counted
		return
	}
	for _, l := range d.lanes {
		d.floor = max(d.floor, l.step*uint32(l.postings.Reached(d.k)))
	}
}

// stretch gives the end of a stretch of documents: a block of the essential words' lists, a window at least.
// It is past all documents where no page can reach the least score wanted.
func (d *disjunction) stretch(from, docs vocab.Ordinal) vocab.Ordinal {
	least, sum, to := d.least(), d.part.static.maxFrom(from)>>d.terms.shift, docs
	for i, l := range d.lanes {
		if sum += l.most(); sum < least && i < len(d.lanes)-1 {
			continue
		}
		if sum < least {
			return end
		}
		_, until := l.postings.Bound(from)
		to = min(to, until)
	}
	return min(max(to, from+windowDocs), docs)
}

// visit goes through the documents in [from, to).
func (d *disjunction) visit(from, to vocab.Ordinal) {
	least, rest, n := d.least(), uint32(0), 0
	best := d.static(from, to)
	if least > 0 {
		for _, l := range d.local {
			l.bound = l.boundIn(from, to)
		}
		sortByBound(d.local)
		for n < len(d.local) && best+rest+d.local[n].bound < least {
			rest += d.local[n].bound
			n++
		}
	}
	switch others, essential := d.local[:n], d.local[n:]; len(essential) {
	case 0:
	case 1:
		d.one(essential[0], others, rest, best, from, to)
	default:
		d.several(essential, others, rest, best, from, to)
	}
}

func sortByBound(lanes []*lane) {
	for i := 1; i < len(lanes); i++ {
		for k := i; k > 0 && lanes[k].bound < lanes[k-1].bound; k-- {
			lanes[k], lanes[k-1] = lanes[k-1], lanes[k]
		}
	}
}

// one goes through the list of the only essential word. Pages have best at most besides what words give them.
func (d *disjunction) one(l *lane, others []*lane, rest, best uint32, from, to vocab.Ordinal) {
	for from < to && !d.clock.tick() {
		bound, until := l.postings.Bound(from)
		if l.step*uint32(bound)+rest+best < d.least() {
			from = until
			continue
		}
		if !l.postings.Advance(from) {
			d.fail(l.postings.Err())
			return
		}
		ordinals, impacts := l.postings.Block()
		if from = vocab.Ordinal(ordinals[len(ordinals)-1]) + 1; from > to {
			ordinals = ordinals[:below(ordinals, to)]
		}
		if impacts = impacts[:len(ordinals)]; len(others) == 0 && len(d.filters) == 0 && d.part.dead == nil {
			d.takeAll(l.step, best, ordinals, impacts)
		} else {
			d.take(l.step, others, rest, best, ordinals, impacts)
		}
	}
}

// takeAll scores decoded postings where nothing else counts: all of them match.
func (d *disjunction) takeAll(step, best uint32, ordinals []uint32, impacts []uint8) {
	static, shift := d.part.static.points, d.terms.shift
	d.count += len(ordinals)
	needed := neededOf(step, best, d.floor)
	for i, impact := range impacts {
		if impact < needed { // what the page has besides is far away in memory
			continue
		}
		if first := static[ordinals[i]]>>shift + step*uint32(impact); first >= d.floor {
			d.keep(first, vocab.Ordinal(ordinals[i]))
			needed = neededOf(step, best, d.floor)
		}
	}
}

// take scores decoded postings.
func (d *disjunction) take(step uint32, others []*lane, rest, best uint32, ordinals []uint32, impacts []uint8) {
	static, shift, dead := d.part.static.points, d.terms.shift, d.part.dead
	least := d.least()
	needed := neededOf(step, rest+best, least)
	for i, impact := range impacts {
		if impact < needed {
			continue
		}
		ord := ordinals[i]
		first := static[ord]>>shift + step*uint32(impact)
		if first+rest < least || dead.has(vocab.Ordinal(ord)) {
			continue
		}
		d.lookUp(vocab.Ordinal(ord), first, others, rest)
		if now := d.least(); now != least {
			least, needed = now, neededOf(step, rest+best, now)
		}
	}
}

// neededOf is the least impact of a word with which a page may come to the least score wanted, others being the most that
// it has besides.
func neededOf(step, others, least uint32) uint8 {
	if least <= others || step == 0 {
		return 0
	}
	return uint8(min((least-others+step-1)/step, maxImpact))
}

// below is how many of ascending ordinals lie below to.
func below(ordinals []uint32, to vocab.Ordinal) int {
	return sort.Search(len(ordinals), func(i int) bool { return vocab.Ordinal(ordinals[i]) >= to })
}

// lookUp adds to the score of a page what the other words give it, as long as they can lift it up, and takes it.
func (d *disjunction) lookUp(ord vocab.Ordinal, first uint32, others []*lane, rest uint32) {
	least := d.least()
	for _, l := range slices.Backward(others) {
		if first+rest < least {
			return
		}
		if rest -= l.bound; first+rest+l.boundAt(ord) < least {
			return
		}
		if l.advance(ord) == ord {
			first += l.points()
		}
	}
	if len(d.filters) > 0 && !d.passes(ord) {
		return
	}
	if d.count++; first >= d.floor {
		d.keep(first, ord)
	}
}

// passes says whether all filters are at a page.
func (d *disjunction) passes(ord vocab.Ordinal) bool {
	for _, f := range d.filters {
		if f.advance(ord) != ord {
			return false
		}
	}
	return true
}

// several adds up the scores of the essential words, window by window.
func (d *disjunction) several(essential, others []*lane, rest, best uint32, from, to vocab.Ordinal) {
	scoreAlone := len(others) == 0 && len(d.filters) == 0 && d.part.dead == nil
	for _, l := range essential {
		l.at = from
		scoreAlone = scoreAlone && l.step > 0
	}
	for base := from; base < to && !d.clock.look(); {
		base &^= 63
		next, until := to, min(base+windowDocs, to)
		for _, l := range essential {
			if l.at < until {
				d.gather(l, base, until, scoreAlone)
			}
			next = min(next, l.at)
		}
		if scoreAlone {
			d.settleByScore(base, best)
		} else {
			d.settle(base, others, rest, best)
		}
		base = next
	}
}

// gather adds what a word gives to the pages of a window, from where it is. Then it is at the first page
// behind it, or behind that. Where the score is all that is asked of a page, those that have one are listed.
func (d *disjunction) gather(l *lane, base, until vocab.Ordinal, scoreAlone bool) {
	for ok := l.postings.Advance(l.at); ok; ok = l.postings.NextBlock() {
		ordinals, impacts := l.postings.Block()
		n := len(ordinals)
		if vocab.Ordinal(ordinals[n-1]) >= until {
			n = below(ordinals, until)
		}
		if scoreAlone {
			d.list(l.step, uint32(base), ordinals[:n], impacts[:n])
		} else {
			d.mark(l.step, uint32(base), ordinals[:n], impacts[:n])
		}
		if n < len(ordinals) {
			l.at = vocab.Ordinal(ordinals[n])
			return
		}
	}
	l.at = end
	d.fail(l.postings.Err())
}

// mark adds what a word gives to pages of the window, and marks them.
func (w *scoreWindow) mark(step, base uint32, ordinals []uint32, impacts []uint8) {
	impacts = impacts[:len(ordinals)]
	for i, ord := range ordinals {
		at := (ord - base) % windowDocs
		w.scores[at] += step * uint32(impacts[i])
		w.seen[at/64] |= 1 << (at % 64)
	}
}

// list adds what a word gives to pages of the window, and lists those that had nothing before, without a branch for each.
func (w *scoreWindow) list(step, base uint32, ordinals []uint32, impacts []uint8) {
	impacts = impacts[:len(ordinals)]
	n := w.n
	for i, ord := range ordinals {
		at := (ord - base) % windowDocs
		score := w.scores[at]
		w.scores[at] = score + step*uint32(impacts[i])
		w.listed[n] = uint16(at)
		if score == 0 {
			n++
		}
	}
	w.n = n
}

// settleByScore takes the pages that are listed, all of which match. They are in no order: those that may be kept are put in
// theirs.
func (d *disjunction) settleByScore(base vocab.Ordinal, best uint32) {
	least, promising := d.floor-min(d.floor, best), d.promising[:0]
	for _, at := range d.listed[:d.n] {
		score := d.scores[at%windowDocs]
		d.scores[at%windowDocs] = 0
		if score >= least {
			promising = append(promising, uint64(at)<<32|uint64(score))
		}
	}
	slices.Sort(promising)
	for _, page := range promising {
		ord := base + vocab.Ordinal(page>>32)
		if first := uint32(page) + d.ofPage(ord); first >= d.floor {
			d.keep(first, ord)
		}
	}
	d.count += d.n
	d.n, d.promising = 0, promising
}

// settle takes the pages of a window. What a page is worth by itself, best at most, is far away in memory.
func (d *disjunction) settle(base vocab.Ordinal, others []*lane, rest, best uint32) {
	static, shift, least := d.part.static.points[base:], d.terms.shift, d.least()
	lone := len(others) == 0 && len(d.filters) == 0
	for i, word := range d.seen {
		if word == 0 {
			continue
		}
		d.seen[i] = 0
		dead := uint64(0)
		if d.part.dead != nil {
			dead = d.part.dead[int(base)/64+i]
		}
		if lone {
			d.count += bits.OnesCount64(word &^ dead)
		}
		for ; word != 0; word &= word - 1 {
			at := i*64 + bits.TrailingZeros64(word)
			first := d.scores[at]
			d.scores[at] = 0
			if most := first + rest + best; most < least || lone && most < d.floor {
				continue
			}
			if first += static[at] >> shift; first+rest < least || dead&word&-word != 0 {
				continue
			}
			if ord := base + vocab.Ordinal(at); !lone {
				d.lookUp(ord, first, others, rest)
			} else if first >= d.floor {
				d.keep(first, ord)
			}
		}
	}
}
