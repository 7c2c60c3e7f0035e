package analysis

import "bytes"

// maxSigns is the maximum length of a run of signs that is a term: >>>= and the like.
const maxSigns = 4

// EachSigns calls fn with each run of signs that stands alone in a text, as -> and $?, if the text has
// nothing else besides white space and commas. Such a text is an entry of a table of operators, or code
// that is one of them. Signs are ASCII punctuation but for parentheses, quotes and underscores.
func EachSigns(text []byte, fn func(signs []byte)) {
	runs := 0
	for field := range bytes.FieldsSeq(text) {
		if signs := WithoutComma(field); !IsSigns(signs) {
			return
		}
		runs++
	}
	if runs == 0 || runs > maxRuns {
		return
	}
	for field := range bytes.FieldsSeq(text) {
		fn(WithoutComma(field))
	}
}

// maxRuns is the maximum number of runs of signs in a text that has nothing else.
const maxRuns = 16

// WithoutComma returns a text without the comma at its end, unless it is one.
func WithoutComma[T ~string | ~[]byte](text T) T {
	if last := len(text) - 1; last > 0 && text[last] == ',' {
		return text[:last]
	}
	return text
}

// IsSigns reports whether a text is a run of signs that may be a term.
func IsSigns[T ~string | ~[]byte](text T) bool {
	for i := range len(text) {
		switch c := text[i]; {
		case c <= ' ' || c >= 0x7f || asciiWord[c] != 0, c == '(', c == ')', c == '"', c == '`', c == '_':
			return false
		}
	}
	return 0 < len(text) && len(text) <= maxSigns
}
