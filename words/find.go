package words

import (
	"bytes"
	"slices"
)

// A Finder finds given words in texts: the words that [Tokenizer.Each] would give, without the cutting of what stands
// between them where that is ASCII. It keeps its buffers from one text to the next and is for one goroutine.
type Finder struct {
	words   []string
	byStart [256]uint64 // for the first byte of a word: bit l says that one of words has length l
	plain   []pattern   // of those that may stand in ASCII

	tokenizer Tokenizer
	folded    []byte
	found     []Found
	next      int // number of the word that comes next
}

// A pattern is what is looked for in folded text: a word between bytes of no word. Without these, short words would be
// found in every other one.
type pattern struct {
	word, length int
	bytes        []byte
	open         bool // the word may go on: it is as long as words get, and the rest of longer ones is cut off
	start, end   int  // in folded text, where it was found last; start is -1 where it is not
}

func newPattern(i int, word string) pattern {
	p := pattern{word: i, length: len(word), bytes: []byte("\x00" + word), open: len(word) == MaxLen}
	if !p.open {
		p.bytes = append(p.bytes, 0)
	}
	return p
}

// A Found is a word that was found: which, and where in the text it stands. The numbers of two words that follow each
// other in the text differ by one, of others by more.
type Found struct {
	Word, Number int
	Start, End   int
}

// NewFinder makes a finder of folded words, each of which stands once.
func NewFinder(words []string) *Finder {
	f := &Finder{words: words}
	for i, word := range words {
		f.byStart[word[0]] |= 1 << (len(word) & 63)
		if plain(word) {
			f.plain = append(f.plain, newPattern(i, word))
		}
	}
	return f
}

// plain says that a word is one of ASCII.
func plain(word string) bool {
	for i := range len(word) {
		if c := word[i]; asciiWord[c] != c || c == 0 {
			return false
		}
	}
	return !onlyLowLines([]byte(word))
}

// All gives the words found in text, in its order. They last until the next call.
func (f *Finder) All(text []byte) []Found {
	f.found, f.next = f.found[:0], 0
	note := func(word []byte, start, end int, _ bool) {
		if i := f.index(word); i >= 0 {
			f.found = append(f.found, Found{i, f.next, start, end})
		}
		f.next++
	}
	for from := 0; from < len(text); {
		lo, hi := foreignStretch(text, from)
		f.inASCII(text, from, lo)
		f.tokenizer.eachForeign(text, lo, hi, note)
		from = hi
	}
	return f.found
}

// index is which of the words one is, -1 for none.
func (f *Finder) index(word []byte) int {
	if f.byStart[word[0]]>>(len(word)&63)&1 == 0 {
		return -1
	}
	for i := range f.words {
		if f.words[i] == string(word) {
			return i
		}
	}
	return -1
}

// inASCII finds words in text[from:to], which is ASCII and begins and ends with a word or between words: as strings
// of the folded text that stand between bytes of no word.
func (f *Finder) inASCII(text []byte, from, to int) {
	f.fold(text[from:to])
	for i := range f.plain {
		f.plain[i].find(f.folded, 0)
	}
	at := 1
	for {
		p := f.first()
		if p == nil {
			break
		}
		f.passBy(f.folded[at:p.start])
		at = p.end
		f.found = append(f.found, Found{p.word, f.next, from + p.start - 1, from + p.end - 1})
		f.next++
		p.find(f.folded, p.end)
	}
	f.passBy(f.folded[at:])
}

// first is the pattern that was found first, nil where none was.
func (f *Finder) first() (first *pattern) {
	for i := range f.plain {
		if p := &f.plain[i]; p.start >= 0 && (first == nil || p.start < first.start) {
			first = p
		}
	}
	return first
}

// fold fills folded with the folded text, and 0 for each byte of no word, one of them at either end.
func (f *Finder) fold(text []byte) {
	f.folded = slices.Grow(f.folded[:0], len(text)+2)[:len(text)+2]
	f.folded[0], f.folded[len(text)+1] = 0, 0
	for i, c := range text {
		f.folded[i+1] = asciiWord[c]
	}
}

// find looks for a word from the end of another on.
func (p *pattern) find(folded []byte, from int) {
	k := bytes.Index(folded[from:], p.bytes)
	if p.start = from + k + 1; k < 0 {
		p.start = -1
		return
	}
	for p.end = p.start + p.length; p.open && folded[p.end] != 0; p.end++ {
	}
}

// passBy counts the words between two that were found: one, if there are any. Low lines alone are none.
func (f *Finder) passBy(folded []byte) {
	for _, c := range folded {
		if c != 0 && c != '_' {
			f.next++
			return
		}
	}
}
