package presentation

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// snippetColumns is the default width of a snippet in columns. Ideographs take two.
const snippetColumns = 200

// A span is the bytes [from, to) of a text.
type span struct{ from, to int }

// widenAll widens spans so that they fill a width together, and joins spans that meet.
func widenAll(text string, spans []span, width int) []span {
	var all []span
	for _, sp := range spans {
		sp = widen(text, sp, width/len(spans))
		if n := len(all); n > 0 && sp.from <= all[n-1].to+1 {
			all[n-1].to = max(all[n-1].to, sp.to)
			continue
		}
		all = append(all, sp)
	}
	return all
}

// widen extends a span to a width: backward to the start of its sentence if that is near, otherwise
// to a word within a third of the remaining columns; then forward by the rest; and at the end of
// the text backward again.
func widen(text string, sp span, width int) span {
	left := width - columns(text[sp.from:sp.to])
	from := back(text, sp.from, left*2/3)
	if !sentenceEnds(text[:from]) {
		from = back(text, sp.from, left/3)
	}
	left -= columns(text[from:sp.from])
	to := forward(text, sp.to, left)
	left -= columns(text[sp.to:to])
	for to == len(text) && from > 0 {
		more := back(text, from, left)
		if more == from {
			break
		}
		left -= columns(text[more:from])
		from = more
	}
	return trim(text, span{from, to})
}

// back returns a start of a sentence or word at most n columns before at: the last start of a
// sentence, or the first of a word.
func back(text string, at, n int) int {
	best := at
	for i := at; i > 0; {
		r, size := utf8.DecodeLastRuneInString(text[:i])
		if n -= width(r); n < 0 {
			return best
		}
		i -= size
		if i == 0 || breaksBefore(text, i) {
			best = i
		}
		if i < at && sentenceEnds(text[:i]) {
			return i
		}
	}
	return best
}

// forward returns the last end of a word at most n columns after at.
func forward(text string, at, n int) int {
	best := at
	for i := at; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		if n -= width(r); n < 0 {
			return best
		}
		i += size
		if i == len(text) || breaksBefore(text, i) {
			best = i
		}
	}
	return best
}

// breaksBefore reports whether a line of text may end before text[i].
func breaksBefore(text string, i int) bool {
	before, _ := utf8.DecodeLastRuneInString(text[:i])
	after, _ := utf8.DecodeRuneInString(text[i:])
	return unicode.IsSpace(before) || unicode.IsSpace(after) || width(after) == 2 || width(before) == 2
}

// sentenceEnds reports whether a sentence or block ends at the end of text.
func sentenceEnds(text string) bool {
	trimmed := strings.TrimRight(text, " ")
	if trimmed == "" || trimmed[len(trimmed)-1] == '\n' {
		return true
	}
	r, _ := utf8.DecodeLastRuneInString(trimmed)
	switch r {
	case '。', '！', '？':
		return true
	case '.', '!', '?':
		return len(trimmed) < len(text)
	}
	return false
}

// endsAt reports whether a sentence or block ends with text[:to], or with the space after it.
func endsAt(text string, to int) bool {
	return to == len(text) || sentenceEnds(text[:to]) ||
		text[to] < utf8.RuneSelf && sentenceEnds(text[:to+1])
}

func trim(text string, sp span) span {
	for sp.from < sp.to && (text[sp.from] == ' ' || text[sp.from] == '\n') {
		sp.from++
	}
	for sp.to > sp.from && (text[sp.to-1] == ' ' || text[sp.to-1] == '\n') {
		sp.to--
	}
	return sp
}

// head returns at most the first n bytes of text, cut between characters.
func head(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}

// withoutPart returns text without an incomplete character at its end.
func withoutPart(text string) string {
	for i := len(text) - 1; i >= 0 && i > len(text)-utf8.UTFMax; i-- {
		if utf8.RuneStart(text[i]) {
			if !utf8.FullRuneInString(text[i:]) {
				return text[:i]
			}
			break
		}
	}
	return text
}

// columns returns the width of text in columns.
func columns(text string) int {
	n := 0
	for i := 0; i < len(text); {
		if text[i] < utf8.RuneSelf {
			n++
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		n += width(r)
		i += size
	}
	return n
}

// width returns the width of a character in columns: two from the CJK radicals on, where nearly all
// characters are wide.
func width(r rune) int {
	if r >= 0x2E80 {
		return 2
	}
	return 1
}
