package segment

import (
	"unsafe"

	"anatomy/disk/texts"
	"anatomy/vocab"
)

// A DocReader reads documents one after the other, from segments that share a cache. It keeps the
// content of one text block, so that documents with neighbouring ordinals require one
// decompression. It must be closed before the segments.
type DocReader struct {
	segment *docStore // nil before the first text
	block   uint32
	content *[]byte // of the block, or a prefix of it
}

// maxKeptContent bounds the bytes of memory that a closed DocReader leaves for the next one.
const maxKeptContent = 1 << 20

// Read returns the record of a document with at most n bytes of its text, which may end within a
// character. The text is valid until the next call.
func (r *DocReader) Read(s *Segment, ord vocab.Ordinal, n int) (vocab.DocInfo, error) {
	return r.read(&s.docStore, ord, n)
}

func (r *DocReader) read(s *docStore, ord vocab.Ordinal, n int) (vocab.DocInfo, error) {
	info, at, err := s.record(ord)
	if err != nil || at.N == 0 {
		return info, err
	}
	at.N = uint32(min(int(at.N), n))
	info.Text, err = r.text(s, at)
	return info, err
}

func (r *DocReader) text(s *docStore, at texts.Span) (string, error) {
	if r.content == nil {
		r.content = s.cache.scratch.Get().(*[]byte)
	}
	end := uint64(at.Start) + uint64(at.N)
	if r.segment != s || r.block != at.Block || uint64(len(*r.content)) < end {
		r.segment = nil
		frame, raw, err := s.TextBlock(at.Block)
		if err != nil {
			return "", err
		}
		content, err := s.cache.decoder.texts.UnpackPrefix(*r.content, frame, raw, int(min(end, texts.MaxBlock)))
		if err != nil {
			return "", s.damagedText(at.Block, err)
		}
		r.segment, r.block, *r.content = s, at.Block, content
	}
	text, err := at.Slice(unsafe.String(unsafe.SliceData(*r.content), len(*r.content)))
	if err != nil {
		return "", s.damagedText(at.Block, err)
	}
	return text, nil
}

// Close leaves the memory for the next DocReader.
func (r *DocReader) Close() {
	if r.segment != nil && cap(*r.content) <= maxKeptContent {
		r.segment.cache.scratch.Put(r.content)
	}
	*r = DocReader{}
}
