// Package layout finds what keeps tables and code of a page readable in its text: rows, cells and
// lines. See [vocab.LineMark].
package layout

import (
	"golang.org/x/net/html/atom"

	"anatomy/vocab"
)

// Rows finds the blocks that begin rows and cells of tables. A cell after one of several blocks has no
// mark, because such tables arrange the parts of a page.
type Rows struct {
	next   byte // mark of the next block, 0 if it has none
	blocks int  // of the current cell, or of the last one that has text
	cell   bool // no block of the current cell has ended
}

// Start handles a start tag.
func (r *Rows) Start(tag atom.Atom) {
	switch tag {
	case atom.Table, atom.Tr:
		*r = Rows{next: vocab.LineMark}
	case atom.Td, atom.Th:
		if r.cell = true; r.blocks == 1 {
			r.next = vocab.CellMark
		}
	}
}

// End handles an end tag.
func (r *Rows) End(tag atom.Atom) {
	if tag == atom.Table {
		*r = Rows{next: vocab.LineMark}
	}
}

// Block returns the mark of the current block, which has text, or 0.
func (r *Rows) Block() byte {
	mark := r.next
	if r.next = 0; r.cell {
		r.blocks, r.cell = 0, false
	}
	r.blocks++
	return mark
}

// maxIndent is the maximum number of spaces that are kept before a line of code.
const maxIndent = 40

// tabWidth is the number of columns of a tab in code.
const tabWidth = 4

// Lines finds the lines of a block of code and their indentation.
type Lines struct {
	margin int  // columns before the first line
	column int  // columns of white space since the last text or line end
	ended  bool // a line ended since the last text
}

// Space handles a character of white space.
func (l *Lines) Space(c byte) {
	switch c {
	case '\n':
		l.Break()
	case '\t':
		l.column += tabWidth - l.column%tabWidth
	case '\r', '\f':
	default:
		l.column++
	}
}

// Break ends a line.
func (l *Lines) Break() { l.column, l.ended = 0, true }

// AppendStart appends what precedes the first text of the block.
func (l *Lines) AppendStart(text []byte) []byte {
	*l = Lines{margin: l.column}
	return append(text, vocab.LineMark)
}

// Append appends what precedes further text, if a line ended before it. ok is false otherwise.
func (l *Lines) Append(text []byte) (line []byte, ok bool) {
	column, ended := l.column, l.ended
	l.column, l.ended = 0, false
	if !ended {
		return text, false
	}
	text = append(text, vocab.LineMark)
	for range min(max(column-l.margin, 0), maxIndent) {
		text = append(text, ' ')
	}
	return text, true
}
