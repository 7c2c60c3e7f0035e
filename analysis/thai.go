package analysis

import (
	_ "embed" // of the dictionary
	"math"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// thaiText lists the Thai words that runs are cut into, folded and sorted, one a line. They are
// those of words_th.txt of PyThaiNLP 5.4 (CC0 1.0) that are made of Thai letters and have two
// clusters or more, without those of five clusters or more that are made of other words of the list.
// So a compound is found by its parts.
//
//go:embed thai.txt
var thaiText string

// A thaiRun is a run of Thai letters with their marks. At its end it is cut into words of the
// dictionary and the unknown text between them. Of all ways to cut it, the best has the least unknown
// letters, then the fewest words, then the longer words first.
//
// A run is cut between clusters alone, which are a letter with its marks.
type thaiRun struct {
	text       []byte // in which the run is
	start, end int    // of the run so far
	letters    []byte // the run folded, each character minus thaiStart
	clusters   []cluster
	ends       []int // of the words, as indexes of clusters
	term       []byte
}

// A cluster is where a cluster begins, and the best way to cut the run in front of it.
type cluster struct {
	letter, source int  // offsets in letters and in the text
	cost           int  // of this way: 1 for a word, thaiUnknown for a cluster in no word
	last           int  // the cluster where the last part of this way begins
	word           bool // that part is a word
}

const (
	thaiStart, thaiEnd = 0xE00, 0xE80
	thaiUnknown        = 1000     // more than the words of a run
	thaiRunBytes       = 3 * 1000 // of the longest run
)

// isThai reports whether r is a Thai letter, which marks may follow.
func isThai(r rune) bool {
	return 0xE01 <= r && r <= 0xE30 || r == 0xE32 || r == saraAm || 0xE40 <= r && r <= 0xE46
}

// saraAm is a vowel that folds to the mark nikhahit and the letter saraAa.
const saraAm, nikhahit, saraAa = 0xE33, 0xE4D, 0xE32

// IsThai reports whether a term is Thai. Such terms follow each other in a text without spaces.
func IsThai(term string) bool {
	r, _ := utf8.DecodeRuneInString(term)
	return thaiStart < r && r < thaiEnd && r != '฿'
}

// add adds text[start:end], a letter with its marks.
func (r *thaiRun) add(text []byte, start, end int, fn termFunc) {
	if start > r.end || start-r.start >= thaiRunBytes {
		r.finish(fn)
	}
	if r.end == r.start {
		r.text, r.start = text, start
	}
	r.end = end
}

// finish ends the run, and calls fn with its words.
func (r *thaiRun) finish(fn termFunc) {
	if r.end == r.start {
		return
	}
	r.fold()
	r.cut()
	for k := range len(r.ends) - 1 {
		from, to := &r.clusters[r.ends[k]], &r.clusters[r.ends[k+1]]
		r.term = r.term[:0]
		for _, letter := range r.letters[from.letter:to.letter] {
			r.term = utf8.AppendRune(r.term, thaiStart+rune(letter))
		}
		fn(truncate(r.term), from.source, to.source)
	}
	r.text, r.start, r.end = nil, 0, 0
}

// fold fills letters and clusters, with one for the end.
func (r *thaiRun) fold() {
	r.letters, r.clusters = r.letters[:0], r.clusters[:0]
	for at := r.start; at < r.end; {
		char, size := utf8.DecodeRune(r.text[at:])
		if !isThai(char) {
			r.addMark(char)
		} else {
			letter := char
			if char == saraAm {
				r.addMark(nikhahit)
				letter = saraAa
			}
			r.clusters = append(r.clusters, cluster{letter: len(r.letters), source: at})
			r.letters = append(r.letters, byte(letter-thaiStart))
		}
		at += size
	}
	r.clusters = append(r.clusters, cluster{letter: len(r.letters), source: r.end})
}

// maxMarks bounds the marks of a letter: putting them in order takes the square of their number.
const maxMarks = 30

// addMark appends a Thai mark in canonical order. Others are dropped, and those over maxMarks.
func (r *thaiRun) addMark(mark rune) {
	letter := 0 // where the present letter is
	if n := len(r.clusters); n > 0 {
		letter = r.clusters[n-1].letter
	}
	if mark < thaiStart || mark >= thaiEnd || len(r.letters)-letter > maxMarks {
		return
	}
	r.letters = append(r.letters, byte(mark-thaiStart))
	for i := len(r.letters) - 1; i > 0; i-- {
		before := &r.letters[i-1]
		if order := markOrder(r.letters[i]); order == 0 || markOrder(*before) <= order {
			return
		}
		r.letters[i], *before = *before, r.letters[i]
	}
}

// markOrder returns the canonical combining class of a character minus thaiStart.
func markOrder(letter byte) int {
	switch {
	case letter == 0x3A:
		return 9
	case 0x38 <= letter && letter <= 0x39:
		return 103
	case 0x48 <= letter && letter <= 0x4B:
		return 107
	}
	return 0
}

// cut fills ends: 0, and then the end of each word.
func (r *thaiRun) cut() {
	words := thaiWords()
	last := len(r.clusters) - 1
	for i := range r.clusters[1:] {
		r.clusters[i+1].cost = math.MaxInt
	}
	for i := range last {
		r.reach(i+1, i, thaiUnknown, false)
		node := int32(0)
		for k := i; k < last && node >= 0; k++ {
			for _, letter := range r.letters[r.clusters[k].letter:r.clusters[k+1].letter] {
				if node = words.next(node, letter); node < 0 {
					break
				}
			}
			if node >= 0 && words[node].ends {
				r.reach(k+1, i, 1, true)
			}
		}
	}
	r.ends = append(r.ends[:0], last)
	for at := last; at > 0; at = r.clusters[at].last {
		if c := &r.clusters[at]; c.last > 0 && (c.word || r.clusters[c.last].word) {
			r.ends = append(r.ends, c.last)
		}
	}
	r.ends = append(r.ends, 0)
	slices.Reverse(r.ends)
}

// reach records a way to the cluster to, by a part of some cost that begins at the cluster from.
func (r *thaiRun) reach(to, from, cost int, word bool) {
	if cost += r.clusters[from].cost; cost <= r.clusters[to].cost {
		c := &r.clusters[to]
		c.cost, c.last, c.word = cost, from, word
	}
}

// A trie finds words letter by letter. Its first node is the root.
type trie []trieNode

// A trieNode is the node of one prefix.
type trieNode struct {
	first  int32 // its children follow each other, sorted
	n      uint8
	letter byte
	ends   bool // the prefix is a word
}

// next returns the child of a node for a letter, -1 if there is none.
func (t trie) next(node int32, letter byte) int32 {
	first, n := t[node].first, int32(t[node].n)
	for child := first; child < first+n; child++ {
		if t[child].letter == letter {
			return child
		}
	}
	return -1
}

// thaiWords returns the dictionary. It takes 5 ms and 1 MB to make, at the first Thai text.
var thaiWords = sync.OnceValue(func() trie {
	var words [][]byte
	for word := range strings.Lines(thaiText) {
		var letters []byte
		for _, r := range strings.TrimSuffix(word, "\n") {
			letters = append(letters, byte(r-thaiStart))
		}
		words = append(words, letters)
	}
	return newTrie(words)
})

// newTrie returns a trie of sorted words.
func newTrie(words [][]byte) trie {
	type prefix struct {
		words [][]byte // those that begin with it
		len   int
	}
	t, prefixes := trie{{}}, []prefix{{words, 0}} // by node
	for node := 0; node < len(t); node++ {
		p := prefixes[node]
		if len(p.words) > 0 && len(p.words[0]) == p.len {
			t[node].ends, p.words = true, p.words[1:]
		}
		t[node].first = int32(len(t))
		for len(p.words) > 0 {
			letter, n := p.words[0][p.len], 1
			for n < len(p.words) && p.words[n][p.len] == letter {
				n++
			}
			t, prefixes = append(t, trieNode{letter: letter}), append(prefixes, prefix{p.words[:n], p.len + 1})
			t[node].n++
			p.words = p.words[n:]
		}
	}
	return t
}
