package indexer

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"slices"

	"anatomy/vocab"
)

// Bounds of a text sample.
const (
	sampledLines   = 6 // of each kind
	sampledLinked  = 4
	sampledFigures = 6

	maxUnlinked = 8 << 10  // bytes of text outside of links that are read
	maxLinked   = 16 << 10 // and in links: menus come before lists of links
	maxURLWord  = 32       // different words of the URL that are left out of the text
	fewWords    = 4        // a line of fewer words and a number is judged by both alone
)

// A sampler makes the [vocab.TextSample] of a page in the pass that finds its links, whether the page
// is indexed or not. Words are runs of letters, digits and underscores; one that has no more letters
// than digits is a number.
//
// Words and numbers of the page's URL do not count: a page that answers to every name repeats the
// name. A line with a number and few words counts only as a figure, so that the days of an empty
// calendar are equal while rows of tables are not.
type sampler struct {
	inURL []uint64 // hashes of the words of the URL
	mayBe uint64   // a bit is set for the lowest six bits of each of them

	line sampledLine
	room [2]int // bytes that may be read yet, outside of links and in links

	lines, linked, figures lowest
}

// A sampledLine is a line so far.
type sampledLine struct {
	words, exact   uint64 // hashes: of words, of words and numbers
	count, figures int    // words and numbers
	unlinked       bool   // some of it is outside of links
}

// reset prepares for the page at url.
func (s *sampler) reset(url string) {
	*s = sampler{
		inURL: s.inURL[:0], lines: s.lines[:0], linked: s.linked[:0], figures: s.figures[:0],
		room: [2]int{maxUnlinked, maxLinked},
	}
	for i := 0; i < len(url) && len(s.inURL) < maxURLWord; {
		h, _, n := nextWord(url[i:])
		if i += n; h != 0 {
			s.inURL = append(s.inURL, h)
			s.mayBe |= 1 << (h & 63)
		}
	}
}

// add adds a piece of the current line, as it is in the page. Words do not extend over pieces, nor
// over character references, which are not decoded.
func (s *sampler) add(text []byte, linked bool) {
	room := &s.room[0]
	if linked {
		room = &s.room[1]
	}
	if *room -= len(text); *room < 0 {
		return
	}
	l := &s.line
	for i := 0; i < len(text); {
		if weights[text[i]] == 0 {
			if i++; text[i-1] == '&' {
				i += referenceName(text[i:])
			}
			continue
		}
		h, figure, n := shortWord(text[i:])
		if i += n; s.mayBe>>(h&63)&1 != 0 && slices.Contains(s.inURL, h) {
			continue
		}
		l.unlinked = l.unlinked || !linked
		l.exact = (l.exact ^ h) * hashFactor
		if figure {
			l.figures++
			continue
		}
		l.words = (l.words ^ h) * hashFactor
		l.count++
	}
}

// referenceName returns the length of the rest of a character reference whose & is before s, 0 if there
// is none.
func referenceName(s []byte) int {
	for n, c := range s[:min(len(s), 32)] {
		switch {
		case c == ';':
			return n + 1
		case weights[c] == 0 && c != '#':
			return 0
		}
	}
	return 0
}

// weights of bytes: of letters 1, of digits -1, of others 0.
var weights = func() (w [256]int8) {
	for c := range w {
		switch {
		case c|0x20 >= 'a' && c|0x20 <= 'z', c >= 0x80, c == '_':
			w[c] = 1
		case c >= '0' && c <= '9':
			w[c] = -1
		}
	}
	return w
}()

// nextWord returns the hash of the word that s begins with, whether it is a number, and its length
// with the byte behind it. The hash is 0 if s begins with another byte. Case does not count.
func nextWord[T string | []byte](s T) (h uint64, figure bool, n int) {
	balance := 0
	for n < len(s) {
		w := weights[s[n]]
		if w == 0 {
			break
		}
		balance += int(w)
		n++
	}
	if n == 0 {
		return 0, false, 1
	}
	h = uint64(n)
	i := 0
	for ; i+8 <= n; i += 8 {
		w := uint64(s[i]) | uint64(s[i+1])<<8 | uint64(s[i+2])<<16 | uint64(s[i+3])<<24 |
			uint64(s[i+4])<<32 | uint64(s[i+5])<<40 | uint64(s[i+6])<<48 | uint64(s[i+7])<<56
		h = bits.RotateLeft64((h^(w|lowerCase))*hashFactor, 29)
	}
	rest := uint64(0)
	for ; i < n; i++ {
		rest = rest<<8 | uint64(s[i]|0x20)
	}
	h = (h ^ rest) * hashFactor
	return (h ^ h>>32) | 1, balance <= 0, n + 1
}

