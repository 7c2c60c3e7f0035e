package searcher

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"anatomy/disk/segment"
	"anatomy/vocab"
	"anatomy/words"
)

// mergeForms gives the hits of forms to the words that they count as. Inexact are the words of which a field has only
// forms, by bits; the forms of single characters are words that hold them.
func (t *terms) mergeForms(hits [][]vocab.Hit) (inexact [vocab.Fields]uint64) {
	for i := t.bases; i < len(t.words); i++ {
		if base := t.base[i]; len(hits[i]) > 0 && !words.Single(t.words[base]) {
			held := fieldsOf(hits[base])
			for f, there := range fieldsOf(hits[i]) {
				if there && !held[f] {
					inexact[f] |= 1 << base
				}
			}
		}
	}
	for i := t.bases; i < len(t.words); i++ {
		base := t.base[i]
		hits[base], hits[i] = merged(hits[base], hits[i]), hits[i][:0]
	}
	return inexact
}

// fieldsOf says in which fields hits are.
func fieldsOf(hits []vocab.Hit) (there [vocab.Fields]bool) {
	for _, hit := range hits {
		there[hit.Field()] = true
	}
	return there
}

// merged puts more hits among some; both are sorted.
func merged(hits, more []vocab.Hit) []vocab.Hit {
	i, k := len(hits), len(more)
	hits = append(hits, more...)
	for i > 0 && k > 0 { // from the end, where there is room
		if more[k-1].Before(hits[i-1]) {
			hits[i+k-1] = hits[i-1]
			i--
		} else {
			hits[i+k-1] = more[k-1]
			k--
		}
	}
	copy(hits, more[:k])
	return hits
}

// maxImpact is the largest there is.
const maxImpact = 255

// A page is what the score of a page is made of.
type page struct {
	hits [][]vocab.Hit // by word of the query; empty where it is not on the page

	inexact [vocab.Fields]uint64 // words of which a field has only other forms, by bits

	title    segment.Title    // its length and letters
	words    int64            // length of the text
	language segment.Language // 0 where it is not known
	average  int64            // of all pages
	rank     Score            // points of its PageRank
	depth    int              // of its URL
	crawled  bool
	home     Score // points of being the home page of a host that the query names
	related  Score // points of being related to a page that the query names
	asked    Score // points of the asker's preferences

	rankDetail, homeDetail, relatedDetail, askedDetail string // for an explanation
}

// A tally adds points up, and keeps account of them where it is asked to.
type tally struct {
	sum     Score
	explain bool
	parts   []Part
}

func (t *tally) add(points Score, name, word, detail string) {
	t.sum += points
	if t.explain {
		t.parts = append(t.parts, Part{Name: name, Word: word, Detail: detail, Points: points})
	}
}

// A scorer reckons the exact score of pages, that of the second phase. It is for one goroutine.
type scorer struct {
	w      *Weights
	terms  *terms
	fields [][vocab.Fields + 1]int // by word: where the hits of each field begin
}

func newScorer(w *Weights, t *terms) *scorer {
	return &scorer{w: w, terms: t, fields: make([][vocab.Fields + 1]int, len(t.words))}
}

// score adds up what p is worth. Its hits are sorted as [vocab.Hit.Before] says.
func (s *scorer) score(p *page, t *tally) {
	for i := range s.terms.words {
		s.word(i, p, t)
	}
	for _, pair := range s.terms.pairs {
		s.near(pair, p, t)
	}
	s.whole(p, t)
	s.exact(p, t)
	s.language(p, t)
	s.static(p, t)
}

// word is the score of one word: the dot product of count weights and type weights (BP98 §4.5.1).
func (s *scorer) word(i int, p *page, t *tally) {
	var counts [vocab.HitTypes]int64
	field, starts, hits := vocab.Field(0), &s.fields[i], p.hits[i]
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
	for ht, count := range counts {
		if count > 0 && s.w.Type[ht] != 0 {
			s.wordType(i, vocab.HitType(ht), count, p, t)
		}
	}
}

