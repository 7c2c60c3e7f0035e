package analysis

import (
	"strings"
	"unicode/utf8"
)

// MaxSubwords bounds the subwords of an identifier. What is left of a longer one is the last of them.
const MaxSubwords = 8

// EachSubword calls fn for each subword text[from:to] of an identifier, a word of ASCII letters,
// digits and low lines: read, csv and file of read_csv_file and readCsvFile, http and server of
// HTTPServer. Subwords are separated by low lines and begin at capitals, but for those of a plural as
// in URLs. Digits belong to what they follow. It does nothing for a word that is no identifier, which
// has fewer than two subwords.
func EachSubword[T ~string | ~[]byte](text T, fn func(from, to int)) {
	n := 0
	from, to := nextSubword(text, 0)
	for from < len(text) {
		after, end := nextSubword(text, to)
		switch n++; {
		case n == 1 && after == len(text):
			return
		case n == MaxSubwords:
			fn(from, len(text))
			return
		}
		fn(from, to)
		from, to = after, end
	}
}

// nextSubword returns the first subword at or after an offset, from = len(text) if there is none.
func nextSubword[T ~string | ~[]byte](text T, at int) (from, to int) {
	for from = at; from < len(text) && text[from] == '_'; from++ {
	}
	for to = from; to < len(text) && text[to] != '_'; to++ {
		if to > from && beginsSubword(text, to) {
			break
		}
	}
	return from, to
}

// beginsSubword reports whether a subword begins at a byte that is not the first: at a capital after a
// small letter or digit, and at the last of several capitals if two small letters follow.
func beginsSubword[T ~string | ~[]byte](text T, at int) bool {
	return isCapital(text[at]) && (!isCapital(text[at-1]) ||
		at+2 < len(text) && isSmall(text[at+1]) && isSmall(text[at+2]))
}

// HasInnerCapital reports whether a word has ASCII capitals after its first letter, and small letters.
func HasInnerCapital(word []byte) bool {
	capital, small := false, false
	for i, c := range word {
		capital = capital || i > 0 && isCapital(c)
		small = small || isSmall(c)
	}
	return capital && small
}

func isCapital(c byte) bool { return 'A' <= c && c <= 'Z' }

func isSmall(c byte) bool { return 'a' <= c && c <= 'z' }

// OtherSpelling returns the term of an identifier that is spelt with low lines instead of capitals or
// without low lines instead of with them: read_csv of readCsv, readcsv of read_csv. It returns "" for
// a word that is no identifier.
func OtherSpelling(word string) string {
	var all []string
	EachSubword(word, func(from, to int) { all = append(all, strings.ToLower(word[from:to])) })
	if len(all) == 0 {
		return ""
	}
	between := "_"
	if strings.Contains(word, "_") {
		between = ""
	}
	if term := strings.Join(all, between); len(term) <= MaxTermLen && isASCII(term) {
		return term
	}
	return ""
}

func isASCII(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r >= utf8.RuneSelf }) < 0
}
