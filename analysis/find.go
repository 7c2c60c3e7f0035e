package analysis

import (
	"strings"
	"unicode/utf8"
)

// A Finder finds given terms in texts. It finds what [Tokenizer.EachTerm] would, without tokenizing the
// ASCII text between them. It keeps its buffers from one text to the next and is for one goroutine.
type Finder struct {
	words   []string
	byStart [256]uint64    // by first byte: bit l is set if a term has length l
	plain   [128][]pattern // of terms that can occur in ASCII, by the second byte of the pair
	pairs   [1024]uint64   // bit set of byte pairs: the patterns' pairs in lower and upper case

	tokenizer Tokenizer
	found     []Match
	next      int // number of the next term
}

// A pattern is a term to be found in ASCII, between bytes of no word. It is compared only where its
// rarest pair of adjacent bytes occurs. One pass over the text finds the pairs of all patterns by a
// table. For a term of one letter the pair is any byte of no word and the letter.
type pattern struct {
	word   int // index in Finder.words
	folded string
	open   bool // the term has MaxTermLen, so a longer word is truncated to it
	second int  // index in the term of the pair's second byte
}

// commonest are the bytes of words by descending frequency in English documentation: e is every tenth
// byte, z one in five hundred.
const commonest = "etaoirnsldcpgmufh12_bwvxy3k40z5q6879j"

func newPattern(i int, word string) pattern {
	p := pattern{word: i, folded: word, open: len(word) == MaxTermLen}
	for k, most := 1, -1; k < len(word); k++ {
		if rare := strings.IndexByte(commonest, word[k-1]) + strings.IndexByte(commonest, word[k]); rare > most {
			p.second, most = k, rare
		}
	}
	return p
}

// watch adds the pairs of a pattern to the table.
func (f *Finder) watch(p *pattern) {
	for _, first := range unfolded[p.before()] {
		for _, second := range unfolded[p.folded[p.second]] {
			f.pairs[uint16(first)<<2|uint16(second)>>6] |= 1 << (second & 63)
		}
	}
}

// unfolded maps a byte to the ASCII bytes that asciiWord maps to it: a letter in lower and upper case.
var unfolded = func() (of [128][]byte) {
	for c := range byte(utf8.RuneSelf) {
		of[asciiWord[c]] = append(of[asciiWord[c]], c)
	}
	return of
}()

// before returns the first byte of the pair, 0 for any byte of no word.
func (p *pattern) before() byte {
	if p.second == 0 {
		return 0
	}
	return p.folded[p.second-1]
}

// A Match is an occurrence of a term: its index among the terms, its number in the text, and its
// offsets. The numbers of adjacent terms differ by one, those of others by more.
type Match struct {
	Word, Number int
	Start, End   int
}

// NewFinder returns a finder of terms, which are distinct.
func NewFinder(words []string) *Finder {
	f := &Finder{words: words}
	for i, word := range words {
		f.byStart[word[0]] |= 1 << (len(word) & 63)
		if plain(word) {
			p := newPattern(i, word)
			second := p.folded[p.second]
			f.plain[second] = append(f.plain[second], p)
			f.watch(&p)
		}
	}
	return f
}

// plain reports whether a term is ASCII.
func plain(word string) bool {
	for i := range len(word) {
		if c := word[i]; asciiWord[c] != c || c == 0 {
			return false
		}
	}
	return !onlyLowLines([]byte(word))
}

// FindAll returns the matches in text, in order. They are valid until the next call.
func (f *Finder) FindAll(text []byte) []Match {
	f.found, f.next = f.found[:0], 0
	match := func(word []byte, start, end int) {
		if i := f.index(word); i >= 0 {
			f.found = append(f.found, Match{i, f.next, start, end})
		}
		f.next++
	}
	for from := 0; from < len(text); {
		lo, hi := nonASCIIStretch(text, from)
		f.inASCII(text, from, lo)
		f.tokenizer.eachStretch(text, lo, hi, match)
		from = hi
	}
	return f.found
}

// index returns the index of a term, -1 if it is none of words.
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

// inASCII finds terms in text[from:to], which is ASCII and begins and ends at a word boundary.
func (f *Finder) inASCII(text []byte, from, to int) {
	stretch, done := text[from:to], 0
	pair := uint16(0)
	for i, c := range stretch {
		if pair = pair<<8 | uint16(c); f.pairs[pair>>6]>>(pair&63)&1 == 0 {
			continue
		}
		patterns := f.plain[asciiWord[c]]
		for k := range patterns {
			p := &patterns[k]
			start := i - p.second
			end, ok := p.matches(stretch, start)
			if !ok {
				continue
			}
			f.skipText(stretch[done:start])
			f.found = append(f.found, Match{p.word, f.next, from + start, from + end})
			f.next++
			done = end
			break
		}
	}
	f.skipText(stretch[done:])
}

// matches reports whether the term is at text[start:], and returns its end.
func (p *pattern) matches(text []byte, start int) (end int, ok bool) {
	end = start + len(p.folded)
	if start < 0 || end > len(text) || start > 0 && asciiWord[text[start-1]] != 0 {
		return 0, false
	}
	for i, c := range text[start:end] {
		if asciiWord[c] != p.folded[i] {
			return 0, false
		}
	}
	for ; end < len(text) && asciiWord[text[end]] != 0; end++ {
		if !p.open {
			return 0, false
		}
	}
	return end, true
}

// skipText counts the terms between two matches as one, if there are any. Low lines alone are no term.
func (f *Finder) skipText(text []byte) {
	for _, c := range text {
		if asciiWord[c] != 0 && c != '_' {
			f.next++
			return
		}
	}
}
