package indexer

import (
	"fmt"

	"anatomy/vocab"
)

// Fields is a text without markup, already split into fields.
type Fields struct {
	Doc   vocab.DocID
	URL   string // canonical
	Title []byte
	Path  []byte // text of the URL field, instead of URL
	Body  []byte
}

// ParseFields makes a document of a text. The body is one block of running text. The document owns
// its memory.
func ParseFields(f *Fields, buf *Buffer) (*Document, error) {
	p := &buf.parser
	if err := p.startAt(f.URL); err != nil {
		return nil, fmt.Errorf("text %s: %w", f.URL, err)
	}
	p.meta.setTitle(f.Title)
	p.append(f.Body, plainStyle)
	p.end()
	return p.document(&vocab.Page{Doc: f.Doc, URL: f.URL}, f.Path), nil
}
