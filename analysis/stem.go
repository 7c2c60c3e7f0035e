package analysis

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/arabic"
	"github.com/blevesearch/snowballstem/danish"
	"github.com/blevesearch/snowballstem/dutch"
	"github.com/blevesearch/snowballstem/english"
	"github.com/blevesearch/snowballstem/finnish"
	"github.com/blevesearch/snowballstem/french"
	"github.com/blevesearch/snowballstem/german"
	"github.com/blevesearch/snowballstem/hungarian"
	"github.com/blevesearch/snowballstem/italian"
	"github.com/blevesearch/snowballstem/norwegian"
	"github.com/blevesearch/snowballstem/portuguese"
	"github.com/blevesearch/snowballstem/romanian"
	"github.com/blevesearch/snowballstem/russian"
	"github.com/blevesearch/snowballstem/spanish"
	"github.com/blevesearch/snowballstem/swedish"
	"github.com/blevesearch/snowballstem/turkish"
)

// stemmers are Snowball's stemmers by language. They are applied to folded terms, without accents.
var stemmers = map[string]func(*snowballstem.Env) bool{
	"ar": arabic.Stem, "da": danish.Stem, "nl": dutch.Stem, "en": english.Stem, "fi": finnish.Stem, "fr": french.Stem,
	"de": german.Stem, "hu": hungarian.Stem, "it": italian.Stem, "nb": norwegian.Stem, "nn": norwegian.Stem, "no": norwegian.Stem,
	"pt": portuguese.Stem, "ro": romanian.Stem, "ru": russian.Stem, "es": spanish.Stem, "sv": swedish.Stem, "tr": turkish.Stem,
}

// Forms is the set of terms that are forms of each other: those of a language with the same stem and
// prefix. The forms of a unigram are itself and the bigrams that begin with it: one of them is wherever
// the character is.
type Forms struct {
	Prefix string // of all forms
	stem   string
	lang   string // "" for a unigram
}

// leastStem is the length of the shortest Prefix, in letters. A shorter one has few forms and begins too
// many terms.
const leastStem = 3

// FormsOf returns the forms of a term in a language, BCP 47. ok is false for terms that are not in the
// language's script or not made of letters only. Cyrillic terms are Russian and Arabic ones Arabic,
// whatever lang is.
func FormsOf(word, lang string) (f Forms, ok bool) {
	if IsUnigram(word) {
		return Forms{Prefix: word}, true
	}
	lang = languageOf(word, lang)
	if lang == "" {
		return f, false
	}
	f = Forms{stem: stem(word, lang), lang: lang}
	f.Prefix = commonPrefix(word, f.stem)
	if last := len(f.Prefix) - 1; utf8.RuneCountInString(f.Prefix) > leastStem && strings.IndexByte("eiy", f.Prefix[last]) >= 0 {
		f.Prefix = f.Prefix[:last] // happy, happier; file, filing
	}
	return f, utf8.RuneCountInString(f.Prefix) >= leastStem
}

// Contains reports whether a term is one of the forms.
func (f *Forms) Contains(word string) bool {
	rest, ok := strings.CutPrefix(word, f.Prefix)
	if !ok {
		return false
	}
	if f.lang == "" {
		return rest == "" || IsUnigram(rest)
	}
	return languageOf(word, f.lang) == f.lang && stem(word, f.lang) == f.stem
}

// languageOf returns the language in which a term has forms, or "".
func languageOf(word, lang string) string {
	lang, _, _ = strings.Cut(strings.ToLower(lang), "-")
	script := unicode.Latin
	first, _ := utf8.DecodeRuneInString(word)
	switch {
	case unicode.Is(unicode.Cyrillic, first):
		lang, script = "ru", unicode.Cyrillic
	case unicode.Is(unicode.Arabic, first):
		lang, script = "ar", unicode.Arabic
	case stemmers[lang] == nil || lang == "ru" || lang == "ar":
		lang = "en"
	}
	for _, r := range word {
		if !unicode.Is(script, r) && !unicode.Is(unicode.M, r) {
			return ""
		}
	}
	return lang
}

func stem(word, lang string) string {
	env := snowballstem.NewEnv(word)
	stemmers[lang](env)
	return env.Current()
}

// commonPrefix returns the longest common prefix of a and b.
func commonPrefix(a, b string) string {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	for n < len(a) && n > 0 && !utf8.RuneStart(a[n]) {
		n--
	}
	return a[:n]
}
