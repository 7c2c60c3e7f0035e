// Package scoring computes the exact score of a page for a query: the second phase of ranking
// (BP98 §4.5.1).
//
// [Terms] are the query's terms with their idf; a [Page] has the inputs of a page: hits, title,
// PageRank, depth. A [Scorer] adds up features, each in a file of this package: type and count
// weights of every term, proximity of neighbouring terms, the query as a phrase, exact matches, and
// points that do not depend on hits. [Weights] are the factors of the features. With
// [Tally].Explain the sum is recorded as named parts.
package scoring

import (
	"slices"

	"anatomy/vocab"
)

// A Scorer computes exact scores. It is not safe for concurrent use.
type Scorer struct {
	match
	weights, service *Weights // for pages, and for those that define a service
	buffer           Weights  // service, if it is not weights
}

// NewScorer returns a scorer of pages for a query.
func NewScorer(w *Weights, t *Terms) *Scorer {
	s := &Scorer{}
	s.Reset(w, t)
	return s
}

// Reset makes s the scorer of another query, in the same memory.
func (s *Scorer) Reset(w *Weights, t *Terms) {
	fields := slices.Grow(s.fields[:0], len(t.Words))[:len(t.Words)]
	s.match = match{terms: t, fields: fields}
	s.weights, s.service = w, w
	if w.Service != nil {
		s.buffer = *w
		w.Service.replaceIn(&s.buffer)
		s.service = &s.buffer
	}
}

// Score computes the score of a page in an empty tally. MergeForms must have been called.
func (s *Scorer) Score(p *Page, t *Tally) {
	m := &s.match
	m.page, m.Weights = p, s.weights
	if p.Service {
		m.Weights = s.service
	}
	lacks, inTitle := m.terms.lackSigns(p)
	for f := range m.lacks {
		m.lacks[f] = lacks
	}
	m.lacks[vocab.TitleField] = inTitle
	for i := range m.terms.Words {
		m.scoreTerm(i, t)
	}
	for _, p := range m.terms.pairs {
		proximity(m, p, t)
	}
	phraseInField(m, t)
	if p.Service && s.weights.Service != nil {
		operation(m, s.weights.Service.Operation, t)
	}
	exactMatch(m, t)
	genre(m, t)
	language(m, t)
	static(m, t)
}
