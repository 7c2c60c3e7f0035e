package retrieval

import (
	"slices"

	"anatomy/disk/segment"
	"anatomy/searcher/query"
	"anatomy/vocab"
)

// An Iterator walks the documents of one segment that match a part of a query, in ascending order.
type Iterator interface {
	// Advance moves to the first match ≥ target, unless the iterator is already there or beyond. It
	// returns the new position, or End.
	Advance(target vocab.Ordinal) vocab.Ordinal

	// Cost estimates the number of matches. It is 0 only if there are none.
	Cost() int
}

// End is the position of an exhausted iterator, greater than any ordinal.
const End = ^vocab.Ordinal(0)

// An andIterator intersects its kids. The rarest is the driver.
type andIterator struct {
	kids  []Iterator // two or more, by cost
	clock *Clock
}

func (it *andIterator) Cost() int { return it.kids[0].Cost() }

func (it *andIterator) Advance(target vocab.Ordinal) vocab.Ordinal {
	for {
		candidate := it.kids[0].Advance(target)
		if candidate == End || it.clock.Tick() {
			return End
		}
		target = candidate
		for _, kid := range it.kids[1:] {
			if target = kid.Advance(candidate); target != candidate {
				break
			}
		}
		if target == candidate {
			return candidate
		}
	}
}

// An orIterator unites its kids.
type orIterator struct {
	kids  []Iterator
	clock *Clock
}

func (it *orIterator) Cost() int {
	sum := 0
	for _, kid := range it.kids {
		sum += kid.Cost()
	}
	return sum
}

func (it *orIterator) Advance(target vocab.Ordinal) vocab.Ordinal {
	first := End
	for _, kid := range it.kids {
		first = min(first, kid.Advance(target))
	}
	if it.clock.Tick() {
		return End
	}
	return first
}

// A notIterator walks the documents that its kid does not match.
type notIterator struct {
	kid     Iterator
	docs    vocab.Ordinal // of the segment
	clock   *Clock
	at      vocab.Ordinal
	started bool
}

func (it *notIterator) Cost() int { return int(it.docs) + 1 }

// Advance must not advance the kid to documents before the kid's position, which it has passed.
func (it *notIterator) Advance(target vocab.Ordinal) vocab.Ordinal {
	if it.started && it.at >= target {
		return it.at
	}
	it.started = true
	for target < it.docs && it.kid.Advance(target) == target {
		target++
	}
	if it.at = target; target >= it.docs || it.clock.Tick() {
		it.at = End
	}
	return it.at
}

// A filterIterator walks the documents whose columns pass a test. The columns are in memory:
// testing them one after the other takes 1 ns per document, less than reading a posting list.
type filterIterator struct {
	passes  func(vocab.Ordinal) bool
	docs    vocab.Ordinal // of the segment
	clock   *Clock
	at      vocab.Ordinal
	started bool
}

func newFilter(seg *segment.Segment, f query.Filter, clock *Clock) *filterIterator {
	it := &filterIterator{docs: vocab.Ordinal(seg.Docs()), clock: clock}
	switch {
	case f.Lang != "":
		lang := segment.LanguageOf(f.Lang)
		it.passes = func(ord vocab.Ordinal) bool { return seg.Language(ord) == lang }
	case f.Medium != vocab.OtherMedium:
		it.passes = func(ord vocab.Ordinal) bool { return seg.Medium(ord) == f.Medium }
	default:
		it.passes = func(ord vocab.Ordinal) bool { return f.Dated(seg.Date(ord)) }
	}
	return it
}

// Cost is that of testing every document, so that filters come last.
func (it *filterIterator) Cost() int { return int(it.docs) }

func (it *filterIterator) Advance(target vocab.Ordinal) vocab.Ordinal {
	if it.started && it.at >= target {
		return it.at
	}
	it.started = true
	for target < it.docs && !it.passes(target) {
		if target++; target%ticksPerCheck == 0 && it.clock.Check() {
			target = it.docs
		}
	}
	if it.at = target; target >= it.docs || it.clock.Tick() {
		it.at = End
	}
	return it.at
}

// A docsIterator walks a list of documents.
type docsIterator struct {
	ordinals []vocab.Ordinal // ascending
}

// newDocs returns an iterator over the documents of docs that are in the segment.
func newDocs(part *Part, docs []vocab.DocID) *docsIterator {
	it := &docsIterator{}
	for _, doc := range docs {
		if ord, ok := part.Segment.Ordinal(doc - part.Base); ok {
			it.ordinals = append(it.ordinals, ord)
		}
	}
	slices.Sort(it.ordinals)
	return it
}

func (it *docsIterator) Cost() int { return len(it.ordinals) }

func (it *docsIterator) Advance(target vocab.Ordinal) vocab.Ordinal {
	i, _ := slices.BinarySearch(it.ordinals, target)
	if i == len(it.ordinals) {
		return End
	}
	return it.ordinals[i]
}
