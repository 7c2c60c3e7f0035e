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

// add adds the character at [start, end) of the text, which has the folded form term. It calls fn with
// the bigram of the waiting character and this one.
func (r *run) add(term []byte, start, end int, fn termFunc) {
	if len(r.term) > 0 && start == r.end {
		r.bigram = append(append(r.bigram[:0], r.term...), term...)
		fn(truncate(r.bigram), r.start, end)
	} else {
		r.finish(fn)
	}
	r.term, r.start, r.end = append(r.term[:0], term...), start, end
}

// finish ends the run. The waiting character is a term.
func (r *run) finish(fn termFunc) {
	if len(r.term) > 0 {
		fn(truncate(r.term), r.start, r.end)
		r.term = r.term[:0]
	}
}

// spaceless reports whether r is a letter of a script without spaces between words, which UAX #29 cuts
// into single characters.
func spaceless(r rune) bool {
	switch {
	case r < firstSpaceless:
		return false
	case foldsToItself(r):
		return isIdeograph(r) || isHiragana(r)
	}
	return unicode.IsLetter(r) &&
		unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

const firstSpaceless = 0xE80 // Lao

// IsUnigram reports whether a term is a single character of a script without spaces: the last of a run.
func IsUnigram(term string) bool {
	r, size := utf8.DecodeRuneInString(term)
	return spaceless(r) && marksEnd(term, size) == len(term)
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
	last = last[marksEnd(last, 0):]
	return IsUnigram(last) && len(second) > len(last) && second[:len(last)] == last && !IsUnigram(second)
}

// marksEnd returns the end of the combining marks at text[from:].
func marksEnd[T string | []byte](text T, from int) int {
	for from < len(text) {
		if text[from] < utf8.RuneSelf {
			break
		}
		r, size := utf8.DecodeRuneInString(string(text[from:min(from+utf8.UTFMax, len(text))]))
		if foldsToItself(r) || !unicode.Is(unicode.M, r) {
			break
		}
		from += size
	}
	return from
}
