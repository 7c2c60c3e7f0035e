package analysis

import (
	"encoding/binary"
	"slices"
	"strings"
	"unicode/utf8"
)

// A Finder finds given terms in texts. It finds what [Tokenizer.EachTerm] would, without tokenizing
// the ASCII text between them. It reuses its buffers for the next text. It is not safe for
// concurrent use.
type Finder struct {
	words   []string
	byStart [256]uint64    // by first byte: bit l is set if a term has length l
	plain   [128][]pattern // of terms that can occur in ASCII, by bucketOf the pair
	pairs   [1024]uint64   // bit set of byte pairs, see at: the patterns' pairs in lower and upper case
	letter  bool           // a term has one letter, so that every pair of the text is looked up

	tokenizer Tokenizer
	found     []Match
	next      int // number of the next term
}

// A pattern is a term to be found in ASCII, between bytes of no word. It is compared only where its
// pair of adjacent bytes occurs. A term has two patterns, whose pairs overlap in one byte, so that one of
// them begins at an even offset of the text: every second pair of the text is looked up in a table of the
// pairs of all patterns. If a term has one letter, its pair is any byte of no word and the letter;
// then every pair of the text is looked up, and each term has one pattern.
type pattern struct {
	word   int // index in Finder.words
	folded string
	open   bool   // the term has MaxTermLen, so a longer word is truncated to it
	second int    // index in the term of the pair's second byte
	first  uint64 // the first eight bytes of the term, with the bits of lowerCase
	mask   uint64 // of the bytes of first that the term has
}

// lowerCase are the bits that make eight ASCII letters lower case. Other bytes may become equal by them.
const lowerCase = 0x2020202020202020

// bucketOf returns the index in Finder.plain of the patterns of a pair, given the two bytes as asciiWord
// maps them.
func bucketOf(first, second byte) byte { return (first<<2 ^ second) & 127 }

// commonest are the bytes of words by descending frequency in English documentation: e is every tenth
// byte, z one in five hundred.
const commonest = "etaoirnsldcpgmufh12_bwvxy3k40z5q6879j"

// rarity returns how rare the pair of bytes is that ends at an index of a term.
func rarity(word string, second int) int {
	rare := strings.IndexByte(commonest, word[second])
	if second > 0 {
		rare += strings.IndexByte(commonest, word[second-1])
	}
	return rare
}

// rarestPair returns the index at which the rarest pair of a term ends.
func rarestPair(word string) (second int) {
	for k := 1; k < len(word); k++ {
		if second == 0 || rarity(word, k) > rarity(word, second) {
			second = k
		}
	}
	return second
}

// rarestPairs returns the index at which the first of two adjacent pairs of a term ends: of those pairs
// whose commoner one is the rarest.
func rarestPairs(word string) (second int) {
	most := -2
	for k := range len(word) - 1 {
		if rare := min(rarity(word, k), rarity(word, k+1)); rare > most {
			second, most = k, rare
		}
	}
	return second
}

// watch adds a pattern by the pair whose second byte has an index in the term.
func (f *Finder) watch(p pattern, second int) {
	p.second = second
	for _, first := range unfolded[p.before()] {
		for _, second := range unfolded[p.folded[second]] {
			pair := uint16(first) | uint16(second)<<8
			f.pairs[pair>>6] |= 1 << (pair & 63)
		}
	}
	b := bucketOf(p.before(), p.folded[second])
	f.plain[b] = append(f.plain[b], p)
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
	f.letter = slices.ContainsFunc(words, func(word string) bool { return len(word) == 1 })
	for i, word := range words {
		f.byStart[word[0]] |= 1 << (len(word) & 63)
		if !plain(word) {
			continue
		}
		p := pattern{word: i, folded: word, open: len(word) == MaxTermLen}
		for k := range min(len(word), 8) {
			p.first |= uint64(word[k]) << (8 * k)
			p.mask |= 0xFF << (8 * k)
		}
		p.first |= lowerCase & p.mask
		if f.letter {
			f.watch(p, rarestPair(word))
			continue
		}
		first := rarestPairs(word)
		f.watch(p, first)
		f.watch(p, first+1)
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
		lo, hi := nonASCIISpan(text, from)
		f.inASCII(text, from, lo)
		if !f.skipSpan(text[lo:hi]) {
			f.tokenizer.eachInSpan(text, lo, hi, match)
		}
		from = hi
	}
	return f.found
}

// skipSpan counts the terms of a span as one, if it has any and none of them can be one of words: its
// characters are signs and those that fold to themselves, and no word begins with the first byte of
// these. Otherwise it returns false. So text in an East Asian script is not tokenized for the words of
// another one.
func (f *Finder) skipSpan(span []byte) bool {
	terms := 0
	for i := 0; i < len(span); {
		r, size := rune(span[i]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRune(span[i:])
		}
		if foldsToItself(r) {
			if f.byStart[span[i]] != 0 {
				return false
			}
			terms = 1
		} else if classOf(r) != sign && !separates(r) {
			return false
		}
		i += size
	}
	f.next += terms
	return true
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
	span := text[from:to]
	if f.letter {
		f.inEveryPair(span, from)
		return
	}
	done, i := 0, 0
	for ; i+8 <= len(span); i += 8 {
		eight := binary.LittleEndian.Uint64(span[i:])
		if f.at(uint16(eight))|f.at(uint16(eight>>16))|f.at(uint16(eight>>32))|f.at(uint16(eight>>48)) == 0 {
			continue
		}
		for k := i; k < i+8; k += 2 {
			if f.at(uint16(eight)) != 0 {
				done = f.compare(span, k+1, done, from)
			}
			eight >>= 16
		}
	}
	for ; i+2 <= len(span); i += 2 {
		if f.at(binary.LittleEndian.Uint16(span[i:])) != 0 {
			done = f.compare(span, i+1, done, from)
		}
	}
	f.skipText(span[done:])
}

// inEveryPair is inASCII for a span at an offset, if a term has one letter. The letter may begin the
// span.
func (f *Finder) inEveryPair(span []byte, from int) {
	done, pair := 0, uint16(0)
	for i, c := range span {
		if pair = pair>>8 | uint16(c)<<8; f.at(pair) != 0 {
			done = f.compare(span, i, done, from)
		}
	}
	f.skipText(span[done:])
}

// at returns 1 if a pair of bytes, the first of which is the low one, is among those of patterns.
func (f *Finder) at(pair uint16) uint64 { return f.pairs[pair>>6] >> (pair & 63) & 1 }

// compare appends the match of the pattern whose pair ends at span[i], if there is one. It returns the
// end of the last match, which was done before.
func (f *Finder) compare(span []byte, i, done, from int) int {
	before := byte(0)
	if i > 0 {
		before = asciiWord[span[i-1]]
	}
	patterns := f.plain[bucketOf(before, asciiWord[span[i]])]
	for k := range patterns {
		p := &patterns[k]
		start := i - p.second
		if start < 0 {
			continue
		}
		if start+8 <= len(span) && (binary.LittleEndian.Uint64(span[start:])|lowerCase)&p.mask != p.first {
			continue
		}
		end, ok := p.matches(span, start)
		if !ok {
			continue
		}
		f.skipText(span[done:start])
		f.found = append(f.found, Match{p.word, f.next, from + start, from + end})
		f.next++
		return end
	}
	return done
}

// matches reports whether the term is at text[start:], and returns its end.
func (p *pattern) matches(text []byte, start int) (end int, ok bool) {
	end = start + len(p.folded)
	if end > len(text) || start > 0 && asciiWord[text[start-1]] != 0 {
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
