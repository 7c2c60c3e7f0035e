// Package words answers "which words does this text hold?", for pages, anchors, queries and
// snippets alike: a word is found because both sides cut and fold it here.
//
// Text is cut by the word boundaries of UAX #29 (Unicode 8 tables of blevesearch/segment), then
// each such word at the punctuation and mathematical signs within it: "os.path" is os, path;
// "don't" is don, t; "3,14" is 3, 14. The low line and its kin join: "max_len" is one word. A
// piece without a letter or a number is no word.
//
// Runs of katakana and hangul are one word each. Ideographs, hiragana, and the letters of Thai, Lao, Khmer
// and Burmese with their marks stand without spaces, and which of them make a word only dictionaries
// know, which we do without: each begins a word of two of them, it and the one that follows (a bigram), and
// the last of a run is a word by itself. So "東京都" is 東京, 京都, 都. Bigrams overlap in the text; that a
// word lies within the one before it tells the last of a run.
package words

import (
	"encoding/binary"
	"math/bits"
	"unicode"
	"unicode/utf8"

	"github.com/blevesearch/segment"
)

// MaxLen is the length of the longest word, in bytes of its folded form. Longer ones are cut,
// between characters, in pages and in queries alike.
const MaxLen = 64

// A Tokenizer cuts text into words. The zero value is ready; it keeps its buffers from one text
// to the next and is for one goroutine. Text in ASCII costs no allocation.
type Tokenizer struct {
	word   [MaxLen]byte
	folder folder
	pieces [][]byte // of segment, kept for their memory
	types  []int
	run    run
}

// A run is what is known of a run of characters without spaces that text is in.
type run struct {
	word       []byte // folded, of the character that waits for the next one; empty where none does
	start, end int
	bigram     []byte
}

// Each calls fn for every word of text in turn: word is its folded form, which is overwritten
// by the next one, text[start:end] is what stands in the text, and capital says that it begins
// with an upper-case letter. Words that follow each other here have positions that follow each
// other. Bytes that are not UTF-8 part words.
func (t *Tokenizer) Each(text []byte, fn func(word []byte, start, end int, capital bool)) {
	for from := 0; from < len(text); {
		lo, hi := foreignStretch(text, from)
		t.eachASCII(text, from, lo, fn)
		t.eachForeign(text, lo, hi, fn)
		from = hi
	}
}

// eachForeign cuts text[lo:hi], a foreignStretch.
func (t *Tokenizer) eachForeign(text []byte, lo, hi int, fn func([]byte, int, int, bool)) {
	if alphabetic(text[lo:hi]) {
		t.eachAlphabetic(text, lo, hi, fn)
		return
	}
	t.eachValid(text, lo, hi, fn)
	t.endRun(fn)
}

// Sequence gives the folded words of a text, as they are to be found as a phrase: the last of a run of
// characters without spaces is left out where it ends the text, as elsewhere the run may go on.
func Sequence(text string) []string {
	var t Tokenizer
	var seq []string
	before, inRun := 0, false
	t.Each([]byte(text), func(word []byte, start, end int, _ bool) {
		seq, before, inRun = append(seq, string(word)), end, start < before
	})
	if inRun {
		seq = seq[:len(seq)-1]
	}
	return seq
}

// foreignStretch finds the next stretch text[lo:hi] between ASCII white space that holds a byte
// outside ASCII, from <= lo. Where there is none, lo = hi = len(text).
//
// No word reaches over ASCII white space, so a stretch can be cut without what is around it, and
// what lies before it is ASCII, where words are simply runs of letters, digits and low lines.
func foreignStretch(text []byte, from int) (lo, hi int) {
	at := nonASCII(text, from)
	if at == len(text) {
		return at, at
	}
	for lo = at; lo > from && !isSpace(text[lo-1]); lo-- {
	}
	for hi = at; hi < len(text) && !isSpace(text[hi]); hi++ {
	}
	return lo, hi
}

// nonASCII is the index of the first byte outside ASCII at or after from, or len(text).
func nonASCII(text []byte, from int) int {
	i := from
	for ; i+8 <= len(text); i += 8 {
		if binary.LittleEndian.Uint64(text[i:])&0x8080808080808080 != 0 {
			break
		}
	}
	for i < len(text) && text[i] < utf8.RuneSelf {
		i++
	}
	return i
}

