package indexer

import (
	"bytes"
	"sync"

	"anatomy/vocab"
)

var scriptedBuffers = sync.Pool{New: func() any { return &Buffer{} }}

// IsScripted reports whether an HTML page has no text and no links until its scripts run.
func IsScripted(p *vocab.Page) bool {
	if !bytes.Contains(bytes.ToLower(p.Body), []byte("<script")) {
		return false
	}
	buf := scriptedBuffers.Get().(*Buffer)
	defer scriptedBuffers.Put(buf)
	doc, err := Parse(p, buf)
	return err == nil && doc.Info.Genre == vocab.Scripted
}
