package retrieval

import (
	"slices"

	"anatomy/searcher/query"
	"anatomy/vocab"
)

// A phrase is a sequence of terms at given offsets: adjacent, or with open words between them.
// Terms are indices of phraseIterator.terms.
type phrase struct {
	terms   []int
	offsets []uint32
	like    int // among phrases near each other, the first equal one, possibly itself

	begun  bool                  // the hits of a term were read
	starts []vocab.FieldPosition // possible starts in the current document, ascending
}

// length returns the number of positions that the phrase spans.
func (p *phrase) length() int { return int(p.offsets[len(p.offsets)-1]) + 1 }

// match narrows the starts by the positions of a term in the current document. It reports whether
// the phrase may still occur in the field.
func (p *phrase) match(term int, positions []vocab.FieldPosition, in query.Field) bool {
	for k, i := range p.terms {
		switch {
		case i != term:
		case p.begun:
			p.narrow(p.offsets[k], positions)
		default:
			p.begin(p.offsets[k], positions, in)
		}
	}
	return !p.begun || len(p.starts) > 0
}

// begin sets the starts to the positions of the term at an offset.
func (p *phrase) begin(offset uint32, positions []vocab.FieldPosition, in query.Field) {
	if p.begun, p.starts = true, p.starts[:0]; in == query.Anywhere && offset == 0 {
		p.starts = append(p.starts, positions...)
		return
	}
	for _, at := range positions {
		if at.Position() >= offset && searches(in, at.Field()) {
			p.starts = append(p.starts, at-vocab.FieldPosition(offset))
		}
	}
}

// narrow keeps the starts with a position at an offset in the same field.
func (p *phrase) narrow(offset uint32, positions []vocab.FieldPosition) {
	kept, i := p.starts[:0], 0
	for _, start := range p.starts {
		target := start + vocab.FieldPosition(offset)
		for i < len(positions) && positions[i] < target {
			i++
		}
		if i == len(positions) {
			break
		}
		if positions[i] == target && target.Field() == start.Field() {
			kept = append(kept, start)
		}
	}
	p.starts = kept
}

// startsIn returns the starts in a field.
func (p *phrase) startsIn(f vocab.Field) []vocab.FieldPosition {
	from, _ := slices.BinarySearch(p.starts, vocab.MakeFieldPosition(f, 0))
	to, _ := slices.BinarySearch(p.starts, vocab.MakeFieldPosition(f+1, 0))
	return p.starts[from:to]
}

// searches reports whether a query restricted to in searches a field.
func searches(in query.Field, f vocab.Field) bool {
	switch in {
	case query.InTitle:
		return f == vocab.TitleField
	case query.InURL:
		return f == vocab.URLField
	case query.InAnchor:
		return f == vocab.AnchorField
	case query.InText, query.InAlt:
		return f == vocab.Body
	}
	return true
}

// Bounds of the words between near phrases: 16 positions separate two anchor texts, and five
// separate the names of two parts.
const (
	maxWithinAnchor = 15
	maxWithinPart   = 3
)

// near reports whether a field has all phrases with at most within words between them.
func near(phrases []phrase, in query.Field, within int) bool {
	for f := range vocab.Fields {
		if !searches(in, f) {
			continue
		}
		most := within
		if f == vocab.AnchorField {
			most = min(most, maxWithinAnchor)
		} else if f == vocab.PartField {
			most = min(most, maxWithinPart)
		}
		if nearStarts(phrases, f, most) {
			return true
		}
	}
	return false
}

// nearStarts searches a range of words of a field that contains each phrase once, equal phrases at
// different positions, and at most within other words. It repeatedly drops the first start, because
// the other starts are the nearest ones after it. Each of several equal phrases starts one start
// after the previous one.
func nearStarts(phrases []phrase, f vocab.Field, within int) bool {
	filled, before := 0, make([]int, len(phrases)) // before: number of equal phrases before
	starts := make([][]vocab.FieldPosition, len(phrases))
	for i := range phrases {
		p := &phrases[i]
		starts[i] = p.startsIn(f)
		starts[i] = starts[i][min(before[p.like], len(starts[i])):]
		before[p.like]++
		filled += p.length()
	}
	for {
		first, end := 0, 0
		for i, s := range starts {
			if len(s) == 0 {
				return false
			}
			if s[0] < starts[first][0] {
				first = i
			}
			end = max(end, int(s[0])+phrases[i].length())
		}
		if end-int(starts[first][0])-filled <= within {
			return true
		}
		for i := range starts {
			if phrases[i].like == phrases[first].like {
				starts[i] = starts[i][1:]
			}
		}
	}
}