func isSpace(c byte) bool { return c == ' ' || '\t' <= c && c <= '\r' }

// asciiWord maps the bytes of ASCII words to lower case and all others to 0.
var asciiWord = func() (table [256]byte) {
	for c := '0'; c <= '9'; c++ {
		table[c] = byte(c)
	}
	for c := 'a'; c <= 'z'; c++ {
		table[c], table[c-'a'+'A'] = byte(c), byte(c)
	}
	table['_'] = '_'
	return table
}()

// eachASCII cuts text[from:to], which is ASCII.
func (t *Tokenizer) eachASCII(text []byte, from, to int, fn func([]byte, int, int, bool)) {
	text = text[:to]
	for i := from; ; {
		for i < len(text) && asciiWord[text[i]] == 0 {
			i++
		}
		if i >= len(text) {
			return
		}
		start := i
		end, next, n := t.foldASCII(text, start)
		i = next
		if text[start] == '_' && onlyLowLines(text[start:end]) {
			continue
		}
		fn(t.word[:n], start, end, 'A' <= text[start] && text[start] <= 'Z')
	}
}

// foldASCII folds the word that begins at start into word[:n]. It ends before end, and the next begins at next or behind.
func (t *Tokenizer) foldASCII(text []byte, start int) (end, next, n int) {
	for end = start; n < MaxLen; end, n = end+8, n+8 {
		folded, ofWord := foldEight(eightAt(text, end))
		binary.LittleEndian.PutUint64(t.word[n:], folded)
		if length := bits.TrailingZeros64(^ofWord&highBits) / 8; length < 8 {
			behind := bits.TrailingZeros64(ofWord>>(8*length)) / 8
			return end + length, end + min(8, length+behind), n + length
		}
	}
	for end < len(text) && asciiWord[text[end]] != 0 {
		end++
	}
	return end, end, n
}

// eightAt gives the eight bytes of text from i on, the first in the lowest place; behind the end of text they are 0.
func eightAt(text []byte, i int) (eight uint64) {
	if i+8 <= len(text) {
		return binary.LittleEndian.Uint64(text[i:])
	}
	for k := len(text) - 1; k >= i; k-- {
		eight = eight<<8 | uint64(text[k])
	}
	return eight
}

const eachByte, highBits = 0x0101010101010101, 0x8080808080808080

// foldEight gives eight bytes of ASCII in lower case, and the high bits of those that are of words. It does for all of them at
// once what asciiWord does for one, since where words end is what no processor foresees.
func foldEight(eight uint64) (folded, ofWord uint64) {
	from := func(v, c uint64) uint64 { return v + (0x80-c)*eachByte } // the high bit of each byte that is c or more
	lower := eight | 0x20*eachByte
	letters := from(lower, 'a') &^ from(lower, 'z'+1) & highBits
	digits := from(eight, '0') &^ from(eight, '9'+1)
	lowLines := ^from(eight^'_'*eachByte, 1)
	return eight | letters>>2, (letters | digits | lowLines) & highBits
}

func onlyLowLines(word []byte) bool {
	for _, c := range word {
		if c != '_' {
			return false
		}
	}
	return true
}

// eachValid cuts text[from:to], of which it passes each run of valid UTF-8 to segment: that
// drops words in front of a broken byte.
func (t *Tokenizer) eachValid(text []byte, from, to int, fn func([]byte, int, int, bool)) {
	for from < to {
		end := from
		for end < to {
			r, size := utf8.DecodeRune(text[end:to])
			if r == utf8.RuneError && size == 1 {
				break
			}
			end += size
		}
		t.eachSegment(text, from, end, fn)
		from = end + 1
	}
}

// window is how many bytes segment is given at once, so that the list of their words stays small.
const window = 4096

