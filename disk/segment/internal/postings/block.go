package postings

import (
	"slices"

	"anatomy/disk/segment/internal/bitpack"
	"anatomy/disk/segment/internal/decode"
)

// A Block is up to 128 decoded postings. Impacts, and the ordinals of a bitmap, stay packed until
// they are needed, because a conjunction rejects most postings by ordinal.
type Block struct {
	N        int               // number of postings
	Ordinals [BlockSize]uint32 // NoOrdinal from index N on
	Impacts  [BlockSize]uint8  // valid unless Packed.Present

	// While IsBitmap is set, Bitmap has the ordinals; Ordinals has only the first, the last, and
	// those found by Seek.
	IsBitmap bool
	Bitmap   Bitmap

	Packed PackedImpacts
}

// PackedImpacts are the encoded impacts of a block.
type PackedImpacts struct {
	packed       []byte
	width, least uint8
	Present      bool
}

// At returns impact i.
func (p *PackedImpacts) At(i int) uint8 {
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

// Unpack unpacks the first len(impacts) impacts.
func (p *PackedImpacts) Unpack(impacts []uint8) {
	bitpack.UnpackBytes(impacts, p.packed, p.width, p.least)
}

// blockParts are the parts of an encoded block.
type blockParts struct {
	width   uint8  // of gaps, or bitmapGap
	gaps    []byte // or a bitmap
	impacts PackedImpacts
	size    int // of the block in bytes
}

// parseBlock splits the block of n postings at the start of src. Its ordinals are in (before, last].
func parseBlock(src []byte, n int, before, last uint32) (p blockParts, err error) {
	if len(src) < blockHead {
		return p, decode.ErrShort
	}
	gapWidth, least, width := src[0], src[1], src[2]
	from := blockHead
	switch {
	case width > 8 || gapWidth > 32 && gapWidth != bitmapGap:
		return p, errWidth
	case gapWidth != bitmapGap:
		from += bitpack.Len(n, gapWidth)
	default:
		length := bitmapLen(before, last)
		if length > bitmapBytes {
			return p, errBitmap
		}
		from += length
	}
	size := from + bitpack.Len(n, width)
	if size > len(src) {
		return p, decode.ErrShort
	}
	return blockParts{gapWidth, src[blockHead:from], PackedImpacts{src[from:size], width, least, true}, size}, nil
}

// Decode decodes the block of n postings at the start of src. Its ordinals are above before, and
// end with last. Decode returns the size of the block in bytes. The impacts refer to src.
func (b *Block) Decode(src []byte, n int, before, last uint32) (size int, err error) {
	b.N, b.IsBitmap = 0, false
	parts, err := parseBlock(src, n, before, last)
	if err != nil {
		return 0, err
	}
	if parts.width == bitmapGap {
		if err := b.Bitmap.read(parts.gaps, n, before, last); err != nil {
			return 0, err
		}
		b.IsBitmap = true
		b.Ordinals[0], _ = b.Bitmap.next(before + 1)
		b.Ordinals[n-1] = last
	} else {
		bitpack.UnpackGaps(b.Ordinals[:n], parts.gaps, parts.width, before)
		if b.Ordinals[0] <= before && before != NoOrdinal || !ascending(b.Ordinals[:n], parts.width) || b.Ordinals[n-1] != last {
			return 0, ErrOrdinals
		}
	}
	b.Packed, b.N = parts.impacts, n
	return parts.size, nil
}

// BlockImpacts returns the impacts of a block, see Decode.
func BlockImpacts(src []byte, n int, before, last uint32) (PackedImpacts, error) {
	parts, err := parseBlock(src, n, before, last)
	return parts.impacts, err
}

// Pad sets the ordinals from index n on to NoOrdinal.
func (b *Block) Pad(n int) {
	for i := n; i < BlockSize; i++ {
		b.Ordinals[i] = NoOrdinal
	}
}

// CopyInline copies the n postings of another block decoded by DecodeInline.
func (b *Block) CopyInline(other *Block, n int) {
	copy(b.Ordinals[:n], other.Ordinals[:n])
	copy(b.Impacts[:n], other.Impacts[:n])
	b.Packed, b.IsBitmap = PackedImpacts{}, false
}

// Seek returns the index of the first ordinal ≥ target of a bitmap, which must exist, and unpacks
// this ordinal.
func (b *Block) Seek(target uint32) int {
	ord, i := b.Bitmap.next(target)
	b.Ordinals[i&(BlockSize-1)] = ord
	return i
}

// UnpackOrdinals unpacks all ordinals of a bitmap.
func (b *Block) UnpackOrdinals() {
	if b.IsBitmap {
		b.Bitmap.unpack(&b.Ordinals)
		b.IsBitmap = false
	}
}

// DecodeInline decodes the n ordinals of an inline list, starting with first. It returns their size
// in bytes. Inline lists have no impacts.
func (b *Block) DecodeInline(src []byte, n int, first uint32) (size int, err error) {
	b.N, b.IsBitmap, b.Packed = 0, false, PackedImpacts{}
	if b.Ordinals[0] = first; n == 1 {
		return 0, nil
	}
	if len(src) < 1 || src[0] > 32 || len(src) < 1+bitpack.Len(n-1, src[0]) {
		return 0, decode.ErrShort
	}
	bitpack.UnpackGaps(b.Ordinals[1:n], src[1:], src[0], first)
	if b.Ordinals[1] <= first || !ascending(b.Ordinals[:n], src[0]) {
		return 0, ErrOrdinals
	}
	return 1 + bitpack.Len(n-1, src[0]), nil
}

// UnpackImpacts unpacks the impacts, unless that was done. It is inlinable: Impact calls it for
// each posting.
func (b *Block) UnpackImpacts() {
	if b.Packed.Present {
		b.unpackImpacts()
	}
}

func (b *Block) unpackImpacts() {
	b.Packed.Unpack(b.Impacts[:b.N])
	b.Packed.Present = false
}

// Rank returns the index of the first ordinal ≥ ord, or 127 if there is none. It compiles to
// branch-free code.
func (b *Block) Rank(ord uint32) (i int) {
	if b.Ordinals[63] < ord {
		i = 64
	}
	if b.Ordinals[i+31] < ord {
		i += 32
	}
	if b.Ordinals[i+15] < ord {
		i += 16
	}
	if b.Ordinals[i+7] < ord {
		i += 8
	}
	if b.Ordinals[i+3] < ord {
		i += 4
	}
	if b.Ordinals[i+1] < ord {
		i += 2
	}
	if b.Ordinals[i] < ord {
		i++
	}
	return i
}

// blockHead is the size of the head of a block in bytes.
const blockHead = 3

// ascending reports whether ordinals, which are sums of gaps of width bits, ascend. Sums of narrow
// gaps cannot wrap around twice, so comparing the first and the last ordinal is enough.
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

// AppendBlock appends an encoded block, whose ordinals are above before.
func AppendBlock(dst []byte, ordinals []uint32, impacts []uint8, before uint32) []byte {
	var gaps [BlockSize]uint32
	var over [BlockSize]uint8
	gapWidth := gapsOf(gaps[:len(ordinals)], ordinals, before)
	least, most := slices.Min(impacts), slices.Max(impacts)
	for i, impact := range impacts {
		over[i] = impact - least
	}
	width := bitpack.Width(uint64(most - least))
	if length := bitmapLen(before, ordinals[len(ordinals)-1]); bitmapIsBetter(length, bitpack.Len(len(ordinals), gapWidth)) {
		dst = appendBitmap(append(dst, bitmapGap, least, width), ordinals, before)
	} else {
		dst = bitpack.Append(append(dst, gapWidth, least, width), gaps[:len(ordinals)], gapWidth)
	}
	return bitpack.Append(dst, over[:len(impacts)], width)
}

// bitmapIsBetter reports whether to write a block as a bitmap, given the sizes of both encodings in
// bytes. A bitmap may be a quarter longer. Gaps of size 0 are best.
func bitmapIsBetter(bitmap, gaps int) bool {
	return gaps > 0 && bitmap <= bitmapBytes && bitmap <= gaps+gaps/4
}

// gapsOf computes gaps, and returns the width of the largest in bits.
func gapsOf(gaps, ordinals []uint32, before uint32) (width uint8) {
	var all uint32
	for i, ord := range ordinals {
		gaps[i] = ord - before - 1
		before = ord
		all |= gaps[i]
	}
	return bitpack.Width(uint64(all))
}

// AppendInlineOrdinals appends the encoded ordinals of an inline list, except the first.
func AppendInlineOrdinals(dst []byte, ordinals []uint32) []byte {
	var gaps [BlockSize]uint32
	n := len(ordinals) - 1
	width := gapsOf(gaps[:n], ordinals[1:], ordinals[0])
	return bitpack.Append(append(dst, width), gaps[:n], width)
}
