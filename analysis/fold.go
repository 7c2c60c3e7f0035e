package analysis

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// MaxTermLen is the maximum length of a term, in bytes. Longer ones are truncated between characters, in
// pages and queries alike.
const MaxTermLen = 64

// truncate returns term cut to MaxTermLen.
func truncate(term []byte) []byte {
	if len(term) <= MaxTermLen {
		return term
	}
	n := MaxTermLen
	for !utf8.RuneStart(term[n]) {
		n--
	}
	return term[:n]
}

// A termFunc is called with a term and its offsets in the text.
type termFunc = func(term []byte, start, end int)

// A folder reduces the spellings of a word to one: compatibility decomposition (NFKD), removal of
// combining marks U+0300–U+036F, of Hebrew and Arabic vowel signs and of format characters such as the
// soft hyphen, full case folding (ß is ss), and composition (NFC), so that hangul and voiced kana are
// one character. Decimal digits become those of ASCII. Arabic and Devanagari letters that are written
// one for the other become one, as in Lucene's ArabicNormalizer, PersianNormalizer and HindiNormalizer.
type folder struct {
	decomposed, stripped, composed []byte
}

// fold returns the folded word, which is valid until the next call. ok reports whether it has a letter
// or number.
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

// foldSlowly is fold without tables.
func (f *folder) foldSlowly(word []byte) (folded []byte, ok bool) {
	f.decomposed = norm.NFKD.Append(f.decomposed[:0], word...)
	f.stripped, ok = stripAndLower(f.stripped[:0], f.decomposed)
	f.composed = norm.NFC.Append(f.composed[:0], f.stripped...)
	return f.composed, ok
}

// stripAndLower appends the decomposed word to dst, without accents and in lower case.
func stripAndLower(dst, word []byte) (stripped []byte, ok bool) {
	for i := 0; i < len(word); {
		r, size := utf8.DecodeRune(word[i:])
		i += size
		switch {
		case isAccent(r) || unicode.Is(unicode.Cf, r):
			continue
		case r == 'ß' || r == 'ẞ':
			dst = append(dst, "ss"...)
		case r >= 0x600 && unicode.Is(unicode.Nd, r):
			dst = append(dst, '0'+digit(r))
		case r >= 0x600 && interchangeable[r] != 0:
			dst = utf8.AppendRune(dst, interchangeable[r])
		default:
			// By way of the upper case, because some letters have two lower-case forms: σ and ς.
			dst = utf8.AppendRune(dst, unicode.ToLower(unicode.ToUpper(r)))
		}
		ok = ok || unicode.IsLetter(r) || unicode.IsNumber(r)
	}
	return dst, ok
}

// isAccent reports whether r is a mark that folding removes: an accent, a Hebrew or Arabic vowel sign or
// the hamza above or below a letter, the Devanagari nukta, or the Arabic tatweel, which is no mark but
// stretches a word.
func isAccent(r rune) bool {
	switch {
	case r < 0x300 || r > nukta:
		return false
	case r <= 0x36F || r == nukta || r == tatweel:
		return true
	}
	return 0x591 <= r && r < tableEnd && unicode.Is(unicode.Mn, r)
}

const tatweel, nukta = 0x640, 0x93C

// interchangeable maps letters to those that other spellings of a word have instead.
var interchangeable = map[rune]rune{
	'ٱ': 'ا', // alef wasla; the other alefs are decomposed
	'ة': 'ه', // teh marbuta
	'ى': 'ي', // alef maksura
	'ی': 'ي', // Persian yeh
	'ک': 'ك', // Persian kaf
	'ہ': 'ه', // Urdu heh
	'ँ': 'ं', // chandrabindu
}

// digit returns the value of a decimal digit. The digits of a script are ten characters in a row.
func digit(r rune) byte {
	for _, block := range unicode.Nd.R16 {
		if rune(block.Lo) <= r && r <= rune(block.Hi) {
			return byte((r - rune(block.Lo)) % 10)
		}
	}
	for _, block := range unicode.Nd.R32 {
		if rune(block.Lo) <= r && r <= rune(block.Hi) {
			return byte((r - rune(block.Lo)) % 10)
		}
	}
	return 0
}

// foldsToItself reports whether r folds to itself in any context of characters that are in the table or
// fold to themselves: ideographs, kana and hangul in their usual form. All are letters.
func foldsToItself(r rune) bool {
	return isIdeograph(r) || isHiragana(r) || 0x30A1 <= r && r <= 0x30FA || r == 0x30FC || hangul <= r && r < hangulEnd
}

func isIdeograph(r rune) bool { return 0x4E00 <= r && r <= 0x9FD5 }

func isHiragana(r rune) bool { return 0x3041 <= r && r <= 0x3096 }

// tableEnd is the end of Latin, Greek, Cyrillic, Armenian, Hebrew and Arabic. Without the marks that are
// removed no character before it composes with the one in front of it, so each can be folded by itself.
const tableEnd = 0x700

type foldEntry struct {
	to [7]byte
	n  uint8
	ok bool // has a letter or number
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
