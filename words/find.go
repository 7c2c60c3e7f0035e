package words

import (
	"bytes"
	"cmp"
	"slices"
)

// A Finder finds given words in texts: the words that [Tokenizer.Each] would give, without the cutting of what stands
// between them where that is ASCII. It keeps its buffers from one text to the next and is for one goroutine.
type Finder struct {
	words   []string
	byStart [256]uint64 // for the first byte of a word: bit l says that one of words has length l
	plain   []int       // those of words that may stand in ASCII

	tokenizer Tokenizer
	folded    []byte
	found     []Found
	next      int // number of the word that comes next
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
			f.plain = append(f.plain, i)
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
	first := len(f.found)
	for _, i := range f.plain {
		f.occurrences(i)
	}
	found := f.found[first:]
	slices.SortFunc(found, func(a, b Found) int { return cmp.Compare(a.Start, b.Start) })
	at := 1 // in folded
	for i := range found {
		w := &found[i]
		f.passBy(f.folded[at:w.Start])
		at = w.End
		w.Number = f.next
		f.next++
		w.Start, w.End = w.Start-1+from, w.End-1+from
	}
	f.passBy(f.folded[at:])
}

// fold fills folded with the folded text, and 0 for each byte of no word, one of them at either end.
func (f *Finder) fold(text []byte) {
	f.folded = slices.Grow(f.folded[:0], len(text)+2)[:len(text)+2]
	f.folded[0], f.folded[len(text)+1] = 0, 0
	for i, c := range text {
		f.folded[i+1] = asciiWord[c]
	}
}

// occurrences appends where word i stands in folded.
func (f *Finder) occurrences(i int) {
	word := []byte(f.words[i])
	for at := 1; ; {
		k := bytes.Index(f.folded[at:], word)
		if k < 0 {
			return
		}
		start, end := at+k, at+k+len(word)
		long := len(word) == MaxLen // of longer ones the rest is cut off
		for at = end; long && f.folded[at] != 0; at++ {
		}
		if f.folded[start-1] == 0 && f.folded[at] == 0 {
			f.found = append(f.found, Found{Word: i, Start: start, End: at})
		}
	}
}

// passBy counts the words between two that were found: one, if there are any. Low lines alone are none.
func (f *Finder) passBy(folded []byte) {
	if bytes.ContainsFunc(folded, func(r rune) bool { return r != 0 && r != '_' }) {
		f.next++
	}
}
