package presentation

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Bounds of text directives.
const (
	maxDirectives    = 3
	contextWords     = 2  // on each side of marked words
	maxDirectiveSize = 80 // characters of marked words; text without spaces has no words to quote
)

// Directives returns the fragment directive of a URL that has browsers scroll to the marked words of a
// snippet and highlight them: ":~:text=…" (WICG, URL Fragment Text Directives). Words on both sides
// tell them from the same words elsewhere on the page. It returns "" if no marked words can be quoted.
func Directives(snippet []Fragment) string {
	words := wordsOf(snippet)
	var all []string
	for from := 0; from < len(words) && len(all) < maxDirectives; from++ {
		if !words[from].marked {
			continue
		}
		to := from + 1
		for to < len(words) && words[to].marked {
			to++
		}
		if d := directive(words, from, to); d != "" && !slices.Contains(all, d) {
			all = append(all, d)
		}
		from = to
	}
	if len(all) == 0 {
		return ""
	}
	return ":~:" + strings.Join(all, "&")
}

// A word is a word of a snippet, with its punctuation.
type word struct {
	text   string
	marked bool // has a part that is marked
}

// wordsOf returns the words of a snippet.
func wordsOf(snippet []Fragment) (words []word) {
	between := true // words
	for _, f := range snippet {
		for rest := f.Text; rest != ""; {
			n := strings.IndexFunc(rest, unicode.IsSpace)
			if n == 0 {
				_, size := utf8.DecodeRuneInString(rest)
				rest, between = rest[size:], true
				continue
			}
			if n < 0 {
				n = len(rest)
			}
			if between {
				words = append(words, word{})
			}
			last := &words[len(words)-1]
			last.text += rest[:n]
			last.marked = last.marked || f.Mark
			rest, between = rest[n:], false
		}
	}
	return words
}

// directive returns the text directive of the words from and to, or "".
func directive(words []word, from, to int) string {
	marked := joined(words[from:to])
	if utf8.RuneCountInString(marked) > maxDirectiveSize || strings.Contains(marked, ellipsis) || strings.Contains(marked, cellBreak) {
		return ""
	}
	before, after := from, to
	for before > 0 && from-before < contextWords && !words[before-1].isCut() {
		before--
	}
	for after < len(words) && after-to < contextWords && !words[after].isCut() {
		after++
	}
	d := "text="
	if before < from {
		d += escapeDirective(joined(words[before:from])) + "-,"
	}
	d += escapeDirective(marked)
	if after > to {
		d += ",-" + escapeDirective(joined(words[to:after]))
	}
	return d
}

const ellipsis = "…"

// isCut reports whether a word is where text was left out, between cells, or too long for one.
func (w *word) isCut() bool {
	return w.text == strings.TrimSpace(cellBreak) || strings.Contains(w.text, ellipsis) || utf8.RuneCountInString(w.text) > maxDirectiveSize
}

// joined returns words with spaces between them.
func joined(words []word) string {
	var texts []string
	for _, w := range words {
		texts = append(texts, w.text)
	}
	return strings.Join(texts, " ")
}
