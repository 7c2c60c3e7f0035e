// Package suggest corrects and completes queries, by similarly spelt terms of an index
// ([Dictionary.Near], [Speller]) and by titles that begin with a text ([Completions.Begin]). Its
// structures are immutable once built, and it does no I/O: the searcher fills them and verifies
// that proposals have results.
package suggest

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A Word is a term of the index with its document frequency.
type Word struct {
	Text string
	DF   int
}

// Bounds of a dictionary.
const (
	MaxWords = 500_000 // number of words kept, by frequency
	MinDF    = 2       // a word of a single page is as likely to be misspelt as the word that it would correct
	minRunes = 3
	maxRunes = 40
	maxReach = 2
	maxName  = 64 // characters
)

// Correctable reports whether a term may be corrected or be a correction: 3 to 40 letters of a
// script with spaces between words. Numbers, names with digits, and scripts that the tokenizer cuts
// into characters (Chinese, Japanese, Korean, Thai and the like) are excluded: a similar term is
// there another word rather than a slip.
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

// Reach returns the maximum distance at which a word is corrected: 1, and 2 from 5 letters on, or
// from 8 letters on if the index has the word.
func Reach(word string, known bool) int {
	n := utf8.RuneCountInString(word)
	if n < 5 || known && n < 8 {
		return 1
	}
	return 2
}

// IsName reports whether a term is a name with digits or underscores, such as read_csv. Names are
// completed but not corrected.
func IsName(word string) bool {
	n, letters, others := 0, 0, 0
	for _, r := range word {
		switch {
		case unicode.IsDigit(r) || r == '_':
			others++
		case unicode.IsLetter(r) && r < 0xE00:
			letters++
		default:
			return false
		}
		n++
	}
	return n >= minRunes && n <= maxName && letters > 0 && others > 0
}

// correctableName reports whether a name may be corrected, to one of the same digits: it has words with
// underscores between them. Other names, such as versions, differ by single characters.
func correctableName(name string) bool {
	return IsName(name) && strings.Contains(name, "_") && utf8.RuneCountInString(name) <= maxRunes-maxReach
}

// A Builder builds a dictionary of the most frequent words of an index. It holds at most twice as
// many words as it keeps.
type Builder struct {
	max, least int  // maximum of words, and minimum document frequency
	names      bool // keep names instead of words
	kept       []Word
}

// NewBuilder returns a builder of a dictionary of at most max correctable words.
func NewBuilder(max int) *Builder { return &Builder{max: max, least: MinDF} }

// NewNameBuilder returns a builder of a dictionary of at most max names. A document frequency of 1
// is enough.
func NewNameBuilder(max int) *Builder { return &Builder{max: max, least: 1, names: true} }

// Add adds a word, unless the dictionary excludes it. Words may be added in any order, each once;
// alphabetical order is fastest.
func (b *Builder) Add(word []byte, df int) {
	if df < b.least || b.names && !IsName(string(word)) || !b.names && !Correctable(string(word)) {
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
	dfs := make([]int, len(b.kept))
	for i, w := range b.kept {
		dfs[i] = w.DF
	}
	slices.Sort(dfs)
	least := dfs[len(dfs)-b.max]
	above, _ := slices.BinarySearch(dfs, least+1)
	room := b.max - (len(dfs) - above) // for the first words of the least frequency
	b.sort()
	b.kept = slices.DeleteFunc(b.kept, func(w Word) bool {
		if w.DF == least {
			room--
		}
		return w.DF < least || w.DF == least && room < 0
	})
}

func (b *Builder) sort() {
	slices.SortFunc(b.kept, func(x, y Word) int { return cmp.Compare(x.Text, y.Text) })
}

// Dictionary returns the dictionary. The builder must not be used afterwards.
func (b *Builder) Dictionary() *Dictionary {
	b.cut()
	b.sort()
	return newDictionaryOf(b.kept, b.least)
}

// A Dictionary is a sorted array of words with the length of the prefix that each shares with the
// previous one: a flattened trie.
type Dictionary struct {
	text   []byte   // all words, one after the other
	start  []uint32 // offset of each word in text, then the end of the last
	df     []uint32
	shared []uint8 // characters of the prefix shared with the previous word
	runes  []uint8 // characters of each word

	least    int         // minimum document frequency of its words
	frequent *Dictionary // words with at least step times this frequency; nil if there are none
}

// step is the ratio of the minimum document frequencies of a dictionary and of its frequent words.
// By Zipf's law the latter has about step times fewer words.
const step = 10

// newDictionaryOf returns the dictionary of words with a document frequency of at least least. It
// overwrites words.
func newDictionaryOf(words []Word, least int) *Dictionary {
	n := len(words)
	d := &Dictionary{
		least: least, start: make([]uint32, 1, n+1), df: make([]uint32, 0, n),
		shared: make([]uint8, 0, n), runes: make([]uint8, 0, n),
	}
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

// Len returns the number of words.
func (d *Dictionary) Len() int { return len(d.df) }

// Bytes estimates the memory size of the dictionary.
func (d *Dictionary) Bytes() int {
	n := cap(d.text) + 4*cap(d.start) + 4*cap(d.df) + cap(d.shared) + cap(d.runes)
	if d.frequent != nil {
		n += d.frequent.Bytes()
	}
	return n
}

func (d *Dictionary) word(i int) []byte { return d.text[d.start[i]:d.start[i+1]] }
