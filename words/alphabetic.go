package words

import (
	"bytes"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Latin, Greek, Cyrillic and Arabic letters and the syllables of hangul are cut as those of ASCII are, into runs of
// letters, digits and low lines: UAX #29 joins them whatever the script, and what it joins with signs between is cut again
// there. So text in these scripts, with the usual punctuation, arrows and icons, needs no segmenter. Marks, format
// characters, digits and numbers beyond ASCII, and whatever folds in a way of its own, are left to it.

// A class is what a character is to words.
type class uint8

const (
	unknown class = iota // for the segmenter
	letter               // goes on with a word
	sign                 // parts words and is none
)

// alphabetEnd is the end of Arabic.
const alphabetEnd = 0x700

// classes are those of the characters before.
var classes = func() (table [alphabetEnd]class) {
	var f folder
	for r := range table {
		switch r := rune(r); {
		case r < utf8.RuneSelf && asciiWord[r] != 0, r >= utf8.RuneSelf && f.alphabetical(r):
			table[r] = letter
		case r < utf8.RuneSelf, (parts(r) || unicode.In(r, unicode.Z, unicode.So, unicode.Sc)) && !f.isWord(r):
			table[r] = sign
		}
	}
	return table
}()

// alphabetical says whether r is a letter that folds by the table, or to itself.
func (f *folder) alphabetical(r rune) bool {
	if r < cyrillicEnd || !unicode.Is(unicode.Arabic, r) {
		return r < cyrillicEnd && unicode.IsLetter(r)
	}
	var buf [utf8.UTFMax]byte
	word := utf8.AppendRune(buf[:0], r)
	folded, _ := f.foldSlowly(word)
	return unicode.IsLetter(r) && bytes.Equal(folded, word)
}

const cyrillicEnd = 0x530

// isWord says whether a sign alone is a word: it is made of letters or numbers.
func (f *folder) isWord(r rune) bool {
	var buf [utf8.UTFMax]byte
	sign := utf8.AppendRune(buf[:0], r)
	if norm.NFKD.Properties(sign).Decomposition() == nil {
		return false
	}
	_, ok := f.foldSlowly(sign)
	return ok
}

// General Punctuation to Miscellaneous Symbols and Arrows, of which the spaces, dashes, quotation marks, arrows, signs of
// mathematics and pictures part words.
const symbols, symbolsEnd = 0x2000, 0x2C00

var signs = func() (table [symbolsEnd - symbols]class) {
	var f folder
	for i := range table {
		if r := rune(symbols + i); r == zeroWidthSpace || (parts(r) || unicode.In(r, unicode.Z, unicode.So)) && !f.isWord(r) {
			table[i] = sign
		}
	}
	return table
}()

const zeroWidthSpace = 0x200B // the one format character that UAX #29 has part words

func classOf(r rune) class {
	switch {
	case r < alphabetEnd:
		return classes[r]
	case symbols <= r && r < symbolsEnd:
		return signs[r-symbols]
	case hangul <= r && r < hangulEnd:
		return letter
	case private <= r && r < privateEnd:
		return sign
	}
	return unknown
}

const (
	hangul, hangulEnd   = 0xAC00, 0xD7A4 // syllables
	private, privateEnd = 0xE000, 0xF900 // icons of fonts, mostly
)

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
			if r >= tableEnd {
				f.stripped, ok = append(f.stripped, text[i:i+size]...), true
				continue
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
