// Package analysis turns text into terms, for pages, anchors, queries and snippets alike. A term
// matches because index and query are tokenized and folded by the same code.
//
// Text is split at the word boundaries of UAX #29 (Unicode 8 tables of blevesearch/segment), and each
// such word at its punctuation and mathematical signs: "os.path" is os, path; "don't" is don, t;
// "3,14" is 3, 14. The low line and its kin are part of words: "max_len" is one. A token without letter
// or number is dropped.
//
// Runs of katakana and of hangul are one word each. Thai is written without spaces, and cut into words
// by a dictionary (thaiRun). Ideographs, hiragana, and the letters of Lao, Khmer and Burmese with their
// marks are written without spaces, too: each character and the next one are a term (a bigram), and the
// last character of a run is a term, too: "東京都" is 東京, 京都, 都. Bigrams overlap in the text. Only
// the last term of a run is within the previous term.
package analysis

import (
	"unicode"
	"unicode/utf8"

	"github.com/blevesearch/segment"
)

// A Tokenizer splits text into terms. The zero value is ready. It keeps its buffers from one text to the
// next and is not safe for concurrent use.
type Tokenizer struct {
	folder folder
	pieces [][]byte // of segment, kept for their memory
	types  []int
	run    run
	thai   thaiRun
}

// EachTerm calls fn for each term of text in turn, at consecutive positions. term is valid until fn
// returns, and text[start:end] is its source. Invalid UTF-8 separates words.
func (t *Tokenizer) EachTerm(text []byte, fn func(term []byte, start, end int)) {
	for from := 0; from < len(text); {
		lo, hi := nonASCIISpan(text, from)
		t.eachAlphabetic(text, from, lo, fn)
		t.eachInSpan(text, lo, hi, fn)
		from = hi
	}
}

// PhraseTerms returns the terms of text in the order in which a phrase query matches them. If the text
// ends in a run of characters without spaces, the run's last term is left out: in a page the run may
// continue.
func PhraseTerms(text string) []string {
	var t Tokenizer
	var terms []string
	before, inRun := 0, false
	t.EachTerm([]byte(text), func(term []byte, start, end int) {
		terms, before, inRun = append(terms, string(term)), end, start < before
	})
	if inRun {
		terms = terms[:len(terms)-1]
	}
	return terms
}

// nonASCIISpan returns the next span text[lo:hi] between ASCII white space that has a byte outside
// ASCII, from <= lo. If there is none, lo = hi = len(text).
//
// No word extends across ASCII white space, so a span can be split without its context. The text
// before it is ASCII.
func nonASCIISpan(text []byte, from int) (lo, hi int) {
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

// eachInSpan is EachTerm for text[lo:hi], a span that nonASCIISpan returned.
func (t *Tokenizer) eachInSpan(text []byte, lo, hi int, fn termFunc) {
	if alphabetic(text[lo:hi]) {
		t.eachAlphabetic(text, lo, hi, fn)
		return
	}
	t.eachValid(text, lo, hi, fn)
	t.finishRuns(fn)
}

// finishRuns ends the runs of characters without spaces.
func (t *Tokenizer) finishRuns(fn termFunc) {
	t.run.finish(fn)
	t.thai.finish(fn)
}

// eachAlphabetic is EachTerm for text[from:to], which is alphabetic. With the segmenter instead, a page
// in English costs 1.4 times as much, from URL to searchable, and one in Russian 1.25 times.
func (t *Tokenizer) eachAlphabetic(text []byte, from, to int, fn termFunc) {
	f := &t.folder
	for i := from; i < to; {
		start, ok := i, false
		f.stripped = f.stripped[:0]
		size := 1
		for ; i < to; i += size {
			if c := text[i]; c < utf8.RuneSelf {
				lower := asciiWord[c]
				if size = 1; lower == 0 {
					break
				}
				f.stripped = append(f.stripped, lower)
				ok = ok || lower != '_'
				continue
			}
			var r rune
			r, size = utf8.DecodeRune(text[i:to])
			if classOf(r) != letter {
				break
			}
			if r >= tableEnd {
				f.stripped, ok = append(f.stripped, text[i:i+size]...), true
				continue
			}
			e := &foldTable[r]
			f.stripped = append(f.stripped, e.to[:e.n]...)
			ok = ok || e.ok
		}
		if ok {
			fn(truncate(f.stripped), start, i)
		}
		i += size
	}
}

// eachValid passes each run of valid UTF-8 in text[from:to] to eachSegment. The segmenter would drop
// words in front of a broken byte.
func (t *Tokenizer) eachValid(text []byte, from, to int, fn termFunc) {
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

// window is the number of bytes that the segmenter reads at once. It bounds the list of their words.
const window = 4096

// eachSegment is EachTerm for text[from:to], which is valid UTF-8. The last word of a window may continue
// in the next one, also across a sign that joins words. So the last two words of a window are split again
// as the first of the next one.
func (t *Tokenizer) eachSegment(text []byte, from, to int, fn termFunc) {
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

// split splits a word of UAX #29 at the signs within it. A sign's combining marks belong to the sign.
func (t *Tokenizer) split(text []byte, from, to int, fn termFunc) {
	start := from
	for i := from; i < to; {
		r, size := rune(text[i]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRune(text[i:to])
		}
		if foldsToItself(r) {
			// a letter
		} else if i == start && unicode.In(r, unicode.M, unicode.Cf) {
			start = i + size
		} else if separates(r) {
			t.emit(text, start, i, fn)
			start = i + size
		}
		i += size
	}
	t.emit(text, start, to, fn)
}

// emit folds text[start:end] and calls fn, unless the token has no letter or number.
func (t *Tokenizer) emit(text []byte, start, end int, fn termFunc) {
	if start == end {
		return
	}
	first, _ := utf8.DecodeRune(text[start:end])
	if isThai(first) {
		t.run.finish(fn)
		t.thai.add(text, start, marksEnd(text, end), fn)
		return
	}
	inRun := spaceless(first)
	if inRun { // the segmenter cuts off marks
		end = marksEnd(text, end)
	}
	term, ok := t.folder.fold(text[start:end])
	if !ok {
		return
	}
	if inRun {
		t.thai.finish(fn)
		t.run.add(term, start, end, fn)
		return
	}
	t.finishRuns(fn)
	fn(truncate(term), start, end)
}
