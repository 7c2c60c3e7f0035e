package sorter

import (
	"fmt"

	"anatomy/disk/segment"
	"anatomy/disk/texts"
	"anatomy/vocab"
)

// A textMover brings the texts of one input into the segment: blocks that are worth it as they are, compressed, when
// their first text is asked for; of others each text by itself.
type textMover struct {
	in       Input
	out      *segment.Writer
	unpacker texts.Unpacker
	blocks   []movedBlock
	last     [unpackedBlocks]unpackedBlock
	next     int // of last, to be replaced
}

// A movedBlock is what becomes of a block.
type movedBlock struct {
	live   uint64 // bytes of texts that the segment takes
	copied bool
	number uint32 // in the segment, once it is copied
}

// unpackedBlocks is how many blocks are kept unpacked whose texts go one by one: documents that follow one
// another have them in some blocks by turns, where those were copied by a merge before.
const unpackedBlocks = 32

type unpackedBlock struct {
	number  uint32
	content string // "" where there is none
}

// moveTexts counts what the segment takes of each block of an input.
func (b *builder) moveTexts(input int, in Input, unpacker texts.Unpacker) (*textMover, error) {
	m := &textMover{in: in, out: b.out, unpacker: unpacker, blocks: make([]movedBlock, in.TextBlocks())}
	if len(m.blocks) == 0 {
		return m, nil
	}
	return m, in.eachDoc(func(_ vocab.Ordinal, info vocab.DocInfo, text texts.Place) error {
		switch h, ok := b.held[info.Doc]; {
		case !ok || h.input != input || text.N == 0:
		case int(text.Block) >= len(m.blocks):
			return fmt.Errorf("document %d: its text is in block %d of %d", info.Doc, text.Block, len(m.blocks))
		default:
			m.blocks[text.Block].live += uint64(text.N)
		}
		return nil
	})
}

// move gives the place in the segment of a text of the input.
func (m *textMover) move(at texts.Place) (texts.Place, error) {
	if at.N == 0 {
		return texts.Place{}, nil
	}
	b := &m.blocks[at.Block]
	if !b.copied {
		frame, raw, err := m.in.Texts(at.Block)
		if err != nil {
			return at, err
		}
		if !texts.Worth(uint64(raw), b.live) {
			return m.repack(at, frame, raw)
		}
		b.copied, b.number = true, m.out.CopyTexts(frame, raw)
	}
	return texts.Place{Block: b.number, Start: at.Start, N: at.N}, nil
}

// repack packs one text anew.
func (m *textMover) repack(at texts.Place, frame []byte, raw int) (texts.Place, error) {
	content, err := m.unpack(at.Block, frame, raw)
	if err != nil {
		return at, err
	}
	text, err := at.In(content)
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
		return "", fmt.Errorf("block of texts %d: %w", number, err)
	}
	m.last[m.next] = unpackedBlock{number, content}
	m.next = (m.next + 1) % unpackedBlocks
	return content, nil
}
