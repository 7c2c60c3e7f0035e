package searcher

import (
	"fmt"
	"unicode"

	"anatomy/disk/segment"
	"anatomy/words"
)

// languageOf is the language of a query as far as its script tells, 0 where it does not: that of the first two letters
// together of a script that belongs to one language. One by itself may be a sign, as λ is, and others are names in Latin letters.
func languageOf(query string) segment.Language {
	before := ""
	for _, r := range query {
		language := scriptLanguage(r)
		if language != "" && language == before {
			return segment.LanguageOf(language)
		}
		before = language
	}
	return 0
}

func scriptLanguage(r rune) string {
	switch {
	case r < 0x370: // Latin
		return ""
	case unicode.In(r, unicode.Hiragana, unicode.Katakana):
		return "ja"
	}
	for _, s := range words.Scripts {
		if unicode.Is(s.Letters, r) {
			return s.Language
		}
	}
	return ""
}

// language is for a page in the language of the query.
func (s *scorer) language(p *page, t *tally) {
	if s.terms.language == 0 || p.language != s.terms.language || s.w.Language == 0 {
		return
	}
	points := s.terms.all * Score(s.w.Language) / 1000
	if !t.explain {
		t.sum += points
		return
	}
	t.add(points, "language", "", fmt.Sprintf("the query is written in the language of the page, idf %s × weight %s", s.terms.all.Milli(), s.w.Language))
}
