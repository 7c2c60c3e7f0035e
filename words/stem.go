package words

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

// stemmers are Snowball's, by language; they are given folded words, so that accents play no part.
var stemmers = map[string]func(*snowballstem.Env) bool{
	"ar": arabic.Stem, "da": danish.Stem, "nl": dutch.Stem, "en": english.Stem, "fi": finnish.Stem, "fr": french.Stem,
	"de": german.Stem, "hu": hungarian.Stem, "it": italian.Stem, "nb": norwegian.Stem, "nn": norwegian.Stem, "no": norwegian.Stem,
	"pt": portuguese.Stem, "ro": romanian.Stem, "ru": russian.Stem, "es": spanish.Stem, "sv": swedish.Stem, "tr": turkish.Stem,
}

// A Family is the words that count as forms of one another: in a language, those of one stem and with one
// beginning. Of a single character of a script without spaces it is the bigrams that begin with it, since
// wherever it stands, one of these does or it alone.
type Family struct {
	Prefix string // with which all begin
	stem   string
	lang   string // "" of a character
}

// leastStem is the shortest beginning of a family, in letters: what is shorter has few forms, and begins
// too many words.
const leastStem = 3

// FamilyOf is the family of a folded word in a language, BCP 47. Words that are not in the language's script,
// or not of letters alone, have none; Russian is the language of Cyrillic words, Arabic of Arabic ones.
func FamilyOf(word, lang string) (f Family, ok bool) {
	if Single(word) {
		return Family{Prefix: word}, true
	}
	lang = languageOf(word, lang)
	if lang == "" {
		return f, false
	}
	f = Family{stem: stem(word, lang), lang: lang}
	f.Prefix = common(word, f.stem)
	if last := len(f.Prefix) - 1; last >= 0 && strings.IndexByte("eiy", f.Prefix[last]) >= 0 && utf8.RuneCountInString(f.Prefix) > leastStem {
		f.Prefix = f.Prefix[:last] // of happy, happier; of file, filing
	}
	return f, utf8.RuneCountInString(f.Prefix) >= leastStem
}

// Holds says whether a folded word is of the family.
func (f *Family) Holds(word string) bool {
	rest, ok := strings.CutPrefix(word, f.Prefix)
	if !ok {
		return false
	}
	if f.lang == "" {
		return rest == "" || Single(rest)
	}
	return languageOf(word, f.lang) == f.lang && stem(word, f.lang) == f.stem
}

// languageOf is the language that a word has forms in, "" for none.
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

// common is the beginning that two words share.
func common(a, b string) string {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	for n < len(a) && n > 0 && !utf8.RuneStart(a[n]) {
		n--
	}
	return a[:n]
}
