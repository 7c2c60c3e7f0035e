package segment

import (
	"math"
	"strings"
	"unsafe"

	"anatomy/disk/texts"
	"anatomy/vocab"
)

// A Glancer reads documents of segments with one cache, one after the other. The content of one block of texts stays in
// its memory, so that neighbours in the order of ordinals are decompressed once. It must be closed, before the
// segments.
type Glancer struct {
	segment *Segment // nil before the first text
	block   uint32
	content *[]byte // of the block, or its beginning
}

// maxGlanceKept bounds the memory of a Glancer that the next one takes over, in bytes.
const maxGlanceKept = 1 << 20

// Glance is [Segment.Info] with n bytes of the text at most, which may end within a character and lasts until the next
// document is read.
func (g *Glancer) Glance(s *Segment, ord vocab.Ordinal, n int) (vocab.DocInfo, error) {
	info, at, err := s.record(ord)
	if err != nil || at.N == 0 {
		return info, err
	}
	at.N = uint32(min(int(at.N), n))
	info.Text, err = g.text(s, at)
	return info, err
}

func (g *Glancer) text(s *Segment, at texts.Place) (string, error) {
	if g.content == nil {
		g.content = s.cache.scratch.Get().(*[]byte)
	}
	end := uint64(at.Start) + uint64(at.N)
	if g.segment != s || g.block != at.Block || uint64(len(*g.content)) < end {
		g.segment = nil
		frame, raw, err := s.Texts(at.Block)
		if err != nil {
			return "", err
		}
		content, err := s.cache.decode.texts.Head(*g.content, frame, raw, int(min(end, texts.MaxBlock)))
		if err != nil {
			return "", s.damagedTexts(at.Block, err)
		}
		g.segment, g.block, *g.content = s, at.Block, content
	}
	text, err := at.In(unsafe.String(unsafe.SliceData(*g.content), len(*g.content)))
	if err != nil {
		return "", s.damagedTexts(at.Block, err)
	}
	return text, nil
}

// Close gives the memory back.
func (g *Glancer) Close() {
	if g.segment != nil && cap(*g.content) <= maxGlanceKept {
		g.segment.cache.scratch.Put(g.content)
	}
	*g = Glancer{}
}

// Info is what is shown of a document. It decompresses two blocks of neighbours.
func (s *Segment) Info(ord vocab.Ordinal) (vocab.DocInfo, error) {
	g := Glancer{}
	defer g.Close()
	info, err := g.Glance(s, ord, math.MaxInt)
	info.Text = strings.Clone(info.Text)
	return info, err
}
