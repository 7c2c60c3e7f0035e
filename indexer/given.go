package indexer

import (
	"fmt"

	"anatomy/vocab"
	"anatomy/weburl"
)

// A Given is a text that comes without markup: fields that somebody else has taken apart.
type Given struct {
	Doc   vocab.DocID
	URL   string // canonical
	Title []byte
	Path  []byte // the words of the URL, in place of those that it is made of
	Body  []byte
}

// ReadGiven makes a document of a text. All words of the body are plain ones, in one block. The
// document owns its memory.
func ReadGiven(g *Given, buf *Buffer) (*Document, error) {
	base, err := weburl.Parse(g.URL)
	if err != nil {
		return nil, fmt.Errorf("indexer: text %s: %w", g.URL, err)
	}
	p := &buf.parser
	p.reset(base)
	p.title = foldSpace(p.title, g.Title)
	p.appendText(g.Body, style{kind: vocab.Plain, size: vocab.NormalSize})
	p.endBlock()
	return p.document(&vocab.Page{Doc: g.Doc, URL: g.URL}, g.Path), nil
}
