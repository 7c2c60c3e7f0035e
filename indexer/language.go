package indexer

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"anatomy/words"
)

// maxLanguage is the length of the longest language tag that is believed (RFC 5646 §4.4.1).
const maxLanguage = 35

// languageTag gives a declared language in lower case, "" if it is no BCP 47 tag. Of a list, the
// first counts.
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

// language is what the page declares, else what its header does, else what its script tells.
func (p *parser) language(header, text string) string {
	if p.lang != "" {
		return p.lang
	}
	if lang := languageTag(header); lang != "" {
		return lang
	}
	return languageByScript(text)
}

// sample is how much text languageByScript looks at.
const sample = 4096

// languageByScript names the language of a text whose script is that of one language: at least
// half of its letters are of it. It gives "" otherwise.
func languageByScript(text string) string {
	text = text[:min(len(text), sample)]
	var letters, kana, han, others int
	var count [len(words.Scripts)]int
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
			for s := range words.Scripts {
				if unicode.Is(words.Scripts[s].Letters, r) {
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
	for s := range words.Scripts {
		if 2*count[s] >= letters {
			return words.Scripts[s].Language
		}
	}
	return ""
}

// asciiLetter is 1 for letters.
var asciiLetter = func() (table [256]int) {
	for c := 'a'; c <= 'z'; c++ {
		table[c], table[c-'a'+'A'] = 1, 1
	}
	return table
}()
