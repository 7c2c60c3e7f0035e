package scoring

import (
	"cmp"
	"fmt"
	"slices"

	"anatomy/vocab"
)

// phraseInField scores the fields that contain the whole query as a phrase.
func phraseInField(m *match, t *Tally) {
	if len(m.terms.sequence) < 2 {
		return
	}
	for f, weight := range m.PhraseInField {
		if weight == 0 || m.page.inexact[f] != 0 || m.lacks[f] != 0 || !m.containsQuery(vocab.Field(f)) {
			continue
		}
		points := weight.Of(m.terms.Sum)
		if !t.Explain {
			t.Sum += points
			continue
		}
		t.add(points, "phrase", m.text(), fmt.Sprintf("all words in order in %s, idf %s × weight %s",
			fieldName(vocab.Field(f)), m.terms.Sum.Milli(), weight))
	}
}

// containsQuery reports whether a field contains the query's terms next to each other, in order.
func (m *match) containsQuery(f vocab.Field) bool {
	sequence := m.terms.sequence
	for _, i := range sequence {
		if len(m.hitsIn(i, f)) == 0 {
			return false
		}
	}
	for _, first := range m.hitsIn(sequence[0], f) {
		if m.containsQueryAt(first.Position(), f) {
			return true
		}
	}
	return false
}

func (m *match) containsQueryAt(position uint32, f vocab.Field) bool {
	for k, i := range m.terms.sequence {
		if !hasPosition(m.hitsIn(i, f), position+uint32(k)) {
			return false
		}
	}
	return true
}

// operation scores a page that defines a service if the name of an operation contains the whole query as a
// phrase.
func operation(m *match, weight Milli, t *Tally) {
	if weight == 0 || len(m.terms.sequence) < 2 {
		return
	}
	for _, first := range m.hitsIn(m.terms.sequence[0], vocab.Body) {
		if m.namesOperationAt(first.Position()) {
			t.add(weight.Of(m.terms.Sum), "operation", m.text(), fmt.Sprintf(
				"all words in order in the name of an operation, idf %s × weight %s", m.terms.Sum.Milli(), weight))
			return
		}
	}
}

// namesOperationAt reports whether the query's terms are in a heading of the second level, from a position.
func (m *match) namesOperationAt(position uint32) bool {
	for k, i := range m.terms.sequence {
		hits := m.hitsIn(i, vocab.Body)
		at, found := findPosition(hits, position+uint32(k))
		if !found || hits[at].Type() != vocab.Heading2 {
			return false
		}
	}
	return true
}

// hasPosition reports whether one of the hits of a field is at a position.
func hasPosition(hits []vocab.Hit, position uint32) bool {
	_, found := findPosition(hits, position)
	return found
}

// findPosition returns the index of the hit of a field at a position.
func findPosition(hits []vocab.Hit, position uint32) (i int, found bool) {
	return slices.BinarySearchFunc(hits, position, func(h vocab.Hit, p uint32) int {
		return cmp.Compare(h.Position(), p)
	})
}
