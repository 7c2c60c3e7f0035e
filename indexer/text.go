package indexer

import (
	"bytes"
	"encoding/binary"
	"unicode/utf8"

	"github.com/cespare/xxhash/v2"

	"anatomy/vocab"
)

// A style is what a hit says beside its position, and whether it stands in a link.
type style struct {
	kind vocab.HitType
	size uint8
	link bool
}

// A span says that the text from start on, up to the next span, has a style.
type span struct {
	start int // offset in the block
	style style
}

// spaces has 1 for the white space of HTML and 2 for the byte that begins a no-break space.
var spaces = [256]uint8{' ': 1, '\t': 1, '\n': 1, '\r': 1, '\f': 1, 0xC2: 2}

// appendText adds text to the current block, its white space folded.
func (p *parser) appendText(s []byte, as style) {
	for i := 0; i < len(s); {
		n := spaceAt(s, i)
		if n > 0 {
			p.space = true
			i += n
			continue
		}
		start := i
		for i++; i < len(s); {
			if i+8 < len(s) && oneSpaced(binary.LittleEndian.Uint64(s[i:]), binary.LittleEndian.Uint64(s[i+1:])) {
				i += 8
			} else if foldable(s, i) {
				break
			} else {
				i++
			}
		}
		p.appendPiece(s[start:i], as)
	}
}

// oneSpaced says that none of eight bytes is foldable; next are those from the second on and the one behind. It may
// be false where none is. Neither has a control character or the byte that begins a no-break space, and no space
// follows a space.
func oneSpaced(eight, next uint64) bool {
	const each, high, space, noBreak = 0x0101010101010101, 0x8080808080808080, 0x20, 0xC2
	zero := func(v uint64) uint64 { return (v - each) & ^v & high } // not 0 where a byte of v is
	below := func(v uint64) uint64 { return (v - space*each) & ^v & high }
	pair := (eight ^ space*each) | (next ^ space*each)
	return below(eight)|below(next)|zero(eight^noBreak*each)|zero(next^noBreak*each)|zero(pair) == 0
}

// foldable says whether s[i] begins white space that is more or other than one space between words.
func foldable(s []byte, i int) bool {
	switch {
	case spaces[s[i]] == 0:
		return false
	case s[i] == ' ':
		return i+1 == len(s) || spaces[s[i+1]] != 0
	}
	return spaceAt(s, i) > 0
}

// spaceAt is the length of the white space character at s[i], 0 where there is none.
func spaceAt(s []byte, i int) int {
	switch spaces[s[i]] {
	case 1:
		return 1
	case 2:
		if i+1 < len(s) && s[i+1] == 0xA0 {
			return 2
		}
	}
	return 0
}

func (p *parser) appendPiece(piece []byte, as style) {
	at := len(p.text) - p.blockStart
	if p.space && at > 0 {
		p.text = append(p.text, ' ')
		at++
	}
	as.link = p.anchor.open
	if n := len(p.spans); n == 0 || p.spans[n-1].style != as {
		p.spans = append(p.spans, span{at, as})
	}
	p.text = append(p.text, piece...)
	if p.anchor.open {
		p.appendAnchorText(piece)
	}
	p.space = false
}

// breakWord parts the words before from those after, within the block.
func (p *parser) breakWord() { p.space = true }

// endBlock takes the words of the block that ends here. A block without words leaves nothing.
func (p *parser) endBlock() {
	p.anchor.space = true
	p.space = false
	start := p.blockStart
	if len(p.text) == start {
		return
	}
	count, hits := p.wordCount, len(p.hits)
	p.nextSpan = 0
	p.tokenizer.Each(p.text[start:], p.onWord)
	p.spans = p.spans[:0]
	if p.wordCount == count {
		p.text = p.text[:start]
		return
	}
	p.endNamed(hits)
	words := int(p.wordCount - count)
	p.position += blockGap
	p.keepText(start)
	p.endMenuBlock(words)
}

// keepText keeps the block text[start:] for DocInfo.Text while that has room.
func (p *parser) keepText(start int) {
	end := len(p.text)
	if end > maxText && !p.full {
		p.full = true
		p.textEnd = max(p.textEnd, bytes.LastIndexByte(p.text[:maxText], ' '))
	}
	if p.full {
		p.text = p.text[:p.textEnd]
		p.blockStart = p.textEnd
		return
	}
	p.textEnd = end
	p.text = append(p.text, '\n')
	p.blockStart = end + 1
}

// word takes one word of the current block or field.
func (p *parser) word(word []byte, start, _ int, capital bool) {
	for p.nextSpan < len(p.spans) && p.spans[p.nextSpan].start <= start {
		p.style = p.spans[p.nextSpan].style
		p.nextSpan++
	}
	if p.position > vocab.MaxPosition {
		return
	}
	hash := xxhash.Sum64(word)
	p.hits = append(p.hits, occurrence{p.words.number(word, hash), vocab.MakeHit(p.position, p.style.kind, capital, p.style.size)})
	p.position++
	p.wordCount++
	if p.style.link {
		p.block.linked++
	} else {
		p.sketch.add(hash)
	}
	p.block.heading = p.block.heading || p.style.kind.IsHeading()
}

// field takes the words of a field other than the body. No phrase reaches from one text to the next.
func (p *parser) field(kind vocab.HitType, texts ...[]byte) {
	p.position = 0
	for _, text := range texts {
		p.spans = append(p.spans[:0], span{0, style{kind: kind, size: vocab.NormalSize}})
		p.nextSpan = 0
		p.tokenizer.Each(text, p.onWord)
		p.position += blockGap
	}
}

// foldSpace appends s to dst with its white space folded.
func foldSpace(dst, s []byte) []byte {
	space := false
	for i := 0; i < len(s); {
		if n := spaceAt(s, i); n > 0 {
			space = true
			i += n
			continue
		}
		if space && len(dst) > 0 {
			dst = append(dst, ' ')
		}
		space = false
		dst = append(dst, s[i])
		i++
	}
	return dst
}

// cutText is s, or as much of it as max bytes hold, cut between characters.
func cutText(s []byte, max int) string {
	if len(s) > max {
		for max > 0 && !utf8.RuneStart(s[max]) {
			max--
		}
		s = s[:max]
	}
	return string(s)
}
