package analysis

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// accentedMark begins accented terms, and no other term.
const accentedMark = '^'

// AppendAccented appends the accented term of a word to buf, and nothing if the word has no accents. A
// word with accents is longer than its own term. The accented term is the word in lower case, with
// tones at the end, because people write them over either of two vowels: hòa and hoà are one word.
//
// Only texts in Vietnamese have accented terms: see [IsVietnamese].
func AppendAccented(buf, word []byte) []byte {
	var memory, more, marks [2 * MaxTermLen]byte
	decomposed, letters, tones := norm.NFD.Append(memory[:0], word...), more[:0], marks[:0]
	hasAccent := false
	for i := 0; i < len(decomposed); {
		r, size := utf8.DecodeRune(decomposed[i:])
		i += size
		hasAccent = hasAccent || 0x300 <= r && r <= 0x36F
		switch {
		case isTone(r):
			tones = utf8.AppendRune(tones, r)
		case !unicode.Is(unicode.Cf, r): // soft hyphens and the like
			letters = utf8.AppendRune(letters, unicode.ToLower(r))
		}
	}
	start := len(buf)
	buf = append(norm.NFC.Append(append(buf, accentedMark), letters...), tones...)
	if !hasAccent || len(buf)-start > MaxTermLen {
		return buf[:start]
	}
	return buf
}

// IsAccented reports whether a term is an accented term.
func IsAccented[T string | []byte](term T) bool { return len(term) > 0 && term[0] == accentedMark }

// IsVietnamese reports whether a text has o or u with a horn or one of the letters from ạ to ỹ, composed
// or not. No other language with many pages has them.
func IsVietnamese(text []byte) bool {
	if !mayBeVietnamese(text) {
		return false
	}
	if !norm.NFC.IsNormal(text) {
		text = norm.NFC.Bytes(text)
	}
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRune(text[i:])
		switch i += size; {
		case 0x1EA0 <= r && r <= 0x1EF9, r == 'ơ', r == 'Ơ', r == 'ư', r == 'Ư':
			return true
		}
	}
	return false
}

// mayBeVietnamese reports whether a text has the first byte of such a letter or of its marks.
func mayBeVietnamese(text []byte) bool {
	for _, c := range text {
		if c == 0xC6 || c == 0xCC || c == 0xE1 { // of U+01A0, U+0309 and U+1EA0
			return true
		}
	}
	return false
}

// isTone reports whether r is the mark of a tone: grave, acute, tilde, hook above or dot below.
func isTone(r rune) bool {
	return r == 0x300 || r == 0x301 || r == 0x303 || r == 0x309 || r == 0x323
}
