package words

import (
	"unicode"
	"unicode/utf8"
)

// Latin, Greek and Cyrillic letters are cut as those of ASCII are, into runs of letters, digits and low
// lines: UAX #29 joins them whatever the script, and what it joins with signs between is cut again there. So text in
// these scripts, with the usual punctuation, needs no segmenter. Marks, format characters, digits and symbols beyond
// ASCII, and whatever folds in a way of its own, are left to it.

// A class is what a character is to words.
type class uint8

const (
	unknown class = iota // for the segmenter
	letter               // goes on with a word
	sign                 // parts words and is none
)

// alphabetEnd is the end of Cyrillic.
const alphabetEnd = 0x530

// classes are those of the characters before.
var classes = func() (table [alphabetEnd]class) {
	for r := range table {
		switch r := rune(r); {
		case r < utf8.RuneSelf && asciiWord[r] != 0, r >= utf8.RuneSelf && unicode.IsLetter(r):
			table[r] = letter
		case r < utf8.RuneSelf, !foldTable[r].ok && (parts(r) || unicode.In(r, unicode.Z, unicode.So, unicode.Sc)):
			table[r] = sign
		}
	}
	return table
}()

// General Punctuation, of which the spaces, dashes, quotation marks and other points part words.
const punctuation, punctuationEnd = 0x2000, 0x2070

var signs = func() (table [punctuationEnd - punctuation]class) {
	for i := range table {
		if r := rune(punctuation + i); parts(r) || unicode.Is(unicode.Z, r) {
			table[i] = sign
		}
	}
	return table
}()

func classOf(r rune) class {
	switch {
	case r < alphabetEnd:
		return classes[r]
	case punctuation <= r && r < punctuationEnd:
		return signs[r-punctuation]
	}
	return unknown
}

// alphabetic says whether all characters of text are known. A broken byte is not.
func alphabetic(text []byte) bool {
	for i := 0; i < len(text); {
		if text[i] < utf8.RuneSelf {
			i++
			continue
		}
		r, size := utf8.DecodeRune(text[i:])
		if classOf(r) == unknown {
			return false
		}
		i += size
	}
	return true
}

// eachAlphabetic cuts text[from:to], which is alphabetic.
func (t *Tokenizer) eachAlphabetic(text []byte, from, to int, fn func([]byte, int, int, bool)) {
	f := &t.folder
	for i := from; i < to; {
		start, ok := i, false
		f.stripped = f.stripped[:0]
		size := 1
		for ; i < to; i += size {
			r := rune(text[i])
			if size = 1; r >= utf8.RuneSelf {
				r, size = utf8.DecodeRune(text[i:to])
			}
			if classOf(r) != letter {
				break
			}
			e := &foldTable[r]
			f.stripped = append(f.stripped, e.to[:e.n]...)
			ok = ok || e.ok
		}
		if ok {
			first, _ := utf8.DecodeRune(text[start:i])
			fn(cut(f.stripped), start, i, unicode.IsUpper(first) || unicode.IsTitle(first))
		}
		i += size
	}
}
