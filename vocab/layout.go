package vocab

// Marks of layout in [DocInfo.Text]. A mark is not part of a word.
const (
	// LineMark separates the lines of code. The spaces after it are the indentation of the line,
	// relative to the first line. It is also at both ends of a block of code, and at the start of a
	// block that begins a row of a table or follows a table.
	LineMark = '\v'

	// CellMark is at the start of a block that is a cell of the table row of the block before it.
	CellMark = '\x1f'
)
