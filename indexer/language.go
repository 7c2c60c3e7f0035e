package indexer

import (
	"cmp"
	"strings"
	"unicode"
	"unicode/utf8"

	"anatomy/analysis"
)

// maxLanguage is the length of the longest valid language tag (RFC 5646 §4.4.1).
const maxLanguage = 35

// languageTag returns a declared language in lower case, or "" if it is not a BCP 47 tag. Of a
// list, it returns the first.
func languageTag(s string) string {
	s, _, _ = strings.Cut(s, ",")
	s = strings.ReplaceAll(strings.ToLower(strings.TrimSpace(s)), "_", "-")
	if len(s) < 2 || len(s) > maxLanguage {
		return ""
	}
	for _, c := range []byte(s) {
		if c != '-' && (c < 'a' || c > 'z') && (c < '0' || c > '9') {
			return ""
		}
	}
	return s
}

// languageOf returns the language that the page declares, else the language of the header field
// Content-Language, else that of the text's script, else that of its function words.
func languageOf(declared, header, text string, terms *termList) string {
	if lang := cmp.Or(declared, languageTag(header)); lang != "" {
		return lang
	}
	lang, isLatin := languageByScript(text)
	if lang == "" && isLatin {
		lang = analysis.LanguageOfPage(terms.first(termSample))
	}
	return lang
}

// termSample is the number of terms that tell a language.
const termSample = 1000

// sample is the length of the text that languageByScript reads, in bytes.
const sample = 4096

// letters counts the letters of a text by script.
type letters struct {
	all, others int // others are those of scripts other than Latin
	kana, han   int
	cyrillic    int
	russian     int // Cyrillic letters that Bulgarian, Serbian and Ukrainian lack
	notRussian  int // Cyrillic letters that Russian lacks
	arabic      int
	notArabic   int // letters of the Arabic script that Arabic lacks
	scripts     [len(analysis.Scripts)]int
}

// languageByScript returns the language of a text if at least a third of its letters are of a script
// that only one language uses, or of the Cyrillic or Arabic letters of Russian or Arabic, else "". It
// also reports whether nine letters in ten are Latin.
func languageByScript(text string) (lang string, isLatin bool) {
	text = text[:min(len(text), sample)]
	var n letters
	for i := 0; i < len(text); {
		if text[i] < utf8.RuneSelf {
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		i += size
		if unicode.IsLetter(r) {
			n.add(r)
		}
	}
	if n.others == 0 {
		return "", true
	}
	for _, c := range []byte(text) {
		n.all += asciiLetter[c]
	}
	return n.language(), 10*n.others <= n.all
}

// add counts a letter outside ASCII.
func (n *letters) add(r rune) {
	n.all++
	if r < 0x370 {
		return
	}
	n.others++
	switch {
	case unicode.In(r, unicode.Hiragana, unicode.Katakana):
		n.kana++
	case unicode.Is(unicode.Han, r):
		n.han++
	case unicode.Is(unicode.Cyrillic, r):
		n.cyrillic++
		switch {
		case r == 'ы' || r == 'Ы' || r == 'э' || r == 'Э':
			n.russian++
		case (r < 'А' || r > 'я') && r != 'ё' && r != 'Ё':
			n.notRussian++
		}
	case unicode.Is(unicode.Arabic, r):
		n.arabic++
		if r > '\u064a' { // as of Persian, Urdu, Pashto and Kurdish
			n.notArabic++
		}
	default:
		for s := range analysis.Scripts {
			if unicode.Is(analysis.Scripts[s].Letters, r) {
				n.scripts[s]++
			}
		}
	}
}

// language is languageByScript for counted letters. Of Russian letters one in fifty is ы or э, which
// Bulgarian, Serbian and Ukrainian do not have.
func (n *letters) language() string {
	switch {
	case 3*(n.kana+n.han) >= n.all && 10*n.kana >= n.han: // a Chinese text may quote a Japanese name
		return "ja"
	case 3*n.han >= n.all:
		return "zh"
	case 3*n.cyrillic >= n.all && 200*n.russian >= n.cyrillic && n.russian > 0 && 50*n.notRussian <= n.cyrillic:
		return "ru"
	case 3*n.arabic >= n.all && 50*n.notArabic <= n.arabic:
		return "ar"
	}
	for s := range analysis.Scripts {
		if 3*n.scripts[s] >= n.all {
			return analysis.Scripts[s].Language
		}
	}
	return ""
}

// asciiLetter is 1 for the letters of ASCII.
var asciiLetter = func() (table [256]int) {
	for c := 'a'; c <= 'z'; c++ {
		table[c], table[c-'a'+'A'] = 1, 1
	}
	return table
}()
