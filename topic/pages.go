package topic

import (
	"cmp"
	"iter"
	"math"
	"slices"

	"anatomy/vocab"
)

// A page is a fetched page.
type page struct {
	terms     []weighted // distinct; nil if the page is no longer kept
	relevant  bool       // counted as such
	relevance float64    // probability, by the last estimate
	kind      kind
}

// A kind is the role of a page in the topic's file.
type kind uint8

const (
	unnamed kind = iota
	example
	other // outside of the topic
)

// A weighted term has its weight within a page, 1 + log tf.
type weighted struct {
	term term
	tf   float32
}

// Bounds on the stored pages.
const (
	MaxPages     = 2000 // whose terms are kept, to judge them again
	maxPageTerms = 1000 // distinct ones of a page
	maxSequence  = 1 << 16
)

// A reader reads the terms of one page after the other.
type reader struct {
	indices  []termIndex // by term
	page     uint32      // the number of the page
	sequence []term      // of the body, in the order of the page
}

// A termIndex is the index of a term in the terms of a page.
type termIndex struct {
	page uint32
	at   int32
}

// read returns the page with the given hits, and keeps its sequence of terms.
func (r *reader) read(hits iter.Seq2[[]byte, vocab.Hit]) *page {
	if r.indices == nil {
		r.indices = make([]termIndex, numTerms)
	}
	r.page++
	r.sequence = r.sequence[:0]
	p := &page{}
	for text, hit := range hits {
		if hit.Type() == vocab.URLWord || hit.Type() == vocab.Part {
			continue
		}
		w := hashOf(text)
		if hit.Type() < vocab.Title && len(r.sequence) < maxSequence {
			r.sequence = append(r.sequence, w)
		}
		known := &r.indices[w]
		if known.page != r.page {
			if len(p.terms) == maxPageTerms {
				continue
			}
			*known = termIndex{r.page, int32(len(p.terms))}
			p.terms = append(p.terms, weighted{term: w})
		}
		p.terms[known.at].tf++
	}
	for i, w := range p.terms {
		p.terms[i].tf = float32(1 + math.Log(float64(w.tf)))
	}
	p.terms = slices.Clip(p.terms)
	return p
}

// pages judge pages. The scale from mean log-odds to a probability follows the examples, each
// judged without itself, and the pages that are least similar to them.
type pages struct {
	*terms
	kept   []*page // the examples and the latest of the others, at most MaxPages
	middle float64 // mean log-odds of a page of relevance 1/2
	slope  float64
}

const (
	firstMiddle = 0.25
	firstSlope  = 8
	steepness   = 4    // of the scale between the examples and the others
	minApart    = 0.05 // least distance between these
	minApartNew = 0.5  // the same before there are others
	selfTrained = 0.5  // relevance from which a page teaches the model
)

// judge returns the probability that a page is relevant, by its mean log-odds.
func (s *pages) judge(p *page, mean float64) float64 {
	switch p.kind {
	case example:
		return 1
	case other:
		return 0
	}
	return sigmoid(s.slope * (mean - s.middle))
}

// add judges and counts a page. The page trains the model at the next estimate.
func (s *pages) add(p *page) {
	p.relevance = s.judge(p, s.mean(p, false))
	s.terms.add(p, p.kind == example)
	s.kept = append(s.kept, p)
	if len(s.kept) > MaxPages {
		s.drop()
	}
}

// drop drops the oldest page that the topic's file does not name, if there is one. The page still
// counts.
func (s *pages) drop() {
	i := slices.IndexFunc(s.kept, func(p *page) bool { return p.kind == unnamed })
	i = max(i, 0)
	s.kept[i].terms = nil
	s.kept = slices.Delete(s.kept, i, i+1)
}

// estimate judges all kept pages again, and trains the model with the relevant ones.
func (s *pages) estimate() {
	means := make([]float64, len(s.kept))
	for i, p := range s.kept {
		means[i] = s.mean(p, true)
	}
	s.calibrate(means)
	for i, p := range s.kept {
		p.relevance = s.judge(p, means[i])
		s.relate(p, p.relevance >= selfTrained)
	}
}

// calibrate sets the scale by the means of the kept pages: the middle is half way between the median
// of the examples and the lower quartile of the others.
func (s *pages) calibrate(means []float64) {
	var examples, others []float64
	for i, p := range s.kept {
		if p.kind == example {
			examples = append(examples, means[i])
		} else {
			others = append(others, means[i])
		}
	}
	if len(examples) == 0 {
		return
	}
	near := quantile(examples, 0.5)
	far := near - minApartNew
	if len(others) > 0 {
		far = quantile(others, 0.25)
	}
	near = max(near, far+minApart)
	s.middle, s.slope = (near+far)/2, steepness/(near-far)
}

func quantile(of []float64, q float64) float64 {
	slices.SortFunc(of, cmp.Compare[float64])
	return of[int(q*float64(len(of)))]
}

func sigmoid(x float64) float64 { return 1 / (1 + math.Exp(-x)) }
