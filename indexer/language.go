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
// Content-Language, else the language of the text's script.
func languageOf(declared, header, text string) string {
	if lang := cmp.Or(declared, languageTag(header)); lang != "" {
		return lang
	}
	return languageByScript(text)
}

// sample is the length of the text that languageByScript reads, in bytes.
const sample = 4096

// languageByScript returns the language of a text if at least half of its letters are of a script
// that only one language uses, else "".
func languageByScript(text string) string {
	text = text[:min(len(text), sample)]
	var letters, kana, han, others int
	var count [len(analysis.Scripts)]int
	for i := 0; i < len(text); {
		if text[i] < utf8.RuneSelf {
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		i += size
		if !unicode.IsLetter(r) {
			continue
		}
		letters++
		switch {
		case r < 0x370:
		case unicode.In(r, unicode.Hiragana, unicode.Katakana):
			kana++
		case unicode.Is(unicode.Han, r):
			han++
		default:
			others++
			for s := range analysis.Scripts {
				if unicode.Is(analysis.Scripts[s].Letters, r) {
					count[s]++
				}
			}
		}
	}
	if kana+han+others == 0 {
		return ""
	}
	for _, c := range []byte(text) {
		letters += asciiLetter[c]
	}
	switch {
	case 2*(kana+han) >= letters && 10*kana >= han: // a Chinese text may quote a Japanese name
		return "ja"
	case 2*han >= letters:
		return "zh"
	}
	for s := range analysis.Scripts {
		if 2*count[s] >= letters {
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
