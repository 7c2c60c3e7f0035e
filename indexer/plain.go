package indexer

import "bytes"

// readPlain reads plain text. Empty lines separate blocks, other line ends are spaces. The first line
// that is not empty and not too long is the title.
func (x *extraction) readPlain(body []byte) {
	for line := range bytes.Lines(body) {
		trimmed := bytes.TrimSpace(line)
		if len(trimmed) == 0 {
			x.endBlock(blockContext{})
			continue
		}
		if len(trimmed) <= maxTitle {
			x.meta.setTitle(trimmed)
		}
		x.append(line, plainStyle)
	}
	x.end()
}
