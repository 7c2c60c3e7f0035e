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
		if weight == 0 || m.page.inexact[f] != 0 || !m.containsQuery(vocab.Field(f)) {
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

// hasPosition reports whether one of the hits of a field is at a position.
func hasPosition(hits []vocab.Hit, position uint32) bool {
	_, found := slices.BinarySearchFunc(hits, position, func(h vocab.Hit, p uint32) int {
		return cmp.Compare(h.Position(), p)
	})
	return found
}
