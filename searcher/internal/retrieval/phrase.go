package retrieval

import (
	"cmp"
	"slices"

	"anatomy/searcher/query"
	"anatomy/vocab"
)

// A phraseIterator walks the documents in which terms follow each other in one field, several
// phrases are near each other in one field, or a single term occurs in a given field.
//
// It first finds the documents that have all terms. It then searches a single phrase in the body by
// positions only, starting with the term that is rarest there. If that is not conclusive it reads
// all hits, starting with the term that has the fewest: each term narrows the positions at which
// the phrase may start.
type phraseIterator struct {
	in      query.Field
	terms   []*termIterator // distinct, by cost
	phrases []phrase        // one, or several that are near each other
	within  int             // maximum number of words between several
	at      vocab.Ordinal
	started bool

	steps  []bodyStep // for a single phrase that may occur in the body: its terms, rarest first
	starts []uint32   // positions in the body where it may start

	hitCounts []int                 // by term, in the current document
	byCount   []int                 // terms, by ascending number of hits
	positions []vocab.FieldPosition // of one term
	hits      []vocab.Hit           // of one term, if its hit types matter
}

// A bodyStep matches one term of a phrase in the body.
type bodyStep struct {
	term    *termIterator
	offset  uint32
	density float64
}

// newPhrase returns an iterator over the matches of a phrase, or of phrases near each other, using
// the iterators of their terms.
func newPhrase(n *query.Node, terms map[string]*termIterator, scratch *scratch) *phraseIterator {
	it := &phraseIterator{
		in: n.In, within: n.Within,
		hitCounts: scratch.ints.Alloc(len(terms)), byCount: scratch.ints.Alloc(len(terms)),
		terms: make([]*termIterator, 0, len(terms)),
	}
	for _, t := range terms {
		it.terms = append(it.terms, t)
	}
	slices.SortFunc(it.terms, func(a, b *termIterator) int { return a.df - b.df })
	for i := range it.byCount {
		it.byCount[i] = i
	}
	for _, n := range phrasesOf(n) {
		p := phrase{terms: scratch.ints.Alloc(len(n.Words)), offsets: scratch.uint32s.Alloc(len(n.Words))}
		for k, word := range n.Words {
			p.terms[k], p.offsets[k] = slices.Index(it.terms, terms[word]), n.Offset(k)
		}
		it.phrases = append(it.phrases, p)
		last := len(it.phrases) - 1
		it.phrases[last].like = slices.IndexFunc(it.phrases, func(q phrase) bool {
			return slices.Equal(q.terms, p.terms) && slices.Equal(q.offsets, p.offsets)
		})
	}
	if len(it.phrases) == 1 && (it.in == query.Anywhere || it.in == query.InText) {
		it.steps = it.bodySteps(&it.phrases[0])
	}
	return it
}

// phrasesOf returns the phrases of a Words or Near node.
func phrasesOf(n *query.Node) []*query.Node {
	if n.Op == query.Near {
		return n.Kids
	}
	return []*query.Node{n}
}

// termsOf returns the terms of all phrases of a node.
func termsOf(n *query.Node) (all []string) {
	for _, p := range phrasesOf(n) {
		all = append(all, p.Words...)
	}
	return all
}

func (it *phraseIterator) bodySteps(p *phrase) []bodyStep {
	steps := make([]bodyStep, 0, len(p.terms))
	for k, i := range p.terms {
		t := it.terms[i]
		steps = append(steps, bodyStep{t, p.offsets[k], t.density()})
	}
	slices.SortStableFunc(steps, func(a, b bodyStep) int { return cmp.Compare(a.density, b.density) })
	return steps
}

func (it *phraseIterator) Cost() int { return it.terms[0].df }

func (it *phraseIterator) Advance(target vocab.Ordinal) vocab.Ordinal {
	if it.started && it.at >= target {
		return it.at
	}
	it.started = true
	for it.at = it.advanceAll(target); it.at != End && !it.matches(); it.at = it.advanceAll(it.at + 1) {
	}
	return it.at
}

// advanceAll moves to the first document ≥ target that has all terms.
func (it *phraseIterator) advanceAll(target vocab.Ordinal) vocab.Ordinal {
next:
	for {
		candidate := it.terms[0].Advance(target)
		if candidate == End {
			return End
		}
		for _, t := range it.terms[1:] {
			if at := t.Advance(candidate); at != candidate {
				target = at
				if at == End {
					return End
				}
				continue next
			}
		}
		return candidate
	}
}

// matches reports whether the current document of all terms has them in the field and in order.
func (it *phraseIterator) matches() bool {
	if len(it.steps) > 0 {
		if yes, sure := it.matchesInBody(); sure {
			return yes
		}
	}
	return it.matchesHits()
}

// matchesInBody reports whether the body of the current document has the phrase. sure is false if
// the phrase may occur in another field.
func (it *phraseIterator) matchesInBody() (yes, sure bool) {
	bodyOnly, elsewhere := false, false // some term occurs only in the body, some elsewhere
	for i, s := range it.steps {
		var only bool
		var err error
		if i == 0 {
			it.starts, only, err = s.term.postings.BodyPositions(it.starts[:0], s.offset)
		} else {
			it.starts, only, err = s.term.postings.IntersectPositions(it.starts, s.offset, i == len(it.steps)-1)
		}
		if err != nil {
			s.term.status.fail(err)
			return false, true
		}
		bodyOnly, elsewhere = bodyOnly || only, elsewhere || !only
		if len(it.starts) == 0 {
			return false, bodyOnly || it.in == query.InText
		}
	}
	return true, !elsewhere
}

// matchesHits is matches using all hits of all terms.
func (it *phraseIterator) matchesHits() bool {
	for i, t := range it.terms {
		it.hitCounts[i] = t.hitCount()
	}
	for i, term := range it.byCount[1:] { // an insertion sort, because terms are few and mostly in order
		at := i
		for ; at >= 0 && it.hitCounts[it.byCount[at]] > it.hitCounts[term]; at-- {
			it.byCount[at+1] = it.byCount[at]
		}
		it.byCount[at+1] = term
	}
	for i := range it.phrases {
		it.phrases[i].begun = false
	}
	for _, term := range it.byCount {
		it.readPositions(it.terms[term])
		for i := range it.phrases {
			if !it.phrases[i].match(term, it.positions, it.in) {
				return false
			}
		}
	}
	return len(it.phrases) == 1 || near(it.phrases, it.in, it.within)
}

// readPositions sets positions to those of a term.
func (it *phraseIterator) readPositions(t *termIterator) {
	if it.positions = it.positions[:0]; it.in != query.InAlt {
		it.positions = t.appendPositions(it.positions)
		return
	}
	it.hits = t.appendHits(it.hits[:0])
	for _, h := range it.hits {
		if h.Type() == vocab.Alt {
			it.positions = append(it.positions, h.FieldPosition())
		}
	}
}
