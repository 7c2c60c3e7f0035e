package presentation

import (
	"strings"

	"anatomy/analysis"
)

// eachSubword calls fn for each subword of the identifiers in a heading that is a key of phrases, with its
// value: temp and file of createTempFile.
func eachSubword(heading string, phrases map[string]int, fn func(subword string, phrase int)) {
	for word := range strings.FieldsFuncSeq(heading, notOfIdentifier) {
		analysis.EachSubword(word, func(from, to int) {
			if phrase, ok := phrases[strings.ToLower(word[from:to])]; ok {
				fn(word[from:to], phrase)
			}
		})
	}
}

// notOfIdentifier reports whether a character is not part of an identifier.
func notOfIdentifier(r rune) bool {
	return r != '_' && (r < '0' || r > '9') && (r|0x20 < 'a' || r|0x20 > 'z')
}
