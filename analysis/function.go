package analysis

import (
	_ "embed" // of function words
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// functionWords are English words that join others and have no subject of their own, with the terms
// of "don't" and "we'll". They are the closed classes of the language: articles, pronouns, auxiliary
// verbs, conjunctions, prepositions, question words.
var functionWords = setOf(`
	a an the this that these those
	i me my mine we us our ours you your yours he him his she her hers it its they them their theirs
	myself yourself itself themselves
	am is are was were be been being do does did doing done has have had having
	can could will would shall should may might must let lets get
	and or nor but if then than so as because while
	of at by for with about against between into through during before after above below to from up
	down in out on off over under again further once upon within without via per vs versus
	what which who whom whose when where why how
	here there all any both each few more most other some such no not only own same too very just also
	s t don ll re ve d m`)

// otherText lists function words of other languages, folded and sorted: a line for each, which begins
// with its code. They are the stop words of Snowball (BSD), and those that Lucene has for Arabic and
// Romanian (Jacques Savoy, BSD) and Turkish (Apache 2.0), with question words added; those of Vietnamese
// are our own. LICENSES.txt has the licences.
//
//go:embed function.txt
var otherText string

// others are the languages of otherText.
var others = func() (all []language) {
	for line := range strings.Lines(otherText) {
		code, words, _ := strings.Cut(line, " ")
		all = append(all, language{code, setOf(words)})
	}
	return all
}()

// A language is the function words of one.
type language struct {
	code  string
	words map[string]bool
}

// byLetters are the function words of languages that are not written in Latin letters.
var byLetters = func() map[string]bool {
	all := map[string]bool{}
	for _, l := range others {
		for word := range l.words {
			if first, _ := utf8.DecodeRuneInString(word); !unicode.Is(unicode.Latin, first) {
				all[word] = true
			}
		}
	}
	return all
}()

func setOf(words string) map[string]bool {
	set := map[string]bool{}
	for word := range strings.FieldsSeq(words) {
		set[word] = true
	}
	return set
}

// IsFunctionWord reports whether a term is a function word in a language, or in English if lang is "", or
// in any language that is not written in Latin letters.
func IsFunctionWord(word, lang string) bool {
	if lang == "" {
		return functionWords[word] || byLetters[word]
	}
	i := slices.IndexFunc(others, func(l language) bool { return l.code == lang })
	return i >= 0 && others[i].words[word] || byLetters[word]
}

// moreFunctions is how many more function words of another language than of English a text in that
// language must have. Words like "die", "in" and "was" are of several languages.
const moreFunctions = 2

// LanguageOf returns the language in Latin letters whose function words most of the terms of a text are,
// "" for English or if there are too few. Terms of one letter do not count.
func LanguageOf(terms []string) string {
	best, most := "", countIn(functionWords, terms)+moreFunctions-1
	for _, l := range others {
		if n := countIn(l.words, terms); n > most {
			best, most = l.code, n
		}
	}
	return best
}

// IsEnglish reports whether two of the terms, or more than in any other language, are function words
// of English, and LanguageOf returns no other language.
func IsEnglish(terms []string) bool {
	n := countIn(functionWords, terms)
	if n < 2 && slices.ContainsFunc(others, func(l language) bool { return countIn(l.words, terms) >= n }) {
		return false
	}
	return LanguageOf(terms) == ""
}

// countIn returns how many of the terms, each once, are function words of a language in Latin letters.
func countIn(words map[string]bool, terms []string) (n int) {
	for i, term := range terms {
		if len(term) > 1 && words[term] && !byLetters[term] && !slices.Contains(terms[:i], term) {
			n++
		}
	}
	return n
}
