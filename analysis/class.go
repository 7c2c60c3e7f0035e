package analysis

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// A class is the role of a character in splitting text into words.
//
// Words of Latin, Greek, Cyrillic and Arabic letters and of hangul syllables are runs of letters, digits
// and low lines, as in ASCII: UAX #29 joins them across scripts, and splits them again at the signs
// within, as the tokenizer does. So text of these characters and the usual punctuation, arrows and icons
// needs no segmenter. Marks, format characters, and digits and numbers beyond ASCII are unknown.
type class uint8

const (
	unknown class = iota // needs the segmenter
	letter               // part of a word
	sign                 // separates words
)

// alphabetEnd is the end of Arabic.
const alphabetEnd = tableEnd

// classes are those of the characters before alphabetEnd.
var classes = func() (table [alphabetEnd]class) {
	var f folder
	for r := range table {
		switch r := rune(r); {
		case r < utf8.RuneSelf && asciiWord[r] != 0, r >= utf8.RuneSelf && isAlphabetic(r):
			table[r] = letter
		case r < utf8.RuneSelf, (separates(r) || unicode.In(r, unicode.Z, unicode.So, unicode.Sc)) && !f.isWord(r):
			table[r] = sign
		}
	}
	return table
}()

// separates reports whether r separates words even inside a word of UAX #29: punctuation other than the
// low line and its kin, and mathematical signs.
func separates(r rune) bool {
	if r < utf8.RuneSelf {
		return asciiWord[r] == 0
	}
	return (unicode.Is(unicode.P, r) || unicode.Is(unicode.Sm, r)) && !unicode.Is(unicode.Pc, r)
}

// isAlphabetic reports whether r is a letter of a script whose words are runs of letters.
func isAlphabetic(r rune) bool {
	return unicode.IsLetter(r) && (r < cyrillicEnd || unicode.Is(unicode.Arabic, r))
}

const cyrillicEnd = 0x530

// isWord reports whether a sign is a word by itself: it decomposes into letters or numbers.
func (f *folder) isWord(r rune) bool {
	var buf [utf8.UTFMax]byte
	sign := utf8.AppendRune(buf[:0], r)
	if norm.NFKD.Properties(sign).Decomposition() == nil {
		return false
	}
	_, ok := f.foldSlowly(sign)
	return ok
}

// symbols to symbolsEnd are General Punctuation to Miscellaneous Symbols and Arrows. Their spaces,
// dashes, quotation marks, arrows, mathematical signs and pictures separate words.
const symbols, symbolsEnd = 0x2000, 0x2C00

var signs = func() (table [symbolsEnd - symbols]class) {
	var f folder
	for i := range table {
		if r := rune(symbols + i); r == zeroWidthSpace || (separates(r) || unicode.In(r, unicode.Z, unicode.So)) && !f.isWord(r) {
			table[i] = sign
		}
	}
	return table
}()

const zeroWidthSpace = 0x200B // the only format character at which UAX #29 separates words

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
	private, privateEnd = 0xE000, 0xF900 // mostly icons of fonts
)

// alphabetic reports whether text is valid UTF-8 without characters of unknown class.
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
