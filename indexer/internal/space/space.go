// Package space folds the white space of a page: single spaces between words.
package space

import (
	"unicode/utf8"

	"anatomy/vocab"
)

// whiteSpace is 1 for the white space of HTML and for marks of layout, and 2 for the first byte of a no-break space.
var whiteSpace = [256]uint8{' ': 1, '\t': 1, '\n': 1, '\r': 1, '\f': 1, vocab.LineMark: 1, vocab.CellMark: 1, 0xC2: 2}

// At returns the length of the white space character at s[i], or 0 if there is none.
func At(s []byte, i int) int {
	switch whiteSpace[s[i]] {
	case 1:
		return 1
	case 2:
		if i+1 < len(s) && s[i+1] == 0xA0 {
			return 2
		}
	}
	return 0
}

// FoldedLength returns the length of the prefix of s, at least 1, whose white space is folded
// already: single spaces between words. s does not begin with white space.
func FoldedLength(s []byte) int {
	for i := 1; i < len(s); i++ {
		if foldable(s, i) {
			return i
		}
	}
	return len(s)
}

// foldable reports whether the white space that begins at s[i], if any, is other than a single space
// between words.
func foldable(s []byte, i int) bool {
	switch {
	case whiteSpace[s[i]] == 0:
		return false
	case s[i] == ' ':
		return i+1 == len(s) || whiteSpace[s[i+1]] != 0
	}
	return At(s, i) > 0
}

// Fold appends s to dst with its white space folded.
func Fold(dst, s []byte) []byte {
	space := false
	for i := 0; i < len(s); {
		if n := At(s, i); n > 0 {
			space = true
			i += n
			continue
		}
		if space && len(dst) > 0 {
			dst = append(dst, ' ')
		}
		space = false
		dst = append(dst, s[i])
		i++
	}
	return dst
}

// Cut returns s cut to max bytes, between characters.
func Cut(s []byte, max int) string {
	if len(s) > max {
		for max > 0 && !utf8.RuneStart(s[max]) {
			max--
		}
		s = s[:max]
	}
	return string(s)
}
