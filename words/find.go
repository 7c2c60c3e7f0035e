package words

import (
	"strings"
	"unicode/utf8"
)

// A Finder finds given words in texts: the words that [Tokenizer.Each] would give, without the cutting of what stands
// between them where that is ASCII. It keeps its buffers from one text to the next and is for one goroutine.
type Finder struct {
	words   []string
	byStart [256]uint64  // for the first byte of a word: bit l says that one of words has length l
	plain   []pattern    // of those that may stand in ASCII
	pairs   [1024]uint64 // of bytes, those of the patterns by bits, in small letters and capitals

	tokenizer Tokenizer
	found     []Found
	next      int // number of the word that comes next
}

// A pattern is a word that is looked for in ASCII, between bytes of no word. It is looked at where its rarest pair of
// bytes stands: one pass over the text, which asks a table, finds these of all words. That of a single letter is any
// byte of no word before it.
type pattern struct {
	word   int
	folded string
	open   bool // the word may go on: it is as long as words get, and the rest of longer ones is cut off
	second int  // where in the word the second byte of the pair stands
}

// commonest are the bytes of words, the commonest in documentation in English first: e is every tenth byte of it, z one
// of five hundred.
const commonest = "etaoirnsldcpgmufh12_bwvxy3k40z5q6879j"

func newPattern(i int, word string) pattern {
	p := pattern{word: i, folded: word, open: len(word) == MaxLen}
	for k, most := 1, -1; k < len(word); k++ {
		if rare := strings.IndexByte(commonest, word[k-1]) + strings.IndexByte(commonest, word[k]); rare > most {
			p.second, most = k, rare
		}
	}
	return p
}

// watch has the pairs of a pattern looked out for.
func (f *Finder) watch(p *pattern) {
	for _, first := range unfolded[p.before()] {
		for _, second := range unfolded[p.folded[p.second]] {
			f.pairs[uint16(first)<<2|uint16(second)>>6] |= 1 << (second & 63)
		}
	}
}

// unfolded are the bytes of ASCII by what asciiWord makes of them: the small letter and the capital of one.
var unfolded = func() (of [128][]byte) {
	for c := range byte(utf8.RuneSelf) {
		of[asciiWord[c]] = append(of[asciiWord[c]], c)
	}
	return of
}()

// before is what stands before the second byte of the pair, 0 for what is no word.
func (p *pattern) before() byte {
	if p.second == 0 {
		return 0
	}
	return p.folded[p.second-1]
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
			p := newPattern(i, word)
			f.plain = append(f.plain, p)
			f.watch(&p)
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

// inASCII finds words in text[from:to], which is ASCII and begins and ends with a word or between words.
func (f *Finder) inASCII(text []byte, from, to int) {
	stretch, done := text[from:to], 0
	pair := uint16(0)
	for i, c := range stretch {
		if pair = pair<<8 | uint16(c); f.pairs[pair>>6]>>(pair&63)&1 == 0 {
			continue
		}
		for k := range f.plain {
			p := &f.plain[k]
			start := i - p.second
			end, ok := p.stands(stretch, start)
			if !ok {
				continue
			}
			f.passBy(stretch[done:start])
			f.found = append(f.found, Found{p.word, f.next, from + start, from + end})
			f.next++
			done = end
			break
		}
	}
	f.passBy(stretch[done:])
}

// stands says whether the word stands at a place, and where it ends.
func (p *pattern) stands(text []byte, start int) (end int, ok bool) {
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

// passBy counts the words between two that were found: one, if there are any. Low lines alone are none.
func (f *Finder) passBy(text []byte) {
	for _, c := range text {
		if asciiWord[c] != 0 && c != '_' {
			f.next++
			return
		}
	}
}
