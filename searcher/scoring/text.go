package scoring

import (
	"fmt"

	"anatomy/vocab"
)

// scoreText scores the hits of one term in all fields as one frequency (BM25F; Zaragoza, Craswell,
// Taylor, Saria and Robertson 2004), and the presence of the term.
func (m *match) scoreText(i int, counts *[vocab.HitTypes]int64, t *Tally) {
	idf := m.idf(m.terms.IDF, i, vocab.Body)
	if m.Held != 0 && len(m.page.Hits[i]) > 0 && i < m.terms.Forms {
		points := m.Held.Of(idf)
		if t.Sum += points; t.Explain {
			t.Parts = append(t.Parts, Part{"held", m.terms.Words[i], fmt.Sprintf(
				"the page has the word, idf %s × weight %s", idf.Milli(), m.Held), points})
		}
	}
	idf = m.idf(m.terms.Hits, i, vocab.Body)
	frequency := m.frequency(i, counts)
	if frequency == 0 {
		return
	}
	weight := m.CountInText(frequency, m.page.Words+int64(m.page.Title.Words), m.page.Average)
	points := weight.Of(idf)
	if t.Sum += points; t.Explain {
		t.Parts = append(t.Parts, Part{"text", m.terms.name(i), fmt.Sprintf(
			"frequency %s in all fields, count weight %s × idf %s%s", frequency, weight, idf.Milli(),
			m.withAccents(i)), points})
	}
}

// frequency returns the number of hits of a term, weighted by Weights.Text.
func (m *match) frequency(i int, counts *[vocab.HitTypes]int64) (sum Milli) {
	for ht, count := range counts {
		weight, field := m.Text[ht], vocab.HitType(ht).Field()
		if weight == 0 || count == 0 {
			continue
		}
		if m.page.inexact[field]>>i&1 != 0 {
			weight = weight * m.Form / 1000
		}
		if field == vocab.AnchorField {
			sum += weight * Agreeing(count) / 1000
		} else {
			sum += weight * Milli(min(count, 1<<31))
		}
	}
	return sum
}
