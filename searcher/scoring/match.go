package scoring

import (
	"fmt"
	"strings"

	"anatomy/vocab"
)

// A match is a page that is being scored for a query.
type match struct {
	*Weights
	terms  *Terms
	page   *Page
	fields [][vocab.Fields + 1]int // by term: start of the hits of each field; set by scoreTerm
	lacks  uint64                  // own terms of which the page lacks the signs: see lackSigns
}

// idf returns the idf of a term, Weights.Unsigned of it if the page lacks its signs.
func (m *match) idf(i int) Score {
	if m.lacks>>i&1 != 0 {
		return m.Unsigned.Of(m.terms.IDF[i])
	}
	return m.terms.IDF[i]
}

// hitsIn returns the hits of a term in one field.
func (m *match) hitsIn(i int, f vocab.Field) []vocab.Hit {
	return m.page.Hits[i][m.fields[i][f]:m.fields[i][f+1]]
}

// scoreTerm scores one term: the dot product of count weights and type weights (BP98 §4.5.1).
func (m *match) scoreTerm(i int, t *Tally) {
	var counts [vocab.HitTypes]int64
	field, starts, hits := vocab.Field(0), &m.fields[i], m.page.Hits[i]
	for at := 0; at < len(hits); {
		ht, from := hits[at].Type(), at
		for at++; at < len(hits) && hits[at].Type() == ht; at++ {
		}
		for f := ht.Field(); field < f; {
			field++
			starts[field] = from
		}
		switch {
		case ht == vocab.Anchor || ht == vocab.AnchorOut:
			for _, hit := range hits[from:at] {
				counts[ht] += 1 << hit.Size()
			}
		case ht < vocab.HitTypes:
			counts[ht] += int64(at - from)
		}
	}
	for field < vocab.Fields {
		field++
		starts[field] = len(hits)
	}
	if m.terms.IDF[i] == 0 { // a function word
		return
	}
	if i >= m.terms.Forms {
		keepNames(&counts)
	}
	m.scoreText(i, &counts, t)
	for ht, count := range counts {
		if count > 0 && m.Type[ht] != 0 {
			m.scoreType(i, vocab.HitType(ht), count, t)
		}
	}
}

// keepNames clears the counts of hits outside names of the page or of a part of it. An identifier
// that the query spells counts on pages about it: any page may mention it.
func keepNames(counts *[vocab.HitTypes]int64) {
	for ht := range counts {
		switch ht := vocab.HitType(ht); {
		case ht.Field() == vocab.Body && !ht.IsHeading(), ht == vocab.Meta:
			counts[ht] = 0
		}
	}
}

// scoreType scores the hits of one term and type.
func (m *match) scoreType(i int, ht vocab.HitType, count int64, t *Tally) {
	weight := m.Count(count)
	if ht.Field() == vocab.Body {
		weight = m.CountInBody(count, m.page.Words, m.page.Average)
	}
	idf := m.idf(i)
	if m.page.inexact[ht.Field()]>>i&1 != 0 {
		idf = m.Form.Of(idf)
	}
	points := idf * Score(m.Type[ht]) * Score(weight) / Point
	if !t.Explain {
		t.Sum += points
		return
	}
	again := ""
	if i < m.terms.Own && m.terms.times[i] > 1 && m.Again != 0 {
		again = fmt.Sprintf(", %d times in the query,", m.terms.times[i])
	}
	t.add(points, ht.String(), m.terms.Words[i], fmt.Sprintf(
		"%s, count weight %s × idf %s%s × type weight %s",
		counted(count, ht), weight, idf.Milli(), again, m.Type[ht]))
}

// counted returns "1 hit", "2 hits"; for anchor text, "1 link" and so on.
func counted(count int64, ht vocab.HitType) string {
	unit := "hit"
	if ht == vocab.Anchor || ht == vocab.AnchorOut {
		unit = "link" // counted by powers of two
	}
	if count != 1 {
		unit += "s"
	}
	return fmt.Sprint(count, " ", unit)
}

// text returns the query's terms in order.
func (m *match) text() string {
	var all []string
	for _, i := range m.terms.sequence {
		all = append(all, m.terms.Words[i])
	}
	return strings.Join(all, " ")
}

func fieldName(f vocab.Field) string {
	return [...]string{
		"the text", "the title", "the description", "the URL", "names of its parts", "links to the page",
	}[f]
}
