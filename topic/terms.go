package topic

import (
	"math"

	"github.com/cespare/xxhash/v2"
)

// A term is the hash of a term, below numTerms. Terms with one hash are counted as one, which
// bounds the memory of the model.
type term uint32

const numTerms = 1 << 18

func hashOf(text []byte) term { return term(xxhash.Sum64(text) % numTerms) }

// terms count pages by term: naive Bayes between relevant pages and the others. The examples weigh at least
// as much as all pages that the crawl found relevant itself. Otherwise most of these would soon be of the
// largest part of the topic, and pages of its other parts no longer relevant.
type terms struct {
	all, relevant, examples                []float64 // pages with each term
	allPages, relevantPages, examplesPages float64

	weights [numViews][]weight
	age     uint32 // grows when weights are to be computed again
}

// A weight is the log-odds and the idf of a term, as they were at an age.
type weight struct {
	odds, idf float32
	age       uint32
}

// A view is the counts with or without a page. A page is judged without its own counts, else each
// would resemble the class with which it was counted.
type view uint8

const (
	everything view = iota
	withoutOther
	withoutRelevant
	withoutExample
	numViews
)

func newTerms() *terms {
	t := &terms{age: 1}
	for _, counts := range []*[]float64{&t.all, &t.relevant, &t.examples} {
		*counts = make([]float64, numTerms)
	}
	for v := range t.weights {
		t.weights[v] = make([]weight, numTerms)
	}
	return t
}

// freshPages is the number of pages from which on cached weights are kept until the next estimate,
// because one more page changes them little.
const freshPages = 200

// add counts a page.
func (t *terms) add(p *page, relevant bool) {
	if t.allPages++; t.allPages < freshPages {
		t.age++
	}
	for _, w := range p.terms {
		t.all[w.term]++
	}
	t.relate(p, relevant)
}

// relate counts a page that is counted already as relevant, or as no longer relevant.
func (t *terms) relate(p *page, relevant bool) {
	if p.relevant == relevant {
		return
	}
	t.age++
	p.relevant = relevant
	n := 1.0
	if !relevant {
		n = -1
	}
	t.relevantPages += n
	for _, w := range p.terms {
		t.relevant[w.term] += n
	}
	if p.kind == example {
		t.examplesPages += n
		for _, w := range p.terms {
			t.examples[w.term] += n
		}
	}
}

// pseudoPages are the pages of the prior, with the share of relevant ones among all pages: a term
// that no page has is neutral.
const pseudoPages = 2

// weight returns the log-odds of a relevant page among those with a term, and its idf.
func (t *terms) weight(w term, v view) *weight {
	known := &t.weights[v][w]
	if known.age == t.age {
		return known
	}
	all, relevant, examples := t.all[w], t.relevant[w], t.examples[w]
	allPages, relevantPages, examplesPages := t.allPages, t.relevantPages, t.examplesPages
	if v != everything {
		all, allPages = all-1, allPages-1
	}
	if v >= withoutRelevant {
		relevant, relevantPages = relevant-1, relevantPages-1
	}
	if v == withoutExample {
		examples, examplesPages = examples-1, examplesPages-1
	}
	share := (relevantPages + 1) / (allPages + 2)
	without := (all - relevant + pseudoPages*(1-share)) / (1 - share)
	if found := relevantPages - examplesPages; examplesPages > 0 && found > examplesPages {
		relevant = relevantPages * (examples/examplesPages + (relevant-examples)/found) / 2
	}
	with := (relevant + pseudoPages*share) / share
	known.odds = float32(math.Log(with / without))
	known.idf = float32(math.Log((t.allPages + 1) / (t.all[w] + 0.5)))
	known.age = t.age
	return known
}

// sum returns the log-odds of a short text.
func (t *terms) sum(text []term) (sum float64) {
	for _, w := range text {
		sum += float64(t.weight(w, everything).odds)
	}
	return sum
}

// mean returns the mean log-odds of the terms of a page, weighted by tf-idf. counted is true if the
// counts include the page.
func (t *terms) mean(p *page, counted bool) float64 {
	v := everything
	switch {
	case counted && p.relevant && p.kind == example:
		v = withoutExample
	case counted && p.relevant:
		v = withoutRelevant
	case counted:
		v = withoutOther
	}
	sum, total := 0.0, 0.0
	for _, w := range p.terms {
		known := t.weight(w.term, v)
		tfIDF := float64(w.tf * known.idf)
		sum += tfIDF * float64(known.odds)
		total += tfIDF
	}
	if total <= 0 {
		return 0
	}
	return sum / total
}
