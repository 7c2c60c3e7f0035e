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
	lacks  [vocab.Fields]uint64    // by field: own terms of which the page lacks the signs, in titles the title: see lackSigns
}

// idf returns the value of a term in a list by term: Weights.Unsigned of it in a field that lacks its
// signs, and of that for a letter with signs, because most of its hits are without them.
func (m *match) idf(of []Score, i int, f vocab.Field) Score {
	idf := of[i]
	if m.lacks[f]>>i&1 != 0 {
		idf = m.Unsigned.Of(idf)
	}
	if i < m.terms.Own && (m.terms.letters&^m.terms.unsigned)>>i&1 != 0 {
		idf = m.Unsigned.Of(m.Unsigned.Of(idf))
	}
	return idf
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
	if i >= m.terms.Forms && i < m.terms.Plain && m.terms.spelt[i-m.terms.Forms]&m.terms.letters == 0 {
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
	idf := m.idf(m.terms.Hits, i, ht.Field())
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
	t.add(points, ht.String(), m.terms.name(i), fmt.Sprintf(
		"%s, count weight %s × idf %s%s%s × type weight %s",
		counted(count, ht), weight, idf.Milli(), m.withAccents(i), again, m.Type[ht]))
}

// withAccents explains the idf with which the hits of an accented term count, or of its word.
func (m *match) withAccents(i int) string {
	t := m.terms
	if t.Hits[i] == t.IDF[i] {
		return ""
	}
	which := "these"
	if i < t.Plain {
		which = "any"
	}
	return fmt.Sprintf(" (%s of %s, with %s accents)", Milli(t.Hits[i]*1000/t.IDF[i]), t.IDF[i].Milli(), which)
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
