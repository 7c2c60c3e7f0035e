package words

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// A folder brings the spellings of a word to one form: compatibility forms to plain ones (NFKD),
// combining marks U+0300–U+036F and format characters such as the soft hyphen away, case folded
// in full (ß is ss), the rest composed again (NFC), so that hangul and voiced kana stay whole.
type folder struct {
	decomposed, stripped, composed []byte
}

// fold gives the folded form, which lasts until the next call, and whether it holds a letter or
// a number.
func (f *folder) fold(word []byte) (folded []byte, ok bool) {
	f.stripped = f.stripped[:0]
	for i := 0; i < len(word); {
		r, size := utf8.DecodeRune(word[i:])
		switch {
		case r < tableEnd:
			e := &foldTable[r]
			f.stripped = append(f.stripped, e.to[:e.n]...)
			ok = ok || e.ok
		case foldsToItself(r):
			f.stripped = append(f.stripped, word[i:i+size]...)
			ok = true
		default:
			return f.foldSlowly(word)
		}
		i += size
	}
	return f.stripped, ok
}

// foldSlowly is fold without tables, for any characters.
func (f *folder) foldSlowly(word []byte) (folded []byte, ok bool) {
	f.decomposed = norm.NFKD.Append(f.decomposed[:0], word...)
	f.stripped, ok = stripAndLower(f.stripped[:0], f.decomposed)
	f.composed = norm.NFC.Append(f.composed[:0], f.stripped...)
	return f.composed, ok
}

// stripAndLower appends to dst the decomposed word without its accents, in lower case.
func stripAndLower(dst, word []byte) (stripped []byte, ok bool) {
	for i := 0; i < len(word); {
		r, size := utf8.DecodeRune(word[i:])
		i += size
		switch {
		case 0x300 <= r && r <= 0x36F || unicode.Is(unicode.Cf, r):
			continue
		case r == 'ß' || r == 'ẞ':
			dst = append(dst, "ss"...)
		default:
			// By way of the upper case, because some letters have two lower-case forms: σ and ς.
			dst = utf8.AppendRune(dst, unicode.ToLower(unicode.ToUpper(r)))
		}
		ok = ok || unicode.IsLetter(r) || unicode.IsNumber(r)
	}
	return dst, ok
}

// foldsToItself says whether r folds to itself, whatever stands around it, if all of that is in
// the table or folds to itself too: ideographs, kana and hangul in their usual form.
func foldsToItself(r rune) bool {
	return 0x4E00 <= r && r <= 0x9FD5 || 0x3041 <= r && r <= 0x3096 || 0x30A1 <= r && r <= 0x30FA || r == 0x30FC ||
		0xAC00 <= r && r <= 0xD7A3
}

// tableEnd is the end of Latin, Greek, Cyrillic and Armenian. Up to here, nothing that is left
// once the marks U+0300–U+036F are gone composes with what stands before it, so that each
// character can be folded by itself.
const tableEnd = 0x590

type foldEntry struct {
	to [7]byte
	n  uint8
	ok bool // holds a letter or a number
}

var foldTable = func() (table [tableEnd]foldEntry) {
	var source, decomposed, stripped []byte
	for r := range table {
		source = utf8.AppendRune(source[:0], rune(r))
		decomposed = norm.NFKD.Append(decomposed[:0], source...)
		e := &table[r]
		stripped, e.ok = stripAndLower(stripped[:0], decomposed)
		e.n = uint8(copy(e.to[:], stripped))
	}
	return table
}()
