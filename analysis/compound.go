package analysis

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// links are the languages that write compounds as one word, with what may link its words:
// Arbeitszimmer, Blumentopf, stationsplein, arbetsplats.
var links = map[string][]string{
	"de": {"", "s", "es", "n", "en", "er", "e"},
	"nl": {"", "s", "e", "en"},
	"sv": {"", "s"},
	"da": {"", "s", "e"},
	"nb": {"", "s", "e"}, "nn": {"", "s", "e"}, "no": {"", "s", "e"},
}

const (
	leastFirst = 5 // letters of a word whose compounds are found
	leastRest  = 4 // letters of what follows it
	leastLong  = 8 // letters of a word that begins few compounds
)

// HasFewCompounds reports whether a term is so long that the compounds that it begins are few, and about
// what it names; in a language without compounds no term is.
func HasFewCompounds(term, lang string) bool { return WritesCompounds(lang) && IsLong(term) }

// WritesCompounds reports whether a language writes compounds as one word.
func WritesCompounds(lang string) bool { return links[primary(lang)] != nil }

// IsLong reports whether a term is so long that the compounds that it begins are few, in the languages that
// have them.
func IsLong(term string) bool { return utf8.RuneCountInString(term) >= leastLong }

// HasCompound reports whether a term may be a compound that begins with the word that f has the forms of,
// whole or without a last e or a: Sprachkurs, skolbok. The rest is not looked up, but has the length of a
// word.
func (f *Forms) HasCompound(term string) bool {
	for _, first := range [...]string{f.word, strings.TrimSuffix(f.word, "e"), strings.TrimSuffix(f.word, "a")} {
		rest, ok := strings.CutPrefix(term, first)
		if ok && utf8.RuneCountInString(first) >= leastFirst && slices.ContainsFunc(links[f.lang], func(link string) bool {
			last, ok := strings.CutPrefix(rest, link)
			return ok && utf8.RuneCountInString(last) >= leastRest
		}) {
			return true
		}
	}
	return false
}
