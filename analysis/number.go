package analysis

import (
	"unicode"
	"unicode/utf8"
)

// Bounds of a number with points, as of versions. Longer ones are measurements or addresses.
const (
	maxNumberParts = 4
	maxNumberPart  = 3 // digits; the first part may be a year
)

// AppendNumber appends the term of a number with points to buf, as 2.0, if text[start:end] is its
// first word, and nothing otherwise. The number is whole: neither letters, digits nor a point with
// a letter or digit touch it, as in v2.0, 1.2.0, 2.0.1 and 2.0rc1. Its words are terms of their own.
func AppendNumber(buf, text []byte, start, end int) []byte {
	at, parts := start, 0
	for {
		from := at
		for at < len(text) && isDigit(text[at]) {
			at++
		}
		if parts++; at == from || parts == 1 && (at != end || at-from > maxNumberPart+1) ||
			parts > 1 && at-from > maxNumberPart || parts > maxNumberParts {
			return buf
		}
		if at+1 >= len(text) || text[at] != '.' || !isDigit(text[at+1]) {
			break
		}
		at++
	}
	if parts == 1 || touches(utf8.DecodeLastRune(text[:start])) || touches(utf8.DecodeRune(text[at:])) {
		return buf
	}
	if start > 0 && text[start-1] == '.' && touches(utf8.DecodeLastRune(text[:start-1])) {
		return buf
	}
	if rest := text[at:]; len(rest) > 1 && rest[0] == '.' && touches(utf8.DecodeRune(rest[1:])) {
		return buf
	}
	return append(buf, text[start:at]...)
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// touches reports whether a decoded character is part of a word.
func touches(r rune, size int) bool {
	return size > 0 && (r == '_' || unicode.In(r, unicode.L, unicode.N, unicode.M))
}
