package text

import (
	"slices"
	"strings"

	"anatomy/analysis"
)

// KnownWords returns the words of a text without those that have one of the absent terms, and without
// function words unless the text has nothing else.
func KnownWords(s string, absent []string) (known []string) {
	all := strings.Fields(s)
	words := slices.DeleteFunc(slices.Clone(all), isFunctionWord)
	if len(words) == 0 {
		words = all
	}
	isAbsent := func(term string) bool { return slices.Contains(absent, term) }
	for _, w := range words {
		if terms := analysis.PhraseTerms(w); len(terms) > 0 && !slices.ContainsFunc(terms, isAbsent) {
			known = append(known, w)
		}
	}
	return known
}

// isFunctionWord reports whether a word is an English function word, whatever signs surround it.
func isFunctionWord(word string) bool {
	terms := analysis.PhraseTerms(word)
	return len(terms) == 1 && analysis.IsFunctionWord(terms[0], "")
}
