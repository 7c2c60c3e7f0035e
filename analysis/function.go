package analysis

import (
	_ "embed" // of function words
	"iter"
	"math/bits"
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
// and of the rare languages are our own. LICENSES.txt has the licences. Rare languages are last, see rare,
// and have no words like "ser", which are Spanish, too, but in no list of another language.
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

// inLatin are the languages of each function word in Latin letters: bit 0 for English, bit 1+i for others[i].
var inLatin = func() map[string]uint32 {
	all := map[string]uint32{}
	add := func(words map[string]bool, bit int) {
		for word := range words {
			if len(word) > 1 && !byLetters[word] {
				all[word] |= 1 << bit
			}
		}
	}
	add(functionWords, 0)
	for i, l := range others {
		add(l.words, 1+i)
	}
	return all
}()

const maxLanguages = 32 // of inLatin

// A tally counts the function words of each language of inLatin.
type tally [maxLanguages]int

func (t *tally) add(languages uint32) {
	for ; languages != 0; languages &= languages - 1 {
		t[bits.TrailingZeros32(languages)]++
	}
}

// count returns the tally of terms, each once.
func count(terms []string) (t tally) {
	for i, term := range terms {
		if languages := inLatin[term]; languages != 0 && !slices.Contains(terms[:i], term) {
			t.add(languages)
		}
	}
	return t
}

// other returns the language other than English with most words, if these are more than least, and their number.
func (t *tally) other(least int) (lang string, most int) {
	most = least
	for i, l := range others {
		if t[1+i] > most {
			lang, most = l.code, t[1+i]
		}
	}
	return lang, most
}

// rare is the number in inLatin of the first rare language: Catalan, Galician and Occitan. Most of their
// function words are Spanish, Portuguese or French. As they are rarer than these, they count against no
// other language unless they have more words.
var rare = len(others) - 2

// moreFunctions is how many more function words of another language than of English a query in that
// language must have. Words like "die", "in" and "was" are of several languages.
const moreFunctions = 2

// LanguageOf returns the language in Latin letters whose function words most of the terms of a query are,
// "" for English or if there are too few. Terms of one letter do not count.
func LanguageOf(terms []string) string {
	t := count(terms)
	lang, _ := t.other(t[0] + moreFunctions - 1)
	return lang
}

// IsEnglish reports whether two of the terms, or more than in any other language, are function words
// of English, and LanguageOf returns no other language.
func IsEnglish(terms []string) bool {
	t := count(terms)
	_, most := t.other(0)
	return (t[0] >= 2 || most < t[0]) && most < t[0]+moreFunctions
}

// A page needs leastFunctions function words of its language, and moreInPage more than of any other one:
// Danish and Norwegian, or Portuguese and Spanish, share many. No more terms are read when plentyFunctions
// are three times those of any other.
const (
	leastFunctions  = 5
	moreInPage      = 3
	plentyFunctions = 12
)

// LanguageOfPage returns the language in Latin letters that has most function words among the distinct terms
// of a page, or "" if two languages have about as many, or none has enough.
func LanguageOfPage(terms iter.Seq[[]byte]) string {
	var t tally
	read := 0
	for term := range terms {
		t.add(inLatin[string(term)])
		if read++; read%64 == 0 {
			if best, second := t.leaders(); t[best] >= max(plentyFunctions, 3*t[second]) {
				break
			}
		}
	}
	best, second := t.leaders()
	switch {
	case t[best] < max(leastFunctions, t[second]+moreInPage):
		return ""
	case best == 0:
		return "en"
	}
	return others[best-1].code
}

// leaders returns the numbers in inLatin of the two languages with most words.
func (t *tally) leaders() (best, second int) {
	best, second = 0, 1
	for i := 1; i < rare; i++ {
		switch {
		case t[i] > t[best]:
			best, second = i, best
		case i > 1 && t[i] > t[second]:
			second = i
		}
	}
	for i := rare; i <= len(others); i++ {
		if t[i] > t[best] {
			best, second = i, best
		}
	}
	return best, second
}
