package sorter

import (
	"fmt"

	"anatomy/disk/segment"
	"anatomy/disk/texts"
	"anatomy/vocab"
)

// A textMover moves the texts of one input to the new segment. It copies a compressed block that is
// worth it when the first text of the block is moved; of the other blocks it repacks each text.
type textMover struct {
	in       Input
	out      *segment.Writer
	unpacker texts.Unpacker
	blocks   []movedBlock
	last     [unpackedBlocks]unpackedBlock
	next     int // index in last to replace
}

// A movedBlock is the state of a block of the input.
type movedBlock struct {
	live   uint64 // bytes of texts that the new segment has
	copied bool
	number uint32 // in the new segment, if copied
}

// unpackedBlocks is the number of unpacked blocks that are kept, because the texts of neighbouring
// documents alternate between a few blocks where a merge has copied them.
const unpackedBlocks = 32

type unpackedBlock struct {
	number  uint32
	content string // "" for none
}

// newTextMover counts the live texts of each block of an input: those of documents that are taken.
func newTextMover(in Input, out *segment.Writer, unpacker texts.Unpacker, taken func(vocab.DocID) bool) (*textMover, error) {
	m := &textMover{in: in, out: out, unpacker: unpacker, blocks: make([]movedBlock, in.TextBlocks())}
	if len(m.blocks) == 0 {
		return m, nil
	}
	return m, in.eachDoc(func(_ vocab.Ordinal, info vocab.DocInfo, text texts.Span) error {
		switch {
		case text.N == 0 || !taken(info.Doc):
		case int(text.Block) >= len(m.blocks):
			return fmt.Errorf("document %d: its text is in block %d of %d", info.Doc, text.Block, len(m.blocks))
		default:
			m.blocks[text.Block].live += uint64(text.N)
		}
		return nil
	})
}

// move moves a text of the input, and returns its span in the new segment.
func (m *textMover) move(at texts.Span) (texts.Span, error) {
	if at.N == 0 {
		return texts.Span{}, nil
	}
	b := &m.blocks[at.Block]
	if !b.copied {
		frame, raw, err := m.in.TextBlock(at.Block)
		if err != nil {
			return at, err
		}
		if !texts.WorthCopying(uint64(raw), b.live) {
			return m.repack(at, frame, raw)
		}
		b.copied, b.number = true, m.out.CopyTextBlock(frame, raw)
	}
	return texts.Span{Block: b.number, Start: at.Start, N: at.N}, nil
}

// repack moves a text to a new block.
func (m *textMover) repack(at texts.Span, frame []byte, raw int) (texts.Span, error) {
	content, err := m.unpack(at.Block, frame, raw)
	if err != nil {
		return at, err
	}
	text, err := at.Slice(content)
	if err != nil {
		return at, err
	}
	return m.out.AddText(text), nil
}

func (m *textMover) unpack(number uint32, frame []byte, raw int) (content string, err error) {
	for _, u := range m.last {
		if u.content != "" && u.number == number {
			return u.content, nil
		}
	}
	if content, err = m.unpacker.Unpack(frame, raw); err != nil {
		return "", fmt.Errorf("text block %d: %w", number, err)
	}
	m.last[m.next] = unpackedBlock{number, content}
	m.next = (m.next + 1) % unpackedBlocks
	return content, nil
}
