package scoring

import (
	"fmt"
	"sort"

	"anatomy/vocab"
)

// proximity scores how near two neighbouring terms of the query are to each other, with any accents
// and with those that were typed.
func proximity(m *match, p pair, t *Tally) {
	a, b := m.scoredAs(p.typed[0], p.first), m.scoredAs(p.typed[1], p.second)
	if a == p.first && b == p.second {
		m.nearness(p, a, b, 1000, t)
		return
	}
	m.nearness(p, p.first, p.second, 1000-m.accentedShare(), t)
	m.nearness(p, a, b, m.accentedShare(), t)
}

// scoredAs returns the accented term as which an own term was typed, or the own term if no page has
// that.
func (m *match) scoredAs(typed, own int) int {
	if m.terms.IDF[typed] == 0 {
		return own
	}
	return typed
}

// nearness scores how near the terms a and b of a pair are to each other, with a share of the points.
func (m *match) nearness(p pair, a, b int, share Milli, t *Tally) {
	if len(m.page.Hits[a]) == 0 || len(m.page.Hits[b]) == 0 {
		return
	}
	for f := vocab.Body; f < vocab.Fields; f++ {
		if m.NearIn[f] == 0 {
			continue
		}
		bin, count := closest(&m.Near, m.hitsIn(a, f), m.hitsIn(b, f), p.shiftIn(f))
		if count == 0 {
			continue
		}
		weight := saturate(count, m.NearSaturation, m.NearSaturation)
		idf := min(m.idf(m.terms.IDF, a, f), m.idf(m.terms.IDF, b, f))
		points := share.Of(m.shareOfPairs().Of(
			idf * Score(m.NearIn[f]) * Score(m.Near[bin].Weight) / 1000 * Score(weight) / Point))
		if !t.Explain {
			t.Sum += points
			continue
		}
		accents := ""
		if share < 1000 {
			accents = fmt.Sprintf(" × share %s of these accents", share)
			if a == p.first && b == p.second {
				accents = fmt.Sprintf(" × share %s of any accents", share)
			}
		}
		t.add(points, "proximity", m.terms.name(a)+" "+m.terms.name(b), fmt.Sprintf(
			"%d × %s in %s, count weight %s × idf %s × class weight %s × field weight %s%s%s",
			count, m.binName(bin), fieldName(f), weight, idf.Milli(), m.Near[bin].Weight, m.NearIn[f],
			m.shareText(), accents))
	}
}

// shareOfPairs returns the share with which each pair counts: see Weights.Pairs.
func (m *match) shareOfPairs() Milli {
	n := Milli(len(m.terms.pairs))
	if m.Pairs == 0 || n*1000 <= m.Pairs {
		return 1000
	}
	return m.Pairs / n
}

func (m *match) shareText() string {
	if share := m.shareOfPairs(); share < 1000 {
		return fmt.Sprintf(" × share %s of %d pairs", share, len(m.terms.pairs))
	}
	return ""
}

// shiftIn returns the distance by which the first term is moved to the second, with the function
// words of the query between them. Texts of links and names of parts are too short to shift
// positions.
func (p *pair) shiftIn(f vocab.Field) uint32 {
	if f == vocab.AnchorField || f == vocab.PartField {
		return 0
	}
	return p.between
}

func (m *match) binName(bin int) string {
	switch bin {
	case 0:
		return "next to each other"
	case Bins - 1:
		return "not even close"
	}
	return fmt.Sprintf("within %d words", m.Near[bin].Within)
}

// closest returns the best class of proximity in which two terms of one field occur, and the number
// of such pairs; the count is 0 if the field lacks a term. A pair is an occurrence of one term
// followed by one of the other with neither between. At the same position the second term comes
// first. Hits of the first term are moved by shift.
func closest(near *[Bins]Bin, a, b []vocab.Hit, shift uint32) (best int, count int64) {
	c := closeness{near: near, shift: shift, best: Bins, bound: near[Bins-1].Within}
	switch {
	case len(a) == 0 || len(b) == 0:
	case len(a)*farRarer < len(b):
		c.search(a, b, 1)
	case len(b)*farRarer < len(a):
		c.search(b, a, 0)
	default:
		c.merge(a, b)
	}
	return c.best, c.count
}

// farRarer is the ratio of frequencies in a field from which the neighbours of the rarer term are
// searched instead of merging both lists.
const farRarer = 8

// A closeness is the best class among the pairs so far.
type closeness struct {
	near  *[Bins]Bin
	shift uint32 // of the first term
	best  int
	count int64
	bound uint32 // maximum distance of the best class
}

// add counts a pair whose distance is within the bound.
func (c *closeness) add(distance uint32) {
	bin := 0
	for bin < Bins-1 && distance > c.near[bin].Within {
		bin++
	}
	if bin < c.best {
		c.best, c.count, c.bound = bin, 0, c.near[bin].Within
	}
	c.count++
}

// merge merges the hits of both terms in order of position.
func (c *closeness) merge(a, b []vocab.Hit) {
	for i, j := 0, 0; i < len(a) && j < len(b); {
		if pa, pb := a[i].Position()+c.shift, b[j].Position(); pa < pb {
			if i++; pb-pa <= c.bound && (i == len(a) || a[i].Position()+c.shift >= pb) { // otherwise a nearer one follows
				c.add(pb - pa)
			}
		} else if j++; pa-pb < c.bound && (j == len(b) || b[j].Position() > pa) {
			c.add(pa - pb + 1)
		}
	}
}

// search finds the neighbours of each of few hits among many. first is 1 if the few are of the
// first term, otherwise 0.
func (c *closeness) search(few, many []vocab.Hit, first uint32) {
	// The order of the hits of both terms: at equal positions the second term comes first.
	order := func(h vocab.Hit, first uint32) uint32 { return (h.Position()+first*c.shift)<<1 | first }
	at := 0
	for i, h := range few {
		here := order(h, first)
		at += gallop(many[at:], func(h vocab.Hit) bool { return order(h, 1-first) > here })
		if at > 0 {
			if before := many[at-1]; i == 0 || order(few[i-1], first) < order(before, 1-first) {
				c.addWithin(here>>1 - order(before, 1-first)>>1 + first)
			}
		}
		if at < len(many) {
			if after := many[at]; i+1 == len(few) || order(few[i+1], first) > order(after, 1-first) {
				c.addWithin(order(after, 1-first)>>1 - here>>1 + 1 - first)
			}
		}
	}
}

func (c *closeness) addWithin(distance uint32) {
	if distance <= c.bound {
		c.add(distance)
	}
}

// gallop returns the index of the first hit for which past is true; past must be monotonic. The
// time is logarithmic in that index.
func gallop(hits []vocab.Hit, past func(vocab.Hit) bool) int {
	step := 1
	for step < len(hits) && !past(hits[step-1]) {
		step *= 2
	}
	from := step / 2
	return from + sort.Search(min(step, len(hits))-from, func(i int) bool { return past(hits[from+i]) })
}
