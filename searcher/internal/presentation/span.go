package presentation

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"anatomy/vocab"
)

// snippetColumns is the default width of a snippet in columns. Ideographs take two.
const snippetColumns = 200

// lineColumns is the width of the end of a line of code or row of a table, which bounds the number of
// lines of a snippet.
const lineColumns = 30

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
	to := wholeLine(text, sp.to, forward(text, sp.to, left))
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

// wholeLine returns to, or the end of the line of code before it if that is at or after from, and to is
// within a line that is not the first of its block.
func wholeLine(text string, from, to int) int {
	end := from + strings.LastIndexAny(text[from:to], breaks)
	if end <= from || text[end] != vocab.LineMark || text[end-1] == '\n' || to == len(text) || strings.IndexByte(breaks, text[to]) >= 0 {
		return to
	}
	return end
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
		if i < at && sentenceEnds(text[:i]) && text[i] != vocab.CellMark {
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
	return unicode.IsSpace(before) || unicode.IsSpace(after) || isWide(after) || isWide(before)
}

// sentenceEnds reports whether a sentence or block ends at the end of text.
func sentenceEnds(text string) bool {
	trimmed := strings.TrimRight(text, " ")
	if trimmed == "" || trimmed[len(trimmed)-1] == '\n' || trimmed[len(trimmed)-1] == vocab.LineMark {
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

// endsAt reports whether a sentence or block ends with text[:to], or with the space after it. A line of code
// is not the end unless its block ends.
func endsAt(text string, to int) bool {
	if rest := text[to:]; rest != "" && rest[0] == vocab.LineMark {
		return len(rest) == 1 || rest[1] == '\n'
	}
	return to == len(text) || sentenceEnds(text[:to]) ||
		text[to] < utf8.RuneSelf && sentenceEnds(text[:to+1])
}

func trim(text string, sp span) span {
	sp.from = sp.to - len(strings.TrimLeft(text[sp.from:sp.to], " "+breaks))
	sp.to = sp.from + len(strings.TrimRight(text[sp.from:sp.to], " "+breaks))
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
			n += width(rune(text[i]))
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		n += width(r)
		i += size
	}
	return n
}

func isWide(r rune) bool { return r >= 0x2E80 }

// width returns the width of a character in columns: two from the CJK radicals on, where nearly all
// characters are wide.
func width(r rune) int {
	switch {
	case isWide(r):
		return 2
	case r == vocab.LineMark:
		return lineColumns
	}
	return 1
}
