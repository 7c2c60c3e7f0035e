// Package suggest knows what people may have meant: the words of an index that are spelt much like
// another ([Dictionary.Near]), and how a text may go on ([Completions.Begin]). It holds what it was
// given, never changes, and does no I/O; the searcher fills it and checks what it proposes.
package suggest

import (
	"cmp"
	"slices"
	"unicode"
	"unicode/utf8"
)

// A Word is one of the index, folded, with the number of pages that hold it.
type Word struct {
	Text string
	DF   int
}

// The bounds of a dictionary.
const (
	MaxWords = 300_000 // the most frequent ones are kept
	MinDF    = 2       // a word of one page is as likely a mistake as what it would correct
	minRunes = 3
	maxRunes = 24
)

// Correctable says whether a folded word takes part in corrections, on either side: 3 to 24 letters
// of a script that parts its words. Numbers, names with digits, and the scripts that the tokeniser
// cuts into characters (Chinese, Japanese, Korean, Thai and their kin) do not: there a neighbour is
// another word and no slip of the finger.
func Correctable(word string) bool {
	n := 0
	for _, r := range word {
		if n++; n > maxRunes || !unicode.IsLetter(r) {
			return false
		}
		if r >= 0xE00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul,
			unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar) {
			return false
		}
	}
	return n >= minRunes
}

// Reach is the distance up to which a word is corrected: 1, and 2 from 8 letters on.
func Reach(word string) int {
	if utf8.RuneCountInString(word) < 8 {
		return 1
	}
	return 2
}

// A Builder takes the words of an index in any order, each once, and keeps the most frequent ones. It
// holds at most twice as many as it keeps.
type Builder struct {
	max  int
	kept []Word
}

// NewBuilder makes a builder of a dictionary of at most max words.
func NewBuilder(max int) *Builder { return &Builder{max: max} }

// Add adds a word if it may be one that others are corrected to.
func (b *Builder) Add(word []byte, df int) {
	if df < MinDF || !Correctable(string(word)) {
		return
	}
	if b.kept = append(b.kept, Word{string(word), df}); len(b.kept) >= 2*b.max {
		b.cut()
	}
}

func (b *Builder) cut() {
	if len(b.kept) <= b.max {
		return
	}
	slices.SortFunc(b.kept, byFrequency)
	clear(b.kept[b.max:])
	b.kept = b.kept[:b.max]
}

// byFrequency is the order of words: the most frequent first, then by their letters.
func byFrequency(a, b Word) int { return cmp.Or(cmp.Compare(b.DF, a.DF), cmp.Compare(a.Text, b.Text)) }

// Dictionary ends the builder.
func (b *Builder) Dictionary() *Dictionary {
	b.cut()
	slices.SortFunc(b.kept, func(x, y Word) int { return cmp.Compare(x.Text, y.Text) })
	return newDictionary(b.kept)
}

// A Dictionary is a trie of words laid out in their order: all words that begin alike are one run.
type Dictionary struct {
	text   []byte   // all words, one after the other
	start  []uint32 // of each word in text, and the end of the last
	df     []uint32
	shared []uint8 // characters that a word begins with as the one before it does
	runes  []uint8 // characters of each word

	least    int         // pages of each word
	frequent *Dictionary // of the words with step times as many at least; nil where there are none
}

// step is by how much the least pages of a word rise from a dictionary to that of its frequent words, which holds about
// as many times fewer: words are that unequal.
const step = 10

func newDictionary(words []Word) *Dictionary { return newDictionaryOf(words, MinDF) }

// newDictionaryOf makes the dictionary of words, all of least pages or more, and deletes the others from words.
func newDictionaryOf(words []Word, least int) *Dictionary {
	d := &Dictionary{least: least, start: make([]uint32, 1, len(words)+1), df: make([]uint32, 0, len(words)), shared: make([]uint8, 0, len(words)), runes: make([]uint8, 0, len(words))}
	before := ""
	for _, w := range words {
		d.text = append(d.text, w.Text...)
		d.start = append(d.start, uint32(len(d.text)))
		d.df = append(d.df, uint32(min(w.DF, 1<<32-1)))
		d.shared = append(d.shared, uint8(sharedRunes(before, w.Text)))
		d.runes = append(d.runes, uint8(utf8.RuneCountInString(w.Text)))
		before = w.Text
	}
	if words = slices.DeleteFunc(words, func(w Word) bool { return w.DF < step*least }); len(words) > 0 {
		d.frequent = newDictionaryOf(words, step*least)
	}
	return d
}

func sharedRunes(a, b string) (n int) {
	for a != "" && b != "" {
		r, size := utf8.DecodeRuneInString(a)
		if s, _ := utf8.DecodeRuneInString(b); r != s {
			break
		}
		a, b = a[size:], b[size:]
		n++
	}
	return n
}

// Len is the number of words.
func (d *Dictionary) Len() int { return len(d.df) }

// Bytes is about how much memory the dictionary takes.
func (d *Dictionary) Bytes() int {
	n := cap(d.text) + 4*cap(d.start) + 4*cap(d.df) + cap(d.shared) + cap(d.runes)
	if d.frequent != nil {
		n += d.frequent.Bytes()
	}
	return n
}

func (d *Dictionary) word(i int) []byte { return d.text[d.start[i]:d.start[i+1]] }
