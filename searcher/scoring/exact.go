package scoring

import (
	"fmt"
	"math/bits"
	"slices"

	"anatomy/vocab"
)

// exactMatch scores a title and anchor texts that consist of exactly the query's terms, without
// forms, on pages that have the signs of the query. An identifier counts as the terms that spell it.
func exactMatch(m *match, t *Tally) {
	if m.terms.Own == 0 || m.lacks[vocab.AnchorField] != 0 {
		return
	}
	if m.page.inexact[vocab.TitleField] == 0 && m.lacks[vocab.TitleField] == 0 {
		exactTitle(m, t)
	}
	weight := m.ExactMatch[vocab.AnchorField]
	if weight == 0 || m.page.inexact[vocab.AnchorField] != 0 {
		return
	}
	if links := m.exactLinks(); links > 0 {
		agreeing := Agreeing(links)
		points := agreeing.Of(weight.Of(m.terms.Sum))
		if !t.Explain {
			t.Sum += points
			return
		}
		m.addExact(points, weight, fmt.Sprintf("the query is all of the text of %s, count weight %s ×",
			counted(links, vocab.Anchor), agreeing), t)
	}
}

// exactTitle scores a title that is an exact match, and one that equals the query verbatim.
func exactTitle(m *match, t *Tally) {
	exact, verbatim := m.ExactMatch[vocab.TitleField], m.VerbatimTitle
	if exact == 0 && verbatim == 0 {
		return
	}
	all, own := m.coversTitle()
	switch points := exact.Of(m.terms.Sum); {
	case exact == 0:
	case all:
		m.addExact(points, exact, "the query is the title,", t)
	case own:
		m.addExact(OwnTitle.Of(points), exact, "the query is the title without the site's name, 0.9 ×", t)
	}
	switch points := verbatim.Of(m.terms.Sum); {
	case verbatim == 0:
	case all && m.page.Title.Letters == m.terms.verbatim:
		m.addExact(points, verbatim, "the query is the title to the letter,", t)
	case own && m.page.Title.OwnLetters == m.terms.verbatim:
		m.addExact(OwnTitle.Of(points), verbatim,
			"the query is the title without the site's name to the letter, 0.9 ×", t)
	}
}

func (m *match) addExact(points Score, weight Milli, why string, t *Tally) {
	if !t.Explain {
		t.Sum += points
		return
	}
	detail := fmt.Sprintf("%s idf %s × weight %s", why, m.terms.Sum.Milli(), weight)
	t.add(points, "exact", m.text(), detail)
}

// coversTitle reports whether the query's terms are all words of the title, and whether they are
// all words of its own part, without the name of the site.
func (m *match) coversTitle() (all, own bool) {
	var covered titleWords
	lacked := uint64(0) // bitmap of own terms
	for i := range m.terms.Own {
		hits := m.hitsIn(i, vocab.TitleField)
		if covered.add(hits, m.terms.span[i]); len(hits) == 0 {
			lacked |= 1 << i
		}
	}
	for k, spelt := range m.terms.spelt {
		if hits := m.hitsIn(m.terms.Forms+k, vocab.TitleField); len(hits) > 0 {
			covered.add(hits, 1)
			lacked &^= spelt
		}
	}
	if lacked != 0 {
		return false, false
	}
	return allSet(&covered, m.page.Title.Words), allSet(&covered, m.page.Title.Own)
}

// titleWords is a bitmap of the first 256 words of a title.
type titleWords [4]uint64

// add adds the words that hits cover, span words each.
func (w *titleWords) add(hits []vocab.Hit, span uint32) {
	for _, hit := range hits {
		for at := hit.Position(); at < hit.Position()+span && at < 256; at++ {
			w[at>>6] |= 1 << (at & 63)
		}
	}
}

// allSet reports whether n > 0 and the first n bits are set.
func allSet(set *titleWords, n uint8) bool {
	left := int(n)
	for _, word := range set {
		if left <= 64 {
			return n > 0 && bits.TrailingZeros64(^word) >= left
		}
		if left -= 64; ^word != 0 {
			return false
		}
	}
	return false
}

// exactLinks returns the number of links whose anchor text is an exact match, rounded down to a
// power of two for each text.
func (m *match) exactLinks() (links int64) {
	for i := range m.terms.Own {
		if len(m.hitsIn(i, vocab.AnchorField)) == 0 {
			return 0
		}
	}
	last := -1
	for _, hit := range m.hitsIn(0, vocab.AnchorField) {
		text, words, _ := hit.AnchorText()
		if text == last {
			continue
		}
		if last = text; m.coversAnchor(text, words) {
			links += 1 << hit.Size()
		}
	}
	return links
}

// coversAnchor reports whether the words of an anchor text are exactly the query's terms.
func (m *match) coversAnchor(text, words int) bool {
	covered := uint64(0) // bitmap of the words
	first := vocab.MakeHit(vocab.AnchorPosition(text, 1, 0), 0, false, 0)
	for i := range m.terms.Own {
		hits := m.hitsIn(i, vocab.AnchorField)
		at, _ := slices.BinarySearch(hits, first)
		from := at
		for ; at < len(hits); at++ {
			of, _, index := hits[at].AnchorText()
			if of != text {
				break
			}
			covered |= (1<<m.terms.span[i] - 1) << index
		}
		if at == from {
			return false
		}
	}
	return bits.TrailingZeros64(^covered) >= words
}
