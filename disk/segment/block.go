package segment

import (
	"encoding/binary"
	"errors"
	"slices"
)

// blockSize is how many postings are decoded at a time.
const blockSize = 128

// The ways in which postings can be damaged.
var (
	errCut       = errors.New("postings end early")
	errCount     = errors.New("the number of postings is impossible")
	errDirectory = errors.New("the directory of blocks is impossible")
	errOrdinals  = errors.New("ordinals are out of order")
	errWidth     = errors.New("a width is impossible")
)

// A block is 128 postings, decoded. Impacts are left packed until they are asked for: a conjunction passes by most
// postings for their ordinals alone. So are the ordinals of a bitmap, perhaps for ever.
type block struct {
	n        int
	ordinals [blockSize]uint32 // noOrdinal from n on
	impacts  [blockSize]uint8

	asBits bool // of the ordinals only the first, the last and the current one are there yet
	bits   bitmap

	waiting packedImpacts // nothing once they are unpacked
}

// packedImpacts are those of a block.
type packedImpacts struct {
	packed       []byte
	width, least uint8
	here         bool
}

// at is impact number i.
func (p *packedImpacts) at(i int) uint8 {
	if p.width == 0 {
		return p.least
	}
	bit := i * int(p.width)
	v := uint16(p.packed[bit/8])
	if next := bit/8 + 1; next < len(p.packed) {
		v |= uint16(p.packed[next]) << 8
	}
	return p.least + uint8(v>>(bit%8)&(1<<p.width-1))
}

func (p *packedImpacts) unpack(impacts []uint8) { unpackBytes(impacts, p.packed, p.width, p.least) }

// The parts of a block.
type blockParts struct {
	width   uint8  // of gaps, or bitmapGap
	gaps    []byte // or a bitmap
	impacts packedImpacts
	size    int // bytes that the block takes
}

// parseBlock takes a block of n postings apart, whose ordinals follow before and end with last, at the start of src.
func parseBlock(src []byte, n int, before, last uint32) (p blockParts, err error) {
	if len(src) < blockHead {
		return p, errCut
	}
	gapWidth, least, width := src[0], src[1], src[2]
	from := blockHead
	switch {
	case width > 8 || gapWidth > 32 && gapWidth != bitmapGap:
		return p, errWidth
	case gapWidth != bitmapGap:
		from += packedLen(n, gapWidth)
	default:
		length := bitmapLen(before, last)
		if length > bitmapBytes {
			return p, errBitmap
		}
		from += length
	}
	size := from + packedLen(n, width)
	if size > len(src) {
		return p, errCut
	}
	return blockParts{gapWidth, src[blockHead:from], packedImpacts{src[from:size], width, least, true}, size}, nil
}

// decode reads a block of n postings, which follow the ordinal before and end with last, from the start of src. It gives
// the number of bytes that the block takes.
func (b *block) decode(src []byte, n int, before, last uint32) (size int, err error) {
	b.n, b.asBits = 0, false
	parts, err := parseBlock(src, n, before, last)
	if err != nil {
		return 0, err
	}
	if parts.width == bitmapGap {
		if err := b.bits.read(parts.gaps, n, before, last); err != nil {
			return 0, err
		}
		b.asBits = true
		b.ordinals[0], _ = b.bits.next(before + 1)
		b.ordinals[n-1] = last
	} else {
		unpackGaps(b.ordinals[:n], parts.gaps, parts.width, before)
		if b.ordinals[0] <= before && before != noOrdinal || !ascending(b.ordinals[:n], parts.width) || b.ordinals[n-1] != last {
			return 0, errOrdinals
		}
	}
	b.waiting, b.n = parts.impacts, n
	return parts.size, nil
}

// unpackOrdinals makes ordinals those of the block.
func (b *block) unpackOrdinals() {
	if b.asBits {
		b.bits.unpack(&b.ordinals)
		b.asBits = false
	}
}

// decodeInside reads the ordinals of n postings of a list in the dictionary, of which the first is known. It gives the
// number of bytes that they take.
func (b *block) decodeInside(src []byte, n int, first uint32) (size int, err error) {
	if b.ordinals[0] = first; n == 1 {
		return 0, nil
	}
	if len(src) < 1 || src[0] > 32 || len(src) < 1+packedLen(n-1, src[0]) {
		return 0, errCut
	}
	unpackGaps(b.ordinals[1:n], src[1:], src[0], first)
	if b.ordinals[1] <= first || !ascending(b.ordinals[:n], src[0]) {
		return 0, errOrdinals
	}
	return 1 + packedLen(n-1, src[0]), nil
}

