package indexer

import (
	"bytes"

	"anatomy/vocab"
)

// readPlain takes plain text apart: empty lines part its blocks, other ends of lines are spaces.
// The first line with a word in it, where it is short, is the title.
func (p *parser) readPlain(body []byte) {
	plain := style{kind: vocab.Plain, size: vocab.NormalSize}
	for line := range bytes.Lines(body) {
		trimmed := bytes.TrimSpace(line)
		if len(trimmed) == 0 {
			p.endBlock()
			continue
		}
		if len(p.title) == 0 && len(trimmed) <= maxTitle {
			p.title = foldSpace(p.title, trimmed)
		}
		p.appendText(line, plain)
	}
	p.endBlock()
}
