package analysis

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// HasToken reports whether a text has a token verbatim, not surrounded by letters, digits,
// underscores and minuses. A token without a minus may have one before it.
func HasToken(text, token string) bool {
	for {
		before, after, found := strings.Cut(text, token)
		if !found {
			return false
		}
		last, _ := utf8.DecodeLastRuneInString(before)
		next, _ := utf8.DecodeRuneInString(after)
		if !isOfToken(next) && (!isOfToken(last) || last == '-' && token[0] != '-') {
			return true
		}
		text = after
	}
}

func isOfToken(r rune) bool {
	return r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r)
}
