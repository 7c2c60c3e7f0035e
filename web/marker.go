package web

import (
	"anatomy/searcher"
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

// split cuts a text into fragments, which joined are the text. Words that touch, as those of
// languages without spaces do, make one mark.
func (m *marker) split(text string) []searcher.Fragment {
	if text == "" {
		return nil
	}
	if m == nil || len(m.words) == 0 {
		return []searcher.Fragment{{Text: text}}
	}
	var marks [][2]int
	m.cut.Each([]byte(text), func(word []byte, start, end int, _ bool) {
		if !m.words[string(word)] {
			return
		}
		if n := len(marks); n > 0 && start <= marks[n-1][1] {
			marks[n-1][1] = max(marks[n-1][1], end)
			return
		}
		marks = append(marks, [2]int{start, end})
	})
	var fragments []searcher.Fragment
	last := 0
	for _, at := range marks {
		if at[0] > last {
			fragments = append(fragments, searcher.Fragment{Text: text[last:at[0]]})
		}
		fragments = append(fragments, searcher.Fragment{Text: text[at[0]:at[1]], Mark: true})
		last = at[1]
	}
	if last < len(text) {
		fragments = append(fragments, searcher.Fragment{Text: text[last:]})
	}
	return fragments
}
