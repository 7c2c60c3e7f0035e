package text

import "anatomy/analysis"

// A Marker finds the words of a query in a text. The nil marker finds none. A marker is for one
// goroutine.
type Marker struct {
	words map[string]bool // folded
	cut   analysis.Tokenizer
}

// NewMarker returns a marker for folded words, as in searcher.Response.Words.
func NewMarker(folded []string) *Marker {
	m := &Marker{words: make(map[string]bool, len(folded))}
	for _, w := range folded {
		m.words[w] = true
	}
	return m
}

// Each calls fn for the pieces of a text in order. Adjacent words, as in languages without spaces,
// make one mark.
func (m *Marker) Each(text string, fn func(piece string, mark bool)) {
	done, from, to := 0, 0, 0 // text[:done] is passed to fn, text[from:to] is the next mark
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
		m.cut.EachTerm([]byte(text), func(word []byte, start, end int) {
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