// unpackImpacts makes impacts those of the block.
func (b *block) unpackImpacts() {
	if b.waiting.here {
		b.waiting.unpack(b.impacts[:b.n])
		b.waiting.here = false
	}
}

// rank is the index of the first ordinal that is at least ord, or 127 where there is none, without a branch.
func (b *block) rank(ord uint32) (i int) {
	if b.ordinals[63] < ord {
		i = 64
	}
	if b.ordinals[i+31] < ord {
		i += 32
	}
	if b.ordinals[i+15] < ord {
		i += 16
	}
	if b.ordinals[i+7] < ord {
		i += 8
	}
	if b.ordinals[i+3] < ord {
		i += 4
	}
	if b.ordinals[i+1] < ord {
		i += 2
	}
	if b.ordinals[i] < ord {
		i++
	}
	return i
}

// blockHead is the bytes before the gaps, and noOrdinal the ordinal before the first one, 0.
const (
	blockHead = 3
	noOrdinal = ^uint32(0)
)

// ascending says whether the gaps between ordinals, of width bits, added up without overflow. Narrow
// gaps cannot wrap around twice, so that the last ordinal shows it.
func ascending(ordinals []uint32, width uint8) bool {
	if width <= 24 {
		return ordinals[len(ordinals)-1] >= ordinals[0]
	}
	for i := 1; i < len(ordinals); i++ {
		if ordinals[i] <= ordinals[i-1] {
			return false
		}
	}
	return true
}

// appendBlock codes postings, of which the first has the ordinal before+1 or a later one.
func appendBlock(dst []byte, ordinals []uint32, impacts []uint8, before uint32) []byte {
	var gaps [blockSize]uint32
	var over [blockSize]uint8
	gapWidth := gapsOf(gaps[:len(ordinals)], ordinals, before)
	least, most := slices.Min(impacts), slices.Max(impacts)
	for i, impact := range impacts {
		over[i] = impact - least
	}
	width := width64(uint64(most - least))
	if length := bitmapLen(before, ordinals[len(ordinals)-1]); bitmapIsBetter(length, packedLen(len(ordinals), gapWidth)) {
		dst = appendBitmap(append(dst, bitmapGap, least, width), ordinals, before)
	} else {
		dst = appendPacked(append(dst, gapWidth, least, width), gaps[:len(ordinals)], gapWidth)
	}
	return appendPacked(dst, over[:len(impacts)], width)
}

// bitmapIsBetter says whether a block is a bitmap of so many bytes, which may be a fourth longer than the gaps would be, if
// these are not all 0.
func bitmapIsBetter(bitmap, gaps int) bool {
	return gaps > 0 && bitmap <= bitmapBytes && bitmap <= gaps+gaps/4
}

// gapsOf makes gaps those of ordinals, and gives the bits that the largest needs.
func gapsOf(gaps, ordinals []uint32, before uint32) (width uint8) {
	var all uint32
	for i, ord := range ordinals {
		gaps[i] = ord - before - 1
		before = ord
		all |= gaps[i]
	}
	return width64(uint64(all))
}

// appendInside codes ordinals for the dictionary, all but the first.
func appendInside(dst []byte, ordinals []uint32) []byte {
	var gaps [blockSize]uint32
	n := len(ordinals) - 1
	width := gapsOf(gaps[:n], ordinals[1:], ordinals[0])
	return appendPacked(append(dst, width), gaps[:n], width)
}

// A decoder reads numbers and bytes, and remembers that it met the end.
type decoder struct {
	src []byte
	err error
}

func (d *decoder) fail() { d.src, d.err = nil, errCut }

func (d *decoder) byte() byte {
	if len(d.src) == 0 {
		d.fail()
		return 0
	}
	b := d.src[0]
	d.src = d.src[1:]
	return b
}

func (d *decoder) uvarint() uint64 {
	v, size := binary.Uvarint(d.src)
	if size <= 0 {
		d.fail()
		return 0
	}
	d.src = d.src[size:]
	return v
}

func (d *decoder) bytes(n int) []byte {
	if n < 0 || n > len(d.src) {
		d.fail()
		return nil
	}
	b := d.src[:n]
	d.src = d.src[n:]
	return b
}

func (d *decoder) uint32() uint32 {
	if b := d.bytes(4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

func (d *decoder) uint64() uint64 {
	if b := d.bytes(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

// text reads a string with its length in front.
func (d *decoder) text() []byte {
	n := d.uvarint()
	if n > uint64(len(d.src)) {
		d.fail()
		return nil
	}
	return d.bytes(int(n))
}