const (
	eachByte  = 0x0101010101010101
	highBits  = 0x80 * eachByte
	lowerCase = 0x20 * eachByte
)

// shortWord is nextWord for an s that begins with a word. A word of up to seven bytes, as most are,
// is read as one number: a text sample takes two thirds of the time. shortWord may read, and ignores,
// bytes behind s in the memory of s.
func shortWord(s []byte) (h uint64, figure bool, n int) {
	if cap(s) < 8 {
		return nextWord(s)
	}
	w := binary.LittleEndian.Uint64(s[:8])
	if len(s) < 8 {
		w &= 1<<(8*len(s)) - 1
	}
	ofWords, digits := classes(w)
	if n = bits.TrailingZeros64(^ofWords&highBits) / 8; n == 8 {
		return nextWord(s)
	}
	h = (uint64(n) ^ bits.ReverseBytes64(w|lowerCase)>>(64-8*n)) * hashFactor
	return (h ^ h>>32) | 1, 2*bits.OnesCount64(digits&(1<<(8*n)-1)) >= n, n + 1
}

// classes returns the high bits of the bytes of w that are part of words, and of those that are
// digits. No sum of low bits carries into the next byte.
func classes(w uint64) (ofWords, digits uint64) {
	from := func(low, c uint64) uint64 { return low + (0x80-c)*eachByte } // high bit: at least c
	low := w &^ highBits
	letters := low | lowerCase
	underscore := from(0, 0) - (low ^ '_'*eachByte)
	digits = from(low, '0') &^ from(low, '9'+1) &^ w & highBits
	ofWords = (w | from(letters, 'a')&^from(letters, 'z'+1) | underscore | digits) & highBits
	return ofWords, digits
}

// endLine ends the current line.
func (s *sampler) endLine() {
	l := s.line
	if l.count+l.figures == 0 {
		return
	}
	s.line = sampledLine{}
	switch {
	case !l.unlinked:
		if l.count > 0 {
			s.linked.add(l.words, sampledLinked)
		}
		return
	case l.figures > 0:
		s.figures.add(l.exact, sampledFigures)
		if l.count < fewWords {
			return
		}
	}
	s.lines.add(l.words, sampledLines)
}

// addRaw adds a body that is not HTML, line by line. XML tags also separate lines.
func (s *sampler) addRaw(body []byte) {
	for len(body) > 0 && s.room[0] > 0 {
		end := bytes.IndexAny(body, "<>\n")
		if end < 0 {
			end = len(body) - 1
		}
		s.add(body[:end+1], false)
		s.endLine()
		body = body[end+1:]
	}
}

// sample returns the sample of the page that was read, in memory of its own.
func (s *sampler) sample() vocab.TextSample {
	s.endLine()
	return vocab.TextSample{
		Lines: s.lines.hashes(), Linked: s.linked.hashes(), Figures: s.figures.hashes(),
	}
}

// lowest has the lowest distinct values that were added, ascending.
type lowest []uint64

func (l *lowest) add(h uint64, most int) {
	h ^= h >> 29
	h *= hashFactor
	h ^= h >> 32
	n := len(*l)
	if n == most && h >= (*l)[n-1] {
		return
	}
	at, there := slices.BinarySearch(*l, h)
	if there {
		return
	}
	if n == most {
		*l = (*l)[:n-1]
	}
	*l = slices.Insert(*l, at, h)
}

func (l lowest) hashes() []uint32 {
	if len(l) == 0 {
		return nil
	}
	all := make([]uint32, len(l))
	for i, h := range l {
		all[i] = uint32(h)
	}
	return all
}
