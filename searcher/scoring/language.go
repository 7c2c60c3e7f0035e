package scoring

import (
	"unicode"

	"anatomy/analysis"
	"anatomy/disk/segment"
)

// languageOf returns the language that the script of a query implies, or 0: the language of the
// first two adjacent letters of a script that only one language uses. A single letter may be a
// symbol, like λ, and Latin names occur in queries of any language.
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
	for _, s := range analysis.Scripts {
		if unicode.Is(s.Letters, r) {
			return s.Language
		}
	}
	return ""
}
