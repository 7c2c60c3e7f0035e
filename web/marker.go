package web

import (
	"bytes"
	"html"
	"strings"

	"anatomy/words"
)

// A marker finds the words of a query in a text. The nil marker finds none. It is for one
// goroutine.
type marker struct {
	words map[string]bool // folded
	cut   words.Tokenizer
}

// newMarker makes a marker of words as searcher.Response.Words has them.
func newMarker(folded []string) *marker {
	m := &marker{words: make(map[string]bool, len(folded))}
	for _, w := range folded {
		m.words[w] = true
	}
	return m
}

// each calls fn for the pieces of a text in turn, which joined are the text. Words that touch, as
// those of languages without spaces do, make one mark.
func (m *marker) each(text string, fn func(piece string, mark bool)) {
	done, from, to := 0, 0, 0 // text[:done] is dealt with, text[from:to] is the mark to come
	flush := func() {
		if done < from {
			fn(text[done:from], false)
		}
		if from < to {
			fn(text[from:to], true)
		}
		done = to
	}
	if m != nil && len(m.words) > 0 {
		m.cut.Each([]byte(text), func(word []byte, start, end int, _ bool) {
			switch {
			case !m.words[string(word)]:
			case start <= to && from < to:
				to = max(to, end)
			default:
				flush()
				from, to = start, end
			}
		})
		flush()
	}
	if done < len(text) {
		fn(text[done:], false)
	}
}

// writeMarked writes a text as HTML with the words of m in mark elements. It stops at the piece
// that brings out past maxSafe, and says whether it came to the end.
func writeMarked(out *bytes.Buffer, text string, m *marker) bool {
	whole := true
	m.each(strings.ToValidUTF8(text, "\uFFFD"), func(piece string, mark bool) {
		if out.Len() > maxSafe {
			whole = false
			return
		}
		if mark {
			out.WriteString("<mark>")
		}
		writeEscaped(out, piece)
		if mark {
			out.WriteString("</mark>")
		}
	})
	return whole
}

// writeEscaped writes a text as HTML, without the NUL bytes that browsers and tokenisers treat
// differently.
func writeEscaped(out *bytes.Buffer, s string) {
	out.WriteString(html.EscapeString(strings.ReplaceAll(s, "\x00", "")))
}
