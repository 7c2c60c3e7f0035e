package analysis

import (
	"unicode"
	"unicode/utf8"
)

// A run is the state within a run of characters without spaces. The last character waits for the next
// one to become a bigram.
type run struct {
	term       []byte // the waiting character, folded; empty if there is none
	start, end int    // of that character in the text
	bigram     []byte // scratch
}

// add adds text[start:end], one character with the folded form term. It calls fn with the bigram of the
// waiting character and this one. Vowel signs may be between them.
func (r *run) add(text, term []byte, start, end int, fn termFunc) {
	if len(r.term) > 0 && onlyMarks(text[r.end:start]) {
		r.bigram = append(append(r.bigram[:0], r.term...), term...)
		fn(truncate(r.bigram), r.start, end, false)
	} else {
		r.finish(fn)
	}
	r.term, r.start, r.end = append(r.term[:0], term...), start, end
}

// finish ends the run. The waiting character is a term.
func (r *run) finish(fn termFunc) {
	if len(r.term) > 0 {
		fn(truncate(r.term), r.start, r.end, false)
		r.term = r.term[:0]
	}
}

// spaceless reports whether r is a letter of a script without spaces between words, which UAX #29 cuts
// into single characters.
func spaceless(r rune) bool {
	return r >= firstSpaceless && unicode.IsLetter(r) &&
		unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

const firstSpaceless = 0xE00 // Thai

// IsUnigram reports whether a term is a single character of a script without spaces: the last of a run.
func IsUnigram(term string) bool {
	r, size := utf8.DecodeRuneInString(term)
	return spaceless(r) && onlyMarks([]byte(term[size:]))
}

// IsBigram reports whether a term is two characters of a script without spaces.
func IsBigram(term string) bool {
	r, _ := utf8.DecodeRuneInString(term)
	return spaceless(r) && !IsUnigram(term)
}

// BigramsOverlap reports whether second may be the bigram that follows first in a run: it begins with
// the last character of first.
func BigramsOverlap(first, second string) bool {
	_, size := utf8.DecodeRuneInString(first)
	last := first[size:]
	return IsUnigram(last) && len(second) > len(last) && second[:len(last)] == last && !IsUnigram(second)
}

// onlyMarks reports whether text is made of combining marks.
func onlyMarks(text []byte) bool {
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRune(text[i:])
		if !unicode.Is(unicode.M, r) {
			return false
		}
		i += size
	}
	return true
}