// eachSegment cuts text[from:to], which is valid UTF-8, by UAX #29. A word at the end of a window
// may go on behind it, if one of the signs that join words stands between; so the last two words
// of a window are cut again as the first of the next one.
func (t *Tokenizer) eachSegment(text []byte, from, to int, fn func([]byte, int, int, bool)) {
	for size := window; from < to; {
		end := min(from+size, to)
		for end < to && !utf8.RuneStart(text[end]) {
			end++
		}
		t.pieces, t.types, _, _ = segment.SegmentWordsDirect(text[from:end], t.pieces[:0], t.types[:0])
		pieces := t.pieces
		if end < to {
			pieces = pieces[:max(len(pieces)-2, 0)]
			if len(pieces) == 0 {
				size *= 2
				continue
			}
		}
		size = window
		at := from
		for _, piece := range pieces {
			t.split(text, at, at+len(piece), fn)
			at += len(piece)
		}
		if end == to {
			return
		}
		from = at
	}
}

// split cuts a word of UAX #29 at the signs within it. Marks that stand on such a sign go with it.
func (t *Tokenizer) split(text []byte, from, to int, fn func([]byte, int, int, bool)) {
	start := from
	for i := from; i < to; {
		r, size := rune(text[i]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRune(text[i:to])
		}
		if i == start && unicode.In(r, unicode.M, unicode.Cf) {
			start = i + size
		} else if parts(r) {
			t.emit(text, start, i, fn)
			start = i + size
		}
		i += size
	}
	t.emit(text, start, to, fn)
}

// parts says whether r parts words even inside a word of UAX #29: it does if it is punctuation
// other than the low line and its kin, or a mathematical sign.
func parts(r rune) bool {
	if r < utf8.RuneSelf {
		return asciiWord[r] == 0
	}
	return (unicode.Is(unicode.P, r) || unicode.Is(unicode.Sm, r)) && !unicode.Is(unicode.Pc, r)
}

func (t *Tokenizer) emit(text []byte, start, end int, fn func([]byte, int, int, bool)) {
	if start == end {
		return
	}
	word, ok := t.folder.fold(text[start:end])
	if !ok {
		return
	}
	first, _ := utf8.DecodeRune(text[start:end])
	if spaceless(first) {
		t.emitInRun(text, word, start, end, fn)
		return
	}
	t.endRun(fn)
	fn(cut(word), start, end, unicode.IsUpper(first) || unicode.IsTitle(first))
}

// emitInRun emits the character before, with this one, which waits for the next. Vowel signs may stand between.
func (t *Tokenizer) emitInRun(text, word []byte, start, end int, fn func([]byte, int, int, bool)) {
	r := &t.run
	if len(r.word) > 0 && onlyMarks(text[r.end:start]) {
		r.bigram = append(append(r.bigram[:0], r.word...), word...)
		fn(cut(r.bigram), r.start, end, false)
	} else {
		t.endRun(fn)
	}
	r.word, r.start, r.end = append(r.word[:0], word...), start, end
}

// endRun emits the last character of a run.
func (t *Tokenizer) endRun(fn func([]byte, int, int, bool)) {
	if r := &t.run; len(r.word) > 0 {
		fn(cut(r.word), r.start, r.end, false)
		r.word = r.word[:0]
	}
}

// spaceless says whether r is a letter of a script that puts no spaces between words and that UAX #29 cuts
// into single characters.
func spaceless(r rune) bool {
	return r >= firstSpaceless && unicode.IsLetter(r) &&
		unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

const firstSpaceless = 0xE00 // Thai

// Single says whether a word is one character of those that make bigrams: the last of a run, or one that
// stands alone.
func Single(word string) bool {
	r, size := utf8.DecodeRuneInString(word)
	if !spaceless(r) {
		return false
	}
	return onlyMarks([]byte(word[size:]))
}

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

// cut shortens a word to MaxLen bytes, between characters.
func cut(word []byte) []byte {
	if len(word) <= MaxLen {
		return word
	}
	n := MaxLen
	for !utf8.RuneStart(word[n]) {
		n--
	}
	return word[:n]
}

// Bigram says whether a word is two characters of a script that is written without spaces.
func Bigram(word string) bool {
	r, _ := utf8.DecodeRuneInString(word)
	return spaceless(r) && !Single(word)
}

// Overlap says whether two words may be neighbouring bigrams of a run, of which the second begins with the
// last character of the first.
func Overlap(first, second string) bool {
	_, size := utf8.DecodeRuneInString(first)
	last := first[size:]
	return Single(last) && len(second) > len(last) && second[:len(last)] == last && !Single(second)
}