func (s *scorer) wordType(i int, ht vocab.HitType, count int64, p *page, t *tally) {
	weight := s.w.Count(count)
	if ht.Field() == vocab.Body {
		weight = s.w.CountInText(count, p.words, p.average)
	}
	idf := s.terms.idf[i]
	if p.inexact[ht.Field()]>>i&1 != 0 {
		idf = idf * Score(s.w.Form) / 1000
	}
	points := idf * Score(s.w.Type[ht]) * Score(weight) / million
	if !t.explain {
		t.sum += points
		return
	}
	t.add(points, ht.String(), s.terms.words[i], fmt.Sprintf("%s, count weight %s × idf %s%s × type weight %s",
		counted(count, ht), weight, idf.Milli(), s.asked(i), s.w.Type[ht]))
}

// asked says of a word whose idf counts more than once how often the query asks for it.
func (s *scorer) asked(i int) string {
	if times := s.terms.times[i]; times > 1 && s.w.Again != 0 {
		return fmt.Sprintf(", asked for %d times,", times)
	}
	return ""
}

func counted(count int64, ht vocab.HitType) string {
	of := "hit"
	if ht == vocab.Anchor || ht == vocab.AnchorOut {
		of = "link" // counted by powers of two
	}
	if count != 1 {
		of += "s"
	}
	return fmt.Sprint(count, " ", of)
}

// in gives the hits of a word in one field, once word has gone through them.
func (s *scorer) in(i int, f vocab.Field, p *page) []vocab.Hit {
	return p.hits[i][s.fields[i][f]:s.fields[i][f+1]]
}

// whole is the score of fields in which the whole query stands as a phrase.
func (s *scorer) whole(p *page, t *tally) {
	if len(s.terms.seq) < 2 {
		return
	}
	for f, weight := range s.w.Whole {
		if weight == 0 || p.inexact[f] != 0 || !s.holdsWhole(vocab.Field(f), p) {
			continue
		}
		points := s.terms.all * Score(weight) / 1000
		if !t.explain {
			t.sum += points
			continue
		}
		t.add(points, "phrase", strings.Join(s.inOrder(), " "), fmt.Sprintf(
			"all words in order in %s, idf %s × weight %s", fieldName(vocab.Field(f)), s.terms.all.Milli(), weight))
	}
}

func (s *scorer) inOrder() []string {
	var all []string
	for _, i := range s.terms.seq {
		all = append(all, s.terms.words[i])
	}
	return all
}

func (s *scorer) holdsWhole(f vocab.Field, p *page) bool {
	seq := s.terms.seq
	for _, i := range seq {
		if len(s.in(i, f, p)) == 0 {
			return false
		}
	}
	for _, first := range s.in(seq[0], f, p) {
		if s.holdsFrom(first.Position(), f, p) {
			return true
		}
	}
	return false
}

// standsAt says whether one of the hits of a field is at the position.
func standsAt(hits []vocab.Hit, position uint32) bool {
	_, found := slices.BinarySearchFunc(hits, position, func(h vocab.Hit, p uint32) int { return cmp.Compare(h.Position(), p) })
	return found
}

func (s *scorer) holdsFrom(position uint32, f vocab.Field, p *page) bool {
	for k, i := range s.terms.seq {
		if !standsAt(s.in(i, f, p), position+uint32(k)) {
			return false
		}
	}
	return true
}

// static is what does not depend on the query.
func (s *scorer) static(p *page, t *tally) {
	t.add(p.rank, "pagerank", "", p.rankDetail)
	if !p.crawled {
		t.add(s.w.Uncrawled.score(), "uncrawled", "", "known by links alone")
	}
	if p.home != 0 {
		t.add(p.home, "home", "", p.homeDetail)
	}
	if p.related != 0 {
		t.add(p.related, "related", "", p.relatedDetail)
	}
	if p.asked != 0 {
		t.add(p.asked, "preference", "", p.askedDetail)
	}
	detail := ""
	if t.explain {
		detail = depthName(p.depth)
	}
	t.add(s.w.OfDepth(p.depth), "url", "", detail)
}

func depthName(depth int) string {
	switch depth {
	case 0:
		return "root of its host"
	case 1:
		return "1 folder deep"
	}
	return fmt.Sprintf("%d folders deep", depth)
}

func fieldName(f vocab.Field) string {
	return [...]string{"the text", "the title", "the description", "the URL", "names of its parts", "links to the page"}[f]
}

// Milli is the score rounded down to thousandths, for showing.
func (s Score) Milli() Milli { return Milli(s / 1000) }

func (m Milli) String() string {
	return strings.TrimRight(strings.TrimRight(fmt.Sprintf("%.3f", float64(m)/1000), "0"), ".")
}
