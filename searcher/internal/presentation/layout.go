package presentation

import (
	"strings"

	"anatomy/vocab"
)

// breaks are the characters between blocks, lines of code, and cells.
const breaks = "\n" + string(vocab.LineMark) + string(vocab.CellMark)

// cellBreak is shown between cells of a row.
const cellBreak = " | "

// laidOut returns a text as it is shown: on lines of their own the lines of code and the rows of tables,
// with cellBreak between their cells, and other blocks in one line. Lines of code lose up to indent spaces
// of their indentation.
func laidOut(text string, indent int) string {
	at := strings.IndexAny(text, breaks)
	if at < 0 {
		return text
	}
	var b strings.Builder
	for at >= 0 {
		b.WriteString(text[:at])
		rest := strings.TrimLeft(text[at:], breaks)
		switch between := text[at : len(text)-len(rest)]; {
		case strings.IndexByte(between, vocab.CellMark) >= 0:
			b.WriteString(cellBreak)
		case strings.IndexByte(between, vocab.LineMark) >= 0:
			b.WriteByte('\n')
			rest = rest[min(indentOf(rest), indent):]
		default:
			b.WriteByte(' ')
		}
		text = rest
		at = strings.IndexAny(text, breaks)
	}
	b.WriteString(text)
	return b.String()
}

// indentOf returns the number of spaces that a text begins with.
func indentOf(text string) int { return len(text) - len(strings.TrimLeft(text, " ")) }

// indentBefore returns the indentation of a line of code whose first character is text[at], or 0.
func indentBefore(text string, at int) int {
	before := strings.TrimRight(text[:at], " ")
	if before == "" || before[len(before)-1] != vocab.LineMark {
		return 0
	}
	return at - len(before)
}
