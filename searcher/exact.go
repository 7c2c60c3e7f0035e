package searcher

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"anatomy/disk/segment"
	"anatomy/vocab"
)

// exact is the score of names that the query is, and no other forms of its words: of the title, and of texts of links.
func (s *scorer) exact(p *page, t *tally) {
	if s.terms.bases == 0 {
		return
	}
	if p.inexact[vocab.TitleField] == 0 {
		s.exactTitle(p, t)
	}
	if weight := s.w.Exact[vocab.AnchorField]; weight != 0 && p.inexact[vocab.AnchorField] == 0 {
		if links := s.exactLinks(p); links > 0 {
			agreeing := Agreeing(links)
			points := s.terms.all * Score(weight) / 1000 * Score(agreeing) / 1000
			if !t.explain {
				t.sum += points
				return
			}
			s.addExact(points, weight, fmt.Sprintf("the query is all of the text of %s, count weight %s ×", counted(links, vocab.Anchor), agreeing), t)
		}
	}
}

// exactTitle is for the title, and in addition for its letters.
func (s *scorer) exactTitle(p *page, t *tally) {
	weight, letters := s.w.Exact[vocab.TitleField], s.w.Letters
	if weight == 0 && letters == 0 {
		return
	}
	all, own := s.coversTitle(p)
	switch points := s.terms.all * Score(weight) / 1000; {
	case weight == 0:
	case all:
		s.addExact(points, weight, "the query is the title,", t)
	case own:
		s.addExact(points*9/10, weight, "the query is the title without the site's name, 0.9 ×", t)
	}
	switch points := s.terms.all * Score(letters) / 1000; {
	case letters == 0:
	case all && p.title.Letters == s.terms.typed:
		s.addExact(points, letters, "the query is the title to the letter,", t)
	case own && p.title.OwnLetters == s.terms.typed:
		s.addExact(points*9/10, letters, "the query is the title without the site's name to the letter, 0.9 ×", t)
	}
}

func (s *scorer) addExact(points Score, weight Milli, why string, t *tally) {
	if !t.explain {
		t.sum += points
		return
	}
	t.add(points, "exact", strings.Join(s.inOrder(), " "), fmt.Sprintf("%s idf %s × weight %s", why, s.terms.all.Milli(), weight))
}

// mayBe says whether a title has as many words as the query.
func (t *terms) mayBe(title segment.Title) bool {
	least, most := len(t.seq), len(t.seq)
	for _, i := range t.seq {
		if base := t.base[i]; t.span[base] > 1 {
			most++ // the last character of a run stands in the title alone
		}
	}
	like := func(words uint8) bool { return int(words) >= least && int(words) <= most }
	return like(title.Words) || like(title.Own)
}

// coversTitle says whether the words of the query are all those of the title, or of what it has besides the site's name.
func (s *scorer) coversTitle(p *page) (all, own bool) {
	var covered [4]uint64 // a bit for each of the first 256 words
	for i := range s.terms.bases {
		hits := s.in(i, vocab.TitleField, p)
		if len(hits) == 0 {
			return false, false
		}
		for _, hit := range hits {
			for at := hit.Position(); at < hit.Position()+s.terms.span[i] && at < 256; at++ {
				covered[at>>6] |= 1 << (at & 63)
			}
		}
	}
	return allSet(&covered, p.title.Words), allSet(&covered, p.title.Own)
}

// allSet says whether the first n bits are set, of which there must be one.
func allSet(set *[4]uint64, n uint8) bool {
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

// exactLinks is the number of links with a text that the query is, each text by a power of two.
func (s *scorer) exactLinks(p *page) (links int64) {
	for i := range s.terms.bases {
		if len(s.in(i, vocab.AnchorField, p)) == 0 {
			return 0
		}
	}
	last := -1
	for _, hit := range s.in(0, vocab.AnchorField, p) {
		text, count, _ := hit.AnchorText()
		if text == last {
			continue
		}
		if last = text; s.coversText(text, count, p) {
			links += 1 << hit.Size()
		}
	}
	return links
}

// coversText says whether a text of links has all words of the query, and no others.
func (s *scorer) coversText(text, count int, p *page) bool {
	covered := uint64(0) // a bit for each word of the text
	first := vocab.MakeHit(vocab.AnchorPosition(text, 1, 0), 0, false, 0)
	for i := range s.terms.bases {
		hits := s.in(i, vocab.AnchorField, p)
		at, _ := slices.BinarySearch(hits, first)
		from := at
		for ; at < len(hits); at++ {
			of, _, index := hits[at].AnchorText()
			if of != text {
				break
			}
			covered |= (1<<s.terms.span[i] - 1) << index
		}
		if at == from {
			return false
		}
	}
	return bits.TrailingZeros64(^covered) >= count
}
